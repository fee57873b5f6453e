"""How a frame of each language is printed, so strictly that it is known anywhere in a line.

The parsers are more lenient: they see a line alone and know its language.
"""

import re
from collections.abc import Mapping

_WORD = r"(?<![\w.$/-])"  # begins a word
_TOKEN = r"(?<!\S)"
_PLACE = r":\d{1,9}:\d{1,9}"
_NESTED = r"(?:[^()\n]|\([^()\n]{0,300}\))"  # text with brackets that are closed

PYTHON = r"File \"[^\"\n]{1,1000}\", line (?:\d{1,9}|None)"
_JVM_NAME = rf"{_WORD}at (?:[\w.@-]{{0,100}}/){{0,2}}[\w$.<>-]{{1,400}}"
JVM = (
    rf"{_JVM_NAME}\((?:[\w$-]{{1,200}}\.\w{{1,10}}:\d{{1,9}}"
    r"|Native Method|Unknown Source|<generated>)\)(?: ~?\[[^\]\n]{1,200}\])?"
)
V8 = (
    rf"{_WORD}at (?:async |new ){{0,2}}"
    r"(?:(?:Anonymous function|[^\s()]{1,300}(?: \[as [^\]\s]{1,100}\])?) )?"
    rf"\({_NESTED}{{1,500}}{_PLACE}\)"
    rf"|{_WORD}at (?:async )?[^\s()]{{1,500}}{_PLACE}(?![^\s|])"
)
NET = (
    rf"{_WORD}at [\w.<>`+\[\],|$]{{3,500}} ?\([^()\n]{{0,500}}\)"
    r" in [^\s|][^\n|]{0,500}?:line \d{1,9}(?!\w)"
)
GECKO = (
    rf"{_TOKEN}[\w$.<>/*\[\]-]{{0,200}}@(?=[a-z-]{{2,20}}:/|/)[^\s@]{{1,1000}}:\d{{1,9}}"
    r"(?::\d{1,9})?(?!\S)"
)
RUBY = (
    rf"{_TOKEN}(?:from )?(?:[A-Za-z]:/Program Files[ \w()]{{0,10}}/)?[^\s\"'`(),|]{{1,500}}"
    r":\d{1,9}:in [`'][^'\n]{0,300}'"
    rf"|{_TOKEN}(?:from )?[^\s\"'`(),|]{{1,500}}\.(?:rb|erb|rake|ru|haml|slim)"
    r":\d{1,9}:in(?= [\w<]|$)"
)
PHP = (
    rf"{_TOKEN}#\d{{1,5}} (?:[^\s(\[{{][^\n()]{{0,500}}\(\d{{1,9}}\)|\[internal function\]"
    r"|\{main\})"
)
GO = (
    rf"{_TOKEN}(?:/|[A-Za-z]:[\\/])[^\s:]{{1,500}}\.(?:go|s):\d{{1,9}}"
    r"(?: \+0x[0-9a-f]{1,16})?(?!\S)"
)
RUST = (
    rf"(?<!panicked ){_WORD}at (?:\.{{0,2}}/|[A-Za-z]:[\\/]|[\w-]{{1,80}}[\\/])"
    r"[^\s:]{1,500}\.rs:\d{1,9}(?::\d{1,9})?"
)
ELIXIR = (
    rf"{_TOKEN}\([a-z]\w{{0,80}}(?: [\w.+-]{{1,60}})?\) [\w./@+-]{{1,300}}"
    r"\.(?:ex|exs|erl|eex|heex|leex):\d{1,9}: \S"
)

FRAMES: Mapping[str, str] = {
    "python": PYTHON,
    "java": JVM,
    "csharp": NET,
    "javascript": f"{V8}|{GECKO}",
    "ruby": RUBY,
    "php": PHP,
    "go": GO,
    "rust": RUST,
    "elixir": ELIXIR,
}
FRAME = re.compile("|".join(f"(?:{pattern})" for pattern in FRAMES.values()))

# What a line holds that holds a frame: looked for first, because it costs nothing.
_SIGNS = ('File "', "at ", ":in", "#", ".go:", ".s:", "@", ").", ") ")


def frame_in(line: str) -> re.Match[str] | None:
    """Return the first frame printed anywhere in a line.

    >>> frame_in("shop:   at total (/srv/cart.js:3:5)").start()
    8
    """
    return FRAME.search(line) if any(sign in line for sign in _SIGNS) else None
