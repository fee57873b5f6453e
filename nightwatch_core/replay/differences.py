"""Two nights' decisions side by side, for people."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from nightwatch_core.text.escaping import line

SECTIONS = ("errors", "failures", "dropped", "proposals", "lessons", "patterns")  # by name
SINGLE = ("status", "commit", "base", "not proposed")
FIRST = ("root_cause", "confidence", "fix", "title", "body", "changes", "reason", "ending")
FIELDS = 4  # of one error or proposal
SHOWN = 160  # characters of a value
NAMES = {
    "errors": "error",
    "failures": "failure",
    "dropped": "dropped",
    "proposals": "proposal",
    "lessons": "lesson",
    "patterns": "pattern",
}


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what the second decided in another way, a line each; empty where they are equal."""
    return tuple((*_single(before, after), *_named(before, after), *_taken(before, after)))


def counts(decisions: Mapping[str, Any]) -> str:
    """Return in one line what came of a night."""
    proposals = [_mapping(one).get("kind") for one in _of(decisions, "proposals").values()]
    taken = _of(decisions, "took")
    cost = taken.get("USD")
    parts = (
        f"{len(_of(decisions, 'errors'))} verdicts",
        f"{proposals.count('issue')} issues",
        f"{proposals.count('pull')} drafts",
        f"{proposals.count('comment') + proposals.count('reopen')} comments",
        f"{_number(taken.get('requests'), ',')} requests",
        f"{_number(taken.get('new tokens'), ',')} new tokens",
        "cost unknown" if cost is None else f"${_number(cost, '.2f')}",
    )
    return ", ".join(parts)


def _single(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    for name in SINGLE:
        if before.get(name) != after.get(name):
            yield f"{name}: {_shown(before.get(name))} → {_shown(after.get(name))}"


def _named(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    for section in SECTIONS:
        old, new = _of(before, section), _of(after, section)
        for name in sorted(old.keys() | new.keys()):
            what = f"{NAMES[section]} {_title(name, new.get(name) or old[name])}"
            if name not in new:
                yield f"- {what}"
            elif name not in old:
                yield f"+ {what}"
            elif old[name] != new[name]:
                yield from (
                    f"~ {what}: {text}"
                    for text in _fields(_mapping(old[name]), _mapping(new[name]))
                )


def _fields(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """What differs, what matters most first; the rest is counted."""
    names = [name for name in sorted(old.keys() | new.keys()) if old.get(name) != new.get(name)]
    names.sort(key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST))
    for name in names[:FIELDS]:
        yield f"{line(name, 40)}: {_parted(old.get(name), new.get(name))}"
    if rest := names[FIELDS:]:
        yield f"and {len(rest)} more: {line(', '.join(rest), SHOWN)}"


def _parted(old: Any, new: Any) -> str:
    """Both values from where they begin to differ."""
    first, second = _text(old), _text(new)
    same = next(
        (at for at, pair in enumerate(zip(first, second, strict=False)) if pair[0] != pair[1]),
        min(len(first), len(second)),
    )
    start = max(0, same - 20)
    more = "…" if start else ""
    return f"{more}{_shown(first[start:])} → {more}{_shown(second[start:])}"


def _taken(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    if _of(before, "took") != _of(after, "took"):
        yield f"took: {_shown(before.get('took'))} → {_shown(after.get('took'))}"


def _of(decisions: Mapping[str, Any], section: str) -> Mapping[str, Any]:
    return _mapping(decisions.get(section))


def _mapping(value: Any) -> Mapping[str, Any]:
    """What is one; a bundle of a stranger may hold anything there."""
    return value if isinstance(value, Mapping) else {}


def _number(value: Any, form: str) -> str:
    return format(value, form) if isinstance(value, int | float) else "?"


def _title(name: str, value: Any) -> str:
    told = _mapping(value)
    title = told.get("error") or told.get("title") or ""
    kind = f"{told.get('kind')} " if "key" in told else ""
    return line(f"{kind}{name} {title}".strip(), SHOWN)


def _shown(value: Any) -> str:
    return line(_text(value), SHOWN) or "nothing"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
