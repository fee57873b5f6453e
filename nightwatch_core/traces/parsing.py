"""A stack trace of any language, read into frames."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nightwatch_core.models.errors import Trace
from nightwatch_core.traces import (
    csharp,
    elixir,
    golang,
    in_app,
    java,
    javascript,
    php,
    plain_frames,
    python,
    ruby,
    rust,
)
from nightwatch_core.traces.chains import Chain
from nightwatch_core.traces.in_app import UNKNOWN_PATH, own_places_in, without_own_rows
from nightwatch_core.traces.normalise import clean_lines, taken_out, with_source, without_ours


@dataclass(frozen=True)
class Parser:
    """A parser of one language's traces."""

    language: str
    read: Callable[[Sequence[str]], tuple[Chain, ...]]
    clues: tuple[str, ...]  # a text without any of these holds no trace of the language
    aliases: str = ""  # other names of the language, and of those that print the same traces


# Of languages that read the same number of frames the first one wins: the stricter formats lead.
PARSERS = (
    Parser("python", python.read, python.CLUES, "py python3"),
    Parser("java", java.read, java.CLUES, "kotlin scala groovy clojure jvm"),
    Parser("go", golang.read, golang.CLUES, "golang"),
    Parser("rust", rust.read, rust.CLUES, "rs"),
    Parser("elixir", elixir.read, elixir.CLUES, "ex exs erlang phoenix"),
    Parser("ruby", ruby.read, ruby.CLUES, "rb rails jruby"),
    Parser("php", php.read, php.CLUES),
    Parser("csharp", csharp.read, csharp.CLUES, "c# cs .net dotnet"),
    Parser("javascript", javascript.read, javascript.CLUES, "js ts node nodejs typescript tsx jsx"),
)
OWN_FORM = Parser("other", plain_frames.read, plain_frames.CLUES)  # written by us, not by languages
ALIASES = {alias: parser.language for parser in PARSERS for alias in parser.aliases.split()}
HINT_FACTOR = 2  # the frames of the expected language count double: a hint may be wrong


def parse(raw: str, language: str = "", app_prefixes: tuple[str, ...] = ()) -> Trace:
    """Read a text that holds a stack trace; without one the trace has no links.

    Of several unrelated traces in one text the first with a frame of the application is read.

    >>> trace = parse("Shop::Empty: none\\n  app/cart.rb:7:in 'Shop::Cart#total'")
    >>> trace.language, trace.root.error_class, trace.top.place
    ('ruby', 'Shop::Empty', 'app/cart.rb:7')
    """
    expected = ALIASES.get(language.strip().lower(), language.strip().lower())
    cleaned, own_places = own_places_in(clean_lines(raw))
    lines, excerpts = taken_out(cleaned)
    detected, chains = detect(lines, expected)
    raw = without_own_rows(without_ours(raw))
    if not chains:
        return Trace(language=expected, raw=raw)
    chains = tuple(with_source(chain, excerpts) for chain in chains)
    marked = [in_app.mark(chain, detected, app_prefixes, own_places) for chain in chains]
    trace = next((chain for chain in marked if _has_own_frame(chain)), marked[0])
    return Trace(language=detected, links=trace, raw=raw)


def _has_own_frame(chain: Chain) -> bool:
    return any(frame.in_app for link in chain for frame in link.frames)


def detect(lines: Sequence[str], expected: str = "") -> tuple[str, tuple[Chain, ...]]:
    """Return the language with the most frames in a text, and the chains that were read with it.

    >>> detect(("TypeError: no", "    at total (/srv/cart.js:3:5)"))[0]
    'javascript'
    """
    text = "\n".join(lines)
    best: tuple[tuple[int, int], str, tuple[Chain, ...]] = ((0, 0), expected, ())
    for parser in (OWN_FORM, *PARSERS):
        if not any(clue in text for clue in parser.clues):
            continue
        chains = parser.read(lines)
        factor = HINT_FACTOR if parser.language == expected else 1
        frames = [frame for chain in chains for link in chain for frame in link.frames]
        with_file = sum(frame.path != UNKNOWN_PATH for frame in frames)
        score = factor * with_file, factor * len(frames)
        if score > best[0]:
            best = (score, parser.language, chains)
    return best[1], best[2]
