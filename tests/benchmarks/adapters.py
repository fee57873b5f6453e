"""The project's own functions in the shapes of the evaluation harnesses.

`python eval_retrieval.py --adapter adapters:Retriever` and so on, with this folder on PYTHONPATH;
`make bench` runs them all.
"""

from collections.abc import Hashable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import recall_data
from failures import case_of, trace_of
from recall_shelf import new_shelf

from nightwatch_core.adapters.files.source import FileReader
from nightwatch_core.code.candidates import candidates
from nightwatch_core.code.likely_files import ranked_places
from nightwatch_core.code.symptom_fixes import symptom_fixes
from nightwatch_core.intake.cases import signature
from nightwatch_core.memory import recall as matching
from nightwatch_core.memory.index import entry_of
from nightwatch_core.memory.recall import document_of_case, document_of_lesson, nearest, terms_of
from nightwatch_core.models.code import MergedPull
from nightwatch_core.models.errors import ExceptionLink, Occurrence
from nightwatch_core.models.knowledge import Index, IndexEntry
from nightwatch_core.models.research import LikelyFile
from nightwatch_core.text.templates import message_template
from nightwatch_core.traces import parsing

Err = Mapping[str, Any]


class Retriever:
    """eval_retrieval.py: earlier cases, best first, by the derived index in a throwaway file."""

    def index(self, docs: Sequence[Err]) -> None:
        """Take the documents as lessons."""
        self._folder = TemporaryDirectory()
        self._shelf = new_shelf(Path(self._folder.name))
        lessons = ((one, document_of_lesson(one)) for one in map(recall_data.lesson_of, docs))
        self._shelf.put((entry_of(one), document, terms_of(document)) for one, document in lessons)

    def search(self, err: Err, k: int) -> list[tuple[str, float]]:
        """(id, rank) of the nearest."""
        case = recall_data.case_of(err)
        seen = case.leader.last_seen
        found = nearest(document_of_case(case), self._shelf, seen.date().toordinal() if seen else 0)
        return [(recall_data.id_of(one.file), one.rank) for one in found[:k]]


class SeedRetriever:
    """eval_retrieval.py: the visible score alone: class 0.5, transaction 0.3, 0.1 a shared tag."""

    def index(self, docs: Sequence[Err]) -> None:
        """Take the documents as lessons of an index."""
        self._index = Index(solutions=tuple(_entry(doc) for doc in docs))

    def search(self, err: Err, k: int) -> list[tuple[str, float]]:
        """(id, score) of the nearest."""
        found = matching.recall(case_of(err), self._index, limit=k, threshold=0.01)
        return [(entry.file, match.score) for entry, match in found]


def parse(raw: str, lang_hint: str | None, app_prefixes: Sequence[str]) -> list[dict[str, Any]]:
    """eval_parse.py: frames of a raw trace, innermost first, the reported exception's first."""
    trace = parsing.parse(raw, lang_hint or "", tuple(app_prefixes))
    return [
        {"file": frame.path, "line": frame.line, "in_app": frame.in_app}
        for link in trace.links
        for frame in link.frames
    ]


def read(path: str) -> list[dict[str, Any]]:
    """Every record of an export or a log that a night would count as an error, in its order.

    One row a record, whatever count it carries; times as ISO 8601 in UTC, None where the record
    says none; frames like those of `parse`. Read with what nights read files with.
    """
    reader = FileReader(Path(path).name, _exception_of)
    return [_row(one) for one in reader.entries(Path(path)) if isinstance(one, Occurrence)]


def _exception_of(raw: str) -> ExceptionLink:
    """What nights ask of a trace: its reported exception, and a frame if it has any."""
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
    """eval_localise.py: files that may hold the fault, best first."""
    return [place.path for place in ranked_places(trace_of(err))]


def suspect(err: Err, commits: Sequence[Err]) -> list[str]:
    """eval_suspect.py: changes that may have broken it, likeliest first."""
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
    found = candidates(case_of(err), named, pulls, limit=len(pulls))
    return [one.pull.sha for one in found]


def band_aid(before: str, after: str, path: str) -> tuple[bool, str]:
    """Whether a change only keeps a crash away, and how: a `Kind`, or nothing for a fix."""
    kinds = [one.kind for one in symptom_fixes(path, before, after)]
    return bool(kinds), next(iter(kinds), "")


def key(err: Err) -> Hashable:
    """eval_grouping.py: what one case is: root class and top in-app frame."""
    case = case_of(err)
    return signature(case.leader, case.trace) or case.fingerprint


def name(err: Err) -> Hashable:
    """eval_grouping.py: what one group is: the fingerprint, which knows no frames."""
    return case_of(err).fingerprint


def normalise(msg: str) -> str:
    """eval_msgnorm.py: a message's template."""
    return message_template(msg)


def ignore_score(err: Err) -> float:
    """eval_ignore.py: always 0, for a single error is never a reason.

    Suggestions need several nights of history (nightwatch_core/patterns/ignore_suggestions/): a
    class alone hides real bugs.
    """
    return 0.0


def _entry(doc: Err) -> IndexEntry:
    error_class, transaction = doc["error_class"] or "", doc["transaction"] or ""
    return IndexEntry(
        file=doc["id"],
        fingerprint=f"v1:{doc['id']}",
        error_class=error_class,
        transaction=transaction,
        tags=matching.seed_tags(error_class, transaction),
    )
