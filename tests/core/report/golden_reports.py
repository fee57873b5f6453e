"""How invented nights look in every rendering, kept as files beside this one.

`python tests/core/report/golden_reports.py` writes them anew: look at the difference, then keep it.
"""

import io
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[2])] * (__name__ == "__main__")

from core.report_fixture import (  # noqa: E402
    empty,
    failed,
    known,
    proved,
    regression,
    remembered,
    stated,
    unknown,
)
from rich.console import Console  # noqa: E402

from nightwatch_core.adapters.html.page import as_html  # noqa: E402
from nightwatch_core.adapters.slack.messages import messages  # noqa: E402
from nightwatch_core.models.report import RunReport  # noqa: E402
from nightwatch_core.report.terminal import NightReport  # noqa: E402
from nightwatch_core.report.view import as_markdown  # noqa: E402

FOLDER = Path(__file__).with_name("golden")
MADE = (remembered, regression, failed, empty, known, stated, unknown, proved)
NIGHTS = {make.__name__: make() for make in MADE}


def printed(report: RunReport, width: int = 100, *, colour: bool = False) -> str:
    out = io.StringIO()
    system = "standard" if colour else None
    console = Console(file=out, width=width, force_terminal=colour, color_system=system)
    console.print(NightReport(report))
    return out.getvalue()


def _terminal(report: RunReport) -> str:
    return "\n".join(text.rstrip() for text in printed(report).splitlines()) + "\n"


def _page(report: RunReport) -> str:
    """The page without its style, and without the empty lines that templates leave."""
    page = as_html(report)
    body = page[page.index("<body") :]
    return "\n".join(text.strip() for text in body.splitlines() if text.strip()) + "\n"


def _slack(report: RunReport) -> str:
    told = [message.model_dump() for message in messages(report)]
    return json.dumps(told, indent=1, ensure_ascii=False) + "\n"


RENDERINGS: dict[str, Callable[[RunReport], str]] = {
    "md": as_markdown,
    "html": _page,
    "terminal.txt": _terminal,
    "slack.json": _slack,
}


def golden() -> Iterator[tuple[str, Callable[[], str]]]:
    """Name and content of every file."""
    for name, night in NIGHTS.items():
        for ending, render in RENDERINGS.items():
            yield f"{name}.{ending}", lambda night=night, render=render: render(night)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for file, render in golden():
        (FOLDER / file).write_text(render(), encoding="utf-8")
