"""What a file in the shape of a tracker holds, and what is to be read from it (`exports/`)."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from error_records import NOW, groups_of, written

from nightwatch_core.adapters.files.source import ErrorFiles
from nightwatch_core.models.errors import ErrorGroup, Trace

Place = tuple[str, int | None, bool]  # path, line, whether it is the application's


class Case(NamedTuple):
    """A file and the first of its groups; "" and None stand for what it does not say.

    Times are ISO 8601 in UTC, to the second.
    """

    name: str
    content: object  # a text as it is, anything else as JSON
    error_class: str
    message: str = ""
    transaction: str = ""
    count: int = 1
    users: int | None = None
    first: str = ""
    last: str = ""
    app: str = ""
    release: str = ""
    host: str = ""
    frames: tuple[Place, ...] = ()
    shape: str = ""  # its name; "" where the case does not ask
    causes: tuple[str, ...] = ()  # classes of what caused it


def _cases() -> dict[str, Case]:
    files = sorted((Path(__file__).parent / "exports").glob("*.yml"))
    rows: list[dict[str, Any]] = [row for file in files for row in yaml.safe_load(file.read_text())]
    for row in rows:
        row["frames"] = tuple(map(tuple, row.get("frames", ())))
        row["causes"] = tuple(row.get("causes", ()))
    return {row["name"]: Case(**row) for row in rows}


CASES = _cases()  # by name


def read_case(folder: Path, content: object) -> ErrorFiles:
    text = content if isinstance(content, str) else json.dumps(content)
    return ErrorFiles((written(folder, text),))


def as_read(case: Case, folder: Path) -> Case:
    """The same values, as a night reads them from the file."""
    files = read_case(folder, case.content)
    answer = groups_of(files, None, NOW)
    assert not answer.rejects, answer.rejects
    group = answer.groups[0]
    traces = files.traces(group)
    trace = traces[0] if traces else Trace()
    return Case(
        case.name,
        case.content,
        group.error_class,
        group.message,
        group.transaction,
        group.occurrences,
        group.users,
        _moment(group, "first_seen"),
        _moment(group, "last_seen"),
        group.app,
        group.release,
        "".join(group.hosts),
        tuple((f.path, f.line, f.in_app) for link in trace.links for f in link.frames),
        files.contents().shapes[0][0] if case.shape else "",
        tuple(link.error_class for link in trace.links[1:]),
    )


def _moment(group: ErrorGroup, name: str) -> str:
    at = getattr(group, name)
    return at.strftime("%Y-%m-%dT%H:%M:%SZ") if at else ""
