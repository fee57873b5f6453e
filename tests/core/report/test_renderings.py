"""The renderings of every kind of night."""

import re
import unicodedata
from collections.abc import Callable
from html.parser import HTMLParser

import pytest
from core.report.golden_reports import FOLDER, golden, printed
from core.report_fixture import (
    analysis,
    complete,
    degraded,
    empty,
    failed,
    group,
    hostile,
    huge,
    remembered,
)
from markdown_it import MarkdownIt
from rich.cells import cell_len

from nightwatch_core.adapters.html.page import as_html
from nightwatch_core.models.errors import Case
from nightwatch_core.models.proposals import Receipt
from nightwatch_core.report.view import as_markdown

MADE = (complete, empty, degraded, failed, hostile, remembered)
NIGHTS = {make.__name__: make() for make in MADE}


class Page(HTMLParser):
    """Tags, attributes and text of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[tuple[str, str]] = set()
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {(name, value or "") for name, value in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data

    def values(self, name: str) -> set[str]:
        return {value for each, value in self.attributes if each == name}


@pytest.mark.parametrize(("file", "render"), [pytest.param(*one, id=one[0]) for one in golden()])
def test_every_rendering_is_as_it_was(file: str, render: Callable[[], str]) -> None:
    assert render() == (FOLDER / file).read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize("name", NIGHTS)
def test_the_terminal_keeps_to_its_width(name: str, width: int) -> None:
    for text in printed(NIGHTS[name], width).splitlines():
        assert cell_len(text) <= width


@pytest.mark.parametrize("name", NIGHTS)
def test_without_colour_nothing_but_text_is_printed(name: str) -> None:
    said = printed(NIGHTS[name])
    odd = {c for c in said if unicodedata.category(c) in ("Cc", "Cf", "Cs")} - {"\n"}
    assert odd == set()


def test_colours_are_ours_alone() -> None:
    colours = set(re.findall(r"\x1b[^m]*m", printed(complete(), colour=True)))
    assert colours
    colours |= set(re.findall(r"\x1b[^m]*m", printed(degraded(), colour=True)))
    assert set(re.findall(r"\x1b[^m]*m", printed(hostile(), colour=True))) <= colours
    assert "[bold]rich[/bold]" in printed(hostile(), 400)


def test_warnings_come_before_anything_else_but_the_banner() -> None:
    assert as_html(degraded()).index("line 2,114") < as_html(degraded()).index("<h1>")


def test_every_colour_of_the_page_is_one_for_light_and_dark() -> None:
    style = as_html(remembered()).split("<style>")[1].split("</style>")[0]
    light, dark = style.split("prefers-color-scheme: dark")
    used = set(re.findall(r"var\((--[\w-]+)\)", style))
    assert used <= set(re.findall(r"(--[\w-]+):", light))
    assert used <= set(re.findall(r"(--[\w-]+):", dark))


def test_html_takes_nothing_hostile_for_markup() -> None:
    page = Page(as_html(hostile()))
    assert page.tags == Page(as_html(remembered())).tags
    assert not page.tags & {"script", "img", "iframe", "link", "object", "form", "base", "input"}
    assert not {name for name, _ in page.attributes if name.startswith("on")}
    ours = page.values("href") - {"../index.html"}
    assert ours
    assert all(re.fullmatch(r"#[\w.-]+", value, re.ASCII) for value in ours)
    assert page.text.count("<script>alert(1)</script>") > 20


def test_html_loads_nothing() -> None:
    html = as_html(complete())
    page = Page(html)
    assert any("default-src 'none'" in value for value in page.values("content"))
    assert "src" not in {name for name, _ in page.attributes}
    assert "url(" not in html
    assert "@import" not in html


def links(page: Page) -> set[str]:
    return {each for each in page.values("href") if each[0] != "#"} - {"../index.html"}


def test_html_links_only_where_we_published() -> None:
    assert links(Page(as_html(complete()))) == {
        "https://git.example/tidepool/issues/12",
        "https://git.example/tidepool/pull/9",
        "file:///var/lib/tidepool/.nightwatch/outbox/pulls/13.md",
    }


@pytest.mark.parametrize("url", ["javascript:alert(1)", "data:text/html,x", "//evil.example/x"])
def test_odd_addresses_are_shown_but_not_linked(url: str) -> None:
    receipt = complete().receipts[0].model_copy(update={"url": url})
    night = complete(receipts=(Receipt.model_validate(receipt),), outcomes=())
    page = Page(as_html(night))
    assert links(page) == set()
    assert url in page.text
    assert "a" not in Page(MarkdownIt("commonmark").render(as_markdown(night))).tags


def test_markdown_of_a_hostile_night_renders_as_text() -> None:
    rendered = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    source = as_markdown(hostile())
    page = Page(rendered.render(source))
    assert not page.tags & {"a", "img", "script", "input", "s"}
    titles = re.findall(r"(?m)^(#{1,6}) ", re.sub(r"(?ms)^(`{3,}).*?^\1$", "", source))
    assert set(titles) == {"#", "##", "###"}
    assert not re.search(r"(?m)^/\w", source)
    raw = MarkdownIt("commonmark").enable("table").parse(source)
    html = {token.content.strip() for token in raw if token.type == "html_block"}
    assert all(re.fullmatch(r"</details>|<details><summary>[\w ]+</summary>", one) for one in html)
    inline = [child for token in raw for child in token.children or ()]
    assert not [child for child in inline if child.type in ("html_inline", "link_open", "image")]


def test_markdown_tables_keep_their_columns() -> None:
    rendered = MarkdownIt("commonmark").enable("table").render(as_markdown(hostile()))
    scoreboard = 9 * 3
    assert rendered.count("<td") == 7 * len(hostile().analyses) + scoreboard


@pytest.mark.slow
def test_a_huge_night_is_cut_and_complete() -> None:
    night = huge()
    said = printed(night)
    assert "and 175 more: see report.json" in said
    assert len(said.splitlines()) < 600
    for text in (as_markdown(night), as_html(night)):
        assert "5,000 error groups" in text
        assert "and 1,642 more" in text
        assert len(text) < 3_000_000


def test_names_are_not_broken_where_there_is_room() -> None:
    long = Case(leader=group(1, transaction="InvoicesController#show"))
    night = complete(analyses=(analysis(case=long),))
    assert "InvoicesController#show" in printed(night, 80).split("Confirming a booking")[1]
    assert "InvoicesController#show" in printed(night, 120).split(" Error ")[1]
