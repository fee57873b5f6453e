"""What was run of a fix, in issues and drafts; and what must not be proposed for it."""

from collections.abc import Iterable, Iterator

from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.gate import Check, GateResult, Reproduction
from nightwatch_core.models.report import RunReport
from nightwatch_core.publish.finding_parts import sentence
from nightwatch_core.publish.issue_sections import Told, bulleted
from nightwatch_core.publish.story_section import steps_in_short
from nightwatch_core.text.escaping import code_span, fenced, markdown
from nightwatch_core.text.plain_text import one_line

_CHECK, _OUTPUT, _NAMES = 600, 3_000, 20  # characters, characters, tests
UNTRIED = "nothing was run"


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


def in_short(analysis: Analysis) -> str:
    """What was run, in one sentence that follows "The changed files parse;"."""
    gate = analysis.gate
    if gate is None:
        return UNTRIED
    if gate.outcome == "not run":
        return f"{UNTRIED}: {markdown(gate.text, _CHECK)}"
    return f"what was run of it, and its result, is below ({gate.seconds:.0f} s)"


def ran(told: Told) -> str:
    """What was run, on the base first and then with the fix, and what came of it."""
    gate = told.analysis.gate
    if gate is None or gate.outcome == "not run" or not gate.checks:
        return ""
    name = "What was run" if gate.outcome == "passed" else "The fix was tried, and did not pass"
    outputs = (fenced(one.output, limit=_OUTPUT) for one in gate.checks if one.output.strip())
    return "\n\n".join((bulleted(name, _lines(gate)), *outputs))


def _lines(gate: GateResult) -> Iterator[str]:
    for check in gate.checks:
        yield f"{check.outcome}: {markdown(check.text or check.name, _CHECK)}{_took(check)}"
    if gate.reproduction and (missing := not_reproduced(gate.reproduction)):
        yield markdown(missing, _CHECK)
    for what, names in (
        ("red without the fix as well, so not held against it", gate.preexisting),
        ("flaky, red and green on the same code", gate.flaky),
    ):
        if names:
            yield f"{what}: {', '.join(map(code_span, names[:_NAMES]))}"


def not_reproduced(reproduction: Reproduction) -> str:
    """Say that no test raises production's error, or is not part of the draft, and why."""
    why = one_line(reproduction.because)
    if reproduction.outcome == "reproduced":
        return "" if reproduction.test else f"reproduced, but {why}"
    tried = reproduction.outcome == "not reproduced"
    return f"{'not reproduced' if tried else 'no reproduction was tried'}: {why}"


def _took(check: Check) -> str:
    return f" ({check.seconds:.1f} s)" if check.seconds else ""


def told_in_report(analysis: Analysis) -> str:
    """What was run, for a line of the report; empty where no fix came so far."""
    gate = analysis.gate
    if gate is None:
        return ""
    tests = [one.text for one in gate.checks if one.name == "tests" and one.outcome == "passed"]
    what = gate.text or "; ".join(tests)
    if gate.reproduction:
        shown = not_reproduced(gate.reproduction) or "reproduced by a test"
        what = "; ".join(filter(None, (what, shown)))
    named = f"; flaky: {', '.join(gate.flaky[:5])}" if gate.flaky else ""
    red = f"; red before as well: {len(gate.preexisting)}" if gate.preexisting else ""
    steps = f"; {told}" if (told := steps_in_short(analysis)) else ""
    text = f"{gate.outcome}: {what}{red}{named}{steps}{_second(gate)}"
    return sentence(text).rstrip(".")


def _second(gate: GateResult) -> str:
    """What came of making a fix anew; nothing where nobody is asked."""
    attempt = gate.correction
    if attempt is None or attempt.outcome == "not tried":
        return ""
    if attempt.outcome == "passed":
        return f"; made anew, the first one did not pass: {attempt.first_failed}"
    return f"; made anew, in vain: {attempt.because}"
