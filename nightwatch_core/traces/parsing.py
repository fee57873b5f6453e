"""A stack trace of any language, read into frames."""

from collections.abc import Sequence

from nightwatch_core.models.errors import Trace
from nightwatch_core.traces import in_app
from nightwatch_core.traces.excerpts import OURS, taken_out, with_source
from nightwatch_core.traces.grammar import ALIASES, GRAMMAR
from nightwatch_core.traces.in_app import OWN_ROW, UNKNOWN_PATH, own_places_in
from nightwatch_core.traces.normalise import clean_lines
from nightwatch_core.traces.reading import Chain, read

_HINT_FACTOR = 2  # the frames of the expected language count double: a hint may be wrong


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
    raw = "\n".join(row for row in raw.split("\n") if not (OURS.match(row) or OWN_ROW.match(row)))
    if not chains:
        return Trace(language=expected, raw=raw)
    chains = tuple(with_source(chain, excerpts) for chain in chains)
    marked = [in_app.mark(chain, detected, app_prefixes, own_places) for chain in chains]
    own = (chain for chain in marked if any(frame.in_app for x in chain for frame in x.frames))
    return Trace(language=detected, links=next(own, marked[0]), raw=raw)


def detect(lines: Sequence[str], expected: str = "") -> tuple[str, tuple[Chain, ...]]:
    """Return the language with the most frames in a text, and the chains that were read with it.

    >>> detect(("TypeError: no", "    at total (/srv/cart.js:3:5)"))[0]
    'javascript'
    """
    text = "\n".join(lines)
    best: tuple[tuple[int, int], str, tuple[Chain, ...]] = ((0, 0), expected, ())
    for language in GRAMMAR.languages:
        if not any(clue in text for clue in language.clues):
            continue
        chains = read(language, lines)
        factor = _HINT_FACTOR if language.name == expected else 1
        frames = [frame for chain in chains for link in chain for frame in link.frames]
        with_file = sum(frame.path != UNKNOWN_PATH for frame in frames)
        score = factor * with_file, factor * len(frames)
        if score > best[0]:
            best = (score, language.name, chains)
    return best[1], best[2]
