"""Reads single lines of code, of any language, as far as rules need: no parser, bounded work."""

import re
from collections.abc import Mapping

from nightwatch_core.code.languages import Language
from nightwatch_core.code.limits import SHOWN_LINE

_WORD = re.compile(r"[\w$@?!]")

Lines = Mapping[int, str]


def masked(text: str, language: Language) -> str:
    """Give the line with the insides of strings and comments blanked, as long as before.

    >>> from nightwatch_core.code.languages import PYTHON
    >>> masked("a['b c'].x  # why", PYTHON)
    "a['   '].x       "
    """
    out, quote, at, text = [], "", 0, text[:SHOWN_LINE]
    while at < len(text):
        char = text[at]
        if quote:
            escaped = char == "\\" and at + 1 < len(text)
            out.append("  " if escaped else char if char == quote else " ")
            quote = "" if char == quote else quote
            at += 2 if escaped else 1
            continue
        if text.startswith(language.comment, at):
            return "".join(out) + " " * (len(text) - at)
        quote = char if char in "\"'`" else ""
        out.append(char)
        at += 1
    return "".join(out)


def uses(name: str, text: str) -> tuple[int, ...]:
    """Find where the whole name stands in the text.

    >>> uses("total", "subtotal + total(total_net)")
    (11,)
    """
    pattern = rf"(?<![\w$]){re.escape(name)}(?![\w$])"
    return tuple(found.start() for found in re.finditer(pattern, text[:SHOWN_LINE]))


def receiver_before(text: str, at: int) -> str:
    """Give the expression that ends before `at`: names, members, calls and subscripts.

    >>> receiver_before("x = shop.basket(1)['a'].total", 23)
    "shop.basket(1)['a']"
    """
    start, depth = at, 0
    while start > 0:
        char = text[start - 1]
        depth += {")": 1, "]": 1, "(": -1, "[": -1}.get(char, 0)
        if depth < 0 or (depth == 0 and not _belongs(text, start - 1)):
            break
        start -= 1
    return text[start:at].strip().lstrip(".:>-")


def _belongs(text: str, at: int) -> bool:
    """Whether the character can be part of an expression without spaces."""
    char = text[at]
    return bool(_WORD.match(char)) or char in ".\\([" or (char in ":>-" and _joins(text, at))


def _joins(text: str, at: int) -> bool:
    """Whether the sign at this place belongs to `::` or `->`."""
    return text[at - 1 : at + 1] in ("::", "->") or text[at : at + 2] in ("::", "->")


def receivers_of(name: str, text: str, language: Language) -> tuple[str, ...]:
    """Give the expressions whose member `name` the line uses, in order.

    >>> from nightwatch_core.code.languages import RUBY
    >>> receivers_of("total", "puts order.lines.total + cart&.total", RUBY)
    ('order.lines', 'cart')
    """
    receivers = []
    for at in uses(name, text):
        joint = next((j for j in language.member if text[:at].endswith(j)), "")
        if joint:
            receivers.append(receiver_before(text, at - len(joint)))
    return tuple(dict.fromkeys(one for one in receivers if one))


def indent(text: str) -> int:
    """Count the columns before the first character; a tab counts as four.

    >>> indent("    x"), indent("\\tx")
    (4, 4)
    """
    plain = text.expandtabs(4)
    return len(plain) - len(plain.lstrip())


def body_of(lines: Lines, start: int) -> tuple[int, ...]:
    """Number the lines of the block that starts at `start`, by indentation."""
    depth, numbers = indent(lines.get(start, "")), [start]
    number = start + 1
    while number in lines:
        text = lines[number]
        shallow = bool(text.strip()) and indent(text) <= depth
        if shallow and not text.strip().startswith((")", "]", "{")):
            break
        numbers.append(number)
        number += 1
    return tuple(numbers)


def assignment(name: str, lines: Lines, line: int, top: int) -> tuple[int, str]:
    """Find the last line above `line` that sets the variable, and the value; else (0, "").

    >>> assignment("a", {1: "a = b(1)", 2: "if a == 2:", 3: "a.c"}, 3, 1)
    (1, 'b(1)')
    """
    sign = re.compile(
        rf"^\s*(?:(?:const|let|var|final|auto)\s+|[\w<>\[\].?]+\s+)?{re.escape(name)}"
        r"(?:,\s*\w+)*\s*(?::\s*[^=]{1,80})?(?:=(?![=>~])|:=|\|\|=)\s*(?P<value>.+)$"
    )
    for number in range(line - 1, max(top, 1) - 1, -1):
        match = sign.match(lines.get(number, "")[:SHOWN_LINE])
        if match:
            return number, match["value"].strip().removesuffix(";").strip()
    return 0, ""


def called(value: str) -> str:
    """Name the function whose result the expression is; empty where it is no plain call.

    >>> called("shop.find(id).first()"), called("await load(x)"), called("a + b(c)")
    ('first', 'load', '')
    """
    plain = re.sub(r"^(?:await|new|yield|return)\s+", "", value.strip().rstrip(";"))
    if not plain.endswith(")"):
        bare = re.fullmatch(r"(?:[\w@$]+(?:\.|->|::|&\.))*([\w?!]+)", plain[:SHOWN_LINE])
        return bare[1] if bare else ""
    depth = 0
    for at in range(len(plain) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(plain[at], 0)
        if depth == 0:
            whole = receiver_before(plain, at)
            head = re.search(r"([\w?!$]+)$", plain[:at])
            return head[1] if head and whole == plain[:at] else ""
    return ""


def parameters(lines: Lines, start: int) -> tuple[str, ...]:
    """Give the parameters of the function that starts at the line, as written, without self.

    >>> parameters({1: "def f(self, a, *, b: int = g(1, 2),", 2: "      c=None):"}, 1)
    ('a', '*', 'b: int = g(1, 2)', 'c=None')
    """
    return tuple(part for part in arguments(lines, start) if part not in ("self", "cls"))


def arguments(lines: Lines, start: int, opening: int = 0) -> tuple[str, ...]:
    """Say what stands between the parentheses that open on this line, split at its own commas.

    `opening` is the column from which the first parenthesis is taken; up to 30 lines are read.
    """
    rows = [lines.get(start, "")[opening:SHOWN_LINE]]
    rows += [lines[n][:SHOWN_LINE] for n in range(start + 1, start + 30) if n in lines]
    parts, depth, current, quote = [], 0, "", ""
    for char in " ".join(rows):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char in "([{":
            depth += 1
            if depth == 1:
                continue
        elif char in ")]}":
            depth -= 1
            if depth <= 0:
                break
        if depth == 1 and char == "," and not quote:
            parts.append(current)
            current = ""
        elif depth:
            current += char
    return tuple(part.strip() for part in (*parts, current) if part.strip())
