"""Tell what a failure without a known cause gives away, and which change is at fault."""

import re
import tomllib
from datetime import timedelta
from functools import cache
from importlib.resources import files

from pydantic import TypeAdapter

from nightwatch_core.code.limits import NEAR_DAYS
from nightwatch_core.code.symptoms import Symptom, neighbour
from nightwatch_core.code.syntax import masked
from nightwatch_core.models.code import Blame, MergedPull
from nightwatch_core.models.value import Value
from nightwatch_core.rules.findings import Context, FailingLine, Finding


class Category(Value):
    """Facts of a category of failures; words in braces are filled in."""

    value: str = ""  # what failed, as far as the class tells it
    tags: tuple[str, ...]
    steps: tuple[str, ...]


@cache
def categories() -> dict[str, Category]:
    """Read categories.toml; raises `ValidationError` where it does not hold what it should."""
    text = (files(__package__) / "categories.toml").read_text(encoding="utf-8")
    return TypeAdapter(dict[str, Category]).validate_python(tomllib.loads(text))


_CALL = re.compile(r"((?:[\w@$]+(?:\.|::|->))+[\w?!]+)\s*(?:\(|$| )")


def general(symptom: Symptom, failing: FailingLine, context: Context) -> Finding:
    """Say what the class and the message give away, and what to look at: that is no cause."""
    category = categories().get(symptom.kind, categories()["unknown"])
    call = _call(failing)
    words = {
        "place": failing.place or "the code",
        "call": call,
        "who": neighbour(symptom) or (f"the neighbour behind `{call}`" if call else "a neighbour"),
        "name": f"`{symptom.module or symptom.owner or symptom.name}`",
        "relation": f"`{symptom.relation}`" if symptom.relation else "",
    }
    return Finding(
        value=category.value.format(**words),
        tags=category.tags,
        steps=tuple(step.format(**words) for step in category.steps),
    )


def _call(failing: FailingLine) -> str:
    """Return the call of the failing line that most likely leaves the process."""
    match = _CALL.search(masked(failing.text, failing.language))
    return match[1] if match else ""


# Which change brought the failure: blame of the lines that are shown to be at fault.

_NEAR = timedelta(days=NEAR_DAYS)
_DAY = timedelta(days=1)  # blame tells days only, in no certain time zone


def suspect_change(
    failing: FailingLine, changed: tuple[tuple[str, int], ...], context: Context
) -> tuple[str, str]:
    """Return the commit that brought the failure and a sentence about it; ("", "") where unknown.

    Only blame of a line whose change is shown to have brought it (`changed`) names a commit: that
    the failing line is new, or that a change is near, proves nothing.
    """
    for path, line in changed:
        blame = context.code.blame(path, line)
        if blame is not None and _possible(blame, context):
            suspect = context.suspect_of(blame)
            came = f"{path}:{line} came with {_named(suspect.pull)}." if suspect else ""
            return blame.sha, came or _written((path, line), blame)
    blame = context.code.blame(failing.path, failing.line) if failing.seen else None
    return "", _written((failing.path, failing.line), blame) if blame else ""


def _possible(blame: Blame, context: Context) -> bool:
    groups = context.case.groups
    first = min((group.first_seen for group in groups if group.first_seen), default=None)
    last = min((group.last_seen for group in groups if group.last_seen), default=None)
    seen = first or last
    return seen is None or -_DAY <= seen.date() - blame.at.date() <= _NEAR


def _written(place: tuple[str, int], blame: Blame) -> str:
    return f"{place[0]}:{place[1]} was last written by {blame.sha} ({_said(blame)})."


def _named(pull: MergedPull) -> str:
    return f"{pull.name} ({pull.title[:100]}, {pull.merged_at:%Y-%m-%d})"


def _said(blame: Blame) -> str:
    return ", ".join(filter(None, (blame.subject[:100], blame.author[:60], f"{blame.at:%Y-%m-%d}")))
