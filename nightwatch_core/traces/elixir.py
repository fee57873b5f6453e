"""Exceptions of Elixir and Erlang as Elixir prints them: shells, Logger, Phoenix, ExUnit."""

import re
from collections.abc import Sequence

from nightwatch_core.models.errors import Frame
from nightwatch_core.traces.chains import Chain, Header, read_blocks
from nightwatch_core.traces.in_app import UNKNOWN_PATH

CLUES = (".ex:", ".exs:", ".erl:", ".eex:", ".heex:", ".leex:")

_APPLICATION = r"\((?P<application>[a-z]\w{0,80})(?: [\w.+-]{1,60})?\)"
_PLACED = re.compile(
    rf"(?:^|\s)(?:{_APPLICATION} )?(?P<path>[\w./@+-]{{1,500}}\.(?:exs?|erl|[hl]?eex)|iex)"
    r":(?P<line>\d{1,9}): (?P<label>\S.*)$"
)
_CALL = re.compile(
    rf"\s{{0,80}}(?:{_APPLICATION} )?(?P<label>(?::[a-z]\w{{0,80}}|[A-Z][\w.]{{0,200}})\."
    r"[a-z_]\w{0,200}[?!]?(?:/\d{1,3}|\(.*\)))$"
)
_CALLED_IN = re.compile(r"anonymous fn/\d{1,3} in (?P<label>.+)$")
_LABEL = re.compile(
    r"(?P<module>:?[\w.]{1,300})\.(?:\"-?(?P<quoted>[^\"]{1,300})\"|(?P<name>[^\s.(\"/]{1,200}))"
    r"(?:/\d{1,3}|\(.*\))$"
)
_GENERATED = re.compile(r"/\d{1,3}-.*$")  # -total/2-fun-0-
_HEADER = re.compile(r"\*\* \((?P<error_class>[\w.]{1,300})\)(?: (?P<message>.*))?$")
_LEADS_ON = "an exception was raised:"  # the exception stands in the next line
_REASONS = ("EXIT",)  # why a call ended, below what called


def read(lines: Sequence[str]) -> tuple[Chain, ...]:
    """Return the chains of exceptions in a text.

    >>> chains = read(("** (KeyError) key :rate not found in: nil",
    ...                "    (shop 0.1.0) lib/shop/cart.ex:12: Shop.Cart.total/1"))
    >>> chains[0][0].error_class, chains[0][0].frames[0].place
    ('KeyError', 'lib/shop/cart.ex:12')
    """
    return read_blocks(lines, frame_of, header_of)


def frame_of(line: str) -> Frame | None:
    """Return the frame that a line prints.

    >>> frame = frame_of("    (shop 0.1.0) lib/shop.ex:3: anonymous fn/2 in Shop.total/1")
    >>> frame.module, frame.function
    ('Shop', 'total')
    """
    match = _PLACED.search(line) if ": " in line else None
    if match:
        module, function = _owned(match["label"])
        return Frame(path=match["path"], line=int(match["line"]), module=module, function=function)
    match = _CALL.match(line) if line[:1].isspace() or line.startswith("(") else None
    if match is None:
        return None
    module, function = _owned(match["label"])
    return Frame(path=UNKNOWN_PATH, module=module, function=function)


def header_of(line: str) -> Header | None:
    """Return the exception that a line names.

    >>> header_of("** (Ecto.NoResultsError) expected at least one result").error_class
    'Ecto.NoResultsError'
    """
    match = _HEADER.search(line) if "** (" in line else None
    if match is None or match["error_class"] in _REASONS:
        return None
    message = (match["message"] or "").strip()
    return None if message.endswith(_LEADS_ON) else Header(match["error_class"], message)


def _owned(label: str) -> tuple[str, str]:
    """Module and function of what stands behind a place.

    >>> _owned('Shop.Cart."-total/2-fun-0-"/1'), _owned("(file)")
    (('Shop.Cart', 'total'), ('', ''))
    """
    inside = _CALLED_IN.match(label)
    match = _LABEL.match(inside["label"] if inside else label)
    if match is None:
        return "", ""
    return match["module"], match["name"] or _GENERATED.sub("", match["quoted"])
