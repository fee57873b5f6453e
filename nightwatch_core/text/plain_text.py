"""Text as it is: on one line, cut, its lines as an interpreter counts them, its digest."""

import hashlib
import re
import tomllib
from collections.abc import Sequence
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from fnmatch import fnmatchcase
from importlib.resources import files
from typing import Generic, TypeVar

from pydantic import TypeAdapter

from nightwatch_core.models.answer import Usage
from nightwatch_core.models.value import Value

T = TypeVar("T")


def data_table(package: str, name: str, kind: type[T]) -> T:
    """Read a TOML file beside the code; raises `ValidationError` where it is not of that kind."""
    table = tomllib.loads((files(package) / name).read_text("utf-8"))
    return TypeAdapter(kind).validate_python(table)


def text_table(package: str, name: str) -> dict[str, str]:
    """Read a TOML file of texts by key."""
    return data_table(package, name, dict[str, str])


def graphql_texts(package: str) -> dict[str, str]:
    """Read a queries.toml: GraphQL texts by name, without the blanks that only people need."""
    texts = text_table(package, "queries.toml")
    needless = re.compile(r"\s*([{(:,\[])\s*|\s+([})\]])")
    return {name: needless.sub(r"\1\2", " ".join(t.split())) for name, t in texts.items()}


def one_line(text: str) -> str:
    r"""Return the text with every run of white space as one space.

    >>> one_line(" a\n\tb ")
    'a b'
    """
    return " ".join(text.split())


def shortened(text: str, limit: int) -> str:
    """Cut a text after a word, to at most `limit` characters, and say so.

    A word that is long itself is cut, and code in backticks goes whole where it is short.

    >>> shortened("nothing to cut", 20), shortened("a long sentence", 12)
    ('nothing to cut', 'a long…')
    >>> shortened("abcdef", 4), shortened("the total of `order lines`", 22)
    ('abc…', 'the total of…')
    """
    if len(text) <= limit:
        return text
    head = text[: max(0, limit - 1)]
    if not text[len(head)].isspace():
        head = _cut_before(head, max(head.rfind(" "), head.rfind("\n")), limit)
    if head.count("`") % 2:
        head = _cut_before(head, head.rfind("`"), limit)
    return head.rstrip(" \n\t,;:([") + "…"


def _cut_before(head: str, at: int, limit: int) -> str:
    return head[:at] if 3 * at >= limit else head


_ERROR = re.compile(  # of pip, uv, npm and its like, bundler, go, a shell, pytest
    r"(?<![\w-])(?:err!|error)(?![\w-])(?! code| errno| syscall| path| occurred)|^(?:fatal|E ) |^× "
    r"|(?<=\w)(?:error|exception|notfound)\b(?=[:( ]|$)|could not |cannot find |: not found"
    r"|^go: (?!downloading)",
    re.IGNORECASE,
)


def error_line(text: str, limit: int) -> str:
    """Return the first line that names an error, else the first one; what goes on is added.

    >>> error_line("Resolving\\n  × No solution found:\\n  ╰─▶ Because a needs b", 60)
    '× No solution found: ╰─▶ Because a needs b'
    >>> error_line("TAP version 13\\n\\x1b[31mTypeError\\x1b[39m: no", 60)
    'TypeError: no'
    >>> error_line("npm error code E404\\nnpm error 404 Not Found - left", 60)
    'npm error 404 Not Found - left'
    """
    plain = re.sub(r"\x1b\[[\d;]*m", "", text)
    plain = re.sub(r"(?m)^TAP version .*|^\d+\.\.\d+$", "", plain)
    lines = [line for line in map(one_line, plain.splitlines()) if line] or [""]
    at = next((at for at, line in enumerate(lines) if _ERROR.search(line)), 0)
    more = lines[at].endswith(":")
    return shortened(" ".join(lines[at : at + 1 + more]), limit)


def middle_out(text: str, limit: int) -> str:
    """Return the text, or its beginning and end, with how much was left out between them.

    >>> middle_out("abcdef", 4)
    'ab\\n[... 2 characters left out ...]\\nef'
    """
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[... {len(text) - limit} characters left out ...]\n{text[-half:]}"


def last_lines(text: str, limit: int) -> str:
    r"""Return the last whole lines that `limit` characters hold.

    >>> last_lines("one\ntwo\nthree", 10), last_lines("abcdef", 4)
    ('two\nthree', 'cdef')
    """
    end = text[-limit:]
    return text if len(text) <= limit else end.partition("\n")[2] or end


def text_lines(text: str) -> tuple[str, ...]:
    """Return lines as interpreters count them: a form feed or a line separator ends none."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return tuple(lines[:-1] if lines[-1] == "" else lines)


def digest(text: str | None) -> str:
    """Return twelve hex digits that tell whether a file changed; empty for no file."""
    return "" if text is None else hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12]


# Numbers, moments and money as people read them, and how many tokens a text is.

_BYTES_A_TOKEN = 3  # the cautious way: code has 3 to 4, other scripts about one character
NOT_SHOWN = "and {more:,} more: see report.json"


class CutList(Value, Generic[T]):
    """The first of many; `more` are not shown."""

    items: tuple[T, ...] = ()
    more: int = 0

    @property
    def rest(self) -> str:
        """Return the line that ends a cut list; empty where nothing is missing."""
        return NOT_SHOWN.format(more=self.more) if self.more else ""


def first(items: Sequence[T], limit: int) -> CutList[T]:
    """Cut a list.

    >>> first("abcde", 2).rest
    'and 3 more: see report.json'
    """
    return CutList(items=tuple(items[:limit]), more=max(0, len(items) - limit))


def capped(texts: Sequence[str], limit: int) -> tuple[str, ...]:
    """Cut a list of lines; the last one says what is missing.

    >>> capped(("a", "b", "c"), 2)
    ('a', 'b', 'and 1 more: see report.json')
    """
    some = first(texts, limit)
    return (*some.items, some.rest) if some.rest else some.items


def plural(count: int, noun: str, many: str = "") -> str:
    """Return a count with its noun.

    >>> plural(1, "fix", "fixes"), plural(2000, "issue"), plural(0, "fix", "fixes")
    ('1 fix', '2,000 issues', '0 fixes')
    """
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"


def release_called(version: str) -> str:
    """Return a release with the word before it, unless its name begins so.

    >>> release_called("v1.2"), release_called("release-2026.11.20")
    ('release v1.2', 'release-2026.11.20')
    """
    return version if version.lower().startswith("release") else f"release {version}"


def money(cost: float | None) -> str:
    """Return an amount in USD, or that the price is unknown.

    >>> money(0.0), money(0.004), money(1.257), money(None)
    ('$0.00', 'under $0.01', '$1.26', 'price unknown')
    """
    if cost is None:
        return "price unknown"
    return "under $0.01" if 0 < cost < 0.01 else f"${cost:,.2f}"


def spending(usage: Usage) -> str:
    """Return tokens and money of one analysis or one night.

    >>> spending(Usage())
    '0 tokens, $0.00'
    >>> spending(Usage(calls=3, input_tokens=900, output_tokens=100, cache_read_tokens=5000))
    '1,000 tokens (and 5,000 read from the cache) in 3 calls, $0.00'
    """
    cached = usage.cache_read_tokens
    return (
        plural(usage.new_tokens, "token")
        + (f" (and {cached:,} read from the cache)" if cached else "")
        + (f" in {plural(usage.calls, 'call')}" if usage.calls else "")
        + f", {money(usage.cost)}"
    )


def moment(at: datetime | None) -> str:
    """Return date, time and zone.

    >>> from datetime import UTC
    >>> moment(datetime(2026, 11, 20, 3, 5, tzinfo=UTC)), moment(None)
    ('2026-11-20 03:05 UTC', 'unknown')
    """
    return f"{at:%Y-%m-%d %H:%M %Z}".rstrip() if at else "unknown"


def ordinal(number: int) -> str:
    """Write a number in words' order."""
    teen = number % 100 in (11, 12, 13)
    return f"{number}{'th' if teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def lasting(span: timedelta) -> str:
    """Return a stretch of time, roughly.

    >>> [lasting(timedelta(seconds=seconds)) for seconds in (9.4, 125, 176_400)]
    ['9 s', '2 min 5 s', '49 h']
    """
    seconds = max(0, int(span.total_seconds()))
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3600:
        return f"{seconds // 60} min {seconds % 60} s"
    hours, minutes = seconds // 3600, seconds % 3600 // 60
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def roughly(span: timedelta) -> str:
    """Return a long stretch of time, in days, months or years.

    >>> [roughly(timedelta(days=days)) for days in (45, 75, 700, 800)]
    ['45 days', '2 months', '23 months', '2 years']
    """
    if span.days < 60:
        return plural(span.days, "day")
    return f"{span.days // 30} months" if span.days < 730 else f"{span.days // 365} years"


def rebinned(hourly: Sequence[int], bars: int = 48) -> tuple[int, ...]:
    """Return counts in at most `bars` bars, sums kept; neighbours are added up."""
    width = -(-len(hourly) // bars) or 1
    return tuple(sum(hourly[start : start + width]) for start in range(0, len(hourly), width))


def estimated_tokens(text: str) -> int:
    """Count about how many tokens a text is, rather too many; the same on every machine.

    >>> estimated_tokens("return total"), estimated_tokens("合計を返す"), estimated_tokens("")
    (4, 5, 0)
    """
    return -(-len(text.encode("utf-8", "replace")) // _BYTES_A_TOKEN)


# Globs over paths: `*` within a name, `**` over folders, `{a,b}` for either.

_BRACES = re.compile(r"\{([^{}]*)\}")
_MOST = 16  # globs that one with braces may stand for


def is_glob(text: str) -> bool:
    """Tell whether the text is meant as a pattern."""
    return any(character in text for character in "*?[{")


def matches(path: str, glob: str) -> bool:
    """Tell whether the glob fits the path: without a slash its name; in linear time."""
    return any(_matches(path, item) for item in _expanded(glob.removeprefix("./").lstrip("/")))


def fixed_folder(glob: str) -> str:
    """Return the folder that everything a glob stands for is in; empty where it says none."""
    fixed: list[str] = []
    for part in glob.removeprefix("./").strip("/").split("/")[:-1]:
        if is_glob(part) or part == "..":
            break
        fixed.append(part)
    return "/".join(fixed)


def _expanded(glob: str) -> tuple[str, ...]:
    globs = [glob]
    while len(globs) < _MOST and (found := _BRACES.search(globs[0])):
        first, *rest = globs
        head, tail = first[: found.start()], first[found.end() :]
        globs = [*rest, *(f"{head}{choice}{tail}" for choice in found[1].split(","))]
    return tuple(globs[:_MOST])


def _matches(path: str, glob: str) -> bool:
    names, parts = path.split("/"), glob.split("/")
    if len(parts) == 1 and glob != "**":
        return fnmatchcase(names[-1], glob)
    reached = {0}  # how many names the parts so far can stand for
    for part in parts:
        if part == "**":
            reached = set(range(min(reached), len(names) + 1))
        else:
            reached = {n + 1 for n in reached if n < len(names) and fnmatchcase(names[n], part)}
        if not reached:
            return False
    return len(names) in reached


# How long a service asks to wait, as its Retry-After header says it.


def retry_after(header: str, now: float) -> float | None:
    """Return seconds from `now` (since 1970): a number, or a date to come; None for anything else.

    >>> retry_after("1.5", 0), retry_after("Thu, 01 Jan 1970 00:00:30 GMT", 10)
    (1.5, 20.0)
    >>> retry_after("soon", 0), retry_after("-3", 0), retry_after("nan", 0)
    (None, None, None)
    """
    text = header.strip()[:100]
    try:
        seconds = float(text)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(text).timestamp() - now
        except (ValueError, OverflowError, TypeError, IndexError):
            return None
    return seconds if seconds >= 0 else None
