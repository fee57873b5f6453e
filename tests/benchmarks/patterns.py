"""Patterns found in labelled synthetic nights: precision and recall of every rule.

`python -m tests.benchmarks.patterns [--held-out]`. Two figures:

- *patterns*: a found pattern is right where one was planted of its kind and the two share at least
  0.6 of all their members; each planted one is found once. Precision is the share of right ones
  among those found, recall the share of planted ones that were found. Some may be found and need
  not: the cases of one cause that one change brought, too. These are left out.
- *pairs*: every two members of one pattern, and every member with itself, labelled with the
  pattern's kind. Precision is the share of found pairs that were planted, recall the opposite.

Seeds 0-199 are there to look at, 1000-1199 (`--held-out`) to run once at the end: those also tell
defects that the others never tell. What is planted follows what the rules are meant to find, so
that real nights are harder.
"""

import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator
from itertools import combinations_with_replacement

from nightwatch_core import patterns
from tests.benchmarks.pattern_nights import HELD_OUT, Labelled, Planted, night

NIGHTS = 200
SHARED = 0.6
AIMS = "aims: precision 0.95, recall 0.85"
KINDS = {
    "same_cause": "cause",
    "same_change": "change",
    "recurring_class": "class",
    "same_tags": "tags",
    "hot_spot": "place",
    "all_transient": "transient",
    "unexplained": "unexplained",
}
Found = tuple[str, frozenset[str]]
Pairs = set[tuple[str, str, str]]


def main(arguments: list[str]) -> int:
    """Print all figures."""
    parser = ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--held-out", action="store_true", help="the seeds kept for the end")
    chosen = parser.parse_args(arguments)
    first = HELD_OUT if chosen.held_out else 0
    nights = [night(seed) for seed in range(first, first + NIGHTS)]
    print(f"seeds {first}-{first + NIGHTS - 1}; {AIMS}")
    report(nights)
    return 0


def report(nights: list[Labelled]) -> None:
    """One line a kind, and one for all."""
    counts: Counter[tuple[str, str]] = Counter()
    for item in nights:
        found = [(KINDS[each.rule], frozenset(each.fingerprints)) for each in
                 patterns.detect(item.analyses, item.lessons)]  # fmt: skip
        found, planted = without_optional(found, item.planted)
        for name, count in (*by_pattern(found, planted), *by_pair(found, planted)):
            counts[name] += count
    print(f"{'kind':12} {'planted':>7} {'found':>6}   patterns P    R      pairs P    R")
    for name in (*KINDS.values(), "all"):
        shares = [
            _share(counts[name, "right"], counts[name, "found"]),
            _share(counts[name, "right"], counts[name, "planted"]),
            _share(counts[name, "right pairs"], counts[name, "found pairs"]),
            _share(counts[name, "right pairs"], counts[name, "planted pairs"]),
        ]
        told = "{:>12} {:>6} {:>9} {:>6}".format(*shares)
        print(f"{name:12} {counts[name, 'planted']:>7} {counts[name, 'found']:>6} {told}")


def without_optional(
    found: list[Found], planted: tuple[Planted, ...]
) -> tuple[list[Found], tuple[Planted, ...]]:
    """What remains when those that need not be found, and those found of them, are left out."""
    free = [(pattern.kind, pattern.members) for pattern in planted if not pattern.required]
    kept = [
        (name, members)
        for name, members in found
        if not any(name == held and alike(members, others) for held, others in free)
    ]
    return kept, tuple(pattern for pattern in planted if pattern.required)


def by_pattern(
    found: list[Found], planted: tuple[Planted, ...]
) -> Iterator[tuple[tuple[str, str], int]]:
    """Counts of found, planted and right patterns."""
    left = list(planted)
    for name, members in found:
        same = [item for item in left if item.kind == name and alike(item.members, members)]
        if same:
            left.remove(same[0])
        for label in (name, "all"):
            yield (label, "found"), 1
            yield (label, "right"), int(bool(same))
    for one in planted:
        for label in (one.kind, "all"):
            yield (label, "planted"), 1


def by_pair(
    found: list[Found], planted: tuple[Planted, ...]
) -> Iterator[tuple[tuple[str, str], int]]:
    """Counts of found, planted and right pairs of members."""
    ours = pairs(found)
    true = pairs([(pattern.kind, pattern.members) for pattern in planted])
    for label, held in (("found", ours), ("planted", true), ("right", ours & true)):
        for name, _, _ in held:
            yield (name, f"{label} pairs"), 1
            yield ("all", f"{label} pairs"), 1


def pairs(found: list[Found]) -> Pairs:
    """Every two members of one pattern, and each with itself."""
    return {
        (name, *pair)
        for name, members in found
        for pair in combinations_with_replacement(sorted(members), 2)
    }


def alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two patterns share enough of their members."""
    return len(one & other) >= SHARED * len(one | other)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.3f}" if whole else "-"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
