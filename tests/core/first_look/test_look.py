"""A first look, over an error source and a repository in memory."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
from rich.console import Console
from twins.reading import MemoryCode, MemoryErrors, MemoryHost

from nightwatch_core.code.failed_commit import opened
from nightwatch_core.errors import GiveUp
from nightwatch_core.first_look.dry_analysis import (
    CHEAPEST,
    DEAREST,
    checkout_lines,
    content_lines,
    cost_lines,
    estimate,
    first_look,
    group_lines,
    place_of,
    rendered,
    unread_lines,
)
from nightwatch_core.models.code import Commit
from nightwatch_core.models.errors import (
    ErrorGroup,
    ExceptionLink,
    FileContents,
    Frame,
    RejectedRecord,
    Trace,
    Window,
)
from nightwatch_core.models.options import NightOptions

NOW = datetime(2026, 11, 20, 6, tzinfo=UTC)
SPAN = Window(since=NOW - timedelta(hours=5), until=NOW)
HEAD = Commit(repository="shop", sha="a" * 40, branch="main", at=NOW)
OLD = Commit(repository="shop", sha="b" * 40, at=NOW - timedelta(days=3))
CART = "def total(prices, sku):\n    return prices[sku]\n"


@dataclass
class MemoryFiles(MemoryErrors):
    """A FileSource that was told what it holds."""

    held: FileContents = FileContents(records=3, shapes=(("JSON record", 3),), window=SPAN)

    def contents(self):
        return self.held


def group(name="v1:1", **fields):
    given = {"error_class": "KeyError", "message": "'sku-7'", "occurrences": 3, "last_seen": NOW}
    return ErrorGroup(fingerprint=name, source="file", **(given | fields))


def trace(*frames):
    link = ExceptionLink(error_class="KeyError", message="'sku-7'", frames=frames)
    return Trace(language="python", links=(link,))


OWN = Frame(path="/srv/app/shop/cart.py", line=2, code="return prices[sku]", in_app=True)
THEIRS = Frame(path="/usr/lib/python3/dist-packages/flask/app.py", line=880)


def files(*groups, frames=(OWN, THEIRS)):
    traces = {one.fingerprint: (trace(*frames),) for one in groups} if frames else {}
    return MemoryFiles(groups=groups, known_traces=traces)


def look(source, host=None, **options):
    chosen = NightOptions(**options)
    repository = opened(host, chosen, None) if host else None
    price = lambda model, usage: usage.model_copy(update={"cost": 0.1})  # noqa: E731
    return first_look(
        source, repository, NOW, None, lambda cases: estimate(cases, chosen, "m-1", price)
    )


def shop():
    tree = {"shop/cart.py": CART, "shop/app.py": "\n"}
    return MemoryHost(
        code=MemoryCode(tree, at=HEAD),
        older={"v1": MemoryCode({"shop/cart.py": "\n" + CART}, at=OLD)},
    )


def test_without_a_checkout_places_are_as_printed():
    seen = look(files(group()))
    (error,) = seen.errors
    assert (error.frames, error.own, error.placed, error.commit) == (2, 1, 0, None)
    assert place_of(error) == "/srv/app/shop/cart.py:2"
    assert "--repo" in checkout_lines(seen)[0]
    assert group_lines(seen) == ("1 error group (Python 1), 1 case to analyse",)


def test_frames_are_placed_at_the_commit_of_the_release():
    here = Frame(path="/srv/app/shop/cart.py", line=3, code="return prices[sku]", in_app=True)
    seen = look(files(group(release="v1"), frames=(here, THEIRS)), shop())
    assert seen.errors[0].commit.sha == OLD.sha
    assert place_of(seen.errors[0]) == "shop/cart.py:3 ✓"
    assert checkout_lines(seen) == (
        "Lines of your code in these stack traces, found in bbbbbbbbbb, 2026-11-17: 1 of 1",
    )
    assert group_lines(seen)[1] == "release v1 is bbbbbbbbbb, 2026-11-17"


def test_a_line_that_is_another_one_now_is_said_to_be():
    gone = Frame(path="/srv/app/shop/cart.py", line=1, code="raise Gone", in_app=True)
    seen = look(files(group(), frames=(gone,)), shop())
    assert place_of(seen.errors[0]) == "shop/cart.py:1 (another line stands there)"


def test_a_record_of_other_code_is_said_to_be():
    beyond = Frame(path="/srv/app/shop/cart.py", line=90, function="total", in_app=True)
    seen = look(files(group(last_seen=None), frames=(beyond,)), shop())
    assert place_of(seen.errors[0]) == "shop/cart.py:90 (of other code than this)"
    assert "1 record is of other code than this: shop/cart.py" in " ".join(checkout_lines(seen))
    assert "--commit" in " ".join(checkout_lines(seen))


def test_a_commit_that_nothing_names_says_why_it_is_read():
    lines = checkout_lines(look(files(group(last_seen=None)), shop()))
    assert lines[1].startswith("aaaaaaaaaa is ")
    assert "neither a release nor a time" in lines[1]


def test_the_commit_that_was_chosen_is_looked_at():
    seen = look(files(group()), shop(), commit="v1")
    assert seen.errors[0].commit.sha == OLD.sha
    with pytest.raises(GiveUp, match="not a tag, branch or commit"):
        look(files(group()), shop(), commit="v9")


def test_what_could_not_be_read_is_said_once_for_each_reason_with_a_place():
    rejects = tuple(RejectedRecord(place=f"a:{n}", reason="no class") for n in (1, 2))
    odd = RejectedRecord(place="a:9", reason="no\x1b[31m JSON")
    contents = FileContents(
        records=1, rejected=5, rejects=(odd, *rejects), missing=("b.gz is damaged",)
    )
    assert unread_lines(contents) == (
        "2 records: no class (a:1)",
        "1 record: no JSON (a:9)",
        "2 more records like these",
        "b.gz is damaged",
    )


def test_contents_name_shapes_and_span():
    contents = FileContents(records=3, harmless=2, shapes=(("Docker log", 3), ("", 0)), window=SPAN)
    assert content_lines(contents) == (
        "3 records of errors, 2 without an error, 2026-11-20 01:00 UTC to 2026-11-20 06:00 UTC",
        "3 × Docker log",
    )
    assert content_lines(FileContents(records=1)) == ("1 record of errors, without times",)


def test_where_nothing_is_read_it_says_what_can_be():
    cut = RejectedRecord(place="a.log:3", reason="a stack trace without the name of an error")
    source = MemoryFiles(held=FileContents(harmless=2, rejected=1, rejects=(cut,)))
    text = printed(look(source, shop()))
    assert "No error, 2 without an error" in text
    assert "1 record: a stack trace without the name of an error (a.log:3)" in text
    assert "adapters/files/README.md" in text
    assert "A night over it" not in text


def test_an_estimate_is_of_the_errors_that_a_night_takes():
    price = lambda model, usage: usage.model_copy(update={"cost": 0.1})  # noqa: E731
    made = estimate(40, NightOptions(max_errors=4), "m-1", price)
    assert made.errors == 4
    assert made.least.new_tokens == 4 * CHEAPEST.new_tokens
    assert made.most.new_tokens == 4 * DEAREST.new_tokens
    assert made.most.cost == pytest.approx(0.4)
    assert "never more than $6.00" in cost_lines(made)[1]


def test_hostile_text_is_shown_as_text():
    bad = group(error_class="[red]X[/red]\x1b[2J", message="\u202eevil\nline")
    text = printed(look(files(bad)))
    assert "[red]X[/red]: evil line" in text
    assert "\x1b" not in text
    assert "\u202e" not in text


def printed(seen, width=100):
    out = StringIO()
    Console(file=out, width=width, force_terminal=False).print(rendered(seen))
    return out.getvalue()
