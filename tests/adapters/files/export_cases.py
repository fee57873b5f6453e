"""What a file in the shape of a tracker holds, and what is to be read from it (`exports/`)."""

import json
from pathlib import Path

import yaml
from error_records import NOW, groups_of, written

from nightwatch_core.adapters.files.source import ErrorFiles
from nightwatch_core.models.errors import Trace

# The first group of a file where its case says nothing else. Times are ISO 8601 in UTC, to the
# second; a frame is path, line and whether it is the application's; `causes` are classes.
_NOTHING = {
    **dict.fromkeys(("message", "transaction", "first", "last", "app", "release", "host"), ""),
    **{"count": 1, "users": None, "frames": [], "causes": []},
}
_FILES = sorted((Path(__file__).parent / "exports").glob("*.yml"))
CASES = {row["name"]: _NOTHING | row for file in _FILES for row in yaml.safe_load(file.read_text())}


def read_case(folder, content):
    text = content if isinstance(content, str) else json.dumps(content)
    return ErrorFiles((written(folder, text),))


def as_read(case, folder):
    """The same values, as a night reads them from the file."""
    files = read_case(folder, case["content"])
    answer = groups_of(files, None, NOW)
    assert not answer.rejects, answer.rejects
    group = answer.groups[0]
    trace = next(iter(files.traces(group)), Trace())
    times = {"first": group.first_seen, "last": group.last_seen}
    read = {
        **{name: getattr(group, name) for name in ("error_class", "message", "transaction")},
        **{name: getattr(group, name) for name in ("users", "app", "release")},
        **{name: f"{at:%Y-%m-%dT%H:%M:%SZ}" if at else "" for name, at in times.items()},
        "count": group.occurrences,
        "host": "".join(group.hosts),
        "frames": [[f.path, f.line, f.in_app] for link in trace.links for f in link.frames],
        "causes": [link.error_class for link in trace.links[1:]],
        "shape": files.contents().shapes[0][0],
    }
    return case | {name: value for name, value in read.items() if name in case}
