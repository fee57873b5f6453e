"""Frames of records in a form of our own, for languages whose traces have no parser here."""

import re
from collections.abc import Sequence

from nightwatch_core.models.errors import Frame
from nightwatch_core.traces.chains import Chain, Header, read_blocks
from nightwatch_core.traces.in_app import UNKNOWN_PATH

CLUES = ("  frame: ",)

_FRAME = re.compile(
    r" {2}frame: (?P<path>.{1,1500}?)(?::(?P<line>\d{1,9})(?::(?P<column>\d{1,9}))?)?"
    r"(?: in (?P<function>.{1,1000}))?$"
)
_HEADER = re.compile(r"(?P<error_class>\S[^:]{0,299}(?:::[^:\s]{1,200})*?)(?:: (?P<message>.*))?$")


def frame_row(path: str, line: int, column: int, function: str) -> str:
    """Write a frame so that `read` knows it again; 0 and "" stand for what is not known.

    >>> frame_row("src/cart.rs", 7, 3, "shop::cart::total"), frame_row("", 0, 0, "abort")
    ('  frame: src/cart.rs:7:3 in shop::cart::total', '  frame: <unknown> in abort')
    """
    place = f"{path or UNKNOWN_PATH}{f':{line}' if line else ''}"
    place += f":{column}" if line and column else ""
    return f"  frame: {place}{f' in {function}' if function else ''}"


def read(lines: Sequence[str]) -> tuple[Chain, ...]:
    """Return the chains of exceptions in a text.

    >>> chain = read(("SIGSEGV: no", "  frame: cart.rs:7:3 in shop::total"))[0]
    >>> chain[0].error_class, chain[0].frames[0].place
    ('SIGSEGV', 'cart.rs:7')
    """
    return read_blocks(lines, frame_of, header_of)


def frame_of(line: str) -> Frame | None:
    """Return the frame that a line of this form holds.

    >>> frame_of("  frame: <log macros>:5 in log").path
    '<log macros>'
    """
    match = _FRAME.match(line) if line.startswith(CLUES) else None
    if match is None:
        return None
    return Frame(
        path=match["path"],
        line=int(match["line"]) if match["line"] else None,
        column=int(match["column"]) if match["column"] else None,
        function=match["function"] or "",
    )


def header_of(line: str) -> Header | None:
    """Return the exception that stands above frames of this form.

    >>> header_of("actix_web::pipeline: went wrong")
    Header(error_class='actix_web::pipeline', message='went wrong')
    """
    match = _HEADER.match(line)
    return Header(match["error_class"], match["message"] or "") if match else None
