"""A model that takes 200 ms for every answer, and notes when it was asked and when it had answered.

It reads the failing file and its caller, searches, and quotes the line that it was shown.
"""

import json
import os
import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from services.anthropic import Anthropic
from services.anthropic_billing import Bills
from services.own_frames import own_frames

LATENCY = 0.2  # seconds from a request to its answer
TURNS = 3  # read two files, search, answer
_NUMBERED = re.compile(r"^ *(\d+)\| ?(.*)$")
_TOLD = "## Found earlier tonight"  # what siblings are told
Json = dict[str, Any]


def mind(body: Any, reads: int, fixes: Mapping[str, str], number: int) -> tuple[list[Json], str]:
    """Reads the failing file and its caller, searches, and quotes the line that it was shown."""
    blocks = list(_blocks(body))
    path, line = own_frames(_opening(body))[0]
    results = [block for block in blocks if block["type"] == "tool_result"]
    if len(results) > 2:
        return _answer(path, int(line), _shown(results, int(line))), "end_turn"
    caller = path.replace("models", "controllers").replace(".rb", "_controller.rb")
    around = {"path": path, "start": max(int(line) - 20, 1), "end": int(line) + 20}
    wanted: tuple[tuple[str, Json], ...] = (
        (("search_code", {"query": f"rate_{path[-5:-3]}"}),)
        if results
        else (("read_file", around), ("read_file", {"path": caller}))
    )
    return [
        {"type": "tool_use", "id": f"toolu_{number:04}_{at}", "name": name, "input": given}
        for at, (name, given) in enumerate(wanted)
    ], "tool_use"


def _answer(path: str, line: int, quote: str) -> list[Json]:
    evidence = {"path": path, "line": line, "quote": quote, "note": "fails", "verified": False}
    lists = ("file_changes", "hypotheses", "tags", "learnings", "related_to")
    answer = {
        **{name: [] for name in lists},
        "title": f"{path} fails",
        "root_cause": f"{path}:{line} is at fault: {quote.strip()}",
        "confidence": "high",
        "has_fix": False,
        "suspect_commit": "",
        "evidence": [evidence],
        "suggested_next_steps": [f"Look at {path}"],
    }
    return [{"type": "text", "text": json.dumps(answer)}]


def _blocks(body: Any) -> Iterator[Json]:
    for message in body["messages"]:
        content = message["content"]
        yield from [{"type": "text", "text": content}] if isinstance(content, str) else content


def _opening(body: Any) -> str:
    return str(next(block["text"] for block in _blocks(body) if block["type"] == "text"))


def _shown(results: Sequence[Json], line: int) -> str:
    """The line among what the first tool answered."""
    content = results[0]["content"]
    text = content if isinstance(content, str) else content[0]["text"]
    rows = (_NUMBERED.match(row) for row in text.split("\n"))
    return next(row[2] for row in rows if row and int(row[1]) == line)


class Moment(NamedTuple):
    """Seconds by the clock, and of the processor that the night had used by then."""

    at: float
    used: float


class Turn(NamedTuple):
    """One request: whose it is, whether a sibling's, and when it was heard and answered."""

    error: str
    is_sibling: bool
    heard: Moment
    answered: Moment

    @property
    def lasted(self) -> float:
        return self.answered.at - self.heard.at


def used_by(process: int) -> float:
    """Seconds of the processor, those of its children that ended included; Linux alone tells."""
    try:
        said = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return 0.0
    return sum(map(int, said.rpartition(")")[2].split()[11:15])) / os.sysconf("SC_CLK_TCK")


class _Watched(Bills):
    """Knows when a message was said to its end, and what `process` had used by then."""

    def __init__(self) -> None:
        super().__init__()
        self.process = 0
        self.said: dict[str, Moment] = {}

    def close(self, bill: Any, message: Any) -> None:
        super().close(bill, message)
        self.said[message["id"]] = self.moment()

    def moment(self) -> Moment:
        return Moment(time.monotonic(), used_by(self.process))


class Slow(Anthropic):
    """Every answer begins `LATENCY` after its request, however long thinking of it took."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.bills = _Watched()
        self._heard: dict[str, tuple[str, bool, Moment]] = {}
        self._noting = threading.Lock()

    def message(self, body: Any, headers: Any, stop: str = "") -> Any:
        heard = self.bills.moment()
        message = super().message(body, headers, stop)
        opening = _opening(body)
        with self._noting:
            self._heard[message["id"]] = (opening, _TOLD in opening, heard)
        time.sleep(max(heard.at + LATENCY - time.monotonic(), 0.0))
        return message

    @property
    def turns(self) -> list[Turn]:
        """All that were answered, in the order they were asked for."""
        said = self.bills.said.items()
        return sorted((Turn(*self._heard[id], at) for id, at in said), key=lambda turn: turn.heard)
