"""What real bugs cost that were played by hand: counted when they were played, kept beside this."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.tokens.table import head, markdown_row

PLAYS = Path(__file__).with_name("plays.json")


def plays() -> str:
    """Conversations by hand, as they were counted when they were played."""
    rows = json.loads(PLAYS.read_text(encoding="utf-8"))
    lines = head(("bug", "design", "turns", "tool calls", "input", "cache write", "cache read",
                   "output", "new tokens", "USD", "judged"))  # fmt: skip
    others = [one for one in rows if one["play"] == "another reader"]
    lines += [_play((one,)) for one in rows if one not in others]
    return "\n".join((*lines, _play(others)))


def _play(rows: Sequence[Mapping[str, Any]]) -> str:
    """One play, or the mean over those of another reader."""
    errors, one = sum(one["errors"] for one in rows), rows[0]
    told = ("turns", "tool_calls", "input", "written", "read", "output", "new")
    means = [sum(one[name] for one in rows) / errors for name in told]
    shown = (f"{means[0]:.3g}", f"{means[1]:.0f}", *(f"{mean:,.0f}" for mean in means[2:]))
    usd = f"{sum(one['usd'] for one in rows) / errors:.3f}"
    names = (
        (one["bug"], one["play"])
        if len(rows) == 1
        else (f"all {errors}, a night each", "ours, cold, another reader")
    )
    judged = one["judged"] if len(rows) == 1 else f"{errors} {one['judged']}"
    return markdown_row((*names, *shown, usd, judged))


def by_hand() -> list[tuple[str, str, str, bool]]:
    """New tokens of real bugs, ours beside before: each in a night of its own, and together."""
    new = {
        (one["bug"], one["play"]): one["new"]
        for one in json.loads(PLAYS.read_text(encoding="utf-8"))
    }
    bugs = [bug for bug, play in new if play == "before"]
    shares = [new[bug, "ours, cold"] / new[bug, "before"] - 1 for bug in bugs]
    alone, together = shares[:-1], shares[-1]
    what = "new tokens, real bugs by hand,"
    told = ", ".join(f"{share:.0%}" for share in alone)
    return [
        (f"{what} {len(alone)} in one night", "-40 %", f"{together:.0%}", together <= -0.40),
        (f"{what} a night each", "-40 %", told, max(alone) <= -0.40),
    ]
