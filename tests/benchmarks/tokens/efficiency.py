"""`python -m tests.benchmarks.tokens.efficiency`: tables of BENCHMARKS.md, computed again.

Without an argument it compares them with the document and ends with 1 where a word differs, or a
figure by more than a sentence of a prompt makes (3 %); `--write` puts them into it. Tables for
which there is no evaluation data are left as they are, and said.
"""

import argparse
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))  # tests/, as pytest has it

from benchmarks.run import DOCUMENT, parts_of, written  # noqa: E402
from benchmarks.tokens import report_tables as tables  # noqa: E402
from benchmarks.tokens.real import EVAL  # noqa: E402

NEEDS_DATA: Mapping[str, Callable[[], str]] = {
    "targets": tables.targets,
    "designs": tables.designs,
    "ablation": tables.ablation,
    "nights": tables.nights,
    "looks": tables.looks,
    "duplicates": tables.duplicate_shares,
}
ALONE = {"invented": tables.invented_nights, "plays": tables.plays, "leads": tables.leads}
CLOSE = 0.03  # of a figure
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


def alike(one: str, other: str) -> bool:
    """Tell whether two tables have the same words, and figures that are close."""
    figures = [[float(n.replace(",", "")) for n in _NUMBER.findall(text)] for text in (one, other)]
    same_words = _NUMBER.sub("", one) == _NUMBER.sub("", other)
    return same_words and all(abs(a - b) <= CLOSE * abs(b) for a, b in zip(*figures, strict=True))


def main() -> int:
    """Compute; compare or write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the tables into the document")
    asked = parser.parse_args()
    wanted = {**ALONE, **NEEDS_DATA} if (EVAL / "data").is_dir() else ALONE
    if wanted is ALONE:
        print(f"skipped: {', '.join(NEEDS_DATA)}: there is no evaluation data at {EVAL}")
    made = {name: table() for name, table in wanted.items()}
    text = DOCUMENT.read_text(encoding="utf-8")
    kept = parts_of(text)
    for name, table in made.items():
        print(f"\n{name}{'' if alike(kept[name], table) else ': NOT as committed'}\n\n{table}")
    if asked.write:
        DOCUMENT.write_text(written(text, made), encoding="utf-8")
    return int(
        not asked.write and not all(alike(kept[name], table) for name, table in made.items())
    )


if __name__ == "__main__":
    sys.exit(main())
