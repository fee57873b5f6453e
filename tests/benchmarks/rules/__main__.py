"""`python -m tests.benchmarks.rules`: what the rules say of real bugs, and how much of it is true.

NIGHTWATCH_MIRRORS names a folder with `<owner>+<name>/repo`, bare repositories that hold the bugs'
commits; `--show` prints every statement of the development half with its verdict (`--held-out` of
the other half, too), `--unjudged FILE` writes those that have none, to be judged by reading the
code at the parent and the fix, `--only` picks bugs by a part of their ids.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.rules.analysing import analysed, mirror_of  # noqa: E402
from benchmarks.rules.cases import DATA, bugs  # noqa: E402
from benchmarks.rules.judging import Judged, judged, row, table, verdicts  # noqa: E402

MIRRORS = os.environ.get("NIGHTWATCH_MIRRORS", "")


def main(arguments: Sequence[str] | None = None) -> int:
    """Analyse, judge and count; whatever goes wrong in an analysis is raised."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mirrors", default=MIRRORS)
    parser.add_argument("--data", type=Path, default=DATA, help="of cases.json, verdicts.json")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--unjudged", type=Path)
    asked = parser.parse_args(arguments)
    if not asked.mirrors or not Path(asked.mirrors).is_dir():
        print("skipped: NIGHTWATCH_MIRRORS names no folder of repositories")
        return 0
    began = time.monotonic()
    done, missing = _analyse(Path(asked.mirrors), asked.data, asked.only)
    for one in done if asked.show else ():
        if asked.held_out or not one.bug.held_out:
            _show(one)
    if missing:
        print(f"skipped: {len(missing)} bugs whose repositories are not there ({missing[0]} …)")
    if not done:
        return 0
    _print_tables(done)
    if asked.unjudged:
        left = {item.bug.id: item.texts("") for item in done if item.texts("")}
        asked.unjudged.write_text(json.dumps(left, indent=1, ensure_ascii=False) + "\n", "utf-8")
    print(f"{len(done)} bugs in {time.monotonic() - began:.0f} s")
    return 0


def _analyse(mirrors: Path, data: Path, only: str) -> tuple[list[Judged], list[str]]:
    known = verdicts(data / "verdicts.json")
    chosen = [bug for bug in bugs(data / "cases.json") if only in bug.id]
    there = {item.id: mirror for item in chosen if (mirror := mirror_of(item, mirrors))}
    found = [item for item in chosen if item.id in there]
    with ProcessPoolExecutor() as pool:
        outcomes = pool.map(analysed, found, [there[item.id] for item in found])
        done = [judged(*pair, known) for pair in zip(found, outcomes, strict=True)]
    return done, [item.id for item in chosen if item.id not in there]


def _show(one: Judged) -> None:
    bug, analysis = one.bug, one.analysed.analysis
    cause = "cause" if one.has_cause else "no cause"
    print(f"\n{bug.id} {'held out' if bug.held_out else 'development'}: {bug.error_class}: "
          f"{bug.message} [{analysis.confidence}, {cause}]")  # fmt: skip
    print(f"  fixed at {', '.join(bug.fixed)}")
    for place in one.analysed.misplaced:
        print(f"  not placed: {place.path}:{place.line}")
    for statement, verdict in one.verdicts:
        print(f"  {verdict or '?':5} {statement.key}")


def _print_tables(done: Sequence[Judged]) -> None:
    languages = tuple(dict.fromkeys(item.bug.language for item in done))
    for half, part in (
        ("development", [item for item in done if not item.bug.held_out]),
        ("held out", [item for item in done if item.bug.held_out]),
        ("all", list(done)),
    ):
        split = [
            row(name, [item for item in part if item.bug.language == name]) for name in languages
        ]
        print(f"\n{half}\n{table((*split, row('all', part)))}")
    misplaced = [item.bug.id for item in done if item.analysed.misplaced]
    print(f"\nbugs with a frame that was not placed: {', '.join(misplaced) or 'none'}")


if __name__ == "__main__":
    sys.exit(main())
