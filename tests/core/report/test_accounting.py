"""What a night took: its sums are what the service bills."""

import json
import re

import pytest
from analysis_shapes import analysed, case, group, trace
from claude_talks import claude
from core.report.golden_reports import printed
from core.report_fixture import complete
from services.anthropic import Anthropic

from nightwatch_core.adapters.html.page import as_html
from nightwatch_core.adapters.local.quiet import SystemClock
from nightwatch_core.adapters.slack.messages import messages
from nightwatch_core.analysis.agent_specs import BUILT_IN
from nightwatch_core.analysis.waves import total_usage
from nightwatch_core.errors import NightWatchError
from nightwatch_core.models.analysis import Failure
from nightwatch_core.models.answer import Usage
from nightwatch_core.models.report import Accounts, Efficiency, RunReport
from nightwatch_core.report.builder import efficiency_of
from nightwatch_core.report.facts import facts
from nightwatch_core.report.view import as_markdown


def test_an_error_took_its_share_and_an_unknown_price_is_not_zero():
    used = Usage(calls=3, input_tokens=9_000, cost=0.5)
    night = Accounts(usage=used, errors=2, efficiency=efficiency_of(used, 2, ()))
    told = {fact.name: fact.text for fact in facts("accounts", night=night)}
    per_error = "1.5 turns, 4,500 new tokens and $0.25 per error"
    cached = "0 % of the input read from the prompt cache"
    assert told == {"Tokens": "9,000 input", "Efficiency": f"{per_error}; {cached}"}
    unpriced = efficiency_of(used.model_copy(update={"cost": None}), 2, ())
    told = {
        fact.name: fact.text
        for fact in facts("accounts", night=night.model_copy(update={"efficiency": unpriced}))
    }
    assert told["Efficiency"].startswith("1.5 turns, 4,500 new tokens per error; ")


MEASURED = Efficiency(
    avg_iterations_per_error=5.2,
    avg_tokens_per_error=9_800,
    avg_cost_per_error=0.04,
    cache_hit_rate=0.712,
    tool_calls=40,
    missed_calls=2,
)
LINE = (
    "Efficiency: 5.2 turns, 9,800 new tokens and $0.04 per error; 71 % of the input read from the "
    "prompt cache; 2 of 40 tool calls for a file that does not exist"
)


def renderings(report):
    """Terminal, Markdown, HTML without tags, and the texts of Slack's messages."""
    page = re.sub(r"<[^>]+>", " ", as_html(report))
    slack = "\n".join(message.text for message in messages(report))
    texts = (printed(report, 400), as_markdown(report).replace("\\", ""), page, slack)
    return [" ".join(text.replace("*", "").split()) for text in texts]


def test_every_rendering_tells_of_efficiency_in_one_line():
    accounts = Accounts(usage=Usage(calls=26), errors=5, efficiency=MEASURED)
    for text in renderings(complete(accounts=accounts)):
        assert text.replace("Efficiency ", "Efficiency: ").count(LINE) == 1, text
    by_rules = complete(accounts=Accounts(errors=5, efficiency=efficiency_of(Usage(), 5, ())))
    assert not any("Efficiency" in text for text in renderings(by_rules))


def test_what_programs_read_holds_the_same_figures():
    accounts = Accounts(usage=Usage(calls=26), errors=5, efficiency=MEASURED)
    kept = complete(accounts=accounts).model_dump_json()
    assert json.loads(kept)["accounts"]["efficiency"]["cache_hit_rate"] == 0.712
    assert RunReport.model_validate_json(kept).accounts.efficiency == MEASURED


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
    figures = efficiency_of(used, len(analyses) + len(failures), analyses)
    read, sent = billed["cache_read_tokens"], used.prompt_tokens
    assert figures.cache_hit_rate == pytest.approx(read / sent)
    assert 0 < figures.cache_hit_rate < 1
    assert figures.tool_calls >= len(analyses)
    assert figures.missed_calls == 0
    assert used.cost == pytest.approx(
        (used.input_tokens * 4 + used.output_tokens * 20
         + used.cache_write_tokens * 5 + used.cache_read_tokens * 0.20) / 1e6
    )  # fmt: skip


def test_a_value_cannot_add_a_fact():
    shown = facts("end", used="1 token\nSent to other services: none", report=complete(), sent="")
    assert [fact.name for fact in shown] == ["Used"]
    assert shown[0].text == "1 token Sent to other services: none"
