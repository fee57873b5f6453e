"""Values that may bring a crash about: those of its message, and texts that hold one of them."""

import ast
import re
from collections.abc import Iterator

from nightwatch_core.privacy.masks import holds_mask

_QUOTED = re.compile(r"'([^'\n]{1,80})'|\"([^\"\n]{1,80})\"|`([^`\n]{1,80})`")
_NUMBER = re.compile(r"(?<![\w.])-?\d{1,9}(?![\w.])")
_TOKENS = (re.compile(r"[^\s;,|\"'<>=&/()\[\]{}]+"), re.compile(r"\w+"))
_MESSAGE_VALUES = 4
_SPLICES = 3  # of one text with one value


def message_values(message: str) -> tuple[str | int, ...]:
    """List what a message quotes, then its numbers, without what was masked.

    >>> message_values("no time zone is called 'Mars/North'")
    ('Mars/North',)
    >>> message_values("seat 14 is taken")
    (14,)
    """
    quoted: list[str | int] = ["".join(groups) for groups in _QUOTED.findall(message[:2_000])]
    numbers = (int(digits) for digits in _NUMBER.findall(_QUOTED.sub("", message[:2_000])))
    shown = (one for one in (*quoted, *numbers) if not holds_mask(str(one)))
    return tuple(dict.fromkeys(shown))[:_MESSAGE_VALUES]


def spliced(text: str, values: tuple[str | int, ...]) -> Iterator[tuple[str, str]]:
    """Give pieces of a text and what to put in their places, the likest pieces first.

    >>> list(spliced("seat;width\\nA-1;0.45", ("7:30",)))[0]
    ('0.45', '7:30')
    >>> list(spliced("mail/ada/inbox", ("ada+lists",)))[0]
    ('ada', 'ada+lists')
    """
    for value in values:
        wanted = str(value)
        pieces = dict.fromkeys(
            piece for tokens in _TOKENS for piece in tokens.findall(text[:2_000])[:40]
        )
        likely = sorted(pieces, key=lambda piece: _unlikeness(piece, wanted))
        yield from ((piece, wanted) for piece in likely[:_SPLICES] if piece != wanted)


def _unlikeness(piece: str, wanted: str) -> tuple[bool, bool, bool]:
    return (
        piece.isdigit() or not wanted.startswith(piece),
        piece[:1].isdigit() != wanted[:1].isdigit(),
        piece.isalnum() != wanted.isalnum(),
    )


def compared_in(function: ast.AST) -> tuple[str, ...]:
    """List the texts and numbers that a function compares with or looks up, as code.

    >>> compared_in(ast.parse("if kind == 'gift': price = row['cents']"))
    ("'gift'", "'cents'")
    """
    sites: list[ast.expr] = []
    for node in ast.walk(function):
        if isinstance(node, ast.Compare):
            sites += [node.left, *node.comparators]
        elif isinstance(node, ast.Subscript):
            sites.append(node.slice)
    constants = (one for one in sites if isinstance(one, ast.Constant))
    return tuple(dict.fromkeys(repr(one.value) for one in constants if one.value is not None))[:6]
