"""The shop's story holds together, and its model knows nothing that it was not shown."""

from typing import Any

import pytest
from connected import mind, shop

OPENING = """Find it.

## The error

```
NoMethodError in Controller/orders/show: undefined method 'city' for nil
occurrences: 25; first seen: 2026-11-21 22:21 UTC
```

## Trace

```
app/models/order.rb:10:in 'label'  <- ours
app/controllers/orders_controller.rb:3:in 'OrdersController#show'  <- ours
```
"""
BLAMED = """

## Who last changed these lines

```
app/models/order.rb:10, the line that fails: 236379949b 2026-11-19 #12 Say where they live
```
"""


def asked(
    shown: str = "", opening: str = OPENING, by: str = "read_file", **given: str
) -> tuple[list[dict[str, Any]], str]:
    """A turn after a tool answered `shown`; the first one where it is empty."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": opening}]
    if shown:
        call = {"type": "tool_use", "id": "t", "name": by, "input": given}
        result = {"type": "tool_result", "tool_use_id": "t", "content": shown}
        messages += [{"role": "assistant", "content": [call]}]
        messages += [{"role": "user", "content": [result]}]
    return mind.turn({"messages": messages}, 0, shop.FIXED, 1)


def shown(text: str) -> str:
    lines = text.split("\n")
    numbered = "\n".join(f"{at:>5}| {line}" for at, line in enumerate(lines, start=1))
    return f"app/models/order.rb (lines 1-{len(lines)} of {len(lines)})\n{numbered}"


def test_it_asks_first_and_quotes_what_it_was_shown() -> None:
    blocks, stop = asked()
    assert stop == "tool_use"
    assert [block["name"] for block in blocks[1:]] == ["read_file", "search_code"]
    assert blocks[1]["input"]["path"] == "app/models/order.rb"
    blocks, stop = asked(shown(shop.ORDER))
    assert stop == "end_turn"
    assert "address.city.upcase" in blocks[0]["text"]


def test_what_the_first_message_shows_it_quotes_and_does_not_ask_for() -> None:
    opening = f"{OPENING}\n```\n{shown(shop.ORDER)}\n```\n{BLAMED}"
    blocks, _ = asked(opening=opening)
    assert [block["name"] for block in blocks[1:]] == ["read_file", "search_code", "show_commit"]
    assert blocks[1]["input"]["path"] == "app/controllers/orders_controller.rb"
    assert blocks[3]["input"] == {"id": "236379949b"}
    blocks, _ = asked("nothing there", opening)
    assert "address.city.upcase" in blocks[0]["text"]


@pytest.mark.parametrize(("row", "blamed"), [("-  def city", "236379949b"), ("+  def city", "")])
def test_it_blames_a_commit_that_it_saw_take_away_what_is_missing(row: str, blamed: str) -> None:
    opening = f"{OPENING}\n```\n{shown(shop.ORDER)}\n```\n{BLAMED}"
    diff = f"236379949b 2026-11-19 Ann Lee: Say where they live\n--- app/models/order.rb\n{row}"
    blocks, _ = asked(diff, opening, "show_commit", id="236379949b")
    assert f'"suspect_commit": "{blamed}"' in blocks[0]["text"]


def test_another_commit_an_empty_prompt_and_an_empty_answer_are_refused() -> None:
    moved = next(
        change.files["app/models/order.rb"] for change in shop.HISTORY if change.number == 14
    )
    assert asked(shown(moved)) == ([], "refusal")
    assert asked(opening="## Source") == ([], "refusal")
    assert asked("nothing there") == ([], "refusal")


def test_without_a_trace_it_guesses_and_says_so() -> None:
    blocks, stop = asked(opening=OPENING.split("## Trace")[0])
    assert stop == "end_turn"
    assert '"confidence": "low"' in blocks[0]["text"]
    assert '"evidence": []' in blocks[0]["text"]


@pytest.mark.parametrize("error", [e for e in shop.TEN if e.path], ids=lambda e: e.path)
def test_traces_point_at_lines_of_the_release(error: shop.Failing) -> None:
    path, line, *_ = shop.frames(error)[0].split(":")
    assert error.line in shop.running()[path].split("\n")[int(line) - 1]
    assert mind._spoken_of(error.message) in error.line
