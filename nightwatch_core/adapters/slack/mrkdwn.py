"""Untrusted text made harmless for Slack: it pings nobody, links nowhere and ends no formatting.

`plain` is for plain_text and raw_text, which Slack shows as it is; `mrkdwn`, `prose`, `code` and
`fenced` for text that Slack reads as mrkdwn. Limits count what is sent, escapes included.
"""

import re

from nightwatch_core.text.code_words import pieces
from nightwatch_core.text.escaping import MORE, block, is_web, line, shown, without_schemes

TICK = "\u02cb"  # looks like a backtick and formats nothing
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_ESCAPE = {ord(char): name for char, name in _ENTITIES.items()}
# Between the two halves a space: Slack cannot join them to a mention or an address.
_HALVES = re.compile(
    r"(?<=<)(?=[!@#])|(?<=:)(?=//)|(?<=mailto:)(?=\S)"
    r"|(?<=@)(?=channel|here|everyone|group)",  # even within a word: a cut may end it there
    re.IGNORECASE,
)


def size(text: str) -> int:
    """Length in UTF-16 units, the larger of the two ways Slack may count.

    >>> size("ab"), size("\\U0001f319")
    (2, 2)
    """
    return len(text) + sum(char > "\uffff" for char in text)


def plain(text: str, limit: int = 300) -> str:
    """One clean line for text that Slack does not interpret.

    >>> plain("<!channel> see https://x.example")
    '< !channel> see x.example'
    """
    told = _HALVES.sub(" ", without_schemes(line(text, 4 * limit)))
    return _cut(told, limit, {}, at_word=True)


def mrkdwn(text: str, limit: int = 300) -> str:
    """One line of prose; `code in backticks` stays code, and paths, names, addresses become it.

    >>> mrkdwn("<@U1> `a < b` & ``` in user_id")
    '&lt; @U1&gt; `a &lt; b` &amp; ˋˋˋ in `user_id`'
    """
    told = "".join(
        _span(part) if is_code else _plain_words(part)
        for part, is_code in pieces(line(text, 4 * limit))
    )
    return _whole_spans(_cut(told.replace("``", "` `"), limit, _ENTITIES, at_word=True))


def prose(text: str, limit: int = 2_000) -> str:
    r"""Lines of prose.

    >>> prose("one\n\n two <b>\nthree", 14), prose("one\n\n two")
    ('one\ntwo…', 'one\ntwo')
    """
    kept = ""
    for each in filter(None, map(str.strip, block(text, 4 * limit).splitlines())):
        room = limit - size(kept) - 2  # for a newline and the ellipsis
        if room < 4:
            return kept.removesuffix(MORE) + MORE
        told = mrkdwn(each, room)
        kept += ("\n" if kept else "") + told
        if told.endswith(MORE) and not each.endswith(MORE):
            return kept
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
    told = _HALVES.sub(" ", without_schemes(line(label, 120))).replace("`", TICK)
    name = _cut(told, 120, _ENTITIES).replace("|", "¦") or "link"
    if is_web(address):
        return f"<{address.translate(_ESCAPE)}|{name}>"
    return f"{name} ({code(address)})" if address else name


def _span(text: str) -> str:
    return f"`{text.replace('`', TICK)}`"


def _plain_words(text: str) -> str:
    """Words that are no code; an address becomes code all the same, as nothing is linked there."""
    words = re.split(r"(\s+)", text.replace("`", TICK))
    return "".join(_span(word) if "://" in word else _HALVES.sub(" ", word) for word in words)


def _cut(text: str, limit: int, entities: dict[str, str], *, at_word: bool = False) -> str:
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
    cut = "".join(kept)
    end = cut.rfind(" ") if at_word and not text[len(kept)].isspace() else -1
    return (cut[:end] if 3 * end >= limit else cut).rstrip() + MORE


def _whole_spans(text: str) -> str:
    """Without the beginning of a code span whose end was cut off."""
    if text.count("`") % 2 == 0:
        return text
    return text[: text.rindex("`")].rstrip() + MORE
