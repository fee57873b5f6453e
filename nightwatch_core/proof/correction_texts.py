"""What a model is told when it is asked for a fix after one that did not pass."""

from collections.abc import Callable, Iterable

from nightwatch_core.analysis import limits
from nightwatch_core.analysis.prompts import (
    cut_out,
    error_text,
    fenced,
    only_data,
    preview_text,
    window,
)
from nightwatch_core.code import edits as fixing
from nightwatch_core.code.code_view import halves
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.answer import Edit
from nightwatch_core.models.research import Preview, ResearchContext
from nightwatch_core.text.escaping import block, line
from nightwatch_core.text.plain_text import text_lines

TURNS = 4  # of the model, its answer included
_OUTPUT, _DIFF, _CAUSE, _WHY = 4_000, 12_000, 4_000, 600  # characters
_WHOLE, _LINES, _WINDOWS = 200, 60, 8  # lines of a file shown whole; of a window; windows

_ASK = """\
A fix for this production error was run in a sandbox, and did not pass. Make it anew. {data}

## The error

{error}

## The cause

{cause}

## The fix that was run

{diff}

## What failed

{failed}

## The files without that fix

{code}

Answer with all edits of the new fix, made on the files without the first one; nothing of that is \
kept by itself. No test is weakened, skipped or taken away, and nothing is caught, passed over or \
defaulted only to be green. Read only what the edits need: {turns} turns are left. Leave `title` \
empty; `root_cause` says in two sentences what was wrong with the first fix and what is different \
now. Where the failure is not the fix's, or without a fix that you would defend in review: \
`has_fix: false`, and why in `root_cause`."""


def correction_request(
    analysis: Analysis,
    edits: tuple[Edit, ...],
    why: str,
    output: str,
    research: ResearchContext,
    fence: str = "",
) -> str:
    """Write the message; `output` is what the run printed, of which the end says most."""
    failed = f"{line(why, _WHY)}\n{block(output[-_OUTPUT:], _OUTPUT, code=True)}".rstrip()
    code = (fenced(preview_text(preview), fence) for preview in research.previews)
    return _ASK.format(
        data=only_data(fence),
        error=fenced(error_text(analysis.case), fence),
        cause=fenced(block(analysis.root_cause, _CAUSE), fence),
        diff=fenced(halves(fixing.diff(edits), _DIFF), fence),
        failed=fenced(failed, fence),
        code="\n\n".join(code),
        turns=TURNS,
    )


def shown_files(edits: Iterable[Edit], read: Callable[[str], str | None]) -> tuple[Preview, ...]:
    """Show files that are edited, whole or around each edit; `read` gives a text."""
    shown: dict[tuple[str, int], Preview] = {}
    for edit in edits:
        text = read(edit.path) if edit.action != "create" else None
        if not text or len(shown) >= _WINDOWS:
            continue
        lines = text_lines(text)
        at = text.count("\n", 0, max(text.find(edit.old), 0)) + 1
        if len(lines) <= _WHOLE and len(text) <= limits.WHOLE_FILE * 2:
            cut = cut_out(edit.path, lines, 1, len(lines), "failing", "")
        else:
            cut = window(edit.path, text, at, _LINES, "failing")
        seen = any(p.path == cut.path and p.start <= at <= p.end for p in shown.values())
        if not seen:
            shown[cut.path, cut.start] = cut
    return tuple(shown.values())
