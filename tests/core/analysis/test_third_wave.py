from analysis_shapes import analysis
from wave_shapes import A, B, C, first

from nightwatch_core.analysis.second_look import NOTHING_NEW
from nightwatch_core.analysis.waves import third_wave, with_second_looks
from nightwatch_core.models.analysis import Failure
from nightwatch_core.models.answer import Handover, Usage
from nightwatch_core.models.assignment import WaveResult
from nightwatch_core.models.conversation import Capabilities
from nightwatch_core.models.options import NightOptions

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


def test_another_weak_verdict_teaches_nothing():
    wave = wave_of(verdict(A, "low"), verdict(B, "low", next_steps=("look at the job",)))
    assert [one.case.fingerprint for one in wave.assignments] == ["v1:b"]
    assert wave.assignments[0].research.leader_findings == ()
    assert [(one.fingerprint, one.second_look.skipped) for one in wave.skipped] == [
        ("v1:a", NOTHING_NEW)
    ]


def test_the_night_bounds_all_of_them_together():
    weak = tuple(verdict(one, "low", next_steps=("look",)) for one in (A, B, C))
    wave = wave_of(*weak, total_token_budget=190_000)
    assert [one.allowance.tokens for one in wave.assignments] == [50_000, 50_000, 0]


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
