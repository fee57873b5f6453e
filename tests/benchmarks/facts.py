"""Counts what an error could be told of causes that were found for other errors of its night.

`python -m tests.benchmarks.facts`. Real errors with their bugs: failures of Defects4J, a night for
each of 17 projects, and the nights of `tokens/` (15 errors of three real applications, 9 of two
invented ones). Every earlier finding is taken for right: it names the file, or the lines, that the
fix changes. A pair is a finding and an error that is ranked after it; it is of use where both are
one bug. Families come first: siblings are told their leader's finding whole. Outside of them an
error could be told a finding whose file its trace goes through, if it waited for it: errors of the
first wave are analysed side by side and do not.
"""

import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # tests/, as pytest has it

from benchmarks import duplicates
from benchmarks.evaluation import case_of
from benchmarks.tokens.designs import code_of
from benchmarks.tokens.measuring import all_nights
from benchmarks.tokens.ours import cases_of
from benchmarks.tokens.real import EVAL

from nightwatch_core.intake.cases import cases, families
from nightwatch_core.models.errors import Case


class Known(NamedTuple):
    """A case of a night, its bug, and the names of the files that explain it."""

    case: Case
    bug: str
    files: frozenset[str]


def defects4j() -> Iterable[Sequence[Known]]:
    """Yield the failures of a project as a night; files are known by name."""
    for night in duplicates.nights(EVAL):
        by_name = {error["id"]: error for error in night}
        made = ((case_of(error), {"fingerprint": error["id"]}) for error in night)
        traced = tuple((case.leader.model_copy(update=name), case.trace) for case, name in made)
        known = []
        for case in cases(traced):
            bugs = Counter(by_name[group.fingerprint]["bug"] for group in case.groups)
            files = by_name[case.fingerprint]["fixed_files"] or ()
            known.append(Known(case, bugs.most_common(1)[0][0], frozenset(map(_name, files))))
        yield known


def benchmark() -> Iterable[Sequence[Known]]:
    """Yield the nights of the token benchmark; a bug is the line at fault."""
    for night in all_nights():
        pairs = zip(cases_of(night, code_of(night)), night.scenarios, strict=True)
        yield [
            Known(case, error.facts[-1].text, frozenset(_name(fact.path) for fact in error.facts))
            for case, error in pairs
        ]


RULES: dict[str, Callable[[Case], Collection[str]]] = {
    "the failing file": lambda case: _files(case)[:1],
    "any file of its trace": lambda case: _files(case),
}


def counted(nights: Iterable[Sequence[Known]]) -> Counter[str]:
    """Count pairs, those of use, and those that a rule by files would pass on."""
    count = Counter[str]()
    for night in nights:
        grouped = families(tuple(item.case for item in night))
        leaders = {family.leader.fingerprint for family in grouped}
        family_of = {
            case.fingerprint: number
            for number, family in enumerate(grouped)
            for case in (family.leader, *family.siblings)
        }
        count += Counter({"errors": len(night), "in the first wave": len(leaders)})
        for place, later in enumerate(night):
            for earlier in night[:place]:
                is_same = earlier.bug == later.bug
                names = (earlier.case.fingerprint, later.case.fingerprint)
                count["pairs"] += 1
                count["pairs of one bug"] += is_same
                if family_of[names[0]] == family_of[names[1]]:
                    count["of these in one family: told whole"] += is_same
                    continue
                for rule, files in RULES.items():
                    if earlier.files.isdisjoint(files(later.case)):
                        continue
                    waits = names[1] not in leaders
                    count[f"others, {rule}"] += 1
                    count[f"others, {rule}, of one bug"] += is_same
                    count[f"others, {rule}, not in the first wave"] += waits
                    count[f"others, {rule}, not in the first wave, of one bug"] += waits and is_same
    return count


def _files(case: Case) -> list[str]:
    return [
        _name(frame.repo_path or frame.path) for frame in (case.trace.in_app if case.trace else ())
    ]


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def main() -> int:
    """Print the counts."""
    if not (EVAL / "data").is_dir():
        print(f"skipped: there is no evaluation data at {EVAL}")
        return 0
    sets = {"Defects4J": counted(defects4j()), "benchmark": counted(benchmark())}
    rows = dict.fromkeys(name for count in sets.values() for name in count)
    print(f"{'':62}" + "".join(f"{name:>11}" for name in sets))
    for row in rows:
        print(f"{row:62}" + "".join(f"{count[row]:11,}" for count in sets.values()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
