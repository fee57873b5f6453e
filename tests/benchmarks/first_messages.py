"""`python tests/benchmarks/first_messages.py CASES`: sizes of first messages.

CASES is a folder with `<case>/checkout` and `<case>/export.jsonl`. Nothing of them is kept here.
`--show CASE` prints a message.
"""

import argparse
import re
import sys
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from nightwatch_core.adapters.files.source import ErrorFiles
from nightwatch_core.adapters.git.checkout import Checkout
from nightwatch_core.analysis.prompts import conventions, first_message
from nightwatch_core.analysis.research import gather
from nightwatch_core.models.errors import Case
from nightwatch_core.models.options import NightOptions
from nightwatch_core.text.plain_text import estimated_tokens
from nightwatch_core.traces.placing import PathIndex, place_frames

LOOK_BACK = timedelta(days=30)


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


def sections_of(message: str) -> dict[str, str]:
    """Return the sections of a message by their headings; those in fences are none."""
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
    return {name: "\n".join(rows) for name, rows in parts.items()}


def main() -> int:
    """Print sizes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", type=Path)
    parser.add_argument("--show", default="")
    asked = parser.parse_args()
    folders = [file.parent for file in sorted(asked.cases.glob("*/export.jsonl"))]
    if asked.show:
        print(message_of(asked.cases / asked.show))
        return 0
    messages = {folder.name: message_of(folder) for folder in folders}
    print(_table(messages))
    return 0


def _table(messages: Mapping[str, str]) -> str:
    """Characters of every section of every message, and tokens of all."""
    texts = {key: sections_of(one) | {"all": one} for key, one in messages.items()}
    names = dict.fromkeys(name for text in texts.values() for name in text if name != "all")
    rows = [("section", *messages, "sum", "tokens"), ("---", *["---:"] * (len(messages) + 2))]
    for name in (*names, "all"):
        told = [text.get(name, "") for text in texts.values()]
        sums = (sum(map(len, told)), sum(map(estimated_tokens, told)))
        rows.append((name or "-", *(f"{size:,}" for size in (*map(len, told), *sums))))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


if __name__ == "__main__":
    sys.exit(main())
