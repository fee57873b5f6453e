"""The stack traces of a case, as get_error_traces shows them."""

from nightwatch_core.analysis.prompts import fenced
from nightwatch_core.analysis.refusals import Refusal
from nightwatch_core.code.truncation import halves
from nightwatch_core.models.error import Case, Trace
from nightwatch_core.text.escaping import clean, line

_HEAD = 120  # characters around each trace


def get_error_traces(
    case: Case, traces: tuple[Trace, ...], limit: int, most: int = 3, number: int = 0
) -> str:
    """Up to `most` traces, or the one of that number, newest first; about `limit` characters."""
    known = traces or ((case.trace,) if case.trace else ())
    if not known:
        return "This error came without a stack trace."
    if number > len(known):
        raise Refusal(f"There are {len(known)} traces; ask for number <= {len(known)}.")
    asked = [number] if number else list(range(1, min(most, len(known)) + 1))
    texts = {n: _text(known[n - 1]) for n in asked}
    different = len(set(texts.values()))
    share = max(limit // different - _HEAD, 200)
    first: dict[str, int] = {}
    parts = []
    for n, text in texts.items():
        release = f", release {line(known[n - 1].release, 60)}" if known[n - 1].release else ""
        title = f"trace {n} of {len(known)}{release}"
        same = first.setdefault(text, n)
        shown = fenced(clean(halves(text, share, "ask for it alone, by number")))
        parts.append(f"{title}: the same as trace {same}" if same < n else f"{title}\n{shown}")
    return "\n\n".join(parts)


def _text(trace: Trace) -> str:
    return trace.raw.strip() or _rendered(trace)


def _rendered(trace: Trace) -> str:
    lines = []
    for link in trace.links:
        lines.append(f"{link.error_class}: {link.message}")
        lines += [f"  at {frame.place} in {frame.function or '?'}" for frame in link.frames]
    return "\n".join(lines)
