"""What running fixes brought, put to the findings they are of."""

from collections.abc import Iterable

from nightwatch_core.code.file_diffs import file_diffs, joined_diff
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.gate import Correction, GateResult
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
    """The analysis, its fix being what passed: edits to be published are kept there alone."""
    kept = gate.model_copy(update={"edits": (), "correction": _in_words(gate.correction)})
    if not gate.edits:
        return analysis.model_copy(update={"gate": kept})
    read = tuple(dict.fromkeys((*analysis.read, *gate.read)))
    update = {"gate": kept, "fix": gate.edits, "changes": gate.changes, "read": read}
    return analysis.model_copy(update=update)


def _in_words(attempt: Correction | None) -> Correction | None:
    """A second attempt without its edits: they are the fix, or a diff that nobody applies."""
    if attempt is None or not attempt.edits:
        return attempt
    diff = joined_diff(file_diffs(attempt.edits)) if attempt.outcome == "failed" else ""
    return attempt.model_copy(update={"edits": (), "diff": diff})
