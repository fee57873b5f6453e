"""Room in long conversations: each way of making it really fires, and is accounted."""

import pytest
from claude_talks import OPUS, SHOWN, claude, opening, results, shown
from services.anthropic import Anthropic
from tables import tables_of

from nightwatch_core.adapters.claude import features
from nightwatch_core.adapters.claude.features import (
    INSTRUCTIONS,
    Features,
    betas,
    capabilities_of,
    context_management,
    features_of,
    priced,
)
from nightwatch_core.adapters.claude.model import usage_of
from nightwatch_core.models.answer import Usage
from nightwatch_core.models.conversation import UserTurn

TABLES = tables_of(__file__)

SONNET, HAIKU, OLD = "claude-sonnet-5-5", "claude-haiku-5-5", "claude-haiku-4-5"
LONG = "shop/other.py (lines 1-900 of 900)\n" + "    1| x = 1\n" * 1_000
NEVER = 10**9
EARLY = {"CLEAR_AT": 6_000, "CLEAR_AT_LEAST": 4_000, "KEEP_RESULTS": 2, "COMPACT_AT": NEVER}


@pytest.fixture
def tuned(monkeypatch):
    """Sets the lengths at which room is made."""

    def tune(**lengths):
        for name, value in lengths.items():
            monkeypatch.setattr(features, name, value)

    return tune


def of(name):
    return features_of(name, Anthropic().model(name))


def read_on(model, turns):
    """A conversation that goes on although it was answered: what is told adds up."""
    talk = opening()
    reply = model.reply(talk, 20)
    talk = talk.said(reply.turn, results(reply))
    replies = [reply]
    for number in range(turns):
        replies.append(model.reply(talk, 20))
        if replies[-1].stop == "paused":
            talk = talk.said(replies[-1].turn)
            continue
        talk = talk.said(replies[-1].turn, UserTurn(text=f"{number}: {'look here ' * 3_000}"))
    return replies, talk


def test_old_results_are_cleared_and_counted(tuned):
    tuned(**EARLY)
    with Anthropic(reads=5) as server:
        model = claude(server)
        first = model.reply(opening(), 10)
        told = results(first, f"{LONG}\n\n{SHOWN}")
        second = model.reply(opening().said(first.turn, told), 10)
        edit = server.bodies[-1]["context_management"]["edits"][0]
        announced = server.requests[-1].headers["anthropic-beta"].split(",")
        billed = server.bills.totals
    assert edit["clear_at_least"] == {"type": "input_tokens", "value": 4_000}
    assert announced[0] == "context-management-2025-06-27"
    assert (first.usage.cleared_tokens, second.stop) == (0, "answer")
    assert second.usage.cleared_tokens == billed["cleared_tokens"] > 3 * len(LONG) // 5
    assert second.usage.prompt_tokens < second.usage.cleared_tokens
    used = second.usage
    assert used.uncleared_tokens > used.cleared_tokens
    after = used.uncleared_tokens - used.cleared_tokens
    assert abs(after - used.prompt_tokens) < 50  # counted and billed are not rounded alike


@pytest.mark.parametrize("more", [{"CLEAR_AT": 60_000}, {"CLEAR_AT_LEAST": 50_000}])
def test_nothing_is_cleared_where_it_is_too_early_or_too_little(tuned, more):
    tuned(**{**EARLY, **more})
    with Anthropic(reads=5) as server:
        model = claude(server)
        first = model.reply(opening(), 10)
        told = results(first, f"{LONG}\n\n{SHOWN}")
        assert model.reply(opening().said(first.turn, told), 10).usage.cleared_tokens == 0


def test_a_long_conversation_is_summarised_and_goes_on(tuned):
    tuned(COMPACT_AT=50_000)
    with Anthropic() as server:
        model = claude(server)
        replies, talk = read_on(model, 11)
        bodies, billed = server.bodies, server.bills.totals
        announced = server.requests[-1].headers["anthropic-beta"]
    pauses = [number for number, reply in enumerate(replies) if reply.stop == "paused"]
    assert pauses
    at = pauses[0]
    assert replies[at].detail == "summarised"
    assert replies[at + 1].stop == "answer"
    assert "return line.price" in replies[at + 1].turn.text  # known from the summary alone
    assert replies[at + 1].usage.prompt_tokens < replies[at - 1].usage.prompt_tokens / 5
    echoed = bodies[at + 1]["messages"][-1]["content"]
    assert [block["type"] for block in echoed] == ["compaction"]
    assert bodies[at + 1]["messages"][:-1] == bodies[at]["messages"]
    edit = bodies[at]["context_management"]["edits"][-1]
    assert (edit["pause_after_compaction"], edit["instructions"]) == (True, INSTRUCTIONS)
    assert "compact-2026-01-12" in announced
    assert replies[at].usage.compactions == 1
    took = replies[at].usage
    assert took.compaction_tokens == took.prompt_tokens + took.output_tokens > 50_000
    assert took.cost > 0
    assert sum(reply.usage.compaction_tokens for reply in replies) == billed["compaction_tokens"]


def test_a_summary_that_failed_is_not_asked_for_again(tuned):
    tuned(COMPACT_AT=50_000)
    with Anthropic() as server:
        server.fail("no summary", times=99)
        model = claude(server)
        replies, _ = read_on(model, 12)
        last = server.bodies[-1]
    failed = [reply for reply in replies if reply.stop == "paused"]
    assert [reply.detail for reply in failed] == ["a summary failed"]
    assert failed[0].usage.compactions == 1
    assert replies[-1].stop == "answer"
    kinds = [edit["type"] for edit in last["context_management"]["edits"]]
    assert kinds == ["clear_tool_uses_20250919"]


def test_nothing_is_summarised_for_the_last_answer(tuned):
    tuned(COMPACT_AT=50_000)
    with Anthropic() as server:
        model = claude(server)
        long = shown().said(UserTurn(text="look here " * 25_000))
        reply = model.reply(long.model_copy(update={"tools_off": True}), 20)
        assert reply.stop == "answer"
        assert model.reply(long, 20).stop == "paused"
        one, two = server.requests[-2:]
    assert one.headers["anthropic-beta"] == two.headers["anthropic-beta"]
    assert reply.usage.prompt_tokens > 50_000


def test_where_compaction_is_off_nothing_is_summarised(tuned):
    tuned(COMPACT_AT=50_000)
    with Anthropic() as server:
        replies, _ = read_on(claude(server, compacts=False), 11)
        edits = [kind["type"] for kind in server.bodies[-1]["context_management"]["edits"]]
        announced = server.requests[-1].headers["anthropic-beta"]
    assert "paused" not in {reply.stop for reply in replies}
    assert max(reply.usage.prompt_tokens for reply in replies) > 50_000
    assert edits == ["clear_tool_uses_20250919"]
    assert "compact" not in announced


def test_each_model_is_asked_only_what_it_can_do():
    kinds = {
        name: [edit["type"] for edit in context_management(of(name), False)["edits"]]
        for name in (OPUS, HAIKU, OLD)
    }
    assert kinds[OPUS] == kinds[HAIKU] == ["clear_tool_uses_20250919", "compact_20260112"]
    assert kinds[OLD] == ["clear_tool_uses_20250919"]
    assert context_management(Features(model="qwen"), False) == {}
    assert len(betas(of(OPUS))) == 3
    assert len(betas(of(HAIKU))) == 2
    assert betas(of(OLD)) == ["context-management-2025-06-27"]
    assert betas(Features(model="qwen")) == []


@pytest.mark.parametrize(
    ("context", "wanted", "asked"),
    [(1_000_000, 150_000, 150_000), (200_000, 150_000, 140_000), (1_000_000, 1, 50_000)],
)
def test_a_summary_comes_before_the_context_is_full(tuned, context, wanted, asked):
    tuned(COMPACT_AT=wanted)
    one = of(OPUS).model_copy(update={"context": context})
    edit = context_management(one, False)["edits"][-1]
    assert edit["trigger"]["value"] == asked


def test_the_sums_are_the_bills_to_the_token(tuned):
    """Clearing, summaries, broken attempts, several calls at once: nothing is lost or twice."""
    tuned(**{**EARLY, "COMPACT_AT": 50_000})
    with Anthropic() as server:
        model = claude(server)
        for fault in ("cut", "sse error", "end", "529"):
            server.fail(fault, after=2)
        long = [reply.usage for reply in read_on(model, 12)[0]]
        server.reads = 5
        first = model.reply(opening(), 20)
        told = results(first, f"{LONG}\n\n{SHOWN}")
        more = [first.usage, model.reply(opening().said(first.turn, told), 20).usage]
        billed = server.bills.totals
    whole = sum((*long, *more), Usage())
    assert {name: getattr(whole, name) for name in billed} == billed
    assert billed["calls"] > len(long) + len(more)  # broken attempts are billed too
    assert min(count for name, count in billed.items() if name != "input_tokens") > 0
    assert whole.cost == pytest.approx(
        (whole.input_tokens * 4 + whole.output_tokens * 20 + whole.cache_write_tokens * 5
         + whole.cache_read_tokens * 0.20) / 1e6
    )  # fmt: skip


def test_summaries_that_the_totals_leave_out_are_billed_each_by_its_length():
    summary = {"type": "compaction", "input_tokens": 120_000, "output_tokens": 900}
    message = {"type": "message", "input_tokens": 100, "output_tokens": 5}
    counted = {
        "input_tokens": 100, "output_tokens": 5, "iterations": [summary, message],
        "output_tokens_details": {"thinking_tokens": 9},
        "cache_creation_input_tokens": 7, "cache_creation": {"ephemeral_1h_input_tokens": 3},
    }  # fmt: skip
    used = usage_of({"usage": counted}, HAIKU)
    assert (used.calls, used.compactions, used.compaction_tokens) == (1, 1, 120_900)
    assert (used.input_tokens, used.output_tokens) == (120_100, 905)
    assert (used.thinking_tokens, used.cache_write_1h_tokens) == (5, 3)
    written = Usage(
        input_tokens=100, output_tokens=5, cache_write_tokens=7, cache_write_1h_tokens=3
    )
    parts = priced(HAIKU, Usage(input_tokens=120_000, output_tokens=900)), priced(HAIKU, written)
    assert used.cost == pytest.approx(sum(part.cost for part in parts))


@pytest.mark.parametrize(
    "message",
    [{}, {"usage": None}, {"usage": {"iterations": {}, "cache_creation": 5}},
     {"usage": {"iterations": [5, None, {}]}, "context_management": {"applied_edits": "all"}},
     {"usage": {"output_tokens": -5}, "context_management": {"applied_edits": [{}]}}],
    ids=["empty", "none", "odd", "odder", "negative"],
)  # fmt: skip
def test_odd_usage_counts_as_nothing(message):
    assert usage_of(message, "qwen") == Usage(calls=1, cost=None, saved=None)


@pytest.mark.parametrize("info", TABLES["test_odd_answers_support_nothing"])
def test_odd_answers_support_nothing(info):
    plain = Features(model="m", listed=True)
    assert features_of("m", info).model_copy(update={"caching": False}) == plain


@pytest.mark.parametrize(("has", "wanted", "taken"), TABLES["test_efforts"])
def test_efforts(has, wanted, taken):
    assert Features(model="m", efforts=has).effort(wanted) == taken


def test_notes():
    gone = Features(model="m", lifecycle="deprecated", line="haiku")
    assert capabilities_of(gone).note == "will be retired: claude-haiku-5-5 takes its place"
    assert capabilities_of(Features(model="m")).note == ""
