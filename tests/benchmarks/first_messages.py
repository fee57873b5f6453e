"""`python tests/benchmarks/first_messages.py CASES`: sizes of first messages, and what they show.

CASES is a folder with `<case>/checkout` and `<case>/export.jsonl`; `--truth` a cases.json that
tells the commit which fixed each, `--mirror` bare copies of the repositories that hold it. Nothing
of them is kept here. `--show CASE` prints a message.
"""

import argparse
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from nightwatch_core.adapters.files.source import ErrorFiles
from nightwatch_core.adapters.git.checkout import Checkout
from nightwatch_core.analysis.prompts import conventions, first_message
from nightwatch_core.analysis.research import gather
from nightwatch_core.models.errors import Case
from nightwatch_core.models.options import NightOptions
from nightwatch_core.text.plain_text import estimated_tokens
from nightwatch_core.traces.placing import PathIndex, place_frames

HERE = Path(__file__).resolve().parent
TRUTH = HERE.parents[2] / "shared" / "eval" / "live" / "cases.json"
LOOK_BACK = timedelta(days=30)
_HEAD = re.compile(r"(?P<path>\S.*?) \(lines \d+-\d+ of \d+\)")
_ROW = re.compile(r" {0,8}(?P<line>\d{1,8})\| ?(?P<text>.*)")
_HIT = re.compile(r"(?P<path>[^\s:|][^:|]{0,999}):(?P<line>\d{1,8}): (?P<text>.*)")
_HUNK = re.compile(r"@@ -(?P<start>\d+)(?:,(?P<count>\d+))? \+")


class Shown(NamedTuple):
    """A section: its heading, its text, and the lines of files in it."""

    heading: str
    text: str
    lines: Mapping[tuple[str, int], str]


def message_of(folder: Path) -> str:
    """The first message of a case, as a night makes it that remembers no earlier one."""
    source, host = ErrorFiles((folder / "export.jsonl",)), Checkout(folder / "checkout")
    window = source.window(None, datetime.now(UTC))
    (group,) = source.error_groups(window).groups
    tree = host.reader(host.commit_of(group.release) or host.head())
    index = PathIndex(tree.paths())
    traces = tuple(
        place_frames(trace, index, tree.read_file, NightOptions()) for trace in source.traces(group)
    )
    case = Case(leader=group, trace=traces[0] if traces else None)
    research = gather(
        case,
        index=index,
        read=tree.read_file,
        search=tree.search,
        pulls=host.pulls_merged_since(window.since - LOOK_BACK),
        releases=host.releases(),
        code=tree,
    )
    top = case.trace.top if case.trace else None
    quoted = conventions(tree, top.repo_path if top else "")
    return first_message(case, traces, research.model_copy(update={"conventions": quoted}))


def sections_of(message: str) -> tuple[Shown, ...]:
    """Cut a message at its headings; those in fences are none."""
    parts: dict[str, list[str]] = {"": []}
    fence, heading = "", ""
    for row in message.split("\n"):
        mark = re.match(r"`{3,}", row)
        if fence:
            fence = "" if row == fence else fence
        elif mark:
            fence = mark[0]
        elif row.startswith("## "):
            heading = row[3:]
        parts.setdefault(heading, []).append(row)
    return tuple(Shown(name, "\n".join(rows), _lines(rows)) for name, rows in parts.items())


def _lines(rows: Iterable[str]) -> dict[tuple[str, int], str]:
    path, lines = "", dict[tuple[str, int], str]()
    for row in rows:
        if numbered := _ROW.fullmatch(row):
            lines[path, int(numbered["line"])] = numbered["text"]
        elif head := _HEAD.match(row):
            path = head["path"]
        elif hit := _HIT.fullmatch(row):
            lines[hit["path"], int(hit["line"])] = hit["text"]
    return lines


def fixed_places(case: Mapping[str, Any], mirror: Path) -> dict[str, list[int]]:
    """The lines of each file that the fix replaced, or behind which it put some."""
    repository = mirror / case["repo"].replace("/", "+") / "repo"
    shas = (case["buggy_sha"], case["fix_sha"])
    command = ("git", "-C", str(repository), "diff", "-U0", *shas, "--", *case["fixed_files"])
    diff = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    places: dict[str, list[int]] = {}
    path = ""
    for row in diff.split("\n"):
        if row.startswith("--- a/"):
            path = row[6:]
        elif hunk := _HUNK.match(row):
            places.setdefault(path, []).append(max(1, int(hunk["start"])))
    return places


def main() -> int:
    """Print sizes, and how much of each fix is shown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", type=Path)
    parser.add_argument("--truth", type=Path, default=TRUTH)
    parser.add_argument("--mirror", type=Path)
    parser.add_argument("--show", default="")
    asked = parser.parse_args()
    folders = [file.parent for file in sorted(asked.cases.glob("*/export.jsonl"))]
    if asked.show:
        print(message_of(asked.cases / asked.show))
        return 0
    messages = {folder.name: message_of(folder) for folder in folders}
    print(_table(messages))
    if asked.mirror:
        _print_fixes(messages, json.loads(asked.truth.read_text())["cases"], asked.mirror)
    return 0


def _table(messages: Mapping[str, str]) -> str:
    """Characters of every section of every message, and tokens of all."""
    texts = {
        key: {item.heading: item.text for item in sections_of(message)} | {"all": message}
        for key, message in messages.items()
    }
    names = dict.fromkeys(name for text in texts.values() for name in text if name != "all")
    rows = [("section", *messages, "sum", "tokens"), ("---", *["---:"] * (len(messages) + 2))]
    for name in (*names, "all"):
        told = [text.get(name, "") for text in texts.values()]
        sums = (sum(map(len, told)), sum(map(estimated_tokens, told)))
        rows.append((name or "-", *(f"{size:,}" for size in (*map(len, told), *sums))))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _print_fixes(
    messages: Mapping[str, str], cases: Sequence[Mapping[str, Any]], mirror: Path
) -> None:
    for case in (case for case in cases if case["id"] in messages):
        places = fixed_places(case, mirror)
        shown = {place for item in sections_of(messages[case["id"]]) for place in item.lines}
        files = Counter(path for path, _ in shown)
        rows = (
            f"{path} {sum((path, line) in shown for line in lines)} of {len(lines)} changed places "
            f"({files[path]} lines of it shown)"
            for path, lines in places.items()
        )
        print(f"{case['id']}: {'; '.join(rows)}")


if __name__ == "__main__":
    sys.exit(main())
