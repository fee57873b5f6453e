"""Lines of a stack trace without what loggers, terminals, mails and JSON made of them."""

import html
import re
from collections.abc import Sequence
from itertools import islice

from nightwatch_core.traces import limits
from nightwatch_core.traces.grammar import GRAMMAR, PRINTED, frame_in
from nightwatch_core.traces.line_prefixes import SharedPrefix, without_prefix

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
_TAGS_BEFORE = re.compile(
    rf"\s{{0,40}}(?:</?{_BLOCK}(?: [^<>]{{0,200}})?>|`{{3}}(?![\w+#-]*\s*$)){{1,20}}"
)
_TAGS_BEHIND = re.compile(rf"(?:</{_BLOCK}>|(?<=\S)`{{3}}){{1,20}}\s*$")
_CODE_ENDS = re.compile(r"(?:</(?:pre|code|samp)>|(?<=\S)`{3}){1,20}\s*$")

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
    if "<" not in line and "`" not in line:
        return [_with_characters(line)]
    line = _BREAK_AT_END.sub("", line)
    parts = _BREAK.split(line)
    if not any(map(_BEGINS_LINE.match, parts)):
        parts = [line]
    return [_with_characters(_without_tags(part)) for part in parts if part.strip()]


def _without_tags(part: str) -> str:
    before = _TAGS_BEFORE.match(part)
    if before is None:
        return _CODE_ENDS.sub("", part)
    return _TAGS_BEHIND.sub("", part[before.end() :])


def _with_characters(line: str) -> str:
    if "&" not in line or ";" not in line:
        return line
    return _ENTITY.sub(lambda entity: html.unescape(f"&{entity[1]};"), line)


def _split_at_escapes(line: str) -> list[str]:
    if "\\" not in line:
        return [line]
    head = line[: limits.ESCAPED_CHARACTERS]
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

_JOINED = tuple(
    (style, re.compile(f"{_GAP}(?={style.begins})"), re.compile(f"({style.ends}){_GAP}"))
    for style in GRAMMAR.joined.values()
)


def separated(line: str) -> list[str]:
    """Return the lines of a trace that stand on one line; a line that is none stays whole.

    >>> separated("Error: no at f (/a.js:1:2) at g (/b.js:3:4)")
    ['Error: no', 'at f (/a.js:1:2)', 'at g (/b.js:3:4)']
    >>> separated("we met at noon (in the yard) and at one (in town)")
    ['we met at noon (in the yard) and at one (in town)']
    """
    if len(line) > limits.JOINED_CHARACTERS or len(line) < 40:
        return [line]
    frames = list(islice(_FRAME.finditer(line), 2)) if 'File "' in line else []
    if len(frames) > 1 or (frames and "Traceback (most" in line[: frames[0].start()]):
        return _traceback_lines(line)
    for style, before, behind in _JOINED:
        if line.count(style.sign) > 1 and len(list(islice(style.frame.finditer(line), 2))) == 2:
            return behind.sub("\\1\n", before.sub("\n", line)).split("\n")
    return [line]


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


def _traceback_lines(line: str) -> list[str]:
    """Return frames, source and exceptions of Python lines of their own.

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


def rejoined(lines: Sequence[str]) -> list[str]:
    """Make frames whole that a terminal broke at its width.

    >>> rejoined([f"/srv/{'shop/' * 14}li", "b.rb:8:in `f'"] * 2)[1][-20:]
    "shop/lib.rb:8:in `f'"
    """
    width = max(map(len, lines), default=0)
    if width not in limits.WRAP_WIDTHS or sum(len(line) == width for line in lines) < 2:
        return list(lines)
    whole: list[str] = []
    for line in lines:
        above = whole[-1] if whole else ""
        frame = frame_in(above + line) if len(above) == width else None
        begun = above[frame.start() :] if frame and frame.start() < width < frame.end() else ""
        if "/" in begun or (begun and not line.startswith("/")):  # a whole path continues no word
            whole[-1] = above + line
        else:
            whole.append(line)
    return whole


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
    if len(raw) > limits.TEXT_CHARACTERS:
        raw = raw[: limits.TEXT_CHARACTERS // 2] + "\n" + raw[-limits.TEXT_CHARACTERS // 2 :]
    whole = _NEWLINE.sub("\n", with_plain_spaces(raw))
    in_json = is_json(whole)
    whole = _BLANK_LINES.sub("\n\n", whole)
    parts = [part for line in whole.split("\n") for part in parts_of(line, in_json)]
    rows = (row for part in _unprefixed(parts) for row in separated(part))
    lines = [row[: limits.LINE_CHARACTERS] for row in rows]
    if len(lines) > limits.LINES:
        lines = lines[: limits.LINES // 2] + lines[-limits.LINES // 2 :]
    return tuple(rejoined(lines))


def with_plain_spaces(text: str) -> str:
    r"""Return a text whose spaces are all of one kind."""
    return text if text.isascii() else _UNSEEN.sub("", text.translate(_SPACES))


def parts_of(line: str, in_json: bool = False) -> list[str]:
    r"""Return the lines that stand in one line, without prefixes and escapes."""
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


def _unprefixed(lines: Sequence[str]) -> list[str]:
    """Lines without the prefix that frames share with the lines above them."""
    prefix = SharedPrefix()
    pairs = zip(lines, lines[1:], strict=False)
    if any(prefix.learn(above, line) for above, line in pairs):
        return [without_prefix(prefix.without(line)) for line in lines]
    return list(lines)
