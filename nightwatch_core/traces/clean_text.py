"""Lines of a stack trace without what loggers, terminals, mails and JSON made of them."""

import re
from collections.abc import Sequence

from nightwatch_core.traces import escapes
from nightwatch_core.traces.joined_lines import separated
from nightwatch_core.traces.limits import LINE_CHARACTERS, LINES, SPACED_LINES, TEXT_CHARACTERS
from nightwatch_core.traces.line_prefixes import without_prefix
from nightwatch_core.traces.python_layout import indented
from nightwatch_core.traces.shared_prefix import SharedPrefix
from nightwatch_core.traces.wrapped_lines import rejoined

_NEWLINE = re.compile("\r+\n|\r|\u2028|\u2029")
_BLANK_LINES = re.compile(r"\n\s*\n")
_SPACES = str.maketrans(
    dict.fromkeys("\xa0\u1680\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B))), " ")
)
_UNSEEN = re.compile("^[\u200b\u2060\ufeff]+", re.MULTILINE)
_QUOTES = str.maketrans("\u201c\u201d\u201e\u2018\u2019", '"""\'\'')
_SPREAD = ("\\n", "<br", "<BR", "&", "</", "```", "{code", "{noformat", "File \u201c", ":in \u2018")
_QUOTED = re.compile("File [\u201c\u201d\u201e]|:in [\u2018\u2019]|\\.\u201c")


def clean_lines(raw: str) -> tuple[str, ...]:
    r"""Return lines of a text without prefixes, escapes and colours; indentation is kept.

    >>> clean_lines("web-1  | 2031-05-04T10:11:12Z   at f (/srv/a.js:1:2)")
    ('  at f (/srv/a.js:1:2)',)
    >>> clean_lines('{"stack":"Error: no\\n    at f (/srv/a.js:1:2)"}')
    ('Error: no', '    at f (/srv/a.js:1:2)')
    """
    if len(raw) > TEXT_CHARACTERS:
        raw = raw[: TEXT_CHARACTERS // 2] + "\n" + raw[-TEXT_CHARACTERS // 2 :]
    whole = _NEWLINE.sub("\n", with_plain_spaces(raw))
    in_json = escapes.is_json(whole)
    whole = _BLANK_LINES.sub("\n\n", whole)
    parts = [part for line in _not_spaced(whole.split("\n")) for part in parts_of(line, in_json)]
    lines = [line[:LINE_CHARACTERS] for part in _unprefixed(parts) for line in separated(part)]
    if len(lines) > LINES:
        lines = lines[: LINES // 2] + lines[-LINES // 2 :]
    return tuple(indented(rejoined(lines)))


def with_plain_spaces(text: str) -> str:
    r"""Return a text whose spaces are all of one kind.

    >>> with_plain_spaces("\ufeff\u00a0\u2003at")
    '  at'
    """
    return text if text.isascii() else _UNSEEN.sub("", text.translate(_SPACES))


def parts_of(line: str, in_json: bool = False) -> list[str]:
    r"""Return the lines that stand in one line, without prefixes and escapes.

    >>> parts_of(r"ERROR Error: no\n    at f (/srv/a.js:1:2)")
    ['Error: no', '    at f (/srv/a.js:1:2)']
    """
    bare = without_prefix(line)
    if not bare.isascii() and _QUOTED.search(bare):
        bare = bare.translate(_QUOTES)
    parts = escapes.unescaped(bare, in_json)
    if parts == [bare]:
        return parts
    return [without_prefix(with_plain_spaces(part)) for part in parts]


def lines_in_log_line(line: str) -> list[str]:
    r"""Return the lines of a trace that one line of a log holds, mostly itself alone.

    >>> lines_in_log_line(r"2031-05-04 10:11:12 ERROR Error: no\n    at f (/srv/a.js:1:2)")
    ['Error: no', '    at f (/srv/a.js:1:2)']
    """
    line = with_plain_spaces(line)
    if line[:1].isspace() and "\\n" not in line:
        bare = line.rstrip()  # what stands there is part of a text: prefixes begin lines
        return [bare if "&" not in bare else escapes.unescaped(bare)[0]]
    bare = without_prefix(line)
    if any(sign in bare for sign in _SPREAD):
        return [row for part in parts_of(bare) for row in separated(part)]
    return separated(bare)


def _not_spaced(lines: list[str]) -> list[str]:
    """The lines of a text without the blank ones, where one follows every line."""
    filled = [number for number, line in enumerate(lines) if line.strip()]
    apart = all(after - before > 1 for before, after in zip(filled, filled[1:], strict=False))
    return [lines[number] for number in filled] if apart and len(filled) > SPACED_LINES else lines


def _unprefixed(lines: Sequence[str]) -> list[str]:
    """The lines without a prefix that all of them share, or frames and their neighbours."""
    prefix = SharedPrefix()
    pairs = zip(lines, lines[1:], strict=False)
    if prefix.learn_from_all(lines) or any(prefix.learn(above, line) for above, line in pairs):
        return [without_prefix(prefix.without(line)) for line in lines]
    return list(lines)
