"""Context, answers and refusals of the tools: look-ups, texts cut to size, and remaining runs."""

import difflib
import json
import re
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import Literal, NamedTuple, Protocol

from pydantic import ValidationError

from nightwatch_core.code.code_view import MARK, halves, lines_of, name
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.answer import Edit
from nightwatch_core.models.code import SearchHit
from nightwatch_core.models.conversation import NothingThere, ToolValue
from nightwatch_core.models.errors import Case, Trace
from nightwatch_core.models.proposals import Run
from nightwatch_core.ports import CodeReader, LibraryReader, Records
from nightwatch_core.privacy.rules import is_secret_file, refusal
from nightwatch_core.text.escaping import clean, line
from nightwatch_core.text.plain_text import digest, plural
from nightwatch_core.traces.placing import is_vendored

RUNS, RUNS_SECONDS = 6, 120.0  # runs of one analysis, seconds of all together
RUNS_SECONDS_KEPT = 40.0  # seconds that have to be left for one more: it may take them all
RUN_KEPT = 6_000  # characters of what a run printed


class ToolAnswer(NamedTuple):
    """A tool's answer: text for the model, value for code, and what it shows.

    Shown are lines as `path:line`, or rows of other kinds; None for all rows of the text.
    """

    text: str
    value: ToolValue | None = None
    shown: tuple[str, ...] | None = None


class Refusal(Exception):  # noqa: N818 - a sentence for the model, never seen outside the tools
    """The reason why a call cannot be answered, and what to ask instead."""

    def __init__(self, sentence: str, value: ToolValue | None = None) -> None:
        """`sentence` is sent to the model; `value` is for code."""
        super().__init__(sentence)
        self.value = value


def listed(rows: Sequence[str], limit: int, more: str) -> str:
    """Join rows of about `limit` characters; `more` says how to get the others.

    >>> listed(["a", "b", "c"], 4, "more, name a folder").splitlines()
    ['a', 'b', '[... 1 more, name a folder ...]']
    """
    used = 0
    for number, row in enumerate(rows):
        used += len(row) + 1
        if used > limit and number:
            return "\n".join((*rows[:number], f"{MARK}{len(rows) - number} {more} ...]"))
    return "\n".join(rows)


# What may be run for one analysis, by whom, and how much of it is left.

RunKind = Literal["test", "snippet"]


class RunsCode(Protocol):
    """Runs code, confined, in the project at one commit; raises `GiveUp` with a hint."""

    def run_test(self, test: str, edits: tuple[Edit, ...]) -> Run:
        """Run a file of tests, with edits made first."""

    def run_snippet(self, code: str, edits: tuple[Edit, ...]) -> Run:
        """Run code in the project's language, with edits made first."""


@dataclass(eq=False)
class RunsLeft:
    """Remaining runs of one analysis, whose calls are made one after another.

    What was run is kept in `records`, below `prefix`, which names night and project: a night that
    is taken up again shows the same. Who runs holds `turn`.
    """

    runner: RunsCode
    records: Records | None = None
    prefix: str = ""
    turn: AbstractContextManager[object] = nullcontext()
    runs: int = RUNS
    seconds: float = RUNS_SECONDS
    showing: str = ""  # the first snippet that raised production's error

    def take(self, kind: RunKind, text: str, edits: tuple[Edit, ...] = ()) -> Run:
        """Run and count it; raises `Refusal` where the runs are used up, or it cannot run."""
        if self.runs <= 0 or self.seconds <= RUNS_SECONDS_KEPT:
            left = f"{plural(self.runs, 'run')} and {max(0.0, self.seconds):.0f} s are left"
            raise Refusal(f"Not run: {left}, which is too little. Go on without.")
        try:
            with self.turn:
                result = self._kept(kind, text, edits)
        except GiveUp as trouble:
            raise Refusal(f"Not run: {clean(str(trouble))}.") from None
        self.runs, self.seconds = self.runs - 1, self.seconds - result.spent
        if result.shows_crash and not edits:
            self.showing = self.showing or text
        return result

    def _kept(self, kind: RunKind, text: str, edits: tuple[Edit, ...]) -> Run:
        key = f"{self.prefix}/{kind}/{digest(text + ''.join(map(repr, edits)))}"
        run = self.runner.run_test if kind == "test" else self.runner.run_snippet
        if self.records is None:
            return run(text, edits)
        try:
            return Run.model_validate_json(self.records.get(key) or "")
        except ValidationError:
            result = run(text, edits)
        result = result.model_copy(update={"output": halves(result.output, RUN_KEPT)})
        self.records.put(key, json.dumps(result.model_dump(mode="json")))
        return result


@dataclass(frozen=True)
class ToolContext:
    """One case, the code it failed in, and the lines that were shown of it."""

    code: CodeReader
    case: Case
    traces: tuple[Trace, ...] = ()
    known: frozenset[str] = frozenset()  # lines that stand in the conversation, as `place` has them
    libraries: LibraryReader | None = None
    fence: str = ""
    runs: RunsLeft | None = None  # None: nothing can be run

    @cached_property
    def frame_files(self) -> tuple[str, ...]:
        """Return files of the trace's app frames, innermost first."""
        frames = self.case.trace.in_app if self.case.trace else ()
        return tuple(dict.fromkeys(frame.repo_path for frame in frames if frame.repo_path))

    def lines(self, path: str) -> tuple[str, ...]:
        """Return the file's lines; raises `Refusal` where they cannot be read."""
        if is_secret_file(path):
            raise Refusal(f"{refusal(line(path))}.")
        text = self.code.read_file(path)
        if text is None:
            raise _no_file(self.code, path)
        return lines_of(text)

    def search(self, text: str, folder: str, most: int, ask: str) -> tuple[SearchHit, ...]:
        """Search the code; raises `Refusal` with `ask` where it is too slow or finds too much."""
        try:
            return self.code.search(text, folder, most)
        except GiveUp as trouble:
            raise Refusal(f"No search: {line(str(trouble))}. {ask}") from None


# Near matches of a name that does not exist.

_MOST = 5


def near_matches(path: str, paths: Iterable[str]) -> tuple[str, ...]:
    """List up to five paths whose names are like that of `path`, nearest first.

    >>> near_matches("srv/app/order.py", ("app/order.py", "lib/order.py", "app/orders.py", "x"))
    ('app/order.py', 'lib/order.py', 'app/orders.py')
    """
    names: dict[str, list[str]] = {}
    for other in paths:
        names.setdefault(_base(other), []).append(other)
    searched = _base(path)[:100]
    stem = _letters(searched)
    alike = {name for name in names if stem and _letters(name) == stem}
    if len(alike) < _MOST:
        off = max(2, len(searched) // 4)
        near = [name for name in names if abs(len(name) - len(searched)) <= off]
        near.sort(key=lambda name: name[:2] != searched[:2])
        # letter by letter is slow: of the likeliest 2,000 only
        alike |= {*difflib.get_close_matches(searched, near[:2_000], n=_MOST, cutoff=0.75)}

    def distance(other: str) -> tuple[int, ...]:
        """Equal names first, then equal lengths, our own files, more folders in common."""
        base, common = _base(other), _common(path, other)
        names = (base != searched, _letters(base) != stem, abs(len(base) - len(searched)))
        return (*names, is_vendored(other), *common)

    found = sorted((other for name in alike for other in names[name]), key=distance)
    return tuple(found[:_MOST])


def _base(path: str) -> str:
    return path.rpartition("/")[2]


def _letters(name: str) -> str:
    """Letters before the first dot: equal for OrderItem.ts and order_item.ts."""
    return re.sub(r"[^a-z0-9]", "", name.lower().partition(".")[0])


def _common(path: str, other: str) -> tuple[int, int]:
    """Parts that two paths have in common at their ends, and at their beginnings; negative."""
    ends = zip(path.split("/")[::-1], other.split("/")[::-1], strict=False)
    starts = zip(path.split("/"), other.split("/"), strict=False)
    same_ends, same_starts = (list(takewhile(lambda p: p[0] == p[1], z)) for z in (ends, starts))
    return -len(same_ends), -len(same_starts)


def folders(paths: Iterable[str]) -> tuple[str, ...]:
    """List every folder that holds one of the files.

    >>> folders(("a/b/c.py", "a/d.py"))
    ('a', 'a/b')
    """
    parts = (path.split("/") for path in paths)
    return tuple(sorted({"/".join(p[:n]) for p in parts for n in range(1, len(p))}))


def _no_file(code: CodeReader, path: str) -> Refusal:
    paths = code.paths()
    if path in paths:
        return Refusal(f"{path} is not text, or too large to show.")
    if any(other.startswith(f"{path}/") for other in paths):
        return Refusal(f"{path} is a folder: use list_directory.")
    near = near_matches(path, paths)
    hint = sentence_of(near) or "Use find_files or search_code."
    return Refusal(f"There is no file {path} at this commit. {hint}", NothingThere(near=near))


def no_folder(code: CodeReader, path: str) -> Refusal:
    """Say why a folder cannot be looked into, and what to use instead."""
    near = near_matches(path, folders(code.paths()))
    hint = sentence_of(near) or "List the root with path ''."
    what = f"There is no folder {path or '(root)'} at this commit. {hint}"
    return Refusal(what, NothingThere(near=near))


def one_folder(glob: str) -> str:
    """Say that a glob does not go into folders, where it names one and does not."""
    return " `*` stays in its folder, `**/` goes below." if "/" in glob and "**" not in glob else ""


def sentence_of(near: Iterable[str]) -> str:
    """Name near matches in a sentence; empty where there are none."""
    shown = ", ".join(map(name, near))
    return f"Near matches: {shown}." if shown else ""
