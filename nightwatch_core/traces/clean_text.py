"""Lines of a stack trace without what loggers, terminals, mails and JSON wrapped around them."""

import re

from nightwatch_core.traces.limits import LINE_CHARACTERS, LINE_PREFIXES, LINES, TEXT_CHARACTERS

_TIME = r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
_LEVEL = r"(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL|SEVERE)"

# What stands before a line and is not part of it. Only one space is taken with each,
# so the indentation of the line itself survives.
_PREFIXES = (
    r"(?:> ?)+",  # a quoted mail or Markdown
    r"(?:[\w.-]{1,80})?\s{1,40}\| ",  # docker compose; the margin of a Python exception group
    r"remote: ?",  # git push to a build server
    rf"\[?\d{{4}}[-/]\d\d[-/]\d\d[T ]{_TIME}(?:Z| ?[+-]\d\d:?\d\d| UTC)?\]?(?: |$)",
    rf"\[?{_TIME}\]? ",
    # syslog
    rf"[A-Z][a-z]{{2}} [ \d]\d {_TIME} [\w.-]{{1,80}} [\w./-]{{1,80}}(?:\[\d{{1,9}}\])?: ",
    rf"\[[A-Z][a-z]{{2}} [A-Z][a-z]{{2}} \d\d {_TIME} \d{{4}}\] ",  # Apache
    r"[DIWEFA], \[[^\]]{1,80}\] {1,3}[A-Z]{3,7} -- [^:]{0,80}: ",  # Ruby's Logger
    r"<\d{1,3}>\d? ?",  # syslog priority
    r"std(?:out|err) [FP] ",  # Kubernetes
    rf"\[?{_LEVEL}\]?(?:: ?| )",
    r"[\w.-]{1,80}\[[\w.-]{1,40}\]: ",  # app[web.1]:
    r"\[(?!cause|previous|stacktrace|object)[\w.:,/#@ -]{1,100}\] ",  # [request id], [pid 12]
)
_PREFIX = re.compile("|".join(_PREFIXES))
_BLANK_LINES = re.compile(r"\n\s*\n")
_COLOUR = re.compile(r"\x1b\[[0-9;]{0,20}m")

# An escaped newline counts as one only before what begins a line of a trace, because `\n` is
# also how the folder `C:\new` looks.
_ESCAPED_NEWLINE = re.compile(
    r"\\{1,3}n(?=[\s|]{0,40}(?:\\{1,3}t){0,9}\s{0,40}"
    r"(?:at |File \\{0,3}\"|from |in |#\d|Caused by|Traceback|Stack trace|goroutine |\[stacktrace"
    r"|---> |--- End|panic|created by|\.\.\. \d|/|[\w.@-]{1,80}[/@]"
    r"|[A-Z][\w.:]{0,80}(?:Error|Exc)))"
)
_ANY_ESCAPED_NEWLINE = re.compile(r"\\{1,3}r?(?:\\{1,3})?n")
_ESCAPED_TAB = re.compile(r"\\{1,3}t(?=at |\\|\s|/|\.\.\.|from |\d)")
_ESCAPES = (
    (r"\u003c", "<"),
    (r"\u003e", ">"),
    (r"\u0026", "&"),
    (r"\u0027", "'"),
    ("\\\\", "\\"),
    (r"\"", '"'),
    (r"\'", "'"),
    (r"\/", "/"),
)
_ENTITIES = (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&#39;", "'"), ("&amp;", "&"))
_JSON_TEXT = re.compile(r"\s{0,200}[{\[]\s{0,200}(?:[\"{\[]|$)")
_JSON_ENDS = ('"', '",', '"]', '"}', '"],', '"]}', '"}}')
_PLACE = re.compile(r":\d{1,9}:")
_JSON_SEPARATOR = re.compile(r"\"\s{0,20},\s{0,20}\"")
_JSON_KEY = re.compile(r"\s{0,200}[{\[]?\s{0,20}\"?[\w.@-]{1,80}\"\s{0,20}:\s{0,20}\[?\s{0,20}\"")


def clean_lines(raw: str) -> tuple[str, ...]:
    r"""Return lines of a text without prefixes, escapes and colours; indentation is kept.

    >>> clean_lines("web-1  | 2031-05-04T10:11:12Z   at f (/srv/a.js:1:2)")
    ('  at f (/srv/a.js:1:2)',)
    >>> clean_lines('{"stack":"Error: no\\n    at f (/srv/a.js:1:2)"}')
    ('Error: no', '    at f (/srv/a.js:1:2)')
    """
    if len(raw) > TEXT_CHARACTERS:
        raw = raw[: TEXT_CHARACTERS // 2] + "\n" + raw[-TEXT_CHARACTERS // 2 :]
    whole = raw.replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff")
    is_json = _JSON_TEXT.match(whole) is not None
    whole = _BLANK_LINES.sub("\n\n", whole)
    lines = [part[:LINE_CHARACTERS] for line in whole.split("\n") for part in _parts(line, is_json)]
    if len(lines) > LINES:
        lines = lines[: LINES // 2] + lines[-LINES // 2 :]
    return tuple(lines)


def _parts(line: str, is_json: bool) -> list[str]:
    bare = without_prefix(line)
    parts = unescaped(bare, is_json)
    return parts if parts == [bare] else [without_prefix(part) for part in parts]


def without_prefix(line: str) -> str:
    """Return a line without timestamp, level, host and the like.

    >>> without_prefix("[2031-05-04 10:11:12] [9f3a] app/models/cart.rb:3:in 'total'")
    "app/models/cart.rb:3:in 'total'"
    """
    if "\x1b" in line:
        line = _COLOUR.sub("", line)
    for _ in range(LINE_PREFIXES):
        match = _PREFIX.match(line)
        if match is None or not match.end():
            break
        line = line[match.end() :]
    return line.rstrip()


def unescaped(line: str, is_json: bool = False) -> list[str]:
    r"""Return the lines that one line of JSON, of an inspected array or of HTML stands for.

    >>> unescaped('["a.rb:1:in `b\'", "c.rb:2:in `d\'"]')
    ["a.rb:1:in `b'", "c.rb:2:in `d'"]
    """
    if "&" in line and ";" in line:
        for entity, character in _ENTITIES:
            line = line.replace(entity, character)
    strings = _json_strings(line, is_json)
    parts = [part for string in strings for part in _split_at_escapes(string)]
    return parts if parts == [line] else [_without_escapes(part) for part in parts]


def _split_at_escapes(line: str) -> list[str]:
    if "\\" not in line or not _ESCAPED_NEWLINE.search(line[:LINE_CHARACTERS]):
        return [line]
    return _ESCAPED_TAB.sub("\t", _ANY_ESCAPED_NEWLINE.sub("\n", line)).split("\n")


def _json_strings(line: str, is_json: bool) -> list[str]:
    if '"' not in line:
        return [line]
    begins = line.lstrip()[:1]
    if begins not in ("[", "{") and not is_json:
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
    for escape, character in _ESCAPES:
        part = part.replace(escape, character)
    return part
