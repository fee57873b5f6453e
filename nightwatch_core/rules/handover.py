"""What the rules hand on where they know no cause: the place, the value, who looks at what next."""

from nightwatch_core.code.symptoms import Symptom
from nightwatch_core.models.answer import Answer, Evidence, Handover
from nightwatch_core.rules.findings import FailingLine, Finding
from nightwatch_core.rules.known_code import Context
from nightwatch_core.rules.limits import HANDED_LINE, HANDED_LINES, STEPS
from nightwatch_core.rules.surroundings import chained
from nightwatch_core.rules.suspect_change import last_change
from nightwatch_core.text.error_classes import last_segment


def handed_over(
    symptom: Symptom, failing: FailingLine, finding: Finding, context: Context
) -> Answer:
    """Give the answer without a cause: one line that says so, and the handover."""
    return Answer(
        title=_title(failing, context),
        root_cause=f"Not known: {finding.unknown or _why(failing, context)}.",
        confidence="low",
        suspect_commit="",
        evidence=_evidence(failing, finding),
        tags=tuple(dict.fromkeys((*finding.tags, "unknown-cause"))),
        related_to=tuple(p.lesson.fingerprint for p in context.research.priors[:3]),
        handover=_handover(symptom, failing, finding, context),
    )


def _evidence(failing: FailingLine, finding: Finding) -> tuple[Evidence, ...]:
    """The failing line; without one, what the rules came upon."""
    if failing.seen and failing.text.strip():
        return (failing.evidence("the failing line"),)
    return () if failing.line or failing.moved else finding.evidence[:1]


def _handover(
    symptom: Symptom, failing: FailingLine, finding: Finding, context: Context
) -> Handover:
    near = range(failing.line - HANDED_LINES, failing.line + HANDED_LINES + 1)
    numbers = [n for n in near if n in failing.lines] if failing.seen else []
    return Handover(
        unknown=finding.unknown or _why(failing, context),
        path=failing.path,
        line=failing.line,
        lines=tuple(failing.lines[n][:HANDED_LINE] for n in numbers),
        first_line=numbers[0] if numbers else 0,
        value=finding.value or _value(symptom),
        last_change=last_change(failing, context),
        look_at=tuple(dict.fromkeys((*chained(context).because, *finding.steps)))[:STEPS],
    )


def _value(symptom: Symptom) -> str:
    """What the message names: the key, the name, the argument."""
    if symptom.kind == "none receiver":
        return f"nothing, which was asked for `{symptom.name}`" if symptom.name else ""
    named = (("key", symptom.key), ("name", symptom.name), ("argument", symptom.keyword))
    return next((f"{what} `{text}`" for what, text in named if text), "")


def _why(failing: FailingLine, context: Context) -> str:
    where = failing.place or context.case.leader.transaction or context.case.leader.app
    name = last_segment(context.case.leader.error_class) or "the error"
    return f"why {where} raises {name}" if where else f"why {name} is raised"


def _title(failing: FailingLine, context: Context) -> str:
    group = context.case.leader
    where = failing.place or group.transaction or group.app
    name = last_segment(group.error_class) or "Error"
    return " ".join((f"{name} in {where}" if where else name).split())[:120]
