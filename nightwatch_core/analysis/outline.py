"""Where a file defines things: the lines worth knowing of a part that is not shown."""

import re
from collections.abc import Sequence

_LONGEST = 160  # characters of a line that may define something
_WORDS = (
    *("export", "default", "public", "private", "protected", "internal", "static", "final"),
    *("abstract", "sealed", "override", "async", "virtual", "open", "data", "pub", "partial"),
    *("readonly", "declare", "suspend", "inline"),
)
_KINDS = (
    *("def", "class", "module", "function", "func", "fun", "fn", "interface", "struct", "enum"),
    *("trait", "impl", "type", "record", "object", "namespace", "protocol"),
)
DEFINES: tuple[re.Pattern[str], ...] = (
    # a keyword, with modifiers before it
    re.compile(
        rf"[ \t]{{0,16}}(?:(?:{'|'.join(_WORDS)}) )*(?:{'|'.join(_KINDS)})[ (*]{{1,3}}[\w$(]"
    ),
    # a method of Java or C#: a modifier, types, a name, a bracket
    re.compile(
        r"[ \t]{0,16}(?:public|private|protected|internal) (?:[\w<>\[\],.?]{1,60} ){0,5}\w{1,60}\("
    ),
    # a function of JavaScript that is a value
    re.compile(
        r"[ \t]{0,4}(?:export )?(?:const|let) \w{1,60} = (?:async )?(?:\(|function\b|\w{1,40} =>)"
    ),
)


def definitions(lines: Sequence[str], most: int) -> tuple[int, ...]:
    """Indexes of up to `most` lines that define something, in order; outer definitions first.

    >>> definitions(["class Cart:", "    def total(self):", "        return 1"], 9)
    (0, 1)
    >>> definitions(["class Cart:", "    def total(self):", "class Order:"], 2)
    (0, 2)
    """
    found = [
        (len(line) - len(line.lstrip()), index)
        for index, line in enumerate(lines)
        if len(line) <= _LONGEST and any(kind.match(line) for kind in DEFINES)
    ]
    return tuple(sorted(index for _, index in sorted(found)[:most]))
