"""The section of an issue that stands where its cause would: what is known, and where to look."""

from collections.abc import Iterator

from nightwatch_core.models.answer import Handover
from nightwatch_core.publish.handover_text import NO_CAUSE, handover_facts, place_of, short_handover
from nightwatch_core.publish.issue_sections import bulleted, language_named
from nightwatch_core.publish.told import Told
from nightwatch_core.text.escaping import fenced

_LINES, _STEPS = 4_000, 8  # characters of the lines around the failing one; what to look at


def handed_over(told: Told) -> str:
    """What is known of an error whose cause is not."""
    given = told.analysis.handover or Handover()
    return "\n\n".join(filter(None, _parts(told, given)))


def _parts(told: Told, given: Handover) -> Iterator[str]:
    what = f" {told.prose(short_handover(given))}" if given.unknown else ""
    yield f"## {NO_CAUSE}\n\nIt was looked at, and nothing was proved.{what} This is what is known."
    place = place_of(given)
    facts = (*((("Failed in", place),) if place else ()), *handover_facts(given))
    yield "\n".join(f"- {name}: {told.prose(text)}" for name, text in facts)
    width = len(str(given.first_line + len(given.lines)))
    rows = enumerate(given.lines, given.first_line)
    numbered = "\n".join(f"{number:>{width}}  {text}" for number, text in rows)
    yield fenced(numbered, language_named(given.path), _LINES) if numbered else ""
    yield bulleted("To look at next", map(told.prose, given.look_at[:_STEPS]))
