"""The project's own functions in the shapes of the evaluation harnesses.

`python eval_retrieval.py --adapter adapters:Retriever` and so on, with this folder on PYTHONPATH;
`make bench` runs them all.
"""

from collections.abc import Hashable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import evaluation
from evaluation import case_of, trace_of

from nightwatch_core.adapters.files.occurrences import FileReader
from nightwatch_core.code.likely_files import ranked_places
from nightwatch_core.code.suspects import candidates
from nightwatch_core.code.symptom_fixes import symptom_fixes
from nightwatch_core.intake.cases import signature
from nightwatch_core.memory.recall import LessonSearch, document_of_case
from nightwatch_core.models.code import MergedPull
from nightwatch_core.models.errors import ExceptionLink, Occurrence
from nightwatch_core.models.research import LikelyFile
from nightwatch_core.text.templates import message_template
from nightwatch_core.traces import parsing

Err = Mapping[str, Any]


class Retriever:
    """eval_retrieval.py: earlier cases, best first."""

    def index(self, docs: Sequence[Err]) -> None:
        """Take the documents as lessons."""
        self._lessons = LessonSearch(map(evaluation.lesson_of, docs))

    def search(self, err: Err, k: int) -> list[tuple[str, float]]:
        """Return (id, rank) of the nearest."""
        case = evaluation.retrieval_case_of(err)
        seen = case.leader.last_seen
        day = seen.date().toordinal() if seen else 0
        found = self._lessons.nearest(document_of_case(case), day)[:k]
        return [(evaluation.id_of(near.lesson.entry.file), near.rank) for near in found]


def parse(raw: str, lang_hint: str | None, app_prefixes: Sequence[str]) -> list[dict[str, Any]]:
    """eval_parse.py: return frames of a raw trace, innermost first, the reported one first."""
    trace = parsing.parse(raw, lang_hint or "", tuple(app_prefixes))
    return [
        {"file": frame.path, "line": frame.line, "in_app": frame.in_app}
        for link in trace.links
        for frame in link.frames
    ]


def read(path: str) -> list[dict[str, Any]]:
    """Return every record of an export or a log that a night counts as an error, in its order.

    One row a record, whatever count it carries; times as ISO 8601 in UTC, None where it has none;
    frames like those of `parse`. Read with what nights read files with.
    """
    reader = FileReader(Path(path).name, _exception_of)
    return [_row(entry) for entry in reader.entries(Path(path)) if isinstance(entry, Occurrence)]


def _exception_of(raw: str) -> ExceptionLink:
    """Return what nights need of a trace: its reported exception, and a frame if it has any."""
    trace = parsing.parse(raw)
    reported = trace.links[0] if trace.links else ExceptionLink()
    return reported.model_copy(update={"frames": trace.frames[:1]})


def _row(seen: Occurrence) -> dict[str, Any]:
    return {
        "error_class": seen.error_class,
        "message": seen.message,
        "transaction": seen.transaction,
        "timestamp": seen.last_seen.astimezone(UTC).isoformat() if seen.last_seen else None,
        "frames": parse(seen.stacktrace, None, ()),
    }


def localise(err: Err) -> list[str]:
    """eval_localise.py: return files that may hold the fault, best first."""
    return [place.path for place in ranked_places(trace_of(err))]


def suspect(err: Err, commits: Sequence[Err]) -> list[str]:
    """eval_suspect.py: return changes that may have broken it, likeliest first."""
    pulls = tuple(
        MergedPull(
            number=0,
            title=commit["subject"],
            sha=commit["sha"],
            merged_at=datetime.fromtimestamp(commit["ts"], UTC),
            files=tuple(commit["files"]),
        )
        for commit in commits
    )
    named = tuple(LikelyFile(path=path, score=1.0) for path in err.get("suspect_files", ()))
    return [pull.sha for pull in candidates(case_of(err), named, pulls, limit=len(pulls))]


def band_aid(before: str, after: str, path: str) -> tuple[bool, str]:
    """Return if a change only keeps a crash away, and how: a `Kind`, or nothing for a fix."""
    kinds = [found.kind for found in symptom_fixes(path, before, after)]
    return bool(kinds), next(iter(kinds), "")


def key(err: Err) -> Hashable:
    """eval_grouping.py: return what a case is grouped by: root class and top in-app frame."""
    case = case_of(err)
    return signature(case.leader, case.trace) or case.fingerprint


def name(err: Err) -> Hashable:
    """eval_grouping.py: return what a group is: the fingerprint, which knows no frames."""
    return case_of(err).fingerprint


def normalise(msg: str) -> str:
    """eval_msgnorm.py: return a message's template."""
    return message_template(msg)


def ignore_score(err: Err) -> float:
    """eval_ignore.py: return 0, for a single error is never a reason.

    Suggestions need several nights of history (nightwatch_core/patterns/ignore_suggestions/): a
    class alone hides real bugs.
    """
    return 0.0
