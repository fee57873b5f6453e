"""Makes untrusted text harmless for Slack: it pings nobody, links nowhere and ends no formatting.

`plain` is for plain_text and raw_text, which Slack shows as it is; `mrkdwn`, `prose`, `code` and
`fenced` for text that Slack reads as mrkdwn. Limits count what is sent, escapes included.
"""

import re

from nightwatch_core.text.escaping import MORE, block, is_web, line, shown, without_schemes
from nightwatch_core.text.words import pieces

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
    """Return the length in UTF-16 units, the larger of the two ways Slack may count.

    >>> size("ab"), size("\\U0001f319")
    (2, 2)
    """
    return len(text) + sum(char > "\uffff" for char in text)


def plain(text: str, limit: int = 300) -> str:
    """Return one clean line for text that Slack does not interpret."""
    content = _HALVES.sub(" ", without_schemes(line(text, 4 * limit)))
    return _cut(content, limit, {}, at_word=True)


def mrkdwn(text: str, limit: int = 300) -> str:
    """Return one line of prose, escaped; code, paths, names and addresses become code."""
    content = ""
    for part, is_code in pieces(line(text, 4 * limit)):
        plain_part = part.replace("`", TICK)
        for word in [plain_part] if is_code else re.split(r"(\s+)", plain_part):
            # An address becomes code, so that Slack does not link it.
            content += f"`{word}`" if is_code or "://" in word else _HALVES.sub(" ", word)
    cut = _cut(content.replace("``", "` `"), limit, _ENTITIES, at_word=True)
    if cut.count("`") % 2:  # the last code span was cut
        return cut[: cut.rindex("`")].rstrip() + MORE
    return cut


def prose(text: str, limit: int = 2_000) -> str:
    """Return lines of prose, escaped."""
    kept = ""
    for item in filter(None, map(str.strip, block(text, 4 * limit).splitlines())):
        room = limit - size(kept) - 2  # for a newline and the ellipsis
        if room < 4:
            return kept.removesuffix(MORE) + MORE
        row = mrkdwn(item, room)
        kept += ("\n" if kept else "") + row
        if row.endswith(MORE) and not item.endswith(MORE):
            return kept
    return kept


def code(text: str, limit: int = 200) -> str:
    """Return inline code that its content cannot leave; empty for nothing."""
    content = line(shown(text[: 4 * limit]), 4 * limit).replace("`", TICK)
    return f"`{_cut(content, limit - 2, _ENTITIES)}`" if content else ""


def fenced(text: str, limit: int = 1_000) -> str:
    """Return a code block that its content cannot leave; empty for nothing."""
    content = block(text, 4 * limit, code=True).replace("`", TICK).strip("\n")
    return f"```\n{_cut(content, limit - 8, _ENTITIES)}\n```" if content.strip() else ""


def link(label: str, address: str) -> str:
    """Return a link to our http(s) address; any other address is shown, not linked."""
    content = _HALVES.sub(" ", without_schemes(line(label, 120))).replace("`", TICK)
    name = _cut(content, 120, _ENTITIES).replace("|", "¦") or "link"
    if is_web(address):
        return f"<{address.translate(_ESCAPE)}|{name}>"
    return f"{name} ({code(address)})" if address else name


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
