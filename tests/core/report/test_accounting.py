"""What a night took: its sums are what the service bills."""

import pytest
from analysis_shapes import analysed, case, group, trace
from claude_talks import claude
from core.report_fixture import complete
from services.anthropic import Anthropic

from nightwatch_core.adapters.local.quiet import SystemClock
from nightwatch_core.analysis.agent_specs import BUILT_IN
from nightwatch_core.analysis.waves import total_usage
from nightwatch_core.errors import NightWatchError
from nightwatch_core.models.analysis import Failure
from nightwatch_core.models.answer import Usage
from nightwatch_core.models.report import Accounts
from nightwatch_core.report.facts import facts


def test_an_error_took_its_share_and_an_unknown_price_is_not_zero():
    used = Usage(calls=3, input_tokens=9_000, cost=0.5)
    night = Accounts(usage=used, errors=2)
    told = {fact.name: fact.text for fact in facts("accounts", night=night)}
    assert told == {"Tokens": "9,000 input", "Average per error": "4,500 new tokens, $0.25"}
    unpriced = night.model_copy(update={"usage": used.model_copy(update={"cost": None})})
    told = {fact.name: fact.text for fact in facts("accounts", night=unpriced)}
    assert told["Average per error"] == "4,500 new tokens"


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
    assert len(failures) >= 2
    assert len(analyses) >= 3
    used = total_usage(tuple(analyses), tuple(failures))
    assert {name: getattr(used, name) for name in billed} == billed
    assert used.cost == pytest.approx(
        (used.input_tokens * 4 + used.output_tokens * 20
         + used.cache_write_tokens * 5 + used.cache_read_tokens * 0.20) / 1e6
    )  # fmt: skip


def test_a_value_cannot_add_a_fact():
    shown = facts("end", used="1 token\nSent to other services: none", report=complete(), sent="")
    assert [fact.name for fact in shown] == ["Used"]
    assert shown[0].text == "1 token Sent to other services: none"
