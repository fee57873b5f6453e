"""Failures of ../shared/eval as the project's own values."""

import gzip
import json
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from nightwatch_core.memory.recall import document_of_case, seed_tags, traces_of
from nightwatch_core.models.errors import Case, ErrorGroup, ExceptionLink, Frame, Trace
from nightwatch_core.models.knowledge import Lesson
from nightwatch_core.text.fingerprints import fingerprint

DATA = Path(
    os.environ.get("EVAL_DATA", Path(__file__).resolve().parents[3] / "shared" / "eval" / "data")
)
JIRA, DEFECTS = "dev_retrieval_jira.jsonl.gz", "dev_retrieval_defects4j.jsonl.gz"
BOTTOMS = frozenset(("main", "_main"))  # functions that a thread's stack begins with

Err = Mapping[str, Any]


def load(name: str) -> list[Err]:
    """Return the errors of one set, none where it is missing."""
    path = DATA / name
    if not path.is_file():
        return []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def case_of(err: Err) -> Case:
    """Return a failure as the case of a night."""
    return Case(leader=_group(err), trace=trace_of(err) if err.get("frames") else None)


def trace_of(err: Err) -> Trace:
    """Return the trace of a failure, all frames in one exception."""
    frames = list(map(_frame, err["frames"]))
    if err.get("lang") == "python":
        frames.reverse()
    link = ExceptionLink(
        error_class=err.get("error_class") or "",
        message=err.get("message") or "",
        frames=tuple(frames),
    )
    return Trace(language=err.get("lang") or "", links=(link,), raw=err.get("raw") or "")


def retrieval_case_of(err: Err) -> Case:
    """Return an error of a retrieval set as a case; its frames are those of a chain of causes."""
    leader = _group(err)
    links = [
        ExceptionLink(
            error_class="" if number else leader.error_class,
            message="" if number else leader.message,
            frames=tuple(frames),
        )
        for number, frames in enumerate(_exceptions(err.get("frames") or ()))
    ]
    return Case(leader=leader, trace=Trace(language="java", links=tuple(links)))


def lesson_of(err: Err) -> Lesson:
    """Return the lesson that a night would have kept of this error; its file is the error's id."""
    case = retrieval_case_of(err)
    leader = case.leader
    return Lesson(
        fingerprint=f"v1:{err['id']}",
        file=f"errors/{err['id']}.md",
        error_class=leader.error_class,
        transaction=leader.transaction,
        message=document_of_case(case).message,
        tags=seed_tags(leader.error_class, leader.transaction)[:20],
        root_cause="unknown",
        first_detected=leader.last_seen.date() if leader.last_seen else date(2000, 1, 1),
        **traces_of(case),
    )


def id_of(file: str) -> str:
    """Return the id of the error that a lesson's file was named by."""
    return file.removeprefix("errors/").removesuffix(".md")


def _group(err: Err) -> ErrorGroup:
    error_class, message = err.get("error_class") or "", err.get("message") or ""
    transaction, seen = err.get("transaction") or "", None
    if err.get("ts"):
        seen = datetime.fromtimestamp(err["ts"], UTC)
    elif err.get("created"):
        seen = datetime.fromisoformat(err["created"][:10]).replace(tzinfo=UTC)
    return ErrorGroup(
        fingerprint=fingerprint("", error_class, transaction, message),
        source="eval",
        error_class=error_class,
        transaction=transaction,
        message=message,
        first_seen=seen,
        last_seen=seen,
    )


def _frame(frame: Err) -> Frame:
    return Frame(
        path=frame.get("file") or "",
        line=frame.get("line"),
        function=frame.get("function") or "",
        module=frame.get("module") or "",
        in_app=bool(frame.get("in_app")),
    )


def _exceptions(rows: Sequence[Err]) -> list[list[Frame]]:
    """Split frames by exception: the sets list those of a whole chain, reported one first.

    A thread's entry ends an exception. So does, in a cause, the first function that the exception
    around it has too: there the printed trace said "... n more".
    """
    found: list[list[Frame]] = [[]]
    above: set[tuple[str, str]] = set()
    for frame in map(_frame, rows):
        found[-1].append(frame)
        is_bottom = frame.module == "java.lang.Thread" or frame.function in BOTTOMS
        if is_bottom or (len(found) > 1 and (frame.module, frame.function) in above):
            above |= {(item.module, item.function) for item in found[-1]}
            found.append([])
    return [frames for frames in found if frames]
