from analysis_shapes import analysis, group

from nightwatch_core.memory.prior_analyses import (
    fallback_summary,
    lasting,
    mark_fallback,
    merge_waves,
    unanswered_assignments,
)
from nightwatch_core.models.analysis import FELL_BACK, Ending, Failure
from nightwatch_core.models.answer import Allowance, Usage
from nightwatch_core.models.assignment import Assignment, WaveResult
from nightwatch_core.models.code import Commit
from nightwatch_core.models.errors import Case

AWAY = "Claude answered 529: try again later."
ALLOWANCE = Allowance(iterations=5, tokens=1_000, cost=1.0, seconds=60)
COMMIT = Commit(repository="acme/shop", sha="0" * 40, branch="main")


def case(name: str) -> Case:
    return Case(leader=group(f"v1:{name}"))


def assignment(name: str) -> Assignment:
    return Assignment(case=case(name), allowance=ALLOWANCE, commit=COMMIT, night="n1")


def failure(name: str, away: bool = True) -> Failure:
    spent = Usage(calls=3, input_tokens=7)
    ending = Ending(kind="unreachable" if away else "invalid")
    return Failure(case=case(name), reason=AWAY, usage=spent, ending=ending)


def rules(name: str):
    return analysis(case("x")).model_copy(update={"case": case(name), "tags": ("typo",)})


def test_only_what_the_model_was_away_for_is_asked_again() -> None:
    wave = WaveResult(failures=(failure("a"), failure("b", away=False)))
    left = unanswered_assignments(wave, [assignment("a"), assignment("b"), assignment("c")])
    assert [one.assignment.case.fingerprint for one in left] == ["v1:a"]


def test_the_answer_says_that_it_stands_in_and_why_and_what_was_spent() -> None:
    said = mark_fallback(rules("a"), failure("a"))
    assert said.tags == (FELL_BACK, "typo")
    assert said.by_fallback
    assert said.next_steps[0].count(AWAY.rstrip(".")) == 1
    assert said.usage.input_tokens == 7 + rules("a").usage.input_tokens


def test_answers_take_the_place_of_failures() -> None:
    wave = WaveResult(analyses=(rules("c"),), failures=(failure("a"), failure("b")))
    both = merge_waves(wave, WaveResult(analyses=(mark_fallback(rules("a"), failure("a")),)))
    assert [one.fingerprint for one in both.analyses] == ["v1:c", "v1:a"]
    assert [one.case.fingerprint for one in both.failures] == ["v1:b"]


def test_what_rules_answered_is_told_and_teaches_nothing() -> None:
    stood, own = mark_fallback(rules("a"), failure("a")), rules("b")
    first = f"the model was away for {stood.case.leader.short}, and rules answered: "
    assert fallback_summary([stood, own]).startswith(first)
    assert " and 1 more error, and rules" in fallback_summary([stood, stood, own])
    assert AWAY.rstrip(".") in fallback_summary([stood, own])
    assert fallback_summary([own]) == ""
    assert lasting((stood, own)) == (own,)
