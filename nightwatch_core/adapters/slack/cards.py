"""One analysis as a reply in the night's Slack thread."""

from collections.abc import Iterable, Sequence

from nightwatch_core.adapters.slack.mrkdwn import code, fenced, mrkdwn, prose
from nightwatch_core.adapters.slack.parts import (
    Blocks,
    bulleted,
    context,
    done,
    header,
    section,
    whole_lines,
)
from nightwatch_core.report.code import as_text
from nightwatch_core.report.values import Card, CodeLine

# At most so many characters of the reply.
SHARES = {"error": 900, "message": 600, "cause": 1_800, "evidence": 1_700, "fix": 1_700}
SHARES |= {"considered": 1_000, "done": 700, "how": 350}
QUOTES = 3  # pieces of evidence, and files of a fix
CODE_LINES = 25


def reply(card: Card) -> tuple[Blocks, str]:
    """The blocks, and the text that stands for them."""
    blocks = (
        *header(f"{card.rank}. {card.title}"),
        *section(_error(card)),
        *section(fenced(card.message, SHARES["message"])),
        *section(_cause(card)),
        *section(_evidence(card)),
        *section(_fix(card)),
        *section(_considered(card)),
        *section(bulleted("What was done", [done(each) for each in card.done], SHARES["done"])),
        *context(_how(card)),
    )
    return blocks, _plainly(card)


def _error(card: Card) -> str:
    where = f" in {code(card.where, 200)}" if card.where else ""
    known = f" · *{mrkdwn(card.known, 100)}*" if card.known else ""
    facts = " · ".join(f"{fact.name}: {mrkdwn(fact.text, 70)}" for fact in card.facts[:5])
    first = f"{code(card.error, 150) or 'an error'}{where} · confidence: *{card.confidence}*"
    return f"{first}{known}\n{facts}".strip()


def _cause(card: Card) -> str:
    ending = f"\n_{mrkdwn(card.ending, 200)}_" if card.ending else ""
    cause = prose(card.cause, SHARES["cause"] - 230) or "No cause was found."
    return f"*Root cause*\n{cause}{ending}"


def _evidence(card: Card) -> str:
    quoted = card.evidence.items[:QUOTES]
    if not quoted:
        return ""
    room = (SHARES["evidence"] - 80) // len(quoted)
    pieces = (
        _quote(
            f"{code(each.place, 130)}{' (verified)' if each.verified else ''}"
            + (f": {mrkdwn(each.note, 150)}" if each.note else ""),
            each.lines,
            room - 310,
        )
        for each in quoted
    )
    more = _more(len(card.evidence.items) - len(quoted) + card.evidence.more)
    return "\n".join(("*Evidence*", *pieces, *more))


def _fix(card: Card) -> str:
    shown = card.fix.items[:QUOTES]
    if not shown:
        return ""
    room = (SHARES["fix"] - 80) // len(shown)
    pieces = (
        _quote(
            f"{code(each.path, 130)} ({mrkdwn(each.action, 20)})"
            + (f": {mrkdwn(each.description, 120)}" if each.description else ""),
            each.lines,
            room - 310,
        )
        for each in shown
    )
    more = _more(len(card.fix.items) - len(shown) + card.fix.more)
    return "\n".join(("*Proposed fix*", *pieces, *more))


def _quote(head: str, lines: Sequence[CodeLine], room: int) -> str:
    quoted = fenced(as_text(tuple(lines[:CODE_LINES])), room) if lines else ""
    return f"{head}\n{quoted}" if quoted else head


def _considered(card: Card) -> str:
    """Whom to ask, what to do next, what else was thought of."""
    named = (
        ("Suspects", card.suspects[:2]),
        ("Next steps", card.next_steps[:3]),
        ("Considered", card.hypotheses[:2]),
    )
    room = SHARES["considered"] // len(named)
    texts = (
        bulleted(name, [mrkdwn(each, (room - 90) // len(said) - 4) for each in said], room - 2)
        for name, said in named
        if said
    )
    return "\n".join(filter(None, texts))


def _how(card: Card) -> str:
    how = [f"{fact.name}: {mrkdwn(fact.text, 90)}" for fact in card.how[:2]]
    again = [f"Again: {code(card.again, 130)}"] if card.again else []
    return " · ".join((*how, *again))


def _plainly(card: Card) -> str:
    """What a notification shows, and the whole reply where Slack refuses its blocks."""
    title = mrkdwn(f"{card.rank}. {card.title}", 300)
    acts = bulleted("What was done", [done(each) for each in card.done], SHARES["done"])
    texts = (title, _error(card), _cause(card), acts)
    return whole_lines("\n".join(filter(None, texts)))


def _more(count: int) -> Iterable[str]:
    return (f"and {count:,} more: see report.json",) if count else ()
