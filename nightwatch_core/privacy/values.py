"""Our values without secrets and people's data: every text in them goes through a scrubber."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from pydantic import BaseModel

from nightwatch_core.errors import NightWatchError

Scrub = Callable[[str], str]
V = TypeVar("V", bound=BaseModel)

NAMES = frozenset(
    [
        "fingerprint",
        "formerly",
        "aliases",
        "also",
        "signature",
        "key",
        "id",
        "sha",
        "commit_sha",
        "branch",
        "base",
        "path",
        "repo_path",
        "old_path",
        "file",
        "folder",
        "digest",
        "schema",
        "kind",
        "status",
        "options",
        "given",
        "opaque",
        "parameters",
    ]
)
"""Fields that name something: masked, they would name nothing. Options are ours."""


def scrubbed(value: V, scrub: Scrub) -> V:
    """Return the value with every text in it scrubbed, at any depth; the same where none changes.

    >>> from nightwatch_core.models.error import RejectedRecord
    >>> scrubbed(RejectedRecord(place="a:1", reason="no JSON", text="pw"), str.upper).reason
    'NO JSON'
    """
    new: V = _any(value, scrub)
    return new


def _any(value: Any, scrub: Scrub) -> Any:
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, BaseModel):
        return _model(value, scrub)
    if isinstance(value, tuple | list):
        new = [_any(one, scrub) for one in value]
        same = all(one is other for one, other in zip(new, value, strict=True))
        return value if same else type(value)(new)
    if isinstance(value, dict):
        return {_any(name, scrub): _any(one, scrub) for name, one in value.items()}
    return value


def _model(value: BaseModel, scrub: Scrub) -> BaseModel:
    changed = {}
    for name in type(value).model_fields:
        old = getattr(value, name)
        if name not in NAMES and (new := _any(old, scrub)) is not old and new != old:
            changed[name] = new
    return value.model_copy(update=changed) if changed else value


@contextmanager
def told_scrubbed(scrub: Scrub) -> Iterator[None]:
    """Take out of what a neighbour raises what it must not tell anybody."""
    try:
        yield
    except NightWatchError as trouble:
        trouble.args = tuple(scrub(one) if isinstance(one, str) else one for one in trouble.args)
        raise
