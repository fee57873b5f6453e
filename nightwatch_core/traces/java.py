"""Stack traces of the JVM: Java, Kotlin, Scala, Groovy, Clojure."""

import re
from collections.abc import Iterator, Sequence

from nightwatch_core.models.errors import Frame
from nightwatch_core.traces.chains import Chain, Header, read_blocks
from nightwatch_core.traces.in_app import UNKNOWN_PATH

CLUES = (".java:", ".kt:", ".scala:", ".groovy:", ".clj:", "(Unknown Source)", "(Native Method)")

_SOURCE = (
    r"\((?P<source>[^()\s:]{1,200}\.(?:java|kts?|scala|groovy|gradle|cljc?|gvy|jsp|xtend)"
    r"(?::(?P<line>-?\d{1,9}))?|Native Method|Unknown Source|<generated>"
    r"|NO_SOURCE_FILE(?::\d{1,9})?)\)"
)
# A name may hold spaces (tests in Kotlin and Groovy) only where the line begins with it.
_FRAMES = (
    re.compile(rf"\s{{0,200}}at (?P<name>[^()\s][^()]{{0,500}}){_SOURCE}"),
    re.compile(rf"\sat (?P<name>[^()\s]{{1,500}}){_SOURCE}"),
)
_LOADER = re.compile(r"(?:[\w.@ -]{0,100}/){1,2}(?=[A-Za-z_])")  # "java.base/", "app//"
_SUPPRESSED = re.compile(r"\s{0,200}Suppressed: ")
_CAUSE = re.compile(r"\s{0,200}Caused by: ")

_NAME = r"(?:[A-Za-z_][\w$]{0,100}\.){0,20}[A-Za-z_][\w$]{0,150}"
_HEADER = re.compile(
    r"(?:.{0,300}?(?:Exception in thread \"[^\"]{0,200}\" |Uncaught exception:? ))?\s{0,200}"
    rf"(?P<error_class>{_NAME})(?:: ?(?P<message>.*)|\s*)$"
)
_QUALIFIED = re.compile(r"[a-z_][\w$.]*[.$][A-Z]|.*(?:Error|Exception|Throwable|Failure)[\w$]*$")
_INSIDE = re.compile(
    rf"(?:^|[\s:])(?P<error_class>[a-z]\w{{0,60}}\.{_NAME}(?:Error|Exception))"
    r"(?:: (?P<message>.*)|\s*)$"
)


def read(lines: Sequence[str]) -> tuple[Chain, ...]:
    """Return the chains of exceptions in a text.

    >>> read(("org.shop.EmptyCart: none", "\\tat org.shop.Cart.total(Cart.java:8)"))[0][0].message
    'none'
    """
    return read_blocks(_without_suppressed(lines), frame_of, header_of)


def _without_suppressed(lines: Sequence[str]) -> Iterator[str]:
    """Leave out exceptions of close(): they neither caused nor wrapped the one that was thrown."""
    depth: int | None = None
    is_flat = False  # somebody took the indentation
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if _SUPPRESSED.match(line):
            depth = indent if depth is None else min(depth, indent)
        elif depth is not None and line.strip():
            is_flat = is_flat or (indent == depth and frame_of(line) is not None)
            if indent < depth or ((is_flat or depth == 0) and _CAUSE.match(line)):
                depth = None
        if depth is None:
            yield line


def frame_of(line: str) -> Frame | None:
    """Return the frame that a line prints.

    >>> frame_of("\\tat java.base/java.lang.Thread.run(Thread.java:829)").module
    'java.lang.Thread'
    """
    if "at " not in line:
        return None
    match = _FRAMES[0].match(line) or _FRAMES[1].search(line)
    if match is None:
        return None
    name = _LOADER.sub("", match["name"], count=1)
    module, _, function = name.rpartition(".")
    source = match["source"].partition(":")[0]
    is_named = "." in source
    return Frame(
        path=source if is_named else UNKNOWN_PATH,
        line=int(match["line"]) if match["line"] and int(match["line"]) > 0 else None,
        function=function,
        module=module,
    )


def header_of(line: str) -> Header | None:
    """Return the exception that a line names.

    >>> header_of('Exception in thread "main" java.lang.IllegalStateException: closed').message
    'closed'
    """
    match = _HEADER.match(line)
    if match and _QUALIFIED.match(match["error_class"]):
        return Header(match["error_class"], match["message"] or "")
    match = _INSIDE.search(line) if "Error" in line or "Exception" in line else None
    return Header(match["error_class"], match["message"] or "") if match else None
