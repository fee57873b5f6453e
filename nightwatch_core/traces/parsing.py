"""A stack trace of any language, read into frames."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nightwatch_core.models.error import Trace
from nightwatch_core.traces import csharp, golang, in_app, java, javascript, php, python, ruby
from nightwatch_core.traces.chains import Chain
from nightwatch_core.traces.in_app import UNKNOWN_PATH
from nightwatch_core.traces.text import clean_lines


@dataclass(frozen=True)
class Parser:
    """What reads the traces of one language."""

    language: str
    read: Callable[[Sequence[str]], tuple[Chain, ...]]
    clues: tuple[str, ...]  # a text without any of these holds no trace of the language


# Of languages that read the same number of frames the first one wins: the stricter formats lead.
PARSERS = (
    Parser("python", python.read, python.CLUES),
    Parser("java", java.read, java.CLUES),
    Parser("go", golang.read, golang.CLUES),
    Parser("ruby", ruby.read, ruby.CLUES),
    Parser("php", php.read, php.CLUES),
    Parser("csharp", csharp.read, csharp.CLUES),
    Parser("javascript", javascript.read, javascript.CLUES),
)

ALIASES = {
    "py": "python",
    "python3": "python",
    "kotlin": "java",
    "scala": "java",
    "groovy": "java",
    "clojure": "java",
    "jvm": "java",
    "golang": "go",
    "rb": "ruby",
    "rails": "ruby",
    "jruby": "ruby",
    "c#": "csharp",
    "cs": "csharp",
    ".net": "csharp",
    "dotnet": "csharp",
    "js": "javascript",
    "ts": "javascript",
    "node": "javascript",
    "nodejs": "javascript",
    "typescript": "javascript",
    "tsx": "javascript",
    "jsx": "javascript",
}
HINT_FACTOR = 2  # the frames of the expected language count double: a hint may be wrong


def parse(raw: str, language: str = "", app_prefixes: tuple[str, ...] = ()) -> Trace:
    """Read a text that holds a stack trace; without one the trace has no links.

    Of several unrelated traces in one text the first with a frame of the application is read.

    >>> trace = parse("Shop::Empty: none\\n  app/cart.rb:7:in 'Shop::Cart#total'")
    >>> trace.language, trace.root.error_class, trace.top.place
    ('ruby', 'Shop::Empty', 'app/cart.rb:7')
    """
    expected = ALIASES.get(language.strip().lower(), language.strip().lower())
    lines = clean_lines(raw)
    found, chains = detect(lines, expected)
    if not chains:
        return Trace(language=expected, raw=raw)
    marked = [in_app.mark(chain, found, app_prefixes) for chain in chains]
    trace = next((chain for chain in marked if _has_own_frame(chain)), marked[0])
    return Trace(language=found, links=trace, raw=raw)


def _has_own_frame(chain: Chain) -> bool:
    return any(frame.in_app for link in chain for frame in link.frames)


def detect(lines: Sequence[str], expected: str = "") -> tuple[str, tuple[Chain, ...]]:
    """The language with the most frames in a text, and the chains that were read with it.

    >>> detect(("TypeError: no", "    at total (/srv/cart.js:3:5)"))[0]
    'javascript'
    """
    text = "\n".join(lines)
    best: tuple[tuple[int, int], str, tuple[Chain, ...]] = ((0, 0), expected, ())
    for parser in PARSERS:
        if not any(clue in text for clue in parser.clues):
            continue
        chains = parser.read(lines)
        factor = HINT_FACTOR if parser.language == expected else 1
        score = _weight(chains, factor)
        if score > best[0]:
            best = (score, parser.language, chains)
    return best[1], best[2]


def _weight(chains: tuple[Chain, ...], factor: int) -> tuple[int, int]:
    """Frames with a file, then all frames."""
    frames = [frame for chain in chains for link in chain for frame in link.frames]
    with_file = sum(frame.path != UNKNOWN_PATH for frame in frames)
    return factor * with_file, factor * len(frames)
