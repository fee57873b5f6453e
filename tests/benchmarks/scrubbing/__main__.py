"""What the scrubber takes out of texts its rules were made on and of texts they were not."""

import gzip
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from nightwatch_core.privacy.scrubber import Masks, Scrubber
from tests.benchmarks.scrubbing.samples import blind, development, removal

EVAL = Path(os.environ.get("NIGHTWATCH_EVAL") or Path(__file__).parents[4] / "shared" / "eval")
TRACES = EVAL / "data" / "parse_cases.jsonl.gz"  # real traces and messages, for false alarms
AIM_REMOVED, AIM_CHANGED, LONG = 0.90, 0.02, 40


def main() -> int:
    """Print the rates; 1 where one that no rule was tuned on is short of what is aimed at."""
    scrub, short = Scrubber(Masks(b"benchmark")).scrub, False
    for name, of in (("development", development), ("blind", blind)):
        for what, templates in (("secrets", of.secrets), ("personal data", of.personal)):
            rate = removal(of.samples(templates), scrub)
            print(f"{name}: {what}: {rate.removed} of {rate.texts} gone ({rate.share:.3f})", end="")
            print(f"; missed: {', '.join(rate.missed)}" if rate.missed else "")
            short |= of is blind and rate.share < AIM_REMOVED
    if not TRACES.is_file():
        print(f"harmless texts: skipped, there is no {TRACES}")
        return int(short)
    harmless, begun = list(_texts()), time.process_time()
    changed = sum(scrub(text) != text for text in harmless)
    speed = sum(map(len, harmless)) / 1e6 / (time.process_time() - begun)
    share = changed / len(harmless)
    print(f"harmless: {changed} of {len(harmless)} changed ({share:.4f}), {speed:.1f} MB/s")
    return int(short or share > AIM_CHANGED)


def _texts() -> Iterator[str]:
    with gzip.open(TRACES, "rt", encoding="utf-8") as file:
        for line in file:
            yield from _strings(json.loads(line))


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str) and len(value) > LONG:
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)


if __name__ == "__main__":
    sys.exit(main())
