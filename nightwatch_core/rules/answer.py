"""Puts the findings of all rules together into the answer."""

from collections.abc import Callable

from nightwatch_core.code.symptoms import Symptom, symptom_of
from nightwatch_core.models.answer import Answer, Evidence
from nightwatch_core.rules import surroundings
from nightwatch_core.rules.broken_imports import broken_import
from nightwatch_core.rules.call_arguments import wrong_arguments
from nightwatch_core.rules.findings import FailingLine, Finding, failing_line
from nightwatch_core.rules.handover import handed_over
from nightwatch_core.rules.kinds import general
from nightwatch_core.rules.known_code import Context
from nightwatch_core.rules.limits import EVIDENCE, LEARNINGS, LONGEST_TITLE, SENTENCES, STEPS
from nightwatch_core.rules.missing_keys import missing_key, out_of_range
from nightwatch_core.rules.none_receivers import none_receiver
from nightwatch_core.rules.own_line import changed_while_used, constant_assigned, divided_by_zero
from nightwatch_core.rules.suspect_change import suspect_change
from nightwatch_core.rules.unknown_members import unknown_member
from nightwatch_core.rules.unknown_names import unbound_local, undefined_name
from nightwatch_core.text.error_classes import last_segment

Rule = Callable[[Symptom, FailingLine, Context], Finding]

RULES: dict[str, Rule] = {  # all other kinds are explained by kinds.py
    "none receiver": none_receiver,
    "wrong arguments": wrong_arguments,
    "undefined name": undefined_name,
    "unknown member": unknown_member,
    "unbound local": unbound_local,
    "import": broken_import,
    "missing key": missing_key,
    "out of range": out_of_range,
    "race": changed_while_used,
    "division by zero": divided_by_zero,
    "frozen": constant_assigned,
}
_RAISED = ("unknown", "wrong arguments", "wrong type", "assertion", "missing record", "permission")


def answer(context: Context) -> Answer:
    """Give the answer from what is known now; what is missing becomes questions."""
    symptom = symptom_in(context)
    failing = failing_line(context)
    finding = _finding(symptom, failing, context)
    if not (failing.seen and finding.explained):
        return handed_over(symptom, failing, finding, context)
    evidence = _evidence(failing, finding)
    sha, since = suspect_change(failing, finding.changed, context)
    edits = finding.edits if failing.seen else ()
    sentences = _few(finding.because, SENTENCES - bool(since)) + ((since,) if since else ())
    return Answer(
        title=_title(failing, finding, context),
        root_cause=" ".join(sentences),
        confidence="medium",
        has_fix=bool(edits),
        file_changes=edits,
        evidence=evidence,
        hypotheses=finding.hypotheses[:5],
        suspect_commit=sha,
        tags=_few(finding.tags, 6),
        learnings=finding.learnings[:LEARNINGS],
        related_to=tuple(p.lesson.fingerprint for p in context.research.priors[:3]),
        suggested_next_steps=_few(finding.steps, STEPS),
    )


def symptom_in(context: Context) -> Symptom:
    """Find the first kind that fits: from the root exception outwards, then the group's words."""
    trace, leader = context.case.trace, context.case.leader
    words = [(link.error_class, link.message) for link in reversed(trace.links)] if trace else []
    words.append((leader.error_class, leader.message))
    symptoms = [symptom_of(*each) for each in words if any(each)]
    return next((one for one in symptoms if one.kind != "unknown"), symptoms[0])


def _finding(symptom: Symptom, failing: FailingLine, context: Context) -> Finding:
    if failing.moved:
        return _stale(failing, context)
    if failing.line and not failing.seen and symptom.kind in RULES:
        return _unread(symptom, failing) + surroundings.chained(context)
    raised = surroundings.raised_on_purpose(failing, context) if failing.seen else Finding()
    own = bool(raised.steps) and symptom.kind in _RAISED
    rule = RULES.get(symptom.kind, general)
    parts = (
        raised if own else rule(symptom, failing, context),
        *_clues(symptom, failing, context),
        surroundings.in_dependency(failing, context),
        surroundings.chained(context),
        surroundings.likeliest(failing, context) if symptom.kind not in RULES else Finding(),
        Finding() if failing.line else surroundings.said_in_code(context),
        surroundings.same_as_leader(failing, context),
    )
    finding = Finding()
    for part in sorted(parts, key=lambda one: not one.explained):
        finding = finding + part
    return finding


def _clues(symptom: Symptom, failing: FailingLine, context: Context) -> tuple[Finding, ...]:
    """What the message itself gives away, for kinds that no rule looks into more deeply."""
    if symptom.kind in RULES or not failing.seen:
        return ()
    if symptom.kind == "parse error":
        return (surroundings.telling_shape(symptom, failing),)
    deleted = surroundings.deleted_records(symptom, context)
    return (deleted, surroundings.written_values(symptom, failing, context))


def _stale(failing: FailingLine, context: Context) -> Finding:
    """The code that failed is not the code at hand: nothing is claimed about it."""
    commit = context.case.leader.release or "the failing release"
    why = context.research.misfit or (
        f"{failing.place} does not hold the line that failed, so this is not the code that failed"
    )
    return Finding(
        steps=(f"Read the code of {commit}, or check the mapping of releases to commits.",),
        tags=("stale-code",),
        unknown=f"the cause, for {why}",
    )


def _unread(symptom: Symptom, failing: FailingLine) -> Finding:
    """The kind of failure is told by the message, but the code could not be read."""
    return Finding(
        steps=(f"Find where {failing.path} is kept, and check how trace paths are mapped.",),
        tags=(symptom.kind.replace(" ", "-"),),
        unknown=f"the cause, for {failing.place} could not be read at this commit",
    )


def _evidence(failing: FailingLine, finding: Finding) -> tuple[Evidence, ...]:
    own = (failing.evidence("the failing line"),) if failing.seen and failing.text.strip() else ()
    evidence = (*((finding.fault,) if finding.fault else ()), *own, *finding.evidence)
    once: dict[tuple[str, int], Evidence] = {}
    for one in evidence:
        if one.quote:
            once.setdefault((one.path, one.line), one)
    return tuple(once.values())[:EVIDENCE]


def _title(failing: FailingLine, finding: Finding, context: Context) -> str:
    group = context.case.leader
    where = failing.place or group.transaction or group.app
    name = last_segment(group.error_class) or "Error"
    what = f"{name}: {finding.subject}" if finding.subject else name
    title = " ".join(f"{what} in {where}".split()) if where else what
    if len(title) > LONGEST_TITLE:  # the folders say least
        title = " ".join(f"{what} in {where.rsplit('/', 1)[-1]}".split())
    return title[:LONGEST_TITLE]


def _few(values: tuple[str, ...], most: int) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))[:most]
