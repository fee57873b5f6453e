"""The morning in Slack: a message with headline and table, a reply per error, and a follow-up.

Every section has its share of the message, shares sum to less than the budget of slack_limits, and
the table takes what the others left: whatever the night held, there is nothing to complain about.
Links are text, not buttons: a button of an app without a server shows a warning sign.
"""

from collections.abc import Iterable

from pydantic import JsonValue

from nightwatch_core.adapters.slack.cards import reply
from nightwatch_core.adapters.slack.limits import BUDGET, LIMITS, weight
from nightwatch_core.adapters.slack.mrkdwn import code, mrkdwn, plain
from nightwatch_core.adapters.slack.parts import (
    Block,
    Blocks,
    bulleted,
    context,
    done,
    headed,
    header,
    published,
    section,
    whole_lines,
)
from nightwatch_core.models.report import RunReport
from nightwatch_core.models.value import Value
from nightwatch_core.report.values import Limits, ReportView, Row, Standing
from nightwatch_core.report.view import view
from nightwatch_core.text.words import NOT_SHOWN, Some, plural

PARENT, FOLLOW_UP = "parent", "follow-up"
SHOWN = Limits(rows=50, cards=20, reasons=6, examples=2, lines=6, common=3)
LIGHTS: dict[Standing, str] = {"calm": "🟢", "good": "🟢", "degraded": "🟠", "failed": "🔴"}
ENDS: dict[Standing, str] = {"degraded": " is incomplete", "failed": " failed"}
# At most so many characters of the parent message; what is left is the table's.
SHARES = {"trouble": 1_500, "headline": 500, "banner": 500, "failures": 900, "dropped": 700}
SHARES |= {"remarks": 900, "end": 1_500}
FOLLOWING = {"links": 2_500, "outcomes": 1_700, "patterns": 2_300, "suggestions": 2_300}
ACCEPT = "Accept one of them: `nightwatch ignore accept N`"
COLUMNS: tuple[tuple[str, dict[str, JsonValue]], ...] = (
    ("#", {"align": "right"}),
    ("Error", {"is_wrapped": True}),
    ("Count", {"align": "right"}),
    ("Cause", {"is_wrapped": True}),
    ("Confidence", {"align": "left"}),
    ("Done", {"is_wrapped": True}),
)


class Message(Value):
    """One message; `part` names it within its night, for ever. `text` stands for the blocks."""

    part: str
    blocks: Blocks
    text: str


def messages(report: RunReport) -> tuple[Message, ...]:
    """The parent, then its replies in order; every one within Slack's limits."""
    shown = view(report, SHOWN)
    names = _names(analysis.case.fingerprint for analysis in report.analyses)
    replies = (
        Message(part=name, blocks=blocks, text=text)
        for name, (blocks, text) in zip(names, map(reply, shown.cards.items), strict=False)
    )
    return (_parent(shown), *replies, *_follow_up(shown))


def withdrawn(part: str) -> Message:
    """What replaces a reply that a later run of the same night no longer has."""
    text = "This is no longer part of the night's report."
    return Message(part=part, blocks=section(text), text=text)


def _names(fingerprints: Iterable[str]) -> Iterable[str]:
    """Names of the replies: an error keeps its own when the ranking changes."""
    seen: dict[str, int] = {}
    for each in fingerprints:
        name = f"error {plain(each, 100)}"
        seen[name] = seen.get(name, 0) + 1
        yield name if seen[name] == 1 else f"{name} ({seen[name]})"


def _parent(shown: ReportView) -> Message:
    title = f"{LIGHTS[shown.standing]} NightWatch {plain(shown.night, 100)}"
    title += ENDS.get(shown.standing, "")
    above = (*header(title), *_above(shown))
    below = (*_lists(shown), *_end(shown))
    table = _table(shown.rows, BUDGET - weight(above) - weight(below))
    return Message(part=PARENT, blocks=(*above, *table, *below), text=_plainly(title, shown))


def _above(shown: ReportView) -> Iterable[Block]:
    yield from section(_trouble(shown))
    yield from section(f"*{mrkdwn(shown.headline, SHARES['headline'] - 2)}*")
    yield from context(mrkdwn(" ".join(shown.banner), SHARES["banner"]))


def _trouble(shown: ReportView) -> str:
    said = [mrkdwn(each, 400) for each in shown.warnings]
    return bulleted("What is missing tonight", said, SHARES["trouble"])


def _table(rows: Some[Row], room: int) -> Iterable[Block]:
    """As many rows as there is room for, and how many there are more."""
    room = min(room, LIMITS["table characters"]) - 60
    filled = [_cells(*(name for name, _ in COLUMNS))]
    for row in rows.items:
        cells = _row(row)
        room -= weight(cells)
        if room < 0 or len(filled) == LIMITS["table rows"]:
            break
        filled.append(cells)
    if len(filled) == 1:
        return
    settings: list[JsonValue] = [setting for _, setting in COLUMNS]
    yield {"type": "table", "column_settings": settings, "rows": filled}
    if more := len(rows.items) - (len(filled) - 1) + rows.more:
        yield from context(NOT_SHOWN.format(more=more))


def _row(row: Row) -> JsonValue:
    where = f" in {row.where}" if row.where else ""
    return _cells(
        str(row.rank),
        plain(f"{row.error}{where}", 110),
        f"{row.count:,}",
        plain(row.cause, 150),
        row.confidence,
        plain(row.done, 90),
    )


def _cells(*texts: str) -> JsonValue:
    return [{"type": "raw_text", "text": text or "–"} for text in texts]


def _lists(shown: ReportView) -> Iterable[Block]:
    failed = [headed(each) for each in shown.failures.items]
    yield from section(bulleted("Failed analyses", failed, SHARES["failures"], shown.failures.more))
    name = f"Not analysed: {plural(shown.dropped_groups, 'error group')}"
    bunches = [
        f"{plural(each.groups, 'group')}, seen {plural(each.count, 'time')}: "
        + mrkdwn(each.reason, 120)
        for each in shown.dropped.items
    ]
    yield from section(bulleted(name, bunches, SHARES["dropped"], shown.dropped.more))
    remarks = list(_remarks(shown))
    yield from section(bulleted("To put right", remarks, SHARES["remarks"]))


def _remarks(shown: ReportView) -> Iterable[str]:
    if shown.rejected:
        where = f": all of them in {code(shown.files[-1], 400)}" if shown.files else ""
        yield f"{plural(shown.rejected, 'record')} could not be read{where}"
    for each in shown.complaints.items:
        yield mrkdwn(each, 200)


def _end(shown: ReportView) -> Iterable[Block]:
    """Where everything can be read, and what it cost."""
    used = f"Used: {mrkdwn(shown.spent, 150)}"
    learned = mrkdwn(shown.learned, 250)
    again = f"One error again: {code(shown.again, 130)}" if shown.again else ""
    yield from context("\n".join(filter(None, (_files(shown), learned, used, again))))


def _files(shown: ReportView) -> str:
    return f"Report: {', '.join(code(each, 300) for each in shown.files[:3])}" * bool(shown.files)


def _follow_up(shown: ReportView) -> Iterable[Message]:
    """Issues and pull requests with links, patterns, ignore rules; none where there is nothing."""
    became = [headed(each) for each in (*shown.followed.items, *shown.outcomes.items)]
    more = shown.followed.more + shown.outcomes.more
    named = (
        ("Issues and pull requests", list(_links(shown)), FOLLOWING["links"], 0),
        ("What became of earlier proposals", became, FOLLOWING["outcomes"], more),
        ("Patterns", [headed(e) for e in shown.patterns.items], FOLLOWING["patterns"], 0),
        (
            "Ignore rules you might add",
            [headed(each) for each in shown.suggestions.items],
            FOLLOWING["suggestions"],
            0,
        ),
    )
    texts = [bulleted(*each) for each in named]
    texts[-1] += f"\n{ACCEPT}" if texts[-1] else ""
    blocks = tuple(block for text in texts for block in section(text))
    if blocks:
        text = "\n".join(filter(None, texts))
        yield Message(part=FOLLOW_UP, blocks=blocks, text=whole_lines(text))


def _links(shown: ReportView) -> Iterable[str]:
    for card in shown.cards.items:
        if told := ", ".join(map(done, published(card.done))):
            yield f"{card.rank}. {code(card.error, 80) or 'an error'}: {told}"
    yield from map(done, published(shown.elsewhere.items))


def _plainly(title: str, shown: ReportView) -> str:
    """What a notification shows, and the whole message where Slack refuses its blocks."""
    rows = [
        f"{row.rank}. {code(row.error, 80)} ({row.count:,}): {mrkdwn(row.cause, 120)}"
        for row in shown.rows.items[:8]
    ]
    headline = f"*{mrkdwn(shown.headline, SHARES['headline'] - 2)}*"
    return whole_lines(
        "\n".join(filter(None, (title, _trouble(shown), headline, *rows, _files(shown))))
    )
