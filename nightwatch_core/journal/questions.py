"""Questions to ports as text: the same question has the same text in every run of a night."""

from collections.abc import Mapping
from typing import Any

from nightwatch_core.journal.pieces import Cutter
from nightwatch_core.privacy.proxy import Member
from nightwatch_core.privacy.scrubber import Scrub, without_numbers

IGNORED_ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    "errors.window": ("lookback", "now"),
    "model.reply": ("timeout",),
    "nights.unfinished": ("kind", "since"),
    "batches.intent": ("now",),
    "batches.newest": ("since",),
}
"""Arguments that differ between runs although the question is the same."""


def named_question(port: str, member: Member, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the key of a question: its arguments; for a write, the name of what is written.

    `port` may end in an @ and a commit or model, as "code@1a2b".
    """
    name = f"{port.partition('@')[0]}.{member.name}"
    match name:
        case "outbox.publish":
            return {"kind": arguments["proposal"].kind, "key": arguments["proposal"].key}
        case "lessons.write":
            return {"fingerprint": arguments["lesson"].fingerprint}
        case "lessons.write_pattern":
            return {"slug": arguments["pattern"].slug}
        case "sandbox.run" | "sandbox.prepare":  # the same commit has several reasons
            return {**arguments, "commit": arguments["commit"].sha}
    ignored = IGNORED_ARGUMENTS.get(name, ())
    return {
        name: sorted(value) if isinstance(value, frozenset) else value
        for name, value in arguments.items()
        if name not in ignored
    }


def asking(scrub: Scrub, keep: Any = lambda name, text: None) -> Cutter:
    """Return a cutter for questions: masks lose their numbers, which differ by machine."""
    return Cutter(lambda text: without_numbers(scrub(text)), keep)
