"""What siblings are told of their leader's analysis: it is read once, in their first message."""

from nightwatch_core.intake.families import LONGEST_SUMMARY, MOST_TOLD, shortened, summary
from nightwatch_core.models.analysis import Analysis

LONGEST = 1_500  # characters of all lines together, line breaks counted
_LEARNINGS = MOST_TOLD - 1  # beside the finding


def run_context(leader: Analysis) -> tuple[str, ...]:
    """The leader's finding and learnings, then the files it examined and the patterns it saw.

    Finding and learnings are at most four lines of 200 characters; all lines together stay within
    1,500 characters.
    """
    learnings = (
        f"learned: {one.fact} ({one.path}:{one.line})" if one.path else f"learned: {one.fact}"
        for one in leader.learnings[:_LEARNINGS]
    )
    told = (summary(leader), *(_line(learning, LONGEST_SUMMARY) for learning in learnings))
    tags = _line(", ".join(leader.tags), LONGEST_SUMMARY)
    patterns = f"patterns seen: {tags}" if tags else ""
    left = LONGEST - sum(len(line) + 1 for line in (*told, patterns)) - 1
    return tuple(filter(None, (*told, _files(leader.read, left), patterns)))


def _files(read: tuple[str, ...], room: int) -> str:
    """As many whole paths as there is room for; empty where none was read."""
    text, left = "files examined: ", len(read)
    for path in map(_flat, read):
        more = f"{path}, "
        if len(text) + len(more) + len(f"and {left} more") > room:
            break
        text, left = text + more, left - 1
    if left == len(read):
        return ""
    return f"{text}and {left} more" if left else text.removesuffix(", ")


def _line(text: str, limit: int) -> str:
    return shortened(_flat(text), limit)


def _flat(text: str) -> str:
    return " ".join(text.split())
