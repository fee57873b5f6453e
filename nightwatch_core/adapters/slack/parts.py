"""The blocks that our Slack messages are made of; nothing makes no block."""

from collections.abc import Iterable, Sequence

from pydantic import JsonValue

from nightwatch_core.adapters.slack.limits import FALLBACK
from nightwatch_core.adapters.slack.mrkdwn import link, mrkdwn, plain, size
from nightwatch_core.report.values import Done, Line
from nightwatch_core.text.words import NOT_SHOWN

Block = dict[str, JsonValue]
Blocks = tuple[Block, ...]
_REST = 60  # characters of the line that ends a cut list


def header(text: str) -> Blocks:
    """A large line; `text` may hold anything."""
    shown = plain(text, 150)
    words: JsonValue = {"type": "plain_text", "text": shown, "emoji": False}
    return ({"type": "header", "text": words},) if shown else ()


def section(text: str) -> Blocks:
    """Escaped text; `verbatim` keeps Slack from finding addresses and names in it."""
    return ({"type": "section", "text": _mrkdwn(text)},) if text else ()


def context(text: str) -> Blocks:
    """Escaped text in small print."""
    return ({"type": "context", "elements": [_mrkdwn(text)]},) if text else ()


def bulleted(name: str, texts: Sequence[str], limit: int, more: int = 0) -> str:
    """A headed list of escaped texts in at most `limit` characters; `more` are missing already.

    >>> print(bulleted("Files", ("a", "b" * 40), 80))
    *Files*
    • a
    • and 1 more: see report.json
    """
    kept, used = [f"*{name}*"], size(name) + 2
    for at, each in enumerate(texts):
        used += size(each) + 3
        if used > limit - _REST:
            more += len(texts) - at
            break
        kept.append(f"• {each}")
    if more:
        kept.append(f"• {NOT_SHOWN.format(more=more)}")
    return "\n".join(kept) if len(kept) > 1 else ""


def headed(each: Line) -> str:
    """A headed line: what, then why."""
    head = link(each.head, each.address) if each.address else f"*{mrkdwn(each.head, 200)}*"
    text = f": {mrkdwn(each.text, 300)}" if each.text else ""
    small = f" ({mrkdwn(each.small, 200)})" if each.small else ""
    return f"{head}{text}{small}"


def done(each: Done) -> str:
    """Something published, with its address, or why not."""
    name = link(each.text, each.address)
    return f"{name}: {mrkdwn(each.note, 160)}" if each.note else name


def published(dones: Iterable[Done]) -> Iterable[Done]:
    """Without what was left undone on purpose."""
    return (each for each in dones if each.ok or not each.text.startswith("no "))


def whole_lines(text: str, limit: int = FALLBACK) -> str:
    r"""The first lines that fit; a line cut in two could leave half a link.

    >>> whole_lines("one\ntwo", 5)
    'one'
    """
    while size(text) > limit:
        text = text.rpartition("\n")[0]
    return text


def _mrkdwn(text: str) -> Block:
    return {"type": "mrkdwn", "text": text, "verbatim": True}
