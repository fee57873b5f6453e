"""What was published, in a night's report."""

from nightwatch_core.models.assignment import CiResult, PublishResult
from nightwatch_core.models.proposal import Receipt
from nightwatch_core.models.report import RunReport
from nightwatch_core.publish.gate_section import with_gates
from nightwatch_core.publish.other_pulls import with_overlaps
from nightwatch_core.report.accounting import proofs_usage
from nightwatch_core.report.builder import degrade
from nightwatch_core.text.units import plural


def add_publications(report: RunReport, acted: PublishResult) -> RunReport:
    """Add what was published; an unknown end, or a right that is missing, degrades the night."""
    unknown = sum(receipt.status == "unknown" for receipt in acted.receipts)
    trouble = f"{plural(unknown, 'publication')} with an unknown end" if unknown else ""
    proofs = proofs_usage(report, acted.gates)
    update = {
        "receipts": acted.receipts,
        "skips": acted.skips,
        "usage": report.usage + proofs,
        "accounts": report.accounts.model_copy(update={"proofs": report.accounts.proofs + proofs}),
    }
    told = with_gates(with_overlaps(report, acted.overlaps), acted.gates).model_copy(update=update)
    return degrade(told, *acted.troubles, trouble, _barred(acted.receipts))


def add_ci(report: RunReport, result: CiResult) -> RunReport:
    """Add what the checks of its drafts said, and what was published after that."""
    receipts, usage = (*report.receipts, *result.receipts), report.usage + result.usage
    update = {"ci": result.ci, "receipts": receipts, "usage": usage}
    return with_gates(report, result.gates).model_copy(update=update)


def _barred(receipts: tuple[Receipt, ...]) -> str:
    barred = [receipt for receipt in receipts if receipt.barred]
    if not barred:
        return ""
    return f"{plural(len(barred), 'publication')} refused for want of a right: {barred[0].reason}"
