"""Traces of nine languages beside what is read from them: examples/LANGUAGE.txt.

Below a trace stand its exceptions, from the reported one to the root cause, each with its frames:
whose, place, class or package, function, source.
"""

from pathlib import Path

import pytest

from nightwatch_core.traces.grammar import LANGUAGES
from nightwatch_core.traces.parsing import parse

EXAMPLES = {
    (file.stem, title): tuple(text.split("\n----------> read as\n"))
    for file in sorted((Path(__file__).parent / "examples").glob("*.txt"))
    for title, _, text in (
        part.partition("\n") for part in file.read_text(encoding="utf-8").split("########## ")[1:]
    )
}


def written(trace):
    rows = []
    for link in trace.links:
        rows.append(f"{link.error_class}: {link.message}".rstrip())
        for frame in link.frames:
            whose = "app" if frame.in_app else "lib"
            parts = (f"{whose} {frame.place}", frame.module, frame.function, frame.code)
            rows.append(f"  {' | '.join(parts)}".rstrip(" |"))
    return "\n".join(rows)


@pytest.mark.parametrize(("language", "title"), EXAMPLES, ids=lambda part: part)
def test_an_example_is_read_as_written_below_it(language, title):
    raw, expected = EXAMPLES[language, title]
    trace = parse(f"{raw}\n")
    assert (trace.language, written(trace)) == (language, expected.rstrip("\n"))


def test_every_language_has_examples():
    assert {language for language, _ in EXAMPLES} == LANGUAGES.keys() - {"other"}
