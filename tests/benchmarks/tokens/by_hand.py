"""`python -m tests.benchmarks.tokens.by_hand before CASE URL`: a baseline over a real checkout.

CASE is a folder with `checkout` and an `export.jsonl` of one error, URL the address of an endpoint
whose answers somebody writes who reads the questions. Ours needs no program: it is a night with
ANTHROPIC_BASE_URL set. What came of a play is counted by `tests.benchmarks.tokens.plays`.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # tests/, as pytest has it

from benchmarks.tokens.baselines import before, seed  # noqa: E402
from benchmarks.tokens.words import Night, Scenario  # noqa: E402

from nightwatch_core.adapters.git.checkout import Checkout  # noqa: E402

DESIGNS = {"before": before, "seed": seed}


class Endpoint(NamedTuple):
    """Where the answers come from."""

    url: str
    key: str = "by-hand"


def night_of(folder: Path) -> Night:
    """The one error of a case over the texts of its tree."""
    row = json.loads((folder / "export.jsonl").read_text().splitlines()[0])
    host = Checkout(folder / "checkout")
    tree = host.reader(host.commit_of(row["release"]) or host.head())
    texts = {path: tree.read_file(path) for path in tree.paths()}
    scenario = Scenario(
        key=folder.name,
        language="python",
        error_class=row["exception.type"],
        transaction=row["transaction"],
        message=row["exception.message"],
        raw=row["exception.stacktrace"],
        facts=(),
        cause="",
        occurrences=row["occurrences"],
    )
    files = {path: text for path, text in texts.items() if text is not None}
    return Night(folder.name, "python", files, (scenario,))


def main() -> int:
    """Play, and print the answer's cause and what the design counted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("design", choices=DESIGNS)
    parser.add_argument("case", type=Path)
    parser.add_argument("url")
    asked = parser.parse_args()
    (found,) = DESIGNS[asked.design](night_of(asked.case), Endpoint(asked.url))
    print(f"{found.key}: {found.root_cause}\n{found.usage}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
