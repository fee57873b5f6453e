"""Lines of a stack trace without what loggers, terminals, mails and JSON made of them."""

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from nightwatch_core.models.errors import ExceptionLink, Frame
from nightwatch_core.traces.grammar import PRINTED
from nightwatch_core.traces.limits import (
    ESCAPED_CHARACTERS,
    EXCERPT_GAP,
    EXCERPT_LINES,
    EXCERPTS,
    JOINED_CHARACTERS,
    LINE_CHARACTERS,
    LINES,
    ROW_CHARACTERS,
    SPACED_LINES,
    TAGS,
    TEXT_CHARACTERS,
    WRAP_WIDTHS,
    WRAPPED_LINES,
)
from nightwatch_core.traces.line_prefixes import without_prefix
from nightwatch_core.traces.placing import SharedPrefix

# Lines that JSON, HTML or a logger wrote as one, with escapes for what they could not hold.

# How a line of a trace begins. An escaped newline counts as one only before these, because `\n`
# is also how the folder `C:\new` looks; a `<br>` may be part of a page's own text.
_BEGINS = (
    r"(?:at |File (?:\\{0,3}[\"\u201c]|&quot;|&#34;)|from |in |#\d|Caused by|Traceback"
    r"|Stack trace|goroutine |\[stacktrace|---> |--- End|panic|created by|\.\.\. \d"
    r"|\d{1,3}: {1,3}[\w<]\S{0,200}::|\(\w{1,60}(?: [\w.]{1,40})?\) \S{1,200}:\d|\*\* \(|/"
    r"|[\w.@-]{1,80}[/@]|[A-Z][\w.:]{0,80}(?:Error|Exc))"
)
_ESCAPED_NEWLINE = re.compile(
    rf"\\{{1,3}}n(?=[\s|]{{0,40}}(?:\\{{1,3}}t){{0,9}}\s{{0,40}}{_BEGINS})"
)
# Behind what ends a frame it is one whatever follows.
_ESCAPED_BEHIND_FRAME = re.compile(
    r"(?:'|:\d{1,9}|\{main\}|\)(?=\\{1,3}n[\sA-Z\[\\\"'])|\)(?=\\{1,3}n$))"
    r"\\{1,3}(?:r\\{1,3})?n(?![a-z])"
)
_ANY_ESCAPED_NEWLINE = re.compile(r"\\{1,3}r?(?:\\{1,3})?n")
_ESCAPED_TAB = re.compile(r"\\{1,3}t(?=at |\\|\s|/|\.\.\.|from |\d|[A-Za-z]:[\\/])")
_TABS = re.compile(r"\s{0,40}(?:\\{1,3}t){1,9}")  # where a line begins
_ESCAPES = ((r"\u003c", "<"), (r"\u003e", ">"), (r"\u0026", "&"), (r"\u0027", "'"), ("\\\\", "\\"))
_ESCAPED_TWICE = re.compile(r"(?<=[\w:])\\{4}(?=\w)")
_ESCAPED_MARK = re.compile(r"\\{1,3}([\"'/])")
_ENTITY = re.compile(
    r"&(?:amp;){0,2}(#0?(?:3[2-9]|[4-9]\d|1[01]\d|160)|#x0{0,2}(?:[2-7][0-9a-fA-F]|[aA]0)"
    r"|lt|gt|quot|amp|apos|nbsp|[lr][sd]quo|hellip|[nm]dash|lsaquo|rsaquo|[lr]aquo);"
)
_BLOCK = r"(?:p|pre|div|li|td|tr|code|samp|blockquote|table|tbody|ul|ol)"
_BREAK_AT_END = re.compile(r"<br\s?/?>\s*$", re.IGNORECASE)
_BREAK = re.compile(r"<br\s?/?>|</(?:p|div|li|tr|pre)>", re.IGNORECASE)
_BEGINS_LINE = re.compile(rf"(?:\s|&nbsp;|<{_BLOCK}>){{0,200}}{_BEGINS}")
_ENCLOSED = re.compile(
    rf"\s{{0,40}}<(?P<tag>{_BLOCK})(?: [^<>]{{0,200}})?>(?P<text>.*)</(?P=tag)>$"
)
_TAGS = re.compile(rf"\s{{0,40}}(?:</?{_BLOCK}(?: [^<>]{{0,200}})?>)+")
_MARKUP = re.compile(r"\{noformat\}|\{code(?::[\w=|.-]{1,80})?\}")  # of a ticket
_OPENS = re.compile(r"\s{0,40}(?:<(?:pre|code|samp)(?: [^<>]{0,200})?>|`{3}(?![\w+#-]*\s*$))+")
_CLOSES = re.compile(r"(?:</(?:pre|code|samp)>|(?<=\S)`{3})+\s*$")

_JSON_TEXT = re.compile(r"\s{0,200}[{\[]\s{0,200}(?:[\"{\[]|$)")
_JSON_ENDS = ('"', '",', '"]', '"}', '"],', '"]}', '"}}')
_PLACE = re.compile(r":\d{1,9}:")
_JSON_SEPARATOR = re.compile(r"\"\s{0,20},\s{0,20}\"")
_JSON_KEY = re.compile(r"\s{0,200}[{\[]?\s{0,20}\"?[\w.@-]{1,80}\"\s{0,20}:\s{0,20}\[?\s{0,20}\"")


def is_json(text: str) -> bool:
    """Tell whether a text begins as JSON does.

    >>> is_json('{"stack": ["a.rb:1"]}'), is_json("[12] ERROR no")
    (True, False)
    """
    return _JSON_TEXT.match(text) is not None


def unescaped(line: str, in_json: bool = False) -> list[str]:
    r"""Return the lines that one line of JSON, of an inspected array or of HTML stands for.

    >>> unescaped('["a.rb:1:in `b\'", "c.rb:2:in `d\'"]')
    ["a.rb:1:in `b'", "c.rb:2:in `d'"]
    >>> unescaped("<pre>no<br>at f (/a.js:1:2)</pre>")
    ['no', 'at f (/a.js:1:2)']
    """
    strings = [string for part in _rendered(line) for string in _json_strings(part, in_json)]
    parts = [part for string in strings for part in _split_at_escapes(string)]
    return parts if parts == [line] else [_without_escapes(part) for part in parts]


def _rendered(line: str) -> list[str]:
    if "<" not in line and "`" not in line and "{" not in line:
        return [_with_characters(line)]
    line = _BREAK_AT_END.sub("", line)
    if "{" in line and _MARKUP.search(line):
        inside = [part for part in _MARKUP.split(line) if part.strip()]
        return [_with_characters(part) for part in inside] or [line]
    parts = _BREAK.split(line)
    if len(parts) == 1 or not any(map(_BEGINS_LINE.match, parts)):
        return [_with_characters(_within(line))]
    inside = [_within(_TAGS.sub("", part, count=1)) for part in parts if part.strip()]
    return [_with_characters(part) for part in inside]


def _within(line: str) -> str:
    for _ in range(TAGS):
        enclosed = _ENCLOSED.match(line)
        if enclosed is None:
            break
        line = enclosed["text"]
    opens = _OPENS.match(line)
    line = _CLOSES.sub("", line[opens.end() :] if opens else line)
    tags = _TAGS.match(line)
    return line[tags.end() :] if tags and _BEGINS_LINE.match(line, tags.end()) else line


def _with_characters(line: str) -> str:
    if "&" not in line or ";" not in line:
        return line
    return _ENTITY.sub(lambda entity: html.unescape(f"&{entity[1]};"), line)


def _split_at_escapes(line: str) -> list[str]:
    if "\\" not in line:
        return [line]
    head = line[:ESCAPED_CHARACTERS]
    if not (_ESCAPED_NEWLINE.search(head) or _ESCAPED_BEHIND_FRAME.search(head)):
        return [line]
    parts = _ESCAPED_TAB.sub("\t", _ANY_ESCAPED_NEWLINE.sub("\n", line)).split("\n")
    return [parts[0], *(_TABS.sub(_as_tabs, part, count=1) for part in parts[1:])]


def _as_tabs(escaped: re.Match[str]) -> str:
    return "\t" * escaped[0].count("t")


def _json_strings(line: str, in_json: bool) -> list[str]:
    if '"' not in line:
        return [line]
    begins = line.lstrip()[:1]
    if begins not in ("[", "{") and not in_json:
        prose, listed, _ = line.partition('["')
        if not listed or not _PLACE.search(line):
            return [line]
        return [prose, *_json_strings(line[len(prose) :], True)]
    parts = _JSON_SEPARATOR.split(line)
    if len(parts) == 1 and begins != '"' and '["' not in line and not _JSON_KEY.match(line):
        return parts
    return [_bare(part) for part in parts]


def _bare(part: str) -> str:
    key = _JSON_KEY.match(part)
    indent = part[: len(part) - len(part.lstrip())]
    inside = part[key.end() :] if key else part.lstrip().lstrip('[{"')
    ends = inside.rstrip()
    return indent + (ends.rstrip('"],}') if ends.endswith(_JSON_ENDS) else inside)


def _without_escapes(part: str) -> str:
    if "\\" not in part:
        return part
    part = _ESCAPED_TWICE.sub(r"\\", part)
    for escape, character in _ESCAPES:
        part = part.replace(escape, character)
    return _ESCAPED_MARK.sub(r"\1", part)


# Traces that somebody put on one line: every frame gets its line back.

_GAP = r"(?:(?<!\s)(?<!\d:)\s++(?:[|;\u23ce\u21b5\u2192] {0,4})?)"


class Joined(NamedTuple):
    """The form of a language's frames that are joined on one line."""

    sign: str  # stands in every line with a frame; what costs nothing is asked first
    told_by: re.Pattern[str]  # two of these in a line: a trace was joined
    before: re.Pattern[str]  # the gap in front of what begins a line
    behind: re.Pattern[str]  # what ends a line, with the gap behind it


def _joined(sign: str, told_by: str, begins: str, ends: str) -> Joined:
    return Joined(
        sign, re.compile(told_by), re.compile(f"{_GAP}(?={begins})"), re.compile(f"({ends}){_GAP}")
    )


_CALL = (
    r"at (?:async |new )?(?:Anonymous function|[\w$.<>/@+\[\]`,-]{1,300}) ?\("
    r"|at (?:async )?[^\s()]{1,500}:\d{1,9}:\d"
)
_AT = f"{PRINTED['java']}|{PRINTED['csharp']}|{PRINTED['javascript']}"
_NET = r"at (?:[\w`<>+]{1,80}\.){2,20}[\w`<>+\[\],]{1,100}\([^()\n]{0,500}\)(?= at | ---|\s*$| in )"
_LABEL = r"(?:from )?[^\s\"'`(),|]{1,500}:\d{1,9}:in [`'][^'\n]{0,300}'(?!:)"

JOINED: Mapping[str, Joined] = {
    "rust": _joined(
        ".rs:",
        PRINTED["rust"],
        rf"{PRINTED['rust']}|\d{{1,4}}: \S|stack backtrace:|note: |Caused by:",
        rf"{PRINTED['rust']}|stack backtrace:|Caused by:",
    ),
    "at": _joined(
        "at ",
        _AT,
        rf"{_CALL}|Caused by: |Suppressed: |\.\.\. \d{{1,9}} (?:more|common)|--- End of "
        r"|\[cause\]: ",
        rf"{_AT}|\.\.\. \d{{1,9}} (?:more|common frames omitted)|--- End of [\w ]{{1,60}} ---",
    ),
    "net": _joined(
        "at ",
        f"{PRINTED['csharp']}|{_NET}",
        rf"{_NET}|at [\w.<>`+\[\],|$]{{3,500}} ?\([^()\n]{{0,500}}\)|--- End of ",
        rf"{PRINTED['csharp']}|--- End of [\w ]{{1,60}} ---",
    ),
    "gecko": _joined("@", PRINTED["firefox"], PRINTED["firefox"], PRINTED["firefox"]),
    "ruby": _joined(
        ":in",
        PRINTED["ruby"],
        rf"\d{{1,5}}: from |{PRINTED['ruby']}|Caused by:"
        r"|(?:[A-Z]\w{0,80}::){0,6}[A-Z]\w{0,80}Error: ",
        rf"(?<!\S){_LABEL}",
    ),
    "php": _joined(
        "#",
        PRINTED["php"],
        rf"{PRINTED['php']}|Stack trace:|thrown in /|Next [\w\\]{{1,200}}: "
        r"|\[(?:stacktrace|previous exception|object)\]",
        r"Stack trace:|#\d{1,5} \{main\}|\[(?:stacktrace|previous exception)\]",
    ),
    "go": _joined(
        ".go:",
        rf"{PRINTED['go']}|goroutine \d{{1,19}} \[",
        rf"{PRINTED['go']}|goroutine \d{{1,19}} \[|created by |\[signal |exit status ",
        rf"{PRINTED['go']}|goroutine \d{{1,19}} \[[^\]]{{1,100}}\]:",
    ),
    "elixir": _joined(
        ": ",
        PRINTED["elixir"],
        rf"{PRINTED['elixir']}|\*\* \(|Last message|State: ",
        r"an exception was raised:",
    ),
}


def separated(line: str) -> list[str]:
    """Return the lines of a trace that stand on one line; a line that is none stays whole.

    >>> separated("Error: no at f (/a.js:1:2) at g (/b.js:3:4)")
    ['Error: no', 'at f (/a.js:1:2)', 'at g (/b.js:3:4)']
    >>> separated("we met at noon (in the yard) and at one (in town)")
    ['we met at noon (in the yard) and at one (in town)']
    """
    if len(line) > JOINED_CHARACTERS or len(line) < 40:
        return [line]
    if _is_joined_traceback(line):
        return _traceback_lines(line)
    for style in JOINED.values():
        if _is_joined(style, line):
            return style.behind.sub("\\1\n", style.before.sub("\n", line)).split("\n")
    return [line]


def _is_joined(style: Joined, line: str) -> bool:
    if line.count(style.sign) < (1 if style.sign == ".go:" else 2):
        return False
    places = style.told_by.finditer(line)
    return next(places, None) is not None and next(places, None) is not None


_FRAME = re.compile(
    rf"[\s|]*({PRINTED['python']}(?:,? in (?:<[\w ]{{1,100}}>|top-level template code"
    r"|block \"[^\"]{1,100}\"|[\w.]{1,300}))?)[\s|,]*"
)
_BREAKS = re.compile(
    r"\s*(Traceback \(most recent call (?:last|first)\):"
    r"|During handling of the above exception, another exception occurred:"
    r"|The above exception was the direct cause of the following exception:"
    r"|\[Previous line repeated \d{1,9} more times?\])\s*"
)
_ANCHORS_INSIDE = re.compile(r"\s+(?:[~^]{2,}|\^)[~^\s]*(?=\s|$)")
_NAME = r"(?:[A-Za-z_]\w{0,100}\.){0,20}"
_NAMED_INSIDE = tuple(
    re.compile(rf"(?:(?<=\s)|^){pattern}")
    for pattern in (
        rf"{_NAME}[A-Z]\w{{0,150}}(?:Error|Exception|Warning|Exit|Interrupt|NotFound|Timeout"
        r"|DoesNotExist|Failure|Invalid|Denied|Refused)(?:: |:?\s*$)",
        r"(?:[a-z_]\w{0,100}\.){1,20}[A-Z]\w{0,150}: ",
        r"[A-Z]\w{0,150}: ",
        rf"{_NAME}[A-Za-z_]\w{{0,150}}\s*$",
    )
)


def _is_joined_traceback(line: str) -> bool:
    frames = list(islice(_FRAME.finditer(line), 2)) if 'File "' in line else []
    return len(frames) > 1 or (bool(frames) and "Traceback (most" in line[: frames[0].start()])


def _traceback_lines(line: str) -> list[str]:
    """Give frames, source and exceptions of Python lines of their own.

    >>> _traceback_lines('Traceback (most recent call last): File "a.py", line 3, in f 1 / n '
    ...                  "ZeroDivisionError: division by zero")[1:]
    ['  File "a.py", line 3, in f', '    1 / n', 'ZeroDivisionError: division by zero']
    """
    rows = _FRAME.sub(r"\n  \1\n    ", _BREAKS.sub(r"\n\1\n", line)).split("\n")
    done: list[str] = []
    for row, below in zip(rows, [*rows[1:], ""], strict=True):
        if row.startswith("  File"):
            done.append(row)
        elif not row.startswith("    "):
            done.append(row.strip(" \t|"))
        elif below.startswith(("  File", "[Previous")):
            done.append(f"    {_ANCHORS_INSIDE.sub('', row).strip()}")
        else:
            code, header = _code_and_header(row)
            done += [f"    {code.strip(' |')}", header.strip(" |")]
    return [row for row in done if row.strip()]


def _code_and_header(text: str) -> tuple[str, str]:
    anchors = _ANCHORS_INSIDE.search(text)
    if anchors:
        return text[: anchors.start()], text[anchors.end() :]
    named = next(filter(None, (pattern.search(text) for pattern in _NAMED_INSIDE)), None)
    return (text[: named.start()], text[named.start() :]) if named else (text, "")


# Frames that a mail or a terminal broke over several lines, made whole again.
#
# A line is joined with the next ones only where it begins a frame and holds none, and where both
# together are one: that is never so of text which was not broken.

_MARGIN = r"\s*(?:[|>] )?"
_BEGUN = re.compile(
    rf"{_MARGIN}(?:"
    r"File(?: \"[^\"]{0,1000}(?:\"(?:,(?: line?)?)?)?)?$"
    r"|at(?: [^\n]{0,1000})?$"
    r"|from$|(?:from )?(?:/|\.{0,3}/|[A-Za-z]:[\\/]|[\w.-]{1,80}/)[^\s:]{1,1000}"
    r"(?::\d{0,9}(?::(?:in?)?(?: [`'][^'\n]{0,300})?)?)?$"
    r"|#\d{1,5}(?: \S{0,1000})?$"
    r"|\([a-z]\w{0,80}(?: [\w.+-]{1,60})?\)(?: [\w./-]{0,300})?$)"
)
_NET_CALL = r"at (?:[\w`<>+]{1,80}\.){1,20}[\w`<>+\[\],]{1,100}\([^()\n]{0,500}\)$"
_WHOLE = re.compile(
    _MARGIN
    + "(?:"
    + "|".join(
        (
            PRINTED["python"] + r"(?:,? in \S.*)?$",
            *(PRINTED["java"], f"(?:{PRINTED['csharp']})$", _NET_CALL),
            *(
                f"(?:{PRINTED['javascript']})$",
                rf"(?:{PRINTED['ruby']})(?=$|[\s:])",
                PRINTED["php"],
            ),
            *(f"(?:{PRINTED['go']})$", f"(?:{PRINTED['rust']})$", PRINTED["elixir"]),
        )
    )
    + ")"
)
_NET_CALL_LINE = re.compile(rf"\s*{_NET_CALL}")
_PLACE_OF_CALL = re.compile(r"\s*in \S.{0,1000}:line \d{1,9}$")


def rejoined(lines: Sequence[str]) -> list[str]:
    """Return the lines, frames that were broken made whole.

    >>> rejoined(("  at org.shop.Cart.total(", "Cart.java:8)", "bye"))
    ['  at org.shop.Cart.total(Cart.java:8)', 'bye']
    """
    whole: list[str] = []
    at, width = 0, _width(lines)
    while at < len(lines):
        line, taken = _rejoined_at(lines, at, width)
        whole.append(line)
        at += taken
    return whole


def begins_frame(line: str) -> bool:
    """Tell whether a line may be the first part of a frame that was broken.

    >>> begins_frame("\tat"), begins_frame("noon")
    (True, False)
    """
    return _BEGUN.match(line) is not None


def made_whole(line: str, below: str) -> str:
    """Return the frame that a line and the one below it are together; empty where they are none.

    >>> made_whole("  at org.shop.Cart.total(", "Cart.java:8)")
    '  at org.shop.Cart.total(Cart.java:8)'
    """
    whole, taken = _rejoined_at((line, below), 0, 0)
    return whole if taken > 1 else ""


def _width(lines: Sequence[str]) -> int:
    longest = max(map(len, lines), default=0)
    is_broken = sum(len(line) == longest for line in lines) > 1
    return longest if is_broken and longest in WRAP_WIDTHS else 0


def _rejoined_at(lines: Sequence[str], at: int, width: int) -> tuple[str, int]:
    line, below = lines[at], lines[at + 1 : at + WRAPPED_LINES]
    if below and _NET_CALL_LINE.match(line) and _PLACE_OF_CALL.match(below[0]):
        return f"{line.rstrip()} {below[0].strip()}", 2
    if not _BEGUN.match(line) or _WHOLE.match(line):
        return line, 1
    for taken in range(1, len(below) + 1):
        last = below[taken - 1]
        if not last.strip() or (_WHOLE.match(last) and len(line) != width):
            break
        is_between_words = line.endswith((" in", " at", ",")) or last.lstrip().startswith("<")
        for gap in (" ", "") if is_between_words else ("", " "):
            joined = gap.join((line.rstrip() if gap else line, *map(str.lstrip, below[:taken])))
            if len(joined) <= LINE_CHARACTERS and _WHOLE.match(joined):
                return joined, taken + 1
    return line, 1


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
    in_json = is_json(whole)
    whole = _BLANK_LINES.sub("\n\n", whole)
    parts = [part for line in _not_spaced(whole.split("\n")) for part in parts_of(line, in_json)]
    lines = [line[:LINE_CHARACTERS] for part in _unprefixed(parts) for line in separated(part)]
    if len(lines) > LINES:
        lines = lines[: LINES // 2] + lines[-LINES // 2 :]
    return tuple(rejoined(lines))


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
    parts = unescaped(bare, in_json)
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
        return [bare if "&" not in bare else unescaped(bare)[0]]
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


# Source that stands in a text around a failing line, numbered, and the frame it belongs to.
#
# Rails prints it above the frames, test runners and consoles below the place; records whose frames
# come as objects are written with it in a form of our own (`row`), which is not shown to people.

_OURS = re.compile(r" {4}(?P<mark>[> ]) {0,7}(?P<line>\d{1,7})\|(?: (?P<code>.*))?$")
# How others print a numbered line; the mark stands before the failing one.
_SHAPES = (
    _OURS,
    re.compile(  # test runners, bundlers and Laravel's console
        r"\s{0,12}(?P<mark>[>➜→]?)\s{0,8}(?P<line>\d{1,7}) ?[|▕│] ?(?P<code>.*)$"
    ),
    re.compile(  # Rails and its consoles
        r"\s{1,12}(?P<mark>(?:=>)?)\s{0,8}(?P<line>\d{1,7}):(?: (?P<code>(?!from ).*)|\s*)$"
    ),
    re.compile(r"(?P<mark>[> ]?) {1,4}(?P<line>\d{1,7}) {3}(?P<code>.*)$"),  # better_errors
    re.compile(r"\s{0,8}(?P<mark>)Line (?P<line>\d{1,7}): {1,2}(?P<code>.*)$"),  # ASP.NET
)
PLACE = re.compile(r'(?<![\w.$@+-])([\w.$@+-]{1,200})(?:", line |:line |:|\()(\d{1,8})\b')
_CARETS = re.compile(r"\s*\^+\s*$")
_NODE_PLACE = re.compile(r"(?:file://)?\S{1,1000}\.[cm]?[jt]sx?:\d{1,8}$")


class Excerpt(NamedTuple):
    """Lines of source by number, and the file and line that failed."""

    file: str  # its name without folders
    line: int
    lines: Mapping[int, str]


Rows = list[tuple[int, str, bool]]  # number, text, whether it is marked


def row(number: int, text: str, failing: bool = False) -> str:
    """Write a line of source so that `taken_out` knows it again.

    >>> row(7, "total += 1", failing=True)
    '    >    7| total += 1'
    """
    return f"    {'>' if failing else ' '}{number:>5}| {text}".rstrip()


def without_ours(raw: str) -> str:
    """Leave out of a text the rows that `row` wrote.

    >>> without_ours("a.rb:7:in `b'\\n" + row(7, "c") + "\\nd.rb:1:in `e'")
    "a.rb:7:in `b'\\nd.rb:1:in `e'"
    """
    return "\n".join(item for item in raw.split("\n") if not _OURS.match(item))


def taken_out(lines: Sequence[str]) -> tuple[tuple[str, ...], tuple[Excerpt, ...]]:
    """Split a text into what is no excerpt, and its excerpts, where the failing line is known.

    >>> rows = ("E (no name):", "    2: <p>", "    3: <%= a.b %>", "show.erb:3:in `x'")
    >>> taken_out(rows)[1][0].line
    3
    """
    kept: list[str] = []
    waiting: list[tuple[int, Rows, list[str]]] = []  # where it stood, its lines, as printed
    for rows, printed in _blocks(lines):
        if rows and len(waiting) < EXCERPTS:
            waiting.append((len(kept), rows, printed))
        else:
            kept += printed
    excerpts, back = [], []
    for at, rows, printed in waiting:
        excerpt = _placed(rows, kept, at)
        if excerpt:
            excerpts.append(excerpt)
        else:
            back.append((at, printed))
    for at, printed in reversed(back):
        kept[at:at] = printed
    return tuple(kept), (*excerpts, *_of_node(lines))


def _blocks(lines: Sequence[str]) -> Iterator[tuple[Rows, list[str]]]:
    """Runs of lines numbered upwards without a gap, carets between them left out; other lines."""
    rows: Rows = []
    printed: list[str] = []
    for text in lines:
        one = _numbered(text, rows[-1][0] + 1 if rows else 0)
        carets = rows and not one and _CARETS.match(text.replace("|", " "))
        if not one and not carets and rows:
            yield (rows if _is_excerpt(rows, printed) else []), printed
            rows, printed = [], []
            one = _numbered(text, 0)
        printed.append(text)
        if one:
            rows.append(one)
        elif not carets:
            yield [], printed
            printed = []
    if printed:
        yield (rows if _is_excerpt(rows, printed) else []), printed


def _numbered(text: str, wanted: int) -> tuple[int, str, bool] | None:
    for shape in _SHAPES:
        match = shape.match(text[:LINE_CHARACTERS])
        if match and wanted in (0, int(match["line"])):
            return int(match["line"]), match["code"] or "", bool(match["mark"].strip())
    return None


def _is_excerpt(rows: Rows, printed: list[str]) -> bool:
    is_ours = bool(printed) and bool(_OURS.match(printed[0]))
    return 1 < len(rows) <= EXCERPT_LINES or (is_ours and len(rows) == 1)


def _placed(rows: Rows, lines: list[str], at: int) -> Excerpt | None:
    """The place whose line the excerpt holds: the nearest one above it, else the first below."""
    numbers = {number for number, _, _ in rows}
    marked = {number for number, _, is_marked in rows if is_marked}
    near = (*lines[max(0, at - EXCERPT_GAP) : at][::-1], *lines[at : at + EXCERPT_GAP])
    for text in near:
        for file, line in PLACE.findall(text[:ROW_CHARACTERS]):
            if int(line) in (marked or numbers):
                return Excerpt(file, int(line), {number: code for number, code, _ in rows})
    return None


def _of_node(lines: Sequence[str]) -> Iterator[Excerpt]:
    for place, text, below in zip(lines, lines[1:], lines[2:], strict=False):
        if _CARETS.match(below) and "^" in below and _NODE_PLACE.match(place.strip()):
            path, _, line = place.strip().rpartition(":")
            yield Excerpt(path.rpartition("/")[2], int(line), {int(line): text})


def with_source(
    chain: tuple[ExceptionLink, ...], excerpts: Sequence[Excerpt]
) -> tuple[ExceptionLink, ...]:
    """Give frames the source of the excerpts that stand for their file and line."""
    by_place = {(excerpt.file, excerpt.line): excerpt for excerpt in reversed(excerpts)}
    if not by_place:
        return chain
    return tuple(
        link.model_copy(update={"frames": tuple(_with(frame, by_place) for frame in link.frames)})
        for link in chain
    )


def _with(frame: Frame, by_place: Mapping[tuple[str, int], Excerpt]) -> Frame:
    file = frame.path.replace("\\", "/").rpartition("/")[2]
    excerpt = by_place.get((file, frame.line or 0))
    if excerpt is None:
        return frame
    above = tuple(text for number, text in sorted(excerpt.lines.items()) if number < excerpt.line)
    below = tuple(text for number, text in sorted(excerpt.lines.items()) if number > excerpt.line)
    code = excerpt.lines.get(excerpt.line, "").strip() or frame.code
    return frame.model_copy(update={"code": code, "before": above, "after": below})
