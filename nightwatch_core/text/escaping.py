"""Untrusted text made harmless before people, terminals, Markdown readers and bots see it.

Everything from errors, code, models and knowledge passes through here on its way out: `line` and
`block` for plain text, `title` for names of issues and commits, `markdown`, `code_span` and
`fenced` for GitHub-flavoured Markdown. Rich `Text` and Jinja's autoescape do the rest elsewhere.
"""

import re
from collections.abc import Callable

from nightwatch_core.text.plain_text import data_table, shortened
from nightwatch_core.text.words import core_of, pieces, spans

MORE = "…"

_Points = dict[str, tuple[tuple[int, int], ...]]
HIDDEN = data_table("nightwatch_core.text", "hidden.toml", _Points)["points"]
_HIDDEN_POINTS = tuple(point for first, last in HIDDEN for point in range(first, last + 1))
_HALVES = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")  # half characters no encoder accepts
_BREAKS = {0x2028: "\n", 0x2029: "\n", 0x85: "\n"}
_DROP: dict[int, str | None] = {**dict.fromkeys(_HIDDEN_POINTS), **_HALVES, **_BREAKS}
_SHOW = {point: ascii(chr(point))[1:-1] for point in _HIDDEN_POINTS} | _HALVES
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[@-Z\\^_])")

# What GitHub and GitLab turn into a mention, a reference, a link, or an e-mail address.
_ACTIVE = re.compile(r"@|[#!]\d|://|www\.|G[HL]-\d", re.IGNORECASE)
_REFERENCE = re.compile(r"@(?=\w)|[#!](?=\d)|(?<=G[HL]-)(?=\d)", re.IGNORECASE)
_SCHEME = re.compile(r"(?:https?|ftp)://(?=[\w\[])|(https?|ftp)://", re.IGNORECASE)
_SPECIAL = re.compile(r'[\\`*\[\]<>|~&$]|%(?=["\d])|(?<![^\W_])_|_(?![^\W_])')
_LEADING = re.compile(r"[-+=#/]|\d{1,9}(?=[.)](?:\s|$))")
_COMMAND = re.compile(r"^/(?=[a-z])", re.IGNORECASE | re.MULTILINE)


def clean(text: str) -> str:
    r"""Drop terminal sequences, controls and invisible characters; newlines and tabs stay.

    >>> clean("a\x1b[31mred\x1b[0m\u202eb\r\nc")
    'aredb\nc'
    """
    return _ANSI.sub("", text.replace("\r\n", "\n")).translate(_DROP)


def shown(text: str) -> str:
    r"""Make hidden characters visible, for source code: a reviewer must see them.

    >>> shown("if admin\u202e:")
    'if admin\\u202e:'
    """
    return text.replace("\r\n", "\n").translate(_SHOW)


def line(text: str, limit: int = 300) -> str:
    r"""Return one clean line of at most `limit` characters.

    >>> line(" two\n words ", 300), line("abcdef", 4)
    ('two words', 'abc…')
    """
    flat = " ".join(clean(text[: 4 * limit + 400]).split())
    return shortened(flat, limit)


def block(text: str, limit: int = 4_000, *, code: bool = False) -> str:
    r"""Return clean lines, at most `limit` characters of them; say how much was left out.

    >>> block("one\ntwo three", 7)
    'one\ntwo\n… 6 more characters'
    """
    head = text[:limit]
    body = (shown(head) if code else clean(head)).rstrip()
    left = len(text) - len(head)
    return f"{body}\n{MORE} {left:,} more characters" if left else body


def title(text: str, limit: int = 120) -> str:
    """Return a line for an issue's, pull request's or commit's name: it pings and closes nothing.

    An address goes without its scheme, so that it is none for programs and reads as it is.

    >>> title("fixes #12 for @dana, see GH-7 and https://git.example/a")
    'fixes # 12 for @ dana, see GH- 7 and git.example/a'
    """
    spaced = _REFERENCE.sub(r"\g<0> ", without_schemes(line(text, 2 * limit)))
    return line(spaced, limit)


def without_schemes(text: str) -> str:
    """Return the text with its web addresses as people say them, which programs do not link.

    >>> without_schemes("see https://git.example/a, hhttp://ttp://b, `https://`")
    'see git.example/a, b, `https`'
    """
    while (plain := _SCHEME.sub(r"\1", text)) != text:  # what is left may be another one
        text = plain
    return text


def code_span(text: str, limit: int = 300, *, cell: bool = False) -> str:
    """Return inline code that its content cannot leave; `cell` inside a table.

    >>> code_span("a`b")
    '``a`b``'
    """
    content = line(shown(text[: 4 * limit]), limit)
    if not content:
        return ""
    ticks = "`" * (_longest_run(content) + 1)
    pad = " " if content.startswith("`") or content.endswith("`") else ""
    if cell:  # after a backslash readers disagree whether a bar can be escaped: "¦" stands for it
        content = content.replace("\\|", "\\¦").replace("|", "\\|")
    return f"{ticks}{pad}{content}{pad}{ticks}"


def markdown(
    text: str,
    limit: int = 2_000,
    *,
    cell: bool = False,
    as_written: bool = False,
    address_of: Callable[[str], str] | None = None,
) -> str:
    """Return one line of prose as Markdown that renders as exactly this text, and does nothing.

    Mentions, references and addresses become inline code, and so do paths and names that only code
    has, unless the text is to stay `as_written`. `address_of` gives the address of a piece of code
    that is to be a link, else nothing.

    >>> markdown("fixes #1 (a|b by @dana in user_id, *now*")
    'fixes `#1` (a\\\\|b by `@dana` in `user_id`, \\\\*now\\\\*'
    """
    result = ""
    for part, is_code in (spans if as_written else pieces)(line(text, limit)):
        if is_code:
            piece = code_span(part, limit, cell=cell)
        else:
            piece = "".join(_word(word, cell=cell) for word in re.split(r"(\s+)", part))
        if is_code and address_of and is_web(address := address_of(part)):
            piece = f"[{piece}](<{address}>)"
        touching = result.endswith("`") and piece.startswith("`")  # two spans would become one
        result += f" {piece}" if touching else piece
    return _start(result)


def fenced(text: str, language: str = "", limit: int = 8_000) -> str:
    r"""Return a code block whose fence is longer than any inside; hidden characters are visible.

    A line that starts like a bot's command (`/approve`) is moved by one space.

    >>> print(fenced("```\n/merge", "sh"))
    ````sh
    ```
     /merge
    ````
    """
    body = _COMMAND.sub(" /", block(text, limit, code=True))
    ticks = "`" * max(3, _longest_run(body) + 1)
    info = language if re.fullmatch(r"[a-z0-9+-]{1,20}", language) else ""
    return f"{ticks}{info}\n{body}\n{ticks}"


def link(label: str, address: str) -> str:
    """Return a Markdown link to an http(s) address; anything else is shown, not linked.

    >>> link("#12", "https://git.example/12"), link("#12", "javascript:x")
    ('[\\\\#12](<https://git.example/12>)', '`#12` (`javascript:x`)')
    """
    if is_web(address):
        return f"[{_start(_escape(line(label, 120)))}](<{address}>)"
    return f"{code_span(label)} ({code_span(address)})" if address else code_span(label)


def is_web(address: str) -> bool:
    """Tell whether an address is plain http(s), without anything that could end a link.

    >>> is_web("https://git.example/a?b=c"), is_web("https://x/ y"), is_web("data:,x")
    (True, False, False)
    """
    return bool(re.fullmatch(r"https?://[\w.:-]+(?:/[\w./?#=&%:~+,;-]*)?", address, re.ASCII))


def _word(word: str, *, cell: bool) -> str:
    """Escaped; what a code host would act upon becomes code, without the punctuation around it."""
    if not _ACTIVE.search(word):
        return _escape(word)
    before, core, after = core_of(word)
    return f"{_escape(before)}{code_span(core, cell=cell)}{_escape(after)}"


def _escape(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text)


def _start(text: str) -> str:
    found = _LEADING.match(text)
    if not found:
        return text
    cut = found.end() if found.group()[0].isdigit() else 0
    return f"{text[:cut]}\\{text[cut:]}"


def _longest_run(text: str) -> int:
    return max(map(len, re.findall(r"`+", text)), default=0)
