"""The report as GitHub-flavoured Markdown: complete, and every foreign string escaped or fenced."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from nightwatch_core.models.report import RunReport
from nightwatch_core.publish.finding_parts import NO_CAUSE
from nightwatch_core.report import blocks
from nightwatch_core.report.blocks import Block, Entry, Finding, ReportView, Section
from nightwatch_core.report.excerpts import CAUSE, FULL, Excerpt, Limits, code_text
from nightwatch_core.report.publications import Publication
from nightwatch_core.report.view import view
from nightwatch_core.text.escaping import code_span, fenced, is_web, link, markdown
from nightwatch_core.text.plain_text import CutList, plural

_MOST_CODE = 60_000  # characters of one excerpt
Say = Callable[[str], str]  # a line of prose in Markdown


def as_markdown(report: RunReport, limits: Limits = FULL) -> str:
    """The whole report; blocks are separated by empty lines."""
    shown = view(report, limits)
    parts = (
        *_top(shown),
        *(part for section in shown.sections for part in _section(section, "## {}")),
    )
    return "\n\n".join(part for part in parts if part) + "\n"


def _top(shown: ReportView) -> Iterator[str]:
    yield f"# NightWatch {markdown(shown.night)}"
    if shown.standing in ("degraded", "failed"):
        yield f"> **This night {'is incomplete' if shown.standing == 'degraded' else 'failed'}**"
        yield _list(map(markdown, shown.warnings))
    yield f"**{markdown(shown.headline)}**"
    yield markdown(shown.source)
    yield "  \n".join(map(markdown, shown.banner))


def _section(section: Section, heading: str, say: Say = markdown) -> Iterator[str]:
    if section.folded:
        yield f"<details><summary>{section.title}</summary>"
    elif section.title:
        yield heading.format(section.title)
    for block in section.blocks:
        yield from _block(block, say)
        if isinstance(block, CutList) and not isinstance(block, blocks.Bullets):
            yield block.rest
    if section.folded:
        yield "</details>"


def _block(block: Block, say: Say) -> Iterable[str]:
    match block:
        case blocks.Facts():
            facts = (f"{markdown(fact.name)}: {markdown(fact.text)}" for fact in block.items)
            because = (f"because {markdown(text)}" for text in block.because)
            return (_list((*facts, *because)),)
        case blocks.Paragraphs():
            remark = f"*{markdown(block.remark)}*" if block.remark else ""
            paragraphs = "\n\n".join(
                say(splitline[:CAUSE]) for splitline in block.text.splitlines() if splitline.strip()
            )
            return (paragraphs, remark)
        case blocks.Verbatim():
            opening = f"<details><summary>{block.name}</summary>"
            text = fenced(block.text)
            return (opening, text, "</details>") if block.name else (text,)
        case blocks.Command():
            return (f"{block.name}: {code_span(block.text)}",)
        case blocks.Bullets():
            return (_list(map(say, (*block.items, block.rest))),)
        case blocks.Paths():
            paths = tuple(map(code_span, block.items))
            return (f"{block.name}: {', '.join(paths)}",) if block.name else (_list(paths),)
        case blocks.Entries():
            return (_list(map(_entry, block.items)),)
        case blocks.Publications():
            return (_list(map(_publication, block.items)),)
        case blocks.Excerpts():
            return (part for item in block.items for part in _excerpt(item, say))
        case blocks.Table():
            return (_table(block),)
        case blocks.ErrorTable():
            return (_error_table(block),)
        case blocks.SightTable():
            return (_sight_table(block),)
        case blocks.DropReasons():
            return _drop_reasons(block)
        case blocks.Findings():
            return (part for item in block.items for part in _finding(item))


def _finding(finding: Finding) -> Iterator[str]:
    """One analysis: what, why, evidence, fix, and how it was found."""
    yield f"### {finding.rank}\\. {markdown(finding.title)}"
    where = f" in {code_span(finding.where)}" if finding.where else ""
    proved = f" ({markdown(finding.proved)})" if finding.proved else ""
    confidence = f"confidence: **{finding.sureness or finding.confidence}**{proved}"
    sure = f"**{NO_CAUSE}**" if finding.unknown else confidence
    yield f"{code_span(finding.error)}{where} · {sure}"
    if finding.known:
        yield f"**{markdown(finding.known)}**"
    yield markdown(finding.news)
    if finding.regression:
        yield "**Regression**"
    say = partial(markdown, limit=CAUSE, address_of=finding.links.code)
    yield say(finding.gist)
    if finding.fold:
        yield f"<details><summary>{finding.fold}</summary>"
    for section in finding.sections:
        yield from _section(section, "**{}**", say)
    if finding.fold:
        yield "</details>"


def _error_table(table: blocks.ErrorTable) -> str:
    return "\n".join(
        (
            "| # | Error | Where | Count | Cause | Confidence | Done |",
            "|--:|---|---|--:|---|---|---|",
            *(
                f"| {row.rank} | {code_span(row.error, cell=True)} "
                f"| {code_span(row.where, cell=True)} | {row.count:,} "
                f"| {markdown(row.cause, cell=True)} | {row.sure} "
                f"| {markdown(row.done, cell=True)} |"
                for row in table.items
            ),
        )
    )


def _sight_table(table: blocks.SightTable) -> str:
    return "\n".join(
        (
            "| Error | Where | Count | Severity | Category | Likely cause | What came of it |",
            "|---|---|--:|---|---|---|---|",
            *(
                f"| {code_span(row.error, cell=True)} | {code_span(row.where, cell=True)} "
                f"| {row.count:,} | {row.severity} | {row.category} "
                f"| {markdown(row.cause, cell=True)} | {markdown(row.came, cell=True)} |"
                for row in table.items
            ),
        )
    )


def _table(table: blocks.Table) -> str:
    rows = (" | ".join(markdown(cell, cell=True) for cell in row) for row in table.rows)
    return "\n".join(
        (
            f"| {' | '.join(table.columns)} |",
            f"|---|{'--:|' * (len(table.columns) - 1)}",
            *(f"| {row} |" for row in rows),
        )
    )


def _drop_reasons(block: blocks.DropReasons) -> Iterator[str]:
    for item in block.items:
        seen = f"{plural(item.groups, 'group')}, seen {plural(item.count, 'time')}"
        yield f"**{markdown(item.reason)}** ({seen})"
        yield _list(
            f"{markdown(group.error)} ({group.count:,}) {code_span(group.fingerprint)}"
            for group in item.items
        )
        yield item.rest


def _excerpt(excerpt: Excerpt, say: Say) -> Iterator[str]:
    remark = f" ({excerpt.remark})" if excerpt.remark else ""
    note = f": {say(excerpt.note)}" if excerpt.note else ""
    place = code_span(excerpt.place)
    linked = f"[{place}](<{excerpt.address}>)" if is_web(excerpt.address) else place
    yield f"{linked}{remark}{note}"
    if excerpt.lines:
        language = "diff" if any(line.mark for line in excerpt.lines) else ""
        yield fenced(code_text(excerpt.lines), language, _MOST_CODE)


def _entry(entry: Entry) -> str:
    head = link(entry.head, entry.address) if entry.address else f"**{markdown(entry.head)}**"
    text = f": {markdown(entry.text)}" if entry.text else ""
    small = f" ({markdown(entry.small)})" if entry.small else ""
    more = "".join(f"\n  - {markdown(item)}" for item in entry.more)
    return f"{head}{text}{small}{more}"


def _publication(publication: Publication) -> str:
    name = (
        link(publication.text, publication.address)
        if publication.address
        else markdown(publication.text)
    )
    return f"{name}: {markdown(publication.note)}" if publication.note else name


def _list(texts: Iterable[str]) -> str:
    return "\n".join(f"- {text}" for text in texts if text)
