"""How the stack traces of each language run through a log: what a line of one looks like."""

import re
from dataclasses import dataclass

from nightwatch_core.traces import frame_shapes
from nightwatch_core.traces.known_messages import is_known


@dataclass(frozen=True)
class Style:
    """How the stack traces of one language run through a log."""

    name: str
    frame: re.Pattern[str]  # a line that only stands in a stack trace
    part: re.Pattern[str]  # other lines inside, and those between an exception and its cause
    opens: re.Pattern[str] | None = None  # a line that begins one before its first frame
    message_lines: int = 0  # of what it opens with, before its first frame


CAUSES = r"\s*(?:Caus(?:ed by|es):|Suppressed:|\[cause\]:|--->|--- End of|Next )"
_WRAPS = r"During handling of the above|The above exception was"
# What PHP prints of an error that is no exception: one line, without frames.
PHP_FATAL = re.compile(
    r".{0,400}?(?P<error>PHP (?:Fatal|Parse|Recoverable fatal|Core|Compile) error: {1,4}"
    r"(?!Uncaught )[^\n]{1,800}? in \S[^\n]{0,300}? on line \d{1,9})(?!\d)"
)
STYLES = (
    Style(
        "python",
        frame=re.compile(r"\s+\S|\s*File \"[^\"]{1,1000}\", line \d"),
        part=re.compile(rf"(?:{_WRAPS})|\s+[+|]|[+|](?: |-\+?-)|Traceback \(most"),
        opens=re.compile(r".{0,200}Traceback \(most recent call last\)"),
    ),
    Style(
        "go",
        frame=re.compile(
            r"\s+\S.{0,1000}\.(?:go|s):\d+|\s*goroutine \d+ "
            r"|/\S{1,1000}\.(?:go|s):\d{1,9}(?: \+0x|$)|[\w./@-]{1,500}\.go:\d{1,9} \+0x"
        ),
        part=re.compile(
            r"\s*(?:[\w./*()\[\]{},$@~·%-]{1,500}\(.{0,500}\)$|created by |\[signal |panic: )"
        ),
        opens=re.compile(r"(?:.{0,100}[\s\"])?(?:panic: |fatal error: |http: panic serving )"),
    ),
    Style(
        "rust",
        frame=re.compile(
            r"\s{0,20}\d{1,4}: {1,20}(?:0x[0-9a-f]{1,16} - )?(?:[<\w]\S{0,500}::|\w+$)"
            r"|\s{0,80}at \S{1,500}\.rs:\d"
        ),
        part=re.compile(
            r"\s*(?:stack backtrace|Stack backtrace|note|Message|Location|left|right|Caused by): ?"
            r"|\s+\d{1,3}: \S|\s*\u2501{3}|\s*\u22ee"
        ),
        opens=re.compile(r".{0,300}panicked at (?:'|\S{1,500}\.rs:\d)|\s*The application panicked"),
        message_lines=8,
    ),
    Style(
        "elixir",
        frame=re.compile(
            r"\s*(?:\([a-z]\w{0,80}(?: [\w.+-]{1,60})?\) )?"
            r"[\w./@+-]{1,300}\.(?:exs?|erl|[hl]?eex):\d{1,9}: \S"
            r"|\s+(?:\([a-z]\w{0,80}(?: [\w.+-]{1,60})?\) )?:[a-z]\w{0,80}\.\w{1,100}[(/]"
        ),
        part=re.compile(r"\s*(?:\*\* \(|stacktrace:$|code: )"),
        opens=re.compile(r".{0,200}\*\* \([A-Z][\w.]{1,200}\) |\s*\*\* \((?:exit|stop|throw)\) "),
        message_lines=60,
    ),
    Style(
        "at",
        frame=re.compile(
            r"\s+at \S.{0,300}(?:\(|:\d)|\s+at [\w.$<>`\[\]]{1,300}$"
            r"|at [\w.$<>`+(][\w.$<>`+\[\],|)]{2,300}\("
            rf"|{frame_shapes.V8}"
        ),
        part=re.compile(
            rf"{CAUSES}|\s*\.\.\. \d+ (?:more|common|frames)|\s+\.\.\. \d+ |\s*[{{}}]+,?$"
            r"|\s+\[?(?:errno|code)\]?:"
        ),
    ),
    Style(
        "ruby",
        frame=re.compile(
            r"\s*(?:\d+: )?(?:from )?\S.{0,500}:\d{1,9}:in[ `']|\s+from \S.{0,500}:\d+"
            r"|\s*File \"[^\"]{1,500}\.(?:rb|erb|rake|haml|slim)\", line \d"
        ),
        part=re.compile(rf"{CAUSES}|\s*-{{5,80}}\s*$|\s*[Bb]acktrace:\s*$"),
    ),
    Style(
        "php",
        frame=re.compile(r"\s{0,8}#\d{1,5} (?:\S.{0,1000}\(\d+\)|\[internal|\{main\})"),
        part=re.compile(rf"{CAUSES}|\s+thrown in |\s*Stack trace:|\[(?:stacktrace|previous)|\"\}}"),
        opens=PHP_FATAL,
    ),
    Style(
        "gecko",
        frame=re.compile(rf"\s*(?:{frame_shapes.GECKO})"),
        part=re.compile(CAUSES),
    ),
)
PYTHON = STYLES[0]
CAUSE = re.compile(CAUSES)
_STARTS = ("#", "goroutine ", "at ", "(", "File ")  # of first frames that are not indented
_OPENINGS = ("Traceback (", "panic", "fatal error", "** (", " error: ")
_SIGNS = (  # of lines that open a trace, or are or hold its first frame
    *(
        "Traceback",
        "at ",
        "at\xa0",
        ":in",
        "#0",
        "#1",
        "@http",
        "@/",
        "@file:",
        "from ",
        "panic",
        "goroutine ",
    ),
    *("fatal error", ".go:", ".rs:", ".ex:", ".exs:", ".erl:", "eex:", "** (", "\\n", "<br", "<BR"),
    *("application panicked", "PHP ", 'File "', "File \u201c", "File &"),
)
_INSIDE = (":in", "@", ".ex", ".erl")

# A line that names an exception: a class alone or before its message, or inside other words where
# its name says what it is.
_NAMES = re.compile(
    r"(?:\S.{0,120}?(?:Uncaught|Unhandled|exception)[\w. \"':]{0,60} )?"
    r"(?:[A-Za-z_]\w{0,100}(?:\.|::|\\)){0,12}[A-Z]\w{0,120}(?:: | \(|$)"
)
_NAMES_INSIDE = re.compile(
    r"[A-Z]\w{0,120}(?:Error|Exception|Failure|Fault|Invalid|NotFound|Timeout)\b"
)


def may_open(line: str) -> bool:
    """Tell whether a line holds anything that a trace may begin with; most lines do not.

    >>> may_open("GET /carts 200"), may_open("panic: no cart")
    (False, True)
    """
    return any(map(line.__contains__, _SIGNS))


def opened_by(text: str) -> Style | None:
    """Give the style of a trace that a line opens before its first frame.

    >>> opened_by("Traceback (most recent call last):").name
    'python'
    """
    if not any(sign in text for sign in _OPENINGS):
        return None
    return next((style for style in STYLES if style.opens and style.opens.match(text)), None)


def framed_by(text: str) -> Style | None:
    """Give the style of the frame that a line is; Python's are told by what stands above them.

    >>> framed_by("\\tat org.shop.Cart.total(Cart.java:8)").name
    'at'
    """
    if text[:1].strip() and not (text.startswith(_STARTS) or any(one in text for one in _INSIDE)):
        return None
    return next((style for style in STYLES[1:] if style.frame.match(text)), None)


def names_error(text: str) -> bool:
    """Tell whether a line names an exception.

    >>> names_error("org.shop.EmptyCart: none"), names_error("started")
    (True, False)
    """
    return bool(_NAMES.match(text) or _NAMES_INSIDE.search(text) or is_known(text))
