"""Labelled synthetic nights: analyses and lessons with known patterns planted among distractors.

`night(seed)` gives the same night for the same seed. It knows nothing of the code that looks for
patterns. Seeds of `HELD_OUT` and above also tell defects that no lower seed tells. What is planted
here was thought of by the people who wrote the rules, so real nights are harder than these.
"""

from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.knowledge import CitedLine, Lesson, NightSeen
from tests.benchmarks.pattern_plans import DISTRACTIONS, PLANS, UNEXPLAINED
from tests.benchmarks.pattern_teller import HELD_OUT, TONIGHT, Labelled, Planted, Teller

__all__ = ["HELD_OUT", "Labelled", "Planted", "night"]
LEFT = 7  # subjects that a plan may need


def night(seed: int) -> Labelled:
    """The night of a seed: up to six planted patterns, and distractors of every kind."""
    teller = Teller(seed)
    plans = [plan for plan, chance in (*PLANS, *DISTRACTIONS) if teller.draw.random() < chance]
    teller.draw.shuffle(plans)
    for plan in plans:
        if len(teller.subjects) >= LEFT:
            plan(teller)
    if teller.changed:
        teller.planted.append(Planted("change", frozenset(teller.changed), required=False))
    teller.draw.shuffle(teller.analyses)
    for analysis in teller.analyses:
        as_lesson(teller, analysis)
    for plan, chance in UNEXPLAINED:  # last, so that all others stay as they were without them
        if teller.draw.random() < chance:
            plan(teller)
    return Labelled(tuple(teller.analyses), tuple(teller.lessons), tuple(teller.planted))


def as_lesson(teller: Teller, one: Analysis) -> None:
    """Tonight's analyses have become lessons before patterns are looked for."""
    leader = one.case.leader
    seen = NightSeen(date=TONIGHT, night="n0", occurrences=one.case.occurrences, verdict="new")
    teller.lessons.append(
        Lesson(
            fingerprint=one.fingerprint,
            aliases=one.case.aliases,
            error_class=leader.error_class,
            transaction=leader.transaction,
            module=one.evidence[0].path,
            root_cause=one.root_cause,
            confidence=one.confidence,
            first_detected=TONIGHT,
            nights=(seen,),
            evidence=tuple(CitedLine(path=e.path, line=e.line) for e in one.evidence),
        )
    )
