"""Leaders are analysed first, then their siblings, who are told what was found."""

from analysis_shapes import COMMIT, DAY, analysis, group, trace
from hypothesis import given, settings
from hypothesis import strategies as st

from nightwatch_core.analysis.prompts import LEADER_FINDINGS
from nightwatch_core.analysis.waves import (
    Prepared,
    first_wave,
    leader_findings,
    second_wave,
    third_wave,
    with_second_looks,
)
from nightwatch_core.models.analysis import Failure
from nightwatch_core.models.answer import Handover, Learning, Usage
from nightwatch_core.models.assignment import CodeTonight, UnexplainedCase, WaveResult
from nightwatch_core.models.code import MergedPull, Suspect
from nightwatch_core.models.conversation import Capabilities
from nightwatch_core.models.errors import Case, ExceptionLink, Frame, Trace, Window
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import Night
from nightwatch_core.models.research import Preview, ResearchContext

NIGHT = Night(id="n1", window=Window(since=DAY, until=DAY), now=DAY)
CODE = CodeTonight(commit=COMMIT)


def prepared(name, path="shop/cart.py", line=2):
    one = trace(path, line, raw=name)
    of = Case(leader=group(f"v1:{name}", transaction=f"{name}/show"), trace=one)
    return Prepared(unknown=UnexplainedCase(case=of, traces=(one,)), research=ResearchContext())


# a and b fail in one file, c elsewhere with another class
A, B = prepared("a"), prepared("b", line=9)
C = Prepared(
    unknown=UnexplainedCase(
        case=Case(
            leader=group("v1:c", "TypeError", "pay/new"), trace=trace("lib/pay.py", 5, "TypeError")
        )
    ),
    research=ResearchContext(),
)


def first(*cases, **choices):
    return first_wave(NightOptions(**choices), NIGHT, CODE, cases)


def names(assignments):
    return [assignment.case.fingerprint for assignment in assignments]


def test_leaders_first_then_siblings():
    waves = first(A, B, C)
    assert names(waves.leaders) == ["v1:a", "v1:c"]
    assert names(second_wave(NightOptions(), waves, WaveResult())) == ["v1:b"]


def test_two_errors_that_one_change_is_suspected_of_are_told_one_finding():
    new, old = (MergedPull(number=n, title="t", sha=f"{n}" * 40, merged_at=DAY) for n in (4, 5))
    suspected = ((new,), (old,), (old, new), ())
    made = [
        error(name, f"E{name}", "m", f"{name}.py",
              suspects=tuple(Suspect(pull=pull, score=0.9) for pull in pulls))
        for name, pulls in zip("abcd", suspected, strict=True)
    ]  # fmt: skip
    waves = first(*made)
    assert names(waves.leaders) == ["v1:a", "v1:b", "v1:d"]
    assert waves.families[0].because == "same suspected change"
    found = WaveResult(analyses=(analysis(made[0].case),))
    (told,) = second_wave(NightOptions(), waves, found)
    assert told.case.fingerprint == "v1:c"
    assert told.research.leader_findings


def test_a_leader_for_whom_nothing_is_left_waits_for_what_the_first_wave_leaves():
    options = NightOptions(total_token_budget=50_000)
    waves = first_wave(options, NIGHT, CODE, (A, B, C))
    assert [(one.case, one.allowance.tokens) for one in waves.leaders] == [(A.unknown.case, 50_000)]
    spent = WaveResult(
        analyses=(analysis(A.unknown.case, usage=Usage(input_tokens=4_000, cost=0.5)),)
    )
    second = second_wave(options, waves, spent)
    assert names(second) == ["v1:b", "v1:c"]
    assert [one.allowance.tokens for one in second] == [46_000, 0]
    assert second[0].research.leader_findings
    assert not second[1].research.leader_findings


def test_siblings_are_told_finding_learnings_files_and_patterns():
    leader = analysis(
        title="No price",
        root_cause="It is called cost.",
        learnings=(Learning(fact="Prices are in cents", path="shop/cart.py", line=2),),
        read=("shop/cart.py", "shop/pay.py"),
        tags=("race-condition", "external-api"),
    )
    assert leader_findings(leader) == (
        "No price (high; shop/cart.py): It is called cost.",
        "learned: Prices are in cents (shop/cart.py:2)",
        "files examined: shop/cart.py, shop/pay.py",
        "patterns seen: race-condition, external-api",
    )


TEXT = st.text(max_size=40).map(lambda text: text * 30)


@settings(max_examples=40, deadline=None)
@given(TEXT, st.lists(TEXT, max_size=9), st.lists(TEXT, max_size=60), st.lists(TEXT, max_size=9))
def test_it_is_bounded(text, facts, read, tags):
    leader = analysis(
        title=text, root_cause=text, read=tuple(read), tags=tuple(tags),
        learnings=tuple(Learning(fact=fact, path=text) for fact in facts),
    )  # fmt: skip
    lines = leader_findings(leader)
    assert sum(len(line) + 1 for line in lines) <= LEADER_FINDINGS
    summaries = [line for line in lines if not line.startswith(("files examined", "patterns"))]
    assert len(summaries) <= 4
    assert all(len(line) <= 200 for line in summaries)
    assert not any("\n" in line for line in lines)


REMOTE = Capabilities(model="remote", input_price=5.0, output_price=25.0)
USED = Usage(calls=2, input_tokens=30_000, cost=0.2)


def verdict(prepared, confidence="high", **more):
    told = {"score": 0.8, "usage": USED, "title": f"Cause of {prepared.fingerprint}", **more}
    return analysis(prepared.unknown.case, confidence=confidence, **told)


def wave_of(*analyses, able=REMOTE, **choices):
    results = (WaveResult(analyses=analyses), WaveResult())
    return third_wave(NightOptions(**choices), first(A, B, C), results, able)


def test_only_weak_verdicts_are_looked_at_again_and_told_what_others_found():
    weak = verdict(A, "low")
    wave = wave_of(weak, verdict(C), verdict(B))
    assert [one.first for one in wave.assignments] == [weak]
    told = wave.assignments[0].research.leader_findings
    assert [line.partition(" (")[0] for line in told] == ["Cause of v1:b", "Cause of v1:c"]
    assert wave.assignments[0].allowance.tokens == 120_000 - 30_000


def test_a_cause_that_nobody_knows_comes_first_and_teaches_nobody():
    more = {"handover": Handover(), "next_steps": ("look",)}
    unknown, misfit = verdict(B, "low", **more), verdict(C, "low", misfit="of other code", **more)
    weak = verdict(A, "low", next_steps=("look",))
    wave = wave_of(weak, misfit, unknown)
    assert [one.case.fingerprint for one in wave.assignments] == ["v1:b", "v1:a"]
    assert [one.research.leader_findings for one in wave.assignments] == [(), ()]


def test_the_better_verdict_takes_the_place_of_the_first_and_a_failure_leaves_it():
    weak, worse, good = verdict(A, "low"), verdict(C, "low", next_steps=("look",)), verdict(B)
    results = (WaveResult(analyses=(weak, worse)), WaveResult(analyses=(good,)))
    wave = third_wave(NightOptions(), first(A, B, C), results, REMOTE)
    found = verdict(A, title="Found")
    lost = Failure(case=worse.case, reason="KeyError: 'x'", usage=USED)
    after = with_second_looks(results, wave, WaveResult(analyses=(found,), failures=(lost,)))
    assert [one.title for one in after[0].analyses] == ["Found", "Cause of v1:c"]
    assert after[1] == results[1]
    left = after[0].analyses[1]
    assert "came to no verdict: KeyError" in left.second_look.because
    assert left.usage == USED + USED


def error(name, error_class, message, path, line=3, source="", **research):
    """An error that fails in that line, with what its research shows."""
    frame = Frame(path=path, line=line, function="run", in_app=True, repo_path=path)
    links = (ExceptionLink(error_class=error_class, message=message, frames=(frame,)),)
    leader = group(f"v1:{name}", error_class, f"{name}/show", message=message)
    shown = (Preview(path=path, start=line, end=line, text=source, kind="failing"),)
    case = Case(leader=leader, trace=Trace(language="python", links=links))
    research = ResearchContext(previews=shown if source else (), **research)
    return Prepared(unknown=UnexplainedCase(case=case), research=research)
