"""Untrusted text made harmless for Slack: it pings nobody, links nowhere and ends no formatting.

`plain` is for plain_text and raw_text, which Slack shows as it is; `mrkdwn`, `prose`, `code` and
`fenced` for text that Slack reads as mrkdwn. Limits count what is sent, escapes included.
"""

import re

from nightwatch_core.text.escaping import MORE, block, is_web, line, shown

TICK = "\u02cb"  # looks like a backtick and formats nothing
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_ESCAPE = {ord(char): name for char, name in _ENTITIES.items()}
# Between the two halves a space: Slack cannot join them to a mention or an address.
_HALVES = re.compile(
    r"(?<=<)(?=[!@#])|(?<=:)(?=//)|(?<=mailto:)(?=\S)"
    r"|(?<=@)(?=channel|here|everyone|group)",  # even within a word: a cut may end it there
    re.IGNORECASE,
)
_SPAN = re.compile(r"(`[^`\n]+`)")


def size(text: str) -> int:
    """Length in UTF-16 units, the larger of the two ways Slack may count.

    >>> size("ab"), size("\\U0001f319")
    (2, 2)
    """
    return len(text) + sum(char > "\uffff" for char in text)


def plain(text: str, limit: int = 300) -> str:
    """One clean line for text that Slack does not interpret.

    >>> plain("<!channel> see https://x.example")
    '< !channel> see https: //x.example'
    """
    return _cut(_HALVES.sub(" ", line(text, 4 * limit)), limit, {})


def mrkdwn(text: str, limit: int = 300) -> str:
    """One line of prose; `code in backticks` stays code.

    >>> mrkdwn("<@U1> `a < b` & ```")
    '&lt; @U1&gt; `a &lt; b` &amp; ˋˋˋ'
    """
    return _paired(_cut(_HALVES.sub(" ", line(text, 4 * limit)), limit, _ENTITIES))


def prose(text: str, limit: int = 2_000) -> str:
    r"""Lines of prose.

    >>> prose("one\n\n two <b>\nthree", 14), prose("one\n\n two")
    ('one\ntwo &lt;…', 'one\ntwo')
    """
    kept = ""
    for each in filter(None, map(str.strip, block(text, 4 * limit).splitlines())):
        room = limit - size(kept) - 2  # for a newline and the ellipsis
        if room < 4:
            return kept.removesuffix(MORE) + MORE
        kept += ("\n" if kept else "") + mrkdwn(each, room)
    return kept


def code(text: str, limit: int = 200) -> str:
    """Inline code that its content cannot leave; empty for nothing.

    >>> code("a`b <c>"), code(" ")
    ('`aˋb &lt;c&gt;`', '')
    """
    content = line(shown(text[: 4 * limit]), 4 * limit).replace("`", TICK)
    return f"`{_cut(content, limit - 2, _ENTITIES)}`" if content else ""


def fenced(text: str, limit: int = 1_000) -> str:
    r"""A code block that its content cannot leave; empty for nothing.

    >>> fenced("a\n```<b>")
    '```\na\nˋˋˋ&lt;b&gt;\n```'
    """
    content = block(text, 4 * limit, code=True).replace("`", TICK).strip("\n")
    return f"```\n{_cut(content, limit - 8, _ENTITIES)}\n```" if content.strip() else ""


def link(label: str, address: str) -> str:
    """A link to an http(s) address of ours; anything else is shown, not linked.

    >>> link("issue #12", "https://git.example/12?a&b"), link("#12", "javascript:x")
    ('<https://git.example/12?a&amp;b|issue #12>', '#12 (`javascript:x`)')
    """
    name = mrkdwn(label, 120).replace("`", TICK).replace("|", "¦") or "link"
    if is_web(address):
        return f"<{address.translate(_ESCAPE)}|{name}>"
    return f"{name} ({code(address)})" if address else name


def _cut(text: str, limit: int, entities: dict[str, str]) -> str:
    """Escaped, and whole or ended by an ellipsis within `limit`; no entity is cut in two."""
    whole = text.translate(_ESCAPE) if entities else text
    if size(whole) <= limit:
        return whole
    kept, left = [], limit - 1
    for char in text:
        piece = entities.get(char, char)
        left -= size(piece)
        if left < 0:
            break
        kept.append(piece)
    return "".join(kept).rstrip() + MORE


def _paired(text: str) -> str:
    """Only backticks that come in pairs stay."""
    parts = _SPAN.split(text)
    return "".join(each if odd % 2 else each.replace("`", TICK) for odd, each in enumerate(parts))
