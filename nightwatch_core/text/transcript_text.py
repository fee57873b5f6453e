"""A transcript for people: who said what, shortened, harmless, with what it took."""

import json
from collections.abc import Iterator
from typing import NamedTuple

from nightwatch_core.models.answer import Usage
from nightwatch_core.models.conversation import Transcript, TranscriptEntry
from nightwatch_core.text.escaping import block, line
from nightwatch_core.text.plain_text import text_table

TOLD, ANSWERED = (1_500, 20), (360, 5)  # characters and lines: of what is said, of a tool's answer
WHOLE = (40_000, 5_000)
LOUD, QUIET, BAD, OURS, THEIRS, TOOLS = "bold", "dim", "red", "cyan", "green", "yellow"
_INDENT = "          "
_STOPS = text_table("nightwatch_core.text", "stops.toml")


class Shown(NamedTuple):
    """A line for a terminal, and how it looks."""

    text: str
    style: str = ""


def shown(transcript: Transcript, full: bool = False) -> Iterator[Shown]:
    """Yield everything in the order it was said; `full` shows texts as they were kept."""
    for entry in transcript.entries:
        yield from _entry(entry, full)
    if transcript.unread:
        yield Shown(f"{transcript.unread} lines of this transcript cannot be read.", BAD)
    total = sum((entry.usage for entry in transcript.entries), Usage())
    yield Shown("")
    yield Shown(f"In all: {total.calls} calls, {used(total)}", LOUD)


def used(usage: Usage) -> str:
    """Return tokens and cost in words; what is nothing is left out.

    >>> used(Usage(calls=1, input_tokens=1200, cache_read_tokens=5000, cost=0.0125))
    '1,200 in, 0 out, 5,000 read from the cache, $0.0125'
    """
    uncleared = f" of {usage.uncleared_tokens:,}" if usage.uncleared_tokens else ""
    parts = (
        f"{usage.input_tokens + usage.cache_write_tokens:,} in",
        f"{usage.output_tokens:,} out",
        f"{usage.thinking_tokens:,} thereof thinking" if usage.thinking_tokens else "",
        f"{usage.cache_read_tokens:,} read from the cache" if usage.cache_read_tokens else "",
        f"{usage.cleared_tokens:,}{uncleared} cleared" if usage.cleared_tokens else "",
        f"{usage.compaction_tokens:,} for a summary" if usage.compaction_tokens else "",
        "cost unknown" if usage.cost is None else f"${usage.cost:.4f}",
    )
    return ", ".join(part for part in parts if part)


def _opening(entry: TranscriptEntry, full: bool) -> Iterator[Shown]:
    opening = entry.opening
    if opening is None:
        return
    if opening.look > 1:
        yield Shown("")
        yield Shown(f"Second look: a fresh conversation with {line(opening.model, 80)}", LOUD)
        return
    yield Shown(f"{line(opening.fingerprint, 80)}  {line(opening.error, 200)}", LOUD)
    facts = (
        f"night {line(opening.night, 100)}",
        line(opening.model, 80),
        f"effort {line(opening.effort, 20)}",
        f"tools {line(', '.join(opening.tools), 200) or 'none'}",
    )
    yield Shown(" · ".join(facts), QUIET)
    if full:
        yield from _paragraph(opening.system, full, QUIET)


def _entry(entry: TranscriptEntry, full: bool) -> Iterator[Shown]:
    at = f"{entry.at:%H:%M:%S}" if entry.at else "        "
    if entry.kind == "opening":
        yield from _opening(entry, full)
    elif entry.kind == "results":
        yield Shown(f"{at}  tools", TOOLS)
        for result in entry.results:
            size = f"{line(result.name, 80)}, {len(result.text):,} characters"
            yield Shown(f"{_INDENT}← {size}", BAD if result.is_error else TOOLS)
            yield from _paragraph(result.text, full, QUIET, ANSWERED)
    elif entry.kind == "user":
        yield Shown(f"{at}  we", OURS)
        yield from _paragraph(entry.text, full)
    elif entry.kind == "assistant":
        stop = _STOPS.get(entry.stop, line(entry.stop, 40))
        detail = f" ({line(entry.detail, 200)})" if entry.detail else ""
        yield Shown(f"{at}  the model {stop}".rstrip() + detail, THEIRS)
        yield from _paragraph(_indented(entry.text), full)
        for call in entry.calls:
            named = (f"{name}={json.dumps(value)}" for name, value in call.arguments.items())
            asked = f"{call.name}({', '.join(named)})"
            yield Shown(f"{_INDENT}→ {line(asked, 300)}", TOOLS)
    else:
        yield Shown(f"{at}  no answer", BAD)
        yield from _paragraph(entry.text, full, BAD)
    if entry.usage.calls and entry.kind in ("assistant", "failure"):
        yield Shown(f"{_INDENT}{used(entry.usage)}", QUIET)


def _paragraph(
    text: str, full: bool, style: str = "", bounds: tuple[int, int] = TOLD
) -> Iterator[Shown]:
    characters, lines = WHOLE if full else bounds
    rows = block(text.strip("\n"), characters).split("\n") if text.strip() else []
    for item in rows[:lines]:
        yield Shown(f"{_INDENT}{item}", style)
    if len(rows) > lines:
        yield Shown(f"{_INDENT}… {len(rows) - lines} more lines", QUIET)


def _indented(text: str) -> str:
    try:
        answer = json.loads(text)
    except ValueError:
        return text
    return json.dumps(answer, indent=2, ensure_ascii=False) if isinstance(answer, dict) else text
