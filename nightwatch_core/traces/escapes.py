"""Lines that JSON, HTML or a logger wrote as one, with escapes for what they could not hold."""

import html
import re

from nightwatch_core.traces.limits import ESCAPED_CHARACTERS, TAGS

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
_ESCAPES = (
    (r"\u003c", "<"),
    (r"\u003e", ">"),
    (r"\u0026", "&"),
    (r"\u0027", "'"),
    ("\\\\", "\\"),
)
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
    """The lines that a piece of HTML or of a ticket's markup shows."""
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
    """What stands between tags or fences; a fence alone stays."""
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
    """What stands between the quotes, behind the key."""
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
