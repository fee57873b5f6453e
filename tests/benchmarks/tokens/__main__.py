"""`python -m tests.benchmarks.tokens`: three designs, one mind, and what each of them costs."""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # tests/, as pytest has it

from benchmarks.citations import table  # noqa: E402
from benchmarks.tokens.measuring import DESIGNS, all_nights, play  # noqa: E402
from benchmarks.tokens.real import EVAL  # noqa: E402
from benchmarks.tokens.table import nightly, summary, trace  # noqa: E402


def main() -> int:
    """Print the table; 1 where ours is wrong where a baseline is right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--errors", action="store_true", help="figures of every error")
    parser.add_argument("--trace", default="", help="errors whose conversations are printed")
    parser.add_argument("--data", type=Path, default=EVAL, help="folder of the evaluation data")
    asked = parser.parse_args()
    nights = all_nights(asked.data)
    played = {
        name: [one for night in nights for one in play(night, design)]
        for name, design in DESIGNS.items()
    }
    print(summary(nights, played))
    if asked.errors:
        print(f"\niterations · new tokens · USD\n\n{nightly(played)}")
    ended = [one.cited for one in played["ours"] if one.cited]
    print(f"\nsections of our first messages, and how many answers cite them\n\n{table(ended)}")
    for name, found in played.items():
        for one in found:
            if asked.trace and asked.trace in one.key:
                print(f"\n{name}: {trace(one)}")
    worse = (
        mine.key
        for name, found in played.items()
        for theirs, mine in zip(found, played["ours"], strict=True)
        if theirs.right and not mine.right
    )
    return 1 if any(worse) else 0


if __name__ == "__main__":
    sys.exit(main())
