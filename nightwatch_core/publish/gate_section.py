"""What running fixes brought, put to the findings they are of."""

from collections.abc import Iterable

from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.gate import GateResult
from nightwatch_core.models.report import RunReport


def with_gates(report: RunReport, gates: Iterable[tuple[str, GateResult]]) -> RunReport:
    """The report, told what was run of fixes, by the fingerprints of their errors."""
    known = dict(gates)
    analyses = tuple(
        _with_gate(one, known[one.fingerprint]) if one.fingerprint in known else one
        for one in report.analyses
    )
    return report.model_copy(update={"analyses": analyses}) if known else report


def _with_gate(analysis: Analysis, gate: GateResult) -> Analysis:
    """The analysis, its fix being what passed."""
    if not gate.edits:
        return analysis.model_copy(update={"gate": gate})
    read = tuple(dict.fromkeys((*analysis.read, *gate.read)))
    update = {"gate": gate, "fix": gate.edits, "changes": gate.changes, "read": read}
    return analysis.model_copy(update=update)
