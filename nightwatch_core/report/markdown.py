"""The report as GitHub-flavoured Markdown: complete, and every foreign string escaped or fenced."""

from collections.abc import Callable, Iterable

from nightwatch_core.models.report import RunReport
from nightwatch_core.report.code import as_text
from nightwatch_core.report.values import FULL, Card, Done, Fact, Limits, Line, ReportView
from nightwatch_core.report.view import view
from nightwatch_core.text.escaping import code_span, fenced, link, markdown
from nightwatch_core.text.words import Some, plural


def as_markdown(report: RunReport, limits: Limits = FULL) -> str:
    """The whole report; blocks are separated by empty lines."""
    shown = view(report, limits)
    blocks = (block for section in SECTIONS for block in section(shown))
    return "\n\n".join(block for block in blocks if block) + "\n"


def card_blocks(card: Card) -> Iterable[str]:
    """One analysis: what, why, evidence, fix, and how it was found."""
    yield f"### {card.rank}\\. {markdown(card.title)}"
    where = f" in {code_span(card.where)}" if card.where else ""
    proved = f" ({markdown(card.proved)})" if card.proved else ""
    yield f"{code_span(card.error)}{where} · confidence: **{card.confidence}**{proved}"
    if card.known:
        yield f"**{markdown(card.known)}**"
    yield markdown(card.news)
    if card.regression:
        yield "**Regression**"
    yield _list(f"{fact.name}: {markdown(fact.text)}" for fact in card.facts)
    if card.message:
        yield fenced(card.message)
    yield from _named("Root cause", _paragraphs(card.cause))
    if card.ending:
        yield f"*{markdown(card.ending)}*"
    yield from _evidence(card)
    yield from _fix(card)
    for name, texts in (
        ("Considered", card.hypotheses),
        ("Suspects", card.suspects),
        ("Next steps", card.next_steps),
        ("Also this error", card.also),
        ("Learned", card.learnings),
    ):
        yield from _named(name, _list(map(markdown, texts)))
    yield from _named("What was done", _list(map(_done, card.done)))
    if card.capture:
        yield f"Capture what was learned: {code_span(card.capture)}"
    how = (f"{fact.name}: {markdown(fact.text)}" for fact in card.how)
    because = (f"because {markdown(text)}" for text in card.because)
    yield from _named("How it was found", _list((*how, *because)))
    if card.again:
        yield f"Again: {code_span(card.again)}"
    if card.trace:
        yield "<details><summary>Stack trace</summary>"
        yield fenced(card.trace)
        yield "</details>"


def _top(shown: ReportView) -> Iterable[str]:
    yield f"# NightWatch {markdown(shown.night)}"
    if shown.standing in ("degraded", "failed"):
        yield f"> **This night {'is incomplete' if shown.standing == 'degraded' else 'failed'}**"
        yield _list(map(markdown, shown.warnings))
    yield f"**{markdown(shown.headline)}**"
    yield "  \n".join(map(markdown, shown.banner))


def _table(shown: ReportView) -> Iterable[str]:
    if not shown.rows.items:
        return
    yield "\n".join(
        (
            "| # | Error | Where | Count | Cause | Confidence | Done |",
            "|--:|---|---|--:|---|---|---|",
            *(
                f"| {row.rank} | {code_span(row.error, cell=True)} "
                f"| {code_span(row.where, cell=True)} | {row.count:,} "
                f"| {markdown(row.cause, cell=True)} | {row.confidence} "
                f"| {markdown(row.done, cell=True)} |"
                for row in shown.rows.items
            ),
        )
    )
    yield shown.rows.rest


def _cards(shown: ReportView) -> Iterable[str]:
    if shown.cards.items:
        yield "## Analyses"
    for card in shown.cards.items:
        yield from card_blocks(card)
    yield shown.cards.rest


def _evidence(card: Card) -> Iterable[str]:
    if card.evidence.items:
        yield "**Evidence**"
    for snippet in card.evidence.items:
        checked = " (verified)" if snippet.verified else ""
        note = f": {markdown(snippet.note)}" if snippet.note else ""
        yield f"{code_span(snippet.place)}{checked}{note}"
        if snippet.lines:
            yield fenced(as_text(snippet.lines))
    yield card.evidence.rest


def _fix(card: Card) -> Iterable[str]:
    if not card.fix.items:
        return
    yield "**Proposed fix**"
    for diff in card.fix.items:
        description = f": {markdown(diff.description)}" if diff.description else ""
        yield f"{code_span(diff.path)} ({diff.action}){description}"
        if diff.lines:
            yield fenced(as_text(diff.lines), "diff", 60_000)
    yield card.fix.rest


def _lists(shown: ReportView) -> Iterable[str]:
    yield from _lines("Failed analyses", shown.failures)
    yield from _lines("Patterns", shown.patterns)
    yield from _lines("Ignore rules you might add", shown.suggestions)
    told = (*map(_line, shown.followed.items), *map(_line, shown.outcomes.items))
    yield from _section("What became of earlier proposals", told)
    yield shown.followed.rest
    yield shown.outcomes.rest
    yield from _section("Published for other errors", map(_done, shown.elsewhere.items))
    yield shown.elsewhere.rest


def _dropped(shown: ReportView) -> Iterable[str]:
    if not shown.dropped_groups:
        return
    yield f"## Not analysed: {plural(shown.dropped_groups, 'error group')}"
    for bunch in shown.dropped.items:
        seen = f"{plural(bunch.groups, 'group')}, seen {plural(bunch.count, 'time')}"
        yield f"**{markdown(bunch.reason)}** ({seen})"
        yield _list(
            f"{markdown(each.error)} ({each.count:,}) {code_span(each.fingerprint)}"
            for each in bunch.examples.items
        )
        yield bunch.examples.rest
    yield shown.dropped.rest


def _remarks(shown: ReportView) -> Iterable[str]:
    if shown.rejected:
        yield from _lines(f"{plural(shown.rejected, 'record')} could not be read", shown.rejects)
        yield f"All of them are in {code_span(shown.files[-1])}." if shown.files else ""
    yield from _section("To put right", map(markdown, shown.complaints.items))
    yield shown.complaints.rest


def _scoreboard(shown: ReportView) -> Iterable[str]:
    if shown.scored is None:
        return
    table = shown.scored.table
    yield "## Scoreboard"
    yield "\n".join(
        (
            f"| {' | '.join(table.columns)} |",
            f"|---|{'--:|' * (len(table.columns) - 1)}",
            *(f"| {' | '.join(markdown(cell, cell=True) for cell in row)} |" for row in table.rows),
        )
    )
    yield from map(markdown, shown.scored.sentences)


def _end(shown: ReportView) -> Iterable[str]:
    yield from _section("This run", map(_fact, shown.facts))
    yield markdown(shown.learned)
    if shown.again:
        yield f"One error again: {code_span(shown.again)}"
    yield from _section("Files", map(code_span, shown.files))


def _lines(name: str, lines: Some[Line]) -> Iterable[str]:
    yield from _section(name, map(_line, lines.items))
    yield lines.rest


def _line(each: Line) -> str:
    head = link(each.head, each.address) if each.address else f"**{markdown(each.head)}**"
    text = f": {markdown(each.text)}" if each.text else ""
    small = f" ({markdown(each.small)})" if each.small else ""
    more = "".join(f"\n  - {markdown(text)}" for text in each.more)
    return f"{head}{text}{small}{more}"


def _done(done: Done) -> str:
    name = link(done.text, done.address) if done.address else markdown(done.text)
    return f"{name}: {markdown(done.note)}" if done.note else name


def _fact(fact: Fact) -> str:
    return f"{fact.name}: {markdown(fact.text)}"


def _section(name: str, texts: Iterable[str]) -> Iterable[str]:
    listed = _list(texts)
    return (f"## {name}", listed) if listed else ()


def _named(name: str, body: str) -> Iterable[str]:
    return (f"**{name}**", body) if body else ()


def _list(texts: Iterable[str]) -> str:
    return "\n".join(f"- {text}" for text in texts if text)


def _paragraphs(text: str) -> str:
    return "\n\n".join(markdown(each, 6_000) for each in text.splitlines() if each.strip())


SECTIONS: tuple[Callable[[ReportView], Iterable[str]], ...] = (
    _top,
    _table,
    _cards,
    _lists,
    _scoreboard,
    _dropped,
    _remarks,
    _end,
)
