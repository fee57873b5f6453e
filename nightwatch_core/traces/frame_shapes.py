"""Frame patterns of each language, strict enough to be found anywhere in a line.

The parsers are more lenient: they see a line alone and know its language.
"""

import re
from collections.abc import Mapping

_AT = r"at (?<![\w.$/-]at )"  # a word of its own; its letters come first, which is fast
_TOKEN = r"(?<!\S)"
_PLACE = r":\d{1,9}:\d{1,9}"
_NESTED = r"(?:[^()\n]|\([^()\n]{0,300}\))"  # text with brackets that are closed

PYTHON = r"File \"[^\"\n]{1,1000}\", line (?:\d{1,9}|None)"
_JVM_NAME = rf"{_AT}(?:[\w.@-]{{0,100}}/){{0,2}}[\w$.<>-]{{1,400}}"
JVM = (
    rf"{_JVM_NAME}\((?:[\w$-]{{1,200}}\.\w{{1,10}}:\d{{1,9}}"
    r"|Native Method|Unknown Source|<generated>)\)(?: ~?\[[^\]\n]{1,200}\])?"
)
V8 = (
    rf"{_AT}(?:async |new ){{0,2}}"
    r"(?:(?:Anonymous function|[^\s()]{1,300}(?: \[as [^\]\s]{1,100}\])?) )?"
    rf"\({_NESTED}{{1,500}}{_PLACE}\)"
    rf"|{_AT}(?:async )?[^\s()]{{1,500}}{_PLACE}(?![^\s|])"
)
NET = (
    rf"{_AT}[\w.<>`+\[\],|$]{{3,500}} ?\([^()\n]{{0,500}}\)"
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
    r"#(?<!\S#)\d{1,5} (?:[^\s(\[{][^\n()]{0,500}\(\d{1,9}\)|\[internal function\]"
    r"|\{main\})"
)
GO = (
    rf"{_TOKEN}(?:/|[A-Za-z]:[\\/])[^\s:]{{1,500}}\.(?:go|s):\d{{1,9}}"
    r"(?: \+0x[0-9a-f]{1,16})?(?!\S)"
)
RUST = (
    rf"{_AT}(?<!panicked at )(?:\.{{0,2}}/|[A-Za-z]:[\\/]|[\w-]{{1,80}}[\\/])"
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
    "javascript": V8,
    "firefox": GECKO,
    "ruby": RUBY,
    "php": PHP,
    "go": GO,
    "rust": RUST,
    "elixir": ELIXIR,
}
# The first text is in every line that holds such a frame: looked for first, it costs nothing.
_SIGNS = {
    "python": ('File "',),
    "java": ("at ",),
    "csharp": ("at ",),
    "javascript": ("at ",),
    "firefox": ("@http", "@/", "@file:", "@webpack", "@app:", "@capacitor", "@blob:"),
    "ruby": (":in",),
    "php": ("#",),
    "go": (".go:", ".s:"),
    "rust": (".rs:",),
    "elixir": (".ex", ".erl:", "eex:"),
}
_SEARCHED = tuple((_SIGNS[name], re.compile(pattern)) for name, pattern in FRAMES.items())


def frame_in(line: str) -> re.Match[str] | None:
    """Return the first frame printed anywhere in a line.

    >>> frame_in("shop:   at total (/srv/cart.js:3:5)").start()
    8
    """
    searches = (
        pattern.search(line) for signs, pattern in _SEARCHED if any(sign in line for sign in signs)
    )
    return min(filter(None, searches), key=lambda match: match.start(), default=None)
