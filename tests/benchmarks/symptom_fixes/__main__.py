"""How many symptom fixes are seen, and how often a fix is taken for one.

`python -m tests.benchmarks.symptom_fixes` from the repository's root.
"""

from collections import Counter
from collections.abc import Iterable

from nightwatch_core.code.symptom_fixes import symptom_fixes
from tests.benchmarks.symptom_fixes.pairs import NONE, Labelled, blind, development


def outcome(pair: Labelled) -> str:
    """Name how the detector's answer compares with the label."""
    is_seen = bool(symptom_fixes(pair.path, pair.before, pair.after))
    if pair.label == NONE:
        return "false alarm" if is_seen else "left alone"
    return "seen" if is_seen else "missed"


def figures(pairs: Iterable[Labelled]) -> dict[str, float]:
    """Give precision, recall, and the share of right changes that are taken for symptom fixes."""
    counted = Counter(map(outcome, pairs))
    alarms, right = counted["false alarm"], counted["left alone"]
    seen, missed = counted["seen"], counted["missed"]
    return {
        "pairs": counted.total(),
        "precision": seen / max(1, seen + alarms),
        "recall": seen / max(1, seen + missed),
        "false alarms": alarms / max(1, alarms + right),
    }


def _row(name: str, pairs: tuple[Labelled, ...]) -> str:
    row = figures(pairs)
    values = "  ".join(f"{row[key]:9.2f}" for key in ("precision", "recall", "false alarms"))
    return f"{name:24}{row['pairs']:6.0f}  {values}"


def main() -> None:
    """Print the figures of both sets, by language and of the hard pairs."""
    print(f"{'':24}{'pairs':>6}  precision     recall  false al.")
    for name, pairs in (("development", development()), ("blind", blind())):
        if not pairs:
            continue
        print(_row(name, pairs))
        print(_row(f"{name}, hard", tuple(pair for pair in pairs if pair.is_hard)))
        for language in sorted({pair.language for pair in pairs}):
            print(_row(f"  {language}", tuple(pair for pair in pairs if pair.language == language)))


if __name__ == "__main__":
    main()
