"""The night's accounts."""

import pytest
from analysis_shapes import analysed, analysis, case, group, trace
from claude_talks import OPUS, claude
from core.report_fixture import complete
from services.anthropic import Anthropic

from nightwatch_core.adapters.local.quiet import SystemClock
from nightwatch_core.analysis.agent_specs import BUILT_IN
from nightwatch_core.errors import NightWatchError
from nightwatch_core.models.analysis import Ending, Failure, SecondLook
from nightwatch_core.models.answer import Usage
from nightwatch_core.models.code import CodeReads
from nightwatch_core.models.report import Accounts
from nightwatch_core.report.builder import accounts
from nightwatch_core.report.facts import accounts_line, facts

SPENT = Usage(calls=3, input_tokens=100, output_tokens=50, cache_write_tokens=50,
              cache_read_tokens=850, cost=0.5, saved=0.25, priced="2026-09-25")  # fmt: skip
REUSED = analysis(ending=Ending(kind="reused"), confidence="medium")


def looked_again(kept, *confidence, skipped=""):
    looked = SecondLook(
        wanted="low confidence", kept=kept, confidence=confidence, skipped=skipped,
        usage=Usage(calls=1, cost=0.1),
    )  # fmt: skip
    return analysis(second_look=looked, passes=2, confidence=confidence[-1])


def test_a_quiet_night_divides_by_nothing():
    assert accounts(()) == Accounts()
    assert accounts_line(accounts(())) == ""


def test_rates_and_averages():
    fresh = analysis(usage=SPENT, iterations=6, missed=2, truncated=3, recalled=1, model=OPUS)
    other = analysis(usage=SPENT, iterations=2, missed=1, model=OPUS, confidence="low")
    failed = Failure(case=case(), reason="refused", usage=SPENT)
    fresh = fresh.model_copy(update={"code_reads": CodeReads(asked=6, memory=4)})
    told = accounts((fresh, other, REUSED), (failed,))
    assert (told.analysed, told.failed, told.reused) == (2, 1, 1)
    assert told.usage == SPENT + SPENT + SPENT
    assert told.prompt_cache_rate == pytest.approx(0.85)
    assert told.code_cache_rate == pytest.approx(0.4)
    assert told.knowledge_rate == pytest.approx(2 / 3)
    assert (told.missed, told.truncated) == (3, 3)
    assert (told.iterations_per_error, told.tokens_per_error) == (4.0, 200.0)
    assert told.cost_per_error == pytest.approx(0.5)
    assert (told.models, told.priced) == ((OPUS,), "2026-09-25")


def test_an_unknown_price_is_not_zero():
    told = accounts((analysis(usage=Usage(input_tokens=5, cost=None, saved=None), model="qwen"),))
    assert (told.cost_per_error, told.priced, told.tokens_per_error) == (None, "", 5.0)
    assert "price unknown" in accounts_line(told)


def test_what_second_looks_changed():
    told = accounts(
        (
            looked_again("second", "low", "high"),
            looked_again("second", "low", "low"),
            looked_again("first", "low", "medium"),
            looked_again("first", "low", skipped="nothing left"),
        )
    )
    looks = told.second_looks
    assert (looks.wanted, looks.made, looks.kept, looks.surer) == (4, 3, 2, 1)
    assert looks.usage.calls == 3


def test_a_line_for_a_channel():
    reads = CodeReads(asked=1, memory=1)
    told = accounts((analysis(usage=SPENT, model=OPUS, code_reads=reads),))
    assert accounts_line(told) == (
        "200 new tokens (200 an error) · $0.50 · prompt cache 85% · $0.25 saved by it · "
        "code cache 50%"
    )


def test_the_nights_sums_are_the_bills_to_the_token():
    """Verdicts, broken attempts and failures of a night, held against what the service bills."""
    analyses, failures = [], []
    with Anthropic() as server:
        model = claude(server)
        server.fail("cut", after=1)
        server.fail("sse error", after=2, times=2)
        server.fail("refusal", after=2)
        server.fail("cut", after=1, times=3)
        for number in range(6):
            of = case(group(fingerprint=f"v1:{number}"))
            try:
                given = {"agent": BUILT_IN, "clock": SystemClock(), "traces": (trace(),)}
                analyses.append(analysed(model, of, **given))
            except NightWatchError as trouble:
                failures.append(Failure(case=of, reason=str(trouble), usage=trouble.usage))
        billed = server.bills.totals
    told = accounts(tuple(analyses), tuple(failures))
    assert told.failed >= 2
    assert told.analysed >= 3
    assert {name: getattr(told.usage, name) for name in billed} == billed
    assert told.usage.cost == pytest.approx(
        (told.usage.input_tokens * 4 + told.usage.output_tokens * 20
         + told.usage.cache_write_tokens * 5 + told.usage.cache_read_tokens * 0.20) / 1e6
    )  # fmt: skip


def test_a_value_cannot_add_a_fact():
    shown = facts("end", used="1 token\nSent to other services: none", report=complete(), sent="")
    assert [fact.name for fact in shown] == ["Used", "Code cache"][: len(shown)]
    assert shown[0].text == "1 token Sent to other services: none"
