"""The morning in Slack: a message with headline and table, a reply per error, and a follow-up."""

from collections.abc import Iterable, Iterator

from nightwatch_core.adapters.slack.blocks import (
    Block,
    Blocks,
    bulleted,
    context,
    header,
    publication,
    section,
    section_text,
    table,
    whole_lines,
    without_folders,
)
from nightwatch_core.adapters.slack.limits import (
    FOLLOW_UP,
    MESSAGE,
    PARENT,
    PLAIN,
    REPLY,
    SHOWN,
    weight,
)
from nightwatch_core.adapters.slack.mrkdwn import code, mrkdwn, plain
from nightwatch_core.models.report import RunReport
from nightwatch_core.models.value import Value
from nightwatch_core.report.blocks import ErrorTable, Finding, ReportView, Standing
from nightwatch_core.report.view import view

LIGHTS: dict[Standing, str] = {"calm": "🟢", "good": "🟢", "degraded": "🟠", "failed": "🔴"}
ENDS: dict[Standing, str] = {"degraded": " is incomplete", "failed": " failed"}
ACCEPT = "Accept one of them: `nightwatch ignore accept N`"


class Message(Value):
    """One message; `part` names it within its night, for ever. `text` stands for the blocks."""

    part: str
    blocks: Blocks
    text: str


def messages(report: RunReport) -> tuple[Message, ...]:
    """The parent, then its replies in order; every one within Slack's limits."""
    shown = view(report, SHOWN)
    known = (analysis for analysis in report.analyses if analysis.has_cause)  # others: a row each
    names = _reply_names(analysis.case.fingerprint for analysis in known)
    replies = (_reply(*each) for each in zip(names, shown.findings, strict=False))
    return (_parent(shown), *replies, *_follow_up(shown))


def withdrawn(part: str) -> Message:
    """What replaces a reply that a later run of the same night no longer has."""
    text = "This is no longer part of the night's report."
    return Message(part=part, blocks=section(text), text=text)


def _reply_names(fingerprints: Iterable[str]) -> Iterator[str]:
    """Names of the replies: an error keeps its own when the ranking changes."""
    seen: dict[str, int] = {}
    for each in fingerprints:
        name = f"error {plain(each, 100)}"
        seen[name] = seen.get(name, 0) + 1
        yield name if seen[name] == 1 else f"{name} ({seen[name]})"


def _parent(shown: ReportView) -> Message:
    title = f"{LIGHTS[shown.standing]} NightWatch {plain(shown.night, 100)}"
    title += ENDS.get(shown.standing) or (f": {shown.in_short}" if shown.in_short else "")
    headline = f"*{mrkdwn(shown.headline, PARENT['headline'] - 2)}*"
    trouble, end = _trouble(shown), _end(shown)
    banner = mrkdwn(without_folders(" ".join(shown.banner)), PARENT["banner"])
    source = mrkdwn(shown.source, PARENT["source"])
    above = (
        *header(title),
        *section(trouble),
        *section(headline),
        *context(source),
        *context(banner),
    )
    kinds = ("failures", "long_tail", "dropped", "unreadable", "health")
    below = (*_sections(shown, kinds, PARENT), *context(end))
    errors = (each for each in shown.section("errors").blocks if isinstance(each, ErrorTable))
    room = MESSAGE - weight(above) - weight(below)
    rows = tuple(block for each in errors for block in table(each, room))
    plainly = (title, trouble, headline, source, *_plain_rows(shown), end)
    return Message(part="parent", blocks=(*above, *rows, *below), text=_plainly(plainly))


def _trouble(shown: ReportView) -> str:
    texts = [mrkdwn(without_folders(each), 400) for each in shown.warnings]
    return f"*What is missing tonight*\n{bulleted(texts, PARENT['trouble'] - 30)}" if texts else ""


def _end(shown: ReportView) -> str:
    return whole_lines(section_text(shown.section("end"), PARENT["end"]), PARENT["end"])


def _plain_rows(shown: ReportView) -> Iterator[str]:
    for row in shown.rows[:8]:
        yield f"{row.rank}. {code(row.error, 80)} ({row.count:,}): {mrkdwn(row.cause, 120)}"


def _sections(shown: ReportView, kinds: Iterable[str], shares: dict[str, int]) -> Iterator[Block]:
    for kind in kinds:
        yield from section(section_text(shown.section(kind), shares[kind]))


def _reply(name: str, finding: Finding) -> Message:
    title, about = f"{finding.rank}. {finding.title}", _about(finding)
    texts = {
        each.kind: section_text(each, REPLY[each.kind])
        for each in finding.sections
        if each.kind != "facts"
    }
    small = texts.pop("again", "")
    sections = (block for text in (about, *texts.values()) for block in section(text))
    plainly = (mrkdwn(title), about, texts["cause"], texts.get("done", ""))
    blocks = (*header(title), *sections, *context(small))
    return Message(part=name, blocks=blocks, text=_plainly(plainly))


def _about(finding: Finding) -> str:
    where = f" in {code(finding.where)}" if finding.where else ""
    known = f" · *{mrkdwn(finding.known, 100)}*" if finding.known else ""
    error = code(finding.error, 150) or "an error"
    facts = (
        section_text(each, REPLY["about"]) for each in finding.sections if each.kind == "facts"
    )
    confidence = finding.sureness or finding.confidence
    source = (mrkdwn(finding.source, 200),) if finding.source else ()
    return "\n".join((f"{error}{where} · confidence: *{confidence}*{known}", *source, *facts))


def _follow_up(shown: ReportView) -> Iterator[Message]:
    """Issues and pull requests with links, patterns, ignore rules; none where there is nothing."""
    links = bulleted(list(_links(shown)), FOLLOW_UP["links"])
    texts = [f"*Issues and pull requests*\n{links}" if links else ""]
    for kind in ("outcomes", "patterns", "suggestions"):
        texts.append(section_text(shown.section(kind), FOLLOW_UP[kind]))
    texts[-1] += f"\n{ACCEPT}" if texts[-1] else ""
    source = mrkdwn(shown.source, PARENT["source"])
    if blocks := tuple(block for text in texts for block in section(text)):
        blocks = (*context(source), *blocks)
        yield Message(part="follow-up", blocks=blocks, text=_plainly(texts))


def _links(shown: ReportView) -> Iterator[str]:
    """What was published or failed; what was left undone on purpose is in the table."""
    for finding in shown.findings:
        done = [publication(each) for each in finding.publications if each.state != "skipped"]
        if done:
            yield f"{finding.rank}. {code(finding.error, 80) or 'an error'}: {', '.join(done)}"
    yield from (publication(each) for each in shown.elsewhere if each.state != "skipped")


def _plainly(texts: Iterable[str]) -> str:
    """What a notification shows, and the whole message where Slack refuses its blocks."""
    return whole_lines("\n".join(filter(None, texts)), PLAIN)
