"""How many of our drafts passed: by their checks, and by what people did with them."""

import pytest
from core.report_fixture import complete
from core.scoreboard_shapes import drafts, record

from nightwatch_core.memory.outcomes import draft_rate, with_drafts
from nightwatch_core.memory.scoreboard import scoreboard
from nightwatch_core.models.proposals import OwnItem
from nightwatch_core.models.report import LearningResult
from nightwatch_core.report.facts import drafts_line, sentences
from nightwatch_core.report.view import view


@pytest.mark.parametrize(
    ("states", "checks", "good", "known"),
    [
        ("ooo", "pf.", 1, 2),  # by their checks
        ("mc", "..", 1, 2),  # by what people did
        ("mc", "fp", 1, 2),  # what people did wins
        ("oo", "..", 0, 0),
        ("", "", 0, 0),
    ],
)
def test_what_is_known_of_drafts(states: str, checks: str, good: int, known: int) -> None:
    rate = draft_rate((*drafts(states, checks), OwnItem(kind="issue", number=9, fingerprint="a")))
    assert (rate.drafts, rate.good, rate.known) == (len(states), good, known)
    assert rate.share == (good / known if known else None)


@pytest.mark.parametrize(
    ("states", "checks", "line"),
    [
        ("mmco", "p...", "2 of 3 drafts passed (67 %): 2 merged, 1 closed unmerged; "
                         "checks passed 1. 1 not known."),
        ("m", ".", "1 of 1 draft passed (100 %): 1 merged, 0 closed unmerged; checks not known."),
        ("o", ".", "What became of 1 draft is not known yet."),
        ("", "", ""),
    ],
)  # fmt: skip
def test_the_line_says_what_it_rests_on(states: str, checks: str, line: str) -> None:
    assert drafts_line(draft_rate(drafts(states, checks))) == line


def test_it_stands_on_the_board_also_before_anything_else_is_decided() -> None:
    decided = with_drafts(scoreboard(record("mmc")), drafts("mmc", "..."))
    assert any(each.startswith("2 of 3 drafts") for each in sentences(decided))
    fresh = with_drafts(scoreboard([]), drafts("o", "p"))
    assert [text[:24] for text in sentences(fresh)[1:]] == ["Nothing of what was publ"]
    shown = view(complete(learned=LearningResult(scoreboard=fresh))).section("scoreboard")
    assert "1 of 1 draft passed" in shown.model_dump_json()
    unknown = LearningResult(scoreboard=with_drafts(scoreboard([]), drafts("o", ".")))
    silent = view(complete(learned=unknown))
    assert silent.section("scoreboard").blocks == ()
