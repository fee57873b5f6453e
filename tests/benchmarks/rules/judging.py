"""Verdicts on statements, kept by bug and text; what has none is unjudged, and is shown.

Who judges reads the code at the parent, and the fix. A statement is `true` where it holds as it is
written and is about the very thing that failed: the same symbol, value, call, change. It is `false`
where that is not shown, also where something else has the name it says, where a list holds one
thing that is not meant, and for a commit that is not shown to have brought the fault. It is `none`
where it says no more than the error does, that something is not known, or what to do.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.rules.analysing import Analysed
from benchmarks.rules.cases import Bug
from benchmarks.rules.statements import Statement, settled, statements

VERDICTS = Path(__file__).with_name("verdicts.json")
Verdicts = Mapping[str, Mapping[str, str]]  # by the bug's id, then by the statement's key


class Judged(NamedTuple):
    """One bug with its statements, each with a verdict; "" where nobody judged it yet."""

    bug: Bug
    analysed: Analysed
    verdicts: tuple[tuple[Statement, str], ...]

    @property
    def has_cause(self) -> bool:
        """Whether it says why: not known is no cause, and a restated error is none either."""
        analysis = self.analysed.analysis
        claims = any(one.where == "cause" and said != "none" for one, said in self.verdicts)
        return analysis.has_cause and analysis.confidence != "low" and claims

    def texts(self, verdict: str) -> tuple[str, ...]:
        """The statements with this verdict."""
        return tuple(one.key for one, said in self.verdicts if said == verdict)


class Row(NamedTuple):
    """The figures of one part of the bugs."""

    name: str
    bugs: int
    causes: int
    true: int
    false: int
    unjudged: int
    none: int

    @property
    def precision(self) -> float:
        """Which share of what was judged is true; 1 where nothing is stated."""
        return self.true / (self.true + self.false) if self.true + self.false else 1.0

    @property
    def coverage(self) -> float:
        """Which share of the bugs has a cause stated."""
        return self.causes / self.bugs if self.bugs else 0.0


def verdicts(file: Path = VERDICTS) -> Verdicts:
    """All that were judged."""
    kept: Verdicts = json.loads(file.read_text("utf-8")) if file.is_file() else {}
    return kept


def judged(bug: Bug, outcome: Analysed, known: Verdicts) -> Judged:
    """The bug's statements with their verdicts."""
    own = known.get(bug.id, {})
    said = (
        (statement, settled(statement, bug) or own.get(statement.key, ""))
        for statement in statements(outcome.analysis)
    )
    return Judged(bug, outcome, tuple(said))


def row(name: str, part: Sequence[Judged]) -> Row:
    """Count one part."""
    said = Counter(verdict for item in part for _, verdict in item.verdicts)
    causes = sum(item.has_cause for item in part)
    return Row(name, len(part), causes, said["true"], said["false"], said[""], said["none"])


def table(parts: Sequence[Row]) -> str:
    """The rows as Markdown."""
    heads = ("", "bugs", "cause stated", "coverage", "statements", "true", "false", "unjudged",
             "no claim", "precision")  # fmt: skip
    rows = [heads, ("---", *["---:"] * (len(heads) - 1))]
    for part in parts:
        made = part.true + part.false + part.unjudged
        counts = (made, part.true, part.false, part.unjudged, part.none)
        share = f"{part.precision:.2f}" if part.true + part.false else "-"
        rows.append(
            (part.name, f"{part.bugs}", f"{part.causes}", f"{part.coverage:.2f}", *map(str, counts),
             share)
        )  # fmt: skip
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)
