"""Figures as Markdown."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from benchmarks.tokens.measuring import Played
from benchmarks.tokens.words import Night

AIMS = (("USD", 0.40), ("new tokens", 0.40), ("iterations", 0.60))


def _mean(value: Callable[[Played], float]) -> Callable[[Sequence[Played]], float]:
    return lambda played: sum(map(value, played)) / len(played)


def _late_share(played: Sequence[Played]) -> float:
    late = [call for one in played for call in one.late]
    return sum(call.read for call in late) / max(sum(call.prompt for call in late), 1)


COLUMNS: tuple[tuple[str, str, Callable[[Sequence[Played]], float]], ...] = (
    ("right", "{:.0%}", _mean(lambda one: one.right)),
    ("iterations", "{:.2f}", _mean(lambda one: len(one.calls))),
    ("input", "{:,.0f}", _mean(lambda one: one.billed.input_tokens)),
    ("cache written", "{:,.0f}", _mean(lambda one: one.billed.cache_write_tokens)),
    ("cache read", "{:,.0f}", _mean(lambda one: one.billed.cache_read_tokens)),
    ("output", "{:,.0f}", _mean(lambda one: one.billed.output_tokens)),
    ("new tokens", "{:,.0f}", _mean(lambda one: one.billed.new_tokens)),
    ("USD", "{:.4f}", _mean(lambda one: one.billed.cost or 0.0)),
    ("not found", "{:.2f}", _mean(lambda one: sum(call.missed for call in one.calls))),
    ("read from cache, 3rd call on", "{:.0%}", _late_share),
    ("ms", "{:,.0f}", _mean(lambda one: one.seconds * 1_000)),
)


def summary(nights: Sequence[Night], played: Mapping[str, Sequence[Played]]) -> str:
    """Every design's means an error, then ours in shares of *before*'s."""
    real = sum(one.source != "invented" for night in nights for one in night.scenarios)
    count = sum(len(night.scenarios) for night in nights)
    lines = [f"{count} errors in {len(nights)} nights, {real} of them real traces; means an error."]
    lines += [f"Skipped: {night.name}: {night.skipped}." for night in nights if night.skipped]
    lines += ["", *head(("design", *(name for name, _, _ in COLUMNS)))]
    lines += [
        markdown_row((name, *(form.format(value(found)) for _, form, value in COLUMNS)))
        for name, found in played.items()
        if found
    ]
    return "\n".join((*lines, "", *_aims(played)))


def _aims(played: Mapping[str, Sequence[Played]]) -> list[str]:
    values = {name: value for name, _, value in COLUMNS}
    ours, others = played["ours"], [name for name in played if name != "ours"]
    lines = []
    for name in others:
        both = [(a, b) for a, b in zip(played[name], ours, strict=True) if a.right and b.right]
        theirs, mine = [a for a, _ in both], [b for _, b in both]
        if not both:
            continue
        shares = (
            f"{what} {values[what](mine) / values[what](theirs):.0%} (aim {aim:.0%})"
            for what, aim in AIMS
        )
        lines.append(f"- ours in shares of *{name}*, {len(both)} errors both have right: "
                     f"{', '.join(shares)}")  # fmt: skip
    return lines


def nightly(played: Mapping[str, Sequence[Played]]) -> str:
    """Iterations, new tokens and USD of every error, design by design."""
    lines = [
        markdown_row(("night", "error", *played)),
        markdown_row(("---", "---", *("---:" for _ in played))),
    ]
    for row in zip(*played.values(), strict=True):
        cells = (
            f"{'' if one.right else '**wrong** '}{len(one.calls)} · {one.billed.new_tokens:,} · "
            f"{one.billed.cost or 0:.3f}"
            for one in row
        )
        lines.append(markdown_row((row[0].night, row[0].key[:40], *cells)))
    return "\n".join(lines)


def trace(one: Played) -> str:
    """A conversation turn by turn."""
    lines = [f"{one.key}: {'right' if one.right else 'wrong'} {one.trouble}".strip()]
    lines += [
        f"  {call.number}. input {call.input:,} written {call.written:,} read {call.read:,} "
        f"output {call.output:,}{f' MISSED {call.missed}' if call.missed else ''}: {call.asked}"
        for call in one.calls
    ]
    return "\n".join(lines)


def head(names: Sequence[str]) -> list[str]:
    """The two rows that a table begins with; figures stand to the right."""
    return [markdown_row(names), markdown_row(("---", *("---:" for _ in names[1:])))]


def markdown_row(cells: Iterable[str]) -> str:
    """One row of a table."""
    return f"| {' | '.join(cells)} |"
