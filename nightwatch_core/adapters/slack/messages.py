"""Builds a night's Slack messages: headline and table, a reply per cause with news, a follow-up.

Links are text, not buttons: a button of an app without a server shows a warning sign.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pydantic import BaseModel, JsonValue
from slack_sdk.models.blocks import Block as SlackBlock
from slack_sdk.models.blocks import (
    ContextBlock,
    HeaderBlock,
    MarkdownTextObject,
    PlainTextObject,
    RawTextObject,
    SectionBlock,
    TableBlock,
)
from slack_sdk.models.blocks.basic_components import TableBlockColumnSettings

from nightwatch_core.adapters.slack.mrkdwn import code, fenced, link, mrkdwn, plain, prose, size
from nightwatch_core.models.report import RunReport
from nightwatch_core.models.value import Value
from nightwatch_core.publish import blocks as report
from nightwatch_core.publish.blocks import Excerpt, Limits, Publication, Row, code_text
from nightwatch_core.report.view import view
from nightwatch_core.text.escaping import is_web
from nightwatch_core.text.plain_text import NOT_SHOWN, data_table

# Slack's limits, and how a night is shared out among them.
#
# Nobody documents the limit on a whole message: about 12,000 characters came through and 13,000 did
# not, so that we stay well below. Shares sum to less than that: whatever the night held, Slack has
# nothing to refuse.

MESSAGE = 9_000  # characters of all texts and addresses of a message
PLAIN = 3_500  # of the text that stands for the blocks; chat.update refuses 4,000
HEADER = 150
TABLE = 10_000  # characters of all cells
TABLE_ROWS = 100


class _Shares(BaseModel):
    parent: dict[str, int]
    reply: dict[str, int]
    follow_up: dict[str, int]
    shown: Limits


_SHARES = data_table("nightwatch_core.adapters.slack", "shares.toml", _Shares)
PARENT, REPLY, FOLLOW_UP = _SHARES.parent, _SHARES.reply, _SHARES.follow_up
SHOWN = _SHARES.shown
_COUNTED = frozenset({"text", "url", "alt_text", "title", "value"})


def weight(value: object) -> int:
    """Return characters of all texts and addresses of blocks, however deep."""
    if isinstance(value, Mapping):
        return sum(
            size(item) if isinstance(item, str) and key in _COUNTED else weight(item)
            for key, item in value.items()
        )
    return sum(map(weight, value)) if isinstance(value, list | tuple) else 0


Block = dict[str, JsonValue]
Blocks = tuple[Block, ...]
COLUMNS = (
    ("#", TableBlockColumnSettings(align="right")),
    ("Error", TableBlockColumnSettings(is_wrapped=True)),
    ("Count", TableBlockColumnSettings(align="right")),
    ("Cause", TableBlockColumnSettings(is_wrapped=True)),
    ("Confidence", TableBlockColumnSettings(align="left")),
    ("Done", TableBlockColumnSettings(is_wrapped=True)),
)
_REST = 60  # characters of the line that ends a cut list
_ADDRESS = 200  # characters of an excerpt's address
_FOLDERS = re.compile(r"(?<![\w:/.])/(?:[\w.@+-]+/)+(?=[\w.@+-])")
_REMARK = 230  # characters of what is set apart below prose


LIGHTS: dict[report.Standing, str] = {"calm": "🟢", "good": "🟢", "degraded": "🟠", "failed": "🔴"}
ENDS: dict[report.Standing, str] = {"degraded": " is incomplete", "failed": " failed"}
ACCEPT = "Accept one of them: `nightwatch ignore accept N`"


class Message(Value):
    """A message; `part` names it within its night in every run. `text` stands for the blocks."""

    part: str
    blocks: Blocks
    text: str


def messages(night: RunReport) -> tuple[Message, ...]:
    """Return the parent and its replies in order, each within Slack's limits."""
    shown = view(night, SHOWN)
    replies = (
        _reply(f"error {plain(night.analyses[item.rank - 1].fingerprint, 100)}", item)
        for item in shown.findings
        if item.is_new
    )
    return (_parent(shown), *replies, *_follow_up(shown))


def _parent(shown: report.ReportView) -> Message:
    title = f"{LIGHTS[shown.standing]} NightWatch {plain(shown.title, 100)}"
    title += ENDS.get(shown.standing, "")
    headline = f"*{mrkdwn(shown.headline, PARENT['headline'] - 2)}*"
    texts = [mrkdwn(without_folders(warning), 400) for warning in shown.warnings]
    trouble = f"*What is missing*\n{bulleted(texts, PARENT['trouble'] - 30)}" if texts else ""
    end = whole_lines(section_text(shown.section("end"), PARENT["end"]), PARENT["end"])
    banner = mrkdwn(without_folders(" ".join(shown.banner)), PARENT["banner"])
    source = mrkdwn(shown.source, PARENT["source"])
    changed = section_text(shown.section("changes"), PARENT["changes"])
    above = (
        *header(title),
        *section(trouble),
        *section(headline),
        *context(source),
        *context(banner),
        *section(changed),
        *section(_first(shown.section("first"))),
    )
    kinds = ("failures", "batch_triage", "dropped", "unreadable", "health")
    details = (section(section_text(shown.section(kind), PARENT[kind])) for kind in kinds)
    below = (*(block for blocks in details for block in blocks), *context(end))
    listed = shown.section("errors").blocks
    room = MESSAGE - weight(above) - weight(below)
    tables = (table(item, room) for item in listed if isinstance(item, report.ErrorTable))
    rows = tuple(block for blocks in tables for block in blocks)
    news = [row for row in shown.rows if row.is_new][:8]
    errors = (
        f"{row.rank}. {code(row.error, 80)} ({row.count:,}): {mrkdwn(row.cause, 120)}"
        for row in news
    )
    text = _plain_text((mrkdwn(title), trouble, headline, changed, source, *errors, end))
    return Message(part="parent", blocks=(*above, *rows, *below), text=text)


def _reply(name: str, finding: report.Finding) -> Message:
    title, about = f"{finding.rank}. {finding.title}", _about(finding)
    texts = {item.kind: section_text(item, REPLY[item.kind]) for item in finding.sections}
    sections = (block for text in (about, *texts.values()) for block in section(text))
    text = _plain_text((mrkdwn(title), about, texts["cause"], texts.get("done", "")))
    return Message(part=name, blocks=(*header(title), *sections), text=text)


def _first(shown: report.Section) -> str:
    """The error to begin with: what broke, since when, whose change, what to do first."""
    findings = [item for part in shown.blocks for item in getattr(part, "items", ())]
    if not findings:
        return ""
    head = f"*{shown.title}: {findings[-1].rank}. {mrkdwn(findings[-1].title, 150)}*"
    return f"{head}\n" + "\n".join(_glance(findings[-1]))


def _about(finding: report.Finding) -> str:
    where = f" · {code(finding.where)}" if finding.where else ""
    since = f" · *{mrkdwn(finding.known, 100)}*" if finding.known else ""
    error = code(finding.error, 150) or "an error"
    confidence = finding.sureness or finding.confidence
    seen = f"{finding.seen} · confidence: *{confidence}*{since}"
    return "\n".join((f"{error}{where} · {seen}", *_glance(finding)))


def _glance(finding: report.Finding) -> Iterator[str]:
    return (f"{fact.name}: {mrkdwn(fact.text, 300)}" for fact in finding.glance)


def _follow_up(shown: report.ReportView) -> Iterator[Message]:
    kinds = ("elsewhere", "outcomes", "patterns", "suggestions")
    texts = [section_text(shown.section(kind), FOLLOW_UP[kind]) for kind in kinds]
    if not any((*texts[:2], *(row.is_new for row in shown.rows))):
        return
    texts[-1] += f"\n{ACCEPT}" if texts[-1] else ""
    if blocks := tuple(block for text in texts for block in section(text)):
        source = context(mrkdwn(shown.source, PARENT["source"]))
        yield Message(part="follow-up", blocks=(*source, *blocks), text=_plain_text(texts))


def _plain_text(texts: Iterable[str]) -> str:
    return whole_lines("\n".join(filter(None, texts)), PLAIN)


def header(text: str) -> Blocks:
    """Return a header block for any text."""
    shown = plain(text, HEADER)
    return _checked(HeaderBlock(text=PlainTextObject(text=shown, emoji=False))) if shown else ()


def section(text: str) -> Blocks:
    """Return a section of escaped text."""
    return _checked(SectionBlock(text=_mrkdwn(text))) if text else ()


def context(text: str) -> Blocks:
    """Return escaped text in small print."""
    return _checked(ContextBlock(elements=[_mrkdwn(text)])) if text else ()


def table(shown: report.ErrorTable, room: int) -> Blocks:
    """Return as many rows with news as fit into `room` characters; the number of those left out."""
    room, new = min(room, TABLE) - _REST, [row for row in shown.items if row.is_new]
    rows = [tuple(name for name, _ in COLUMNS)]
    for row in new:
        cells = _row(row)
        room -= sum(map(size, cells))
        if room < 0 or len(rows) == TABLE_ROWS:
            break
        rows.append(cells)
    if len(rows) == 1:
        return ()
    filled = TableBlock(
        rows=[[RawTextObject(text=text) for text in cells] for cells in rows],
        column_settings=[settings for _, settings in COLUMNS],
    )
    more = len(new) - (len(rows) - 1) + shown.more
    return (*_checked(filled), *(context(NOT_SHOWN.format(more=more)) if more else ()))


def section_text(shown: report.Section, share: int) -> str:
    """Return a section with its title in at most `share` characters; empty without blocks."""
    room = share - size(shown.title) - 4
    text = "\n".join(filter(None, (_text(block, room) for block in shown.blocks)))
    return f"*{mrkdwn(shown.title)}*\n{text}" if text and shown.title else text


def _text(block: report.Block, room: int) -> str:
    match block:
        case report.Facts():
            texts = (f"{mrkdwn(fact.name, 60)}: {mrkdwn(fact.text, 150)}" for fact in block.items)
            return " · ".join(texts)
        case report.Paragraphs():
            remark = f"\n_{mrkdwn(block.remark, _REMARK - 30)}_" if block.remark else ""
            return prose(block.text, room - (_REMARK if remark else 0)) + remark
        case report.Verbatim():
            return "" if block.name else fenced(block.text, room)  # nothing folds in Slack
        case report.Command():
            return f"{block.name}: {code(block.text, 400)}"
        case report.Bullets():
            return bulleted([mrkdwn(item, room // 2) for item in block.items], room, block.more)
        case report.Entries():
            return bulleted([_entry(item) for item in block.items], room, block.more)
        case report.Publications():
            return bulleted([publication(item) for item in block.items], room, block.more)
        case report.Excerpts():
            each_room = (room - _REST) // max(1, len(block.items))
            texts = (_excerpt(item, each_room) for item in block.items)
            return "\n".join((*texts, *((block.rest,) if block.more else ())))
        case report.ErrorTable() | report.Findings() | report.Table():
            return ""  # they have messages of their own, or are left out of Slack's view


def bulleted(texts: Sequence[str], room: int, more: int = 0) -> str:
    """Return a list of escaped texts in at most `room` characters; `more` were left out before.

    >>> print(bulleted(("a", "b" * 40), 80))
    • a
    • and 1 more: see report.json
    """
    kept: list[str] = []
    for at, text in enumerate(texts):
        room -= size(text) + 3
        if room < _REST:
            more += len(texts) - at
            break
        kept.append(f"• {text}")
    if more:
        kept.append(f"• {NOT_SHOWN.format(more=more)}")
    return "\n".join(kept)


def publication(item: Publication) -> str:
    """Return a publication with its web address, or the reason for none."""
    name = link(item.text, item.address if is_web(item.address) else "")
    return f"{name}: {mrkdwn(without_folders(item.note), 160)}" if item.note else name


def without_folders(text: str) -> str:
    """Return the text without the folders of this machine's files.

    >>> without_folders("/var/lib/me/ignore.yml line 4: see https://git.example/a/b.md")
    'ignore.yml line 4: see https://git.example/a/b.md'
    """
    return _FOLDERS.sub("", text)


def whole_lines(text: str, limit: int) -> str:
    r"""Return the first lines that fit; half a line could hold half a link.

    >>> whole_lines("one\ntwo", 5)
    'one'
    """
    while size(text) > limit:
        text = text.rpartition("\n")[0]
    return text


def _entry(entry: report.Entry) -> str:
    address = entry.address if is_web(entry.address) else ""
    head = link(entry.head, address) if address else f"*{mrkdwn(entry.head, 200)}*"
    text = f": {mrkdwn(without_folders(entry.text), 300)}" if entry.text else ""
    small = f" ({mrkdwn(entry.small, 400)})" if entry.small else ""
    return f"{head}{text}{small}"


def _excerpt(excerpt: Excerpt, room: int) -> str:
    remark = f" ({mrkdwn(excerpt.remark, 20)})" if excerpt.remark else ""
    note = f": {mrkdwn(excerpt.note, 150)}" if excerpt.note else ""
    linked = is_web(excerpt.address) and size(excerpt.address) <= _ADDRESS
    place = link(excerpt.place, excerpt.address) if linked else code(excerpt.place, 130)
    head = f"{place}{remark}{note}"
    left = room - size(head) - 2
    quoted = fenced(code_text(excerpt.lines), left) if left > _REST else ""
    return f"{head}\n{quoted}" if quoted else head


def _row(row: Row) -> tuple[str, ...]:
    where = f" · {plain(row.where, 60)}" if row.where else ""
    texts = (
        str(row.rank),
        f"{plain(row.error, 120)}{where}",
        f"{row.count:,}",
        plain(row.cause, 150),
        row.sure,
        plain(row.done, 90),
    )
    return tuple(text or "–" for text in texts)


def _checked(block: SlackBlock) -> Blocks:
    """The block as it is sent; the SDK checks it here, though not all of Slack's limits."""
    return (block.to_dict(),)


def _mrkdwn(text: str) -> MarkdownTextObject:
    """`verbatim` keeps Slack from finding addresses and names in the text."""
    return MarkdownTextObject(text=text, verbatim=True)
