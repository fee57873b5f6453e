"""`python tests/benchmarks/citations.py FOLDER`: which sections of first messages answers cite.

FOLDER holds transcripts (`<state>/transcripts`). An answer cites a section where the line or the
quote of an evidence, or the old text of an edit, stands in the lines that the section showed.
`python -m tests.benchmarks.tokens` prints the same of its invented nights.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

_HEAD = re.compile(r"(?P<path>\S.*?) \(lines \d+-\d+ of \d+\)")
_ROW = re.compile(r" {0,8}(?P<line>\d{1,8})\| ?(?P<text>.*)")
_HIT = re.compile(r"(?P<path>[^\s:|][^:|]{0,999}):(?P<line>\d{1,8}): (?P<text>.*)")
_SHORTEST = 5  # characters of a quote


class Shown(NamedTuple):
    """A section: its heading, its text, and the lines of files in it."""

    heading: str
    text: str
    lines: Mapping[tuple[str, int], str]


class Cited(NamedTuple):
    """What one conversation was told, and what its answer cites of that."""

    told: tuple[str, ...]
    cited: frozenset[str]


def sections_of(message: str) -> tuple[Shown, ...]:
    """Cut a message at its headings; those in fences are none."""
    parts: dict[str, list[str]] = {"": []}
    fence, heading = "", ""
    for row in message.split("\n"):
        mark = re.match(r"`{3,}", row)
        if fence:
            fence = "" if row == fence else fence
        elif mark:
            fence = mark[0]
        elif row.startswith("## "):
            heading = row[3:]
        parts.setdefault(heading, []).append(row)
    return tuple(Shown(name, "\n".join(rows), _lines(rows)) for name, rows in parts.items())


def cited(message: str, answer: Mapping[str, Any]) -> Cited:
    """Tell which sections of a first message an answer, in its schema, cites."""
    evidence, edits = answer.get("evidence") or (), answer.get("file_changes") or ()
    places = {(one.get("path", ""), one.get("line", 0)) for one in evidence}
    texts = [one.get("quote") or "" for one in evidence] + [one.get("old") or "" for one in edits]
    wanted = [flat for text in texts if len(flat := _flat(text)) >= _SHORTEST]
    sections = sections_of(message)
    found = frozenset(
        one.heading
        for one in sections
        if not places.isdisjoint(one.lines) or any(text in _code(one) for text in wanted)
    )
    return Cited(tuple(one.heading for one in sections if one.heading), found)


def table(conversations: Sequence[Cited]) -> str:
    """Every section: in how many conversations it was told, and cited."""
    told = Counter(name for one in conversations for name in one.told)
    used = Counter(name for one in conversations for name in one.cited & {*one.told})
    rows = [("section", "told", "cited", ""), ("---", "---:", "---:", "---:")]
    rows += [(name, str(n), str(used[name]), f"{used[name] / n:.0%}") for name, n in told.items()]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def of_transcripts(folder: Path) -> Iterator[Cited]:
    """Every transcript below a folder whose last run ended with an answer."""
    for file in sorted(folder.rglob("*.jsonl")):
        entries = [json.loads(row) for row in file.read_text("utf-8").splitlines() if row.strip()]
        begun = [n for n, one in enumerate(entries) if one.get("kind") == "opening"]
        run = entries[begun[-1] :] if begun else []
        told = next((one["text"] for one in run if one.get("kind") == "user"), "")
        answers = (one.get("text", "") for one in run if one.get("kind") == "assistant")
        answer = next((read for text in reversed([*answers]) if (read := _answer(text))), None)
        if told and answer:
            yield cited(told, answer)


def _answer(text: str) -> dict[str, Any] | None:
    start, end = text.find("{"), text.rfind("}")
    try:
        read = json.loads(text[start : end + 1]) if 0 <= start < end else None
    except ValueError:
        return None
    return read if isinstance(read, dict) and "evidence" in read else None


def _lines(rows: Iterable[str]) -> dict[tuple[str, int], str]:
    path, lines = "", dict[tuple[str, int], str]()
    for row in rows:
        if numbered := _ROW.fullmatch(row):
            lines[path, int(numbered["line"])] = numbered["text"]
        elif head := _HEAD.match(row):
            path = head["path"]
        elif hit := _HIT.fullmatch(row):
            lines[hit["path"], int(hit["line"])] = hit["text"]
    return lines


def _code(section: Shown) -> str:
    return _flat("\n".join(section.lines.values())) or _flat(section.text)


def _flat(text: str) -> str:
    return " ".join(text.split())


if __name__ == "__main__":
    print(table([one for folder in sys.argv[1:] for one in of_transcripts(Path(folder))]))
