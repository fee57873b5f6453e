"""The retrieval sets as the project's own values, read by path from ../shared/eval."""

import gzip
import json
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from nightwatch_core.intake.fingerprint import fingerprint
from nightwatch_core.memory.recall import document_of_case, seed_tags, traces_of
from nightwatch_core.models.errors import Case, ErrorGroup, ExceptionLink, Frame, Trace
from nightwatch_core.models.knowledge import Lesson

DATA = Path(
    os.environ.get("EVAL_DATA", Path(__file__).resolve().parents[3] / "shared" / "eval" / "data")
)
JIRA, DEFECTS = "dev_retrieval_jira.jsonl.gz", "dev_retrieval_defects4j.jsonl.gz"
BOTTOMS = frozenset(("main", "_main"))

Err = Mapping[str, Any]


def load(name: str) -> list[Err]:
    """The errors of one set, empty where it is not there."""
    path = DATA / name
    if not path.is_file():
        return []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def case_of(err: Err) -> Case:
    """An error of the set as tonight's case."""
    error_class, message = err.get("error_class") or "", err.get("message") or ""
    transaction = err.get("transaction") or ""
    seen = datetime.fromisoformat(err["created"][:10]) if err.get("created") else None
    leader = ErrorGroup(
        fingerprint=fingerprint("", error_class, transaction, message),
        source="eval",
        error_class=error_class,
        transaction=transaction,
        message=message,
        last_seen=seen.replace(tzinfo=UTC) if seen else None,
    )
    links = [
        ExceptionLink(
            error_class="" if at else error_class,
            message="" if at else message,
            frames=tuple(frames),
        )
        for at, frames in enumerate(exceptions(err.get("frames") or ()))
    ]
    return Case(leader=leader, trace=Trace(language="java", links=tuple(links)))


def lesson_of(err: Err) -> Lesson:
    """The lesson that a night would have kept of this error; its file is the error's id."""
    case = case_of(err)
    day = case.leader.last_seen.date() if case.leader.last_seen else date(2000, 1, 1)
    return Lesson(
        fingerprint=f"v1:{err['id']}",
        file=f"errors/{err['id']}.md",
        error_class=case.leader.error_class,
        transaction=case.leader.transaction,
        message=document_of_case(case).message,
        tags=seed_tags(case.leader.error_class, case.leader.transaction)[:20],
        root_cause="not told",
        first_detected=day,
        **traces_of(case),
    )


def id_of(file: str) -> str:
    """The id of the error that a lesson's file was named by."""
    return file.removeprefix("errors/").removesuffix(".md")


def summary(ranks: Sequence[int | None]) -> str:
    """Recall@1, 3 and 5 and the mean reciprocal rank."""
    count = len(ranks) or 1
    at = (sum(1 for rank in ranks if rank and rank <= most) / count for most in (1, 3, 5))
    mean = sum(1 / rank for rank in ranks if rank) / count
    recalls = " ".join(f"R@{most} {one:.3f}" for most, one in zip((1, 3, 5), at, strict=True))
    return f"{recalls} MRR {mean:.3f} (n={len(ranks)})"


def exceptions(frames: Sequence[Err]) -> list[list[Frame]]:
    """Frames by exception: the sets hold those of a whole chain in one list, reported one first.

    A thread's entry ends an exception. So does, in a cause, the first function that the exception
    around it has too: there the printed trace said "... n more".
    """
    found: list[list[Frame]] = [[]]
    above: set[tuple[str, str]] = set()
    for frame in frames:
        module, function = frame.get("module") or "", frame.get("function") or ""
        found[-1].append(
            Frame(
                path=frame.get("file") or "",
                line=frame.get("line"),
                function=function,
                module=module,
                in_app=bool(frame.get("in_app")),
            )
        )
        bottom = module == "java.lang.Thread" or function in BOTTOMS
        if bottom or (len(found) > 1 and (module, function) in above):
            above |= {(one.module, one.function) for one in found[-1]}
            found.append([])
    return [one for one in found if one]
