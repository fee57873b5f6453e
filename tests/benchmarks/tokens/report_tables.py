"""Tables of BENCHMARKS.md, each computed by a function; nothing in them depends on a clock."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from benchmarks import duplicates
from benchmarks.tokens import invented
from benchmarks.tokens.baselines import before, seed
from benchmarks.tokens.designs import Design
from benchmarks.tokens.measuring import DESIGNS, Played, all_nights, play
from benchmarks.tokens.ours import Features, ours
from benchmarks.tokens.real import EVAL
from benchmarks.tokens.returning import NIGHTS, lived
from benchmarks.tokens.words import Night

from nightwatch_core.adapters.claude.features import priced
from nightwatch_core.analysis.budget import may_be_led
from nightwatch_core.models.answer import Usage
from nightwatch_core.models.errors import Case, ErrorGroup

PLAYS = Path(__file__).with_name("plays.json")
LEAD, CACHED = "claude-haiku-5-5", (("write", "written"), ("read", "read"))
FLAT = {"max_iterations": 15, "effort": "medium"}  # as the seed was before
FEW_TURNS = {"max_iterations": 2}


def _without(features: Features) -> Design:
    return partial(ours, features=features)


ABLATION: Mapping[str, Design] = {
    "everything": ours,
    "no research in the first message": _without(Features(previews=False)),
    "no findings of earlier nights": _without(Features(priors=False)),
    "siblings not told, all side by side": _without(Features(sharing=False)),
    "no agent files, the built-in prompt": _without(Features(agents=False)),
    "15 turns and medium effort": _without(Features(agent=FLAT)),
}
LOOKS: Mapping[str, Design] = {
    "one look": _without(Features(agent=FEW_TURNS)),
    "and a second": _without(Features(agent=FEW_TURNS, again=True)),
}


class Sum(NamedTuple):
    """What a design made of some nights."""

    played: tuple[Played, ...]
    rounds: int  # model calls one after another, waiting for the cache included

    def mean(self, value: Callable[[Played], float]) -> float:
        """The mean over errors."""
        return fmean(map(value, self.played))

    @property
    def new(self) -> float:
        """New tokens an error."""
        return self.mean(lambda one: one.billed.new_tokens)

    @property
    def all_tokens(self) -> float:
        """Tokens an error, those read from the cache included."""
        return self.mean(lambda one: one.billed.new_tokens + one.billed.cache_read_tokens)

    @property
    def usd(self) -> float:
        """USD an error."""
        return self.mean(lambda one: one.billed.cost or 0.0)

    @property
    def iterations(self) -> float:
        """Model calls an error."""
        return self.mean(lambda one: len(one.calls))

    @property
    def missed(self) -> float:
        """Answers an error that there is no such file."""
        return self.mean(lambda one: sum(call.missed for call in one.calls))


def summed(nights: Iterable[Night], design: Design) -> Sum:
    """Play the nights, each from a cold cache."""
    done = [play(night, design) for night in nights]
    return Sum(
        tuple(item for found, _ in done for item in found), sum(rounds for _, rounds in done)
    )


COLUMNS: Mapping[str, Callable[[Sum], str]] = {
    "right": lambda one: f"{sum(each.right for each in one.played)} of {len(one.played)}",
    "turns": lambda one: f"{one.iterations:.2f}",
    "input": lambda one: _whole(one.mean(lambda each: each.billed.input_tokens)),
    "cache write": lambda one: _whole(one.mean(lambda each: each.billed.cache_write_tokens)),
    "cache read": lambda one: _whole(one.mean(lambda each: each.billed.cache_read_tokens)),
    "output": lambda one: _whole(one.mean(lambda each: each.billed.output_tokens)),
    "of it thinking": lambda one: _whole(one.mean(lambda e: sum(c.thought for c in e.calls))),
    "new tokens": lambda one: _whole(one.new),
    "USD": lambda one: f"{one.usd:.4f}",
    "not found": lambda one: f"{one.missed:.2f}",
    "cut": lambda one: f"{one.mean(lambda each: sum(call.cut for call in each.calls)):.2f}",
    "low": lambda one: str(sum(each.confidence == "low" for each in one.played)),
    "rounds": lambda one: str(one.rounds),
}
FEW = ("right", "turns", "cache read", "new tokens", "USD", "not found", "rounds")


def designs() -> str:
    """The designs, before to after."""
    return _table("design", {name: _all(name) for name in DESIGNS}, list(COLUMNS))


def invented_nights() -> str:
    """The same by night, where no data are needed."""
    nights = {night.name: night for night in invented.nights()}
    made = {
        f"{name}, {title}": night_of(name, design)
        for name in nights
        for title, design in (("before", before), ("seed design", seed), ("ours", ours))
    }
    return _table("night, design", made, FEW)


def night_of(name: str, design: Design) -> Sum:
    """One invented night."""
    return summed((night for night in invented.nights() if night.name == name), design)


def row(name: str, one: Sum, columns: Sequence[str] = FEW) -> str:
    """A row as the tables have it."""
    return markdown_row((name, *(COLUMNS[column](one) for column in columns)))


def ablation() -> str:
    """Ours, one feature at a time taken away."""
    return _table("ours with", {name: _without(name) for name in ABLATION}, FEW)


def looks() -> str:
    """A second look where the first had too few turns."""
    made = {name: summed(_nights(), design) for name, design in LOOKS.items()}
    return _table("two turns a look", made, ("right", "low", "turns", "new tokens", "USD"))


def nights() -> str:
    """The same errors night after night, remembered."""
    told = [lived(night) for night in _nights()]
    first = sum(item.billed.new_tokens for night in told for item in night[0])
    lines = head(("night", "errors", "asked about", "right", "new tokens", "of the first"))
    for number in range(NIGHTS):
        found = [item for night in told for item in night[number]]
        tokens = sum(item.billed.new_tokens for item in found)
        asked, right = sum(bool(item.calls) for item in found), sum(item.right for item in found)
        cells = (number + 1, len(found), asked, right, f"{tokens:,}", f"{tokens / first:.0%}")
        lines.append(markdown_row(map(str, cells)))
    return "\n".join(lines)


def duplicate_shares() -> str:
    """Analyses of one night that explain a bug twice."""
    told = duplicates.nights(EVAL)
    lines = head(("one analysis for", "errors", "bugs", "analyses", "duplicates", "share",
                   "bugs hidden in others' groups"))  # fmt: skip
    for name, way in duplicates.WAYS.items():
        one = duplicates.share(way, told)
        share = f"{one.duplicates / one.analyses:.1%}"
        cells = (one.errors, one.bugs, one.analyses, one.duplicates, share, one.hidden)
        lines.append(markdown_row((name, *map(str, cells))))
    return "\n".join(lines)


def targets() -> str:
    """The seeds' aims beside what came of them here."""
    old, new = _all("before"), _all("ours")
    shares = {name: duplicates.share(way, duplicates.nights(EVAL))
              for name, way in duplicates.WAYS.items()}  # fmt: skip
    same, share = shares["ours: cases"], shares["the seed's: class and transaction"]
    one, two = (summed(_nights(), design) for design in LOOKS.values())
    low = [sum(each.confidence == "low" for each in looked.played) for looked in (one, two)]
    tokens, every = new.new / old.new, new.all_tokens / old.all_tokens
    turns, found = new.iterations / old.iterations, same.duplicates / same.analyses
    fewer = 1 - low[1] / low[0]
    rows = (
        ("new tokens", "-40 %", f"{tokens - 1:.0%}", tokens <= 0.60),
        ("all tokens, cache reads too", "-40 %", f"{every - 1:.0%}", every <= 0.60),
        ("tokens per error, 15 to 10 K", "× 0.67", f"× {tokens:.2f}", tokens <= 10 / 15),
        ("turns per error, 8 to 5", "× 0.63", f"× {turns:.2f} ({old.iterations:.1f} to "
         f"{new.iterations:.1f})", turns <= 5 / 8),
        ("file not found, per error", "≤ 0.5", f"{new.missed:.2f} (before {old.missed:.2f})",
         new.missed <= 0.5),
        ("duplicate analyses", "< 10 %", f"{found:.1%} (the seed's groups "
         f"{share.duplicates / share.analyses:.1%})", found < 0.10),
        ("low confidence after a second look", "-30 %", f"-{fewer:.0%} ({low[0]} to {low[1]} of "
         f"{len(one.played)})", fewer >= 0.30),
        ("quality kept: right answers", "no loss",
         f"{COLUMNS['right'](new)} (before {COLUMNS['right'](old)})",
         all(b.right or not a.right for a, b in zip(old.played, new.played, strict=True))),
    )  # fmt: skip
    lines = head(("seeds' target", "aim", "here", ""))
    told = (*rows[:2], *by_hand(), *rows[2:])
    lines += [markdown_row((*row, "met" if met else "**not met**")) for *row, met in told]
    return "\n".join(lines)


@cache
def _nights() -> tuple[Night, ...]:
    return all_nights()


@cache
def _all(name: str) -> Sum:
    return summed(_nights(), DESIGNS[name])


def _without(name: str) -> Sum:
    return _all("ours") if ABLATION[name] is ours else summed(_nights(), ABLATION[name])


def _table(what: str, made: Mapping[str, Sum], columns: Sequence[str]) -> str:
    lines = head((what, *columns))
    return "\n".join((*lines, *(row(name, one, columns) for name, one in made.items())))


def _whole(value: float) -> str:
    return f"{value:,.0f}"


def plays() -> str:
    """Conversations by hand, as they were counted when they were played."""
    rows = json.loads(PLAYS.read_text(encoding="utf-8"))
    lines = head(("bug", "design", "turns", "tool calls", "input", "cache write", "cache read",
                   "output", "new tokens", "USD", "judged"))  # fmt: skip
    others = [item for item in rows if item["play"] == "another reader"]
    lines += [_play((item,)) for item in rows if item not in others]
    return "\n".join((*lines, _play(others)))


def _play(rows: Sequence[Mapping[str, Any]]) -> str:
    """One play, or the mean over those of another reader."""
    errors, one = sum(item["errors"] for item in rows), rows[0]
    told = ("turns", "tool_calls", "input", "written", "read", "output", "new")
    means = [sum(item[name] for item in rows) / errors for name in told]
    shown = (f"{means[0]:.3g}", f"{means[1]:.0f}", *(f"{mean:,.0f}" for mean in means[2:]))
    usd = f"{sum(item['usd'] for item in rows) / errors:.3f}"
    names = (
        (one["bug"], one["play"])
        if len(rows) == 1
        else (f"all {errors}, a night each", "ours, cold, another reader")
    )
    judged = one["judged"] if len(rows) == 1 else f"{errors} {one['judged']}"
    return markdown_row((*names, *shown, usd, judged))


def leads() -> str:
    """Return what the seven bugs would cost where a cheaper model leads in the same turns."""
    plays = [item for item in json.loads(PLAYS.read_text(encoding="utf-8")) if "error" in item]
    lines = head(("leads that stand", "led", "new tokens", "USD"))
    for name, again in (("no lead", None), ("all", 0.0), ("half", 0.5), ("none", 1.0)):
        made = []  # whether it is led, new tokens, USD
        for item in plays:
            case = Case(leader=ErrorGroup(fingerprint="", source="", **item["error"]))
            led, more = (0, 1.0) if again is None or not may_be_led(case) else (1, again)
            parts = {f"cache_{part}_tokens": item[key] for part, key in CACHED}
            cheap = priced(LEAD, Usage(output_tokens=item["output"], **parts)).cost or 0.0
            made.append((led, (led + more) * item["new"], led * cheap + more * item["usd"]))
        led, new, usd = (fmean(column) for column in zip(*made, strict=True))
        shown = (f"{led * len(plays):.0f} of {len(plays)}", _whole(new), f"{usd:.3f}")
        lines.append(markdown_row((name, *shown)))
    return "\n".join(lines)


def by_hand() -> list[tuple[str, str, str, bool]]:
    """New tokens of real bugs, ours beside before: each in a night of its own, and together."""
    new = {
        (item["bug"], item["play"]): item["new"]
        for item in json.loads(PLAYS.read_text(encoding="utf-8"))
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


def head(names: Sequence[str]) -> list[str]:
    """Return the two rows that a table begins with; figures stand to the right."""
    return [markdown_row(names), markdown_row(("---", *("---:" for _ in names[1:])))]


def markdown_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
