"""Which changes are suspected of an error before anybody has analysed it.

A change is suspected for what it did: it wrote the line that fails, one that led there, or what is
used there; it replaced the name that is missing; it brought another version of a library that the
trace goes through. And it came shortly before the error began. Having touched the same file is no
reason.
"""

from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import NamedTuple

from nightwatch_core.code.limits import NEAR_DAYS, SUSPECTS
from nightwatch_core.code.named_change import is_of
from nightwatch_core.code.onset import FirstFailing, ago, fading, first_failing
from nightwatch_core.models.code import LoggedCommit, MergedPull, Release, Suspect
from nightwatch_core.models.error import Case
from nightwatch_core.models.research import (
    CodeChanges,
    DependencyChange,
    LineAuthor,
    Onset,
    Rename,
)

_NEAR = timedelta(days=NEAR_DAYS)
_LEAST = 0.45  # the weaker a proof, the fresher it has to be
_NAME = 3  # characters a library's name needs to be told from chance


class Ground(NamedTuple):
    """What a change is compared with."""

    changes: CodeChanges
    onset: Onset
    failing: FirstFailing | None
    libraries: str  # paths and modules of the trace's other frames, in small letters


Proof = Callable[[MergedPull, Ground], str]  # what the change did; empty where it did not


def _wrote_failing_line(change: MergedPull, ground: Ground) -> str:
    return _wrote(change, ground, "failing", "wrote {place}, the line that fails")


def _replaced_missing_name(change: MergedPull, ground: Ground) -> str:
    renames = (one for one in ground.changes.renames if one.commit and _did(change, one.commit))
    return next((f"renames `{one.old}` to `{one.new}` in {one.path}" for one in renames), "")


def _wrote_what_is_used(change: MergedPull, ground: Ground) -> str:
    return _wrote(change, ground, "used", "wrote {place}, which is used there")


def _changed_library(change: MergedPull, ground: Ground) -> str:
    for one in ground.changes.dependencies:
        is_used = len(one.name) >= _NAME and f"/{plain_name(one.name)}/" in ground.libraries
        if is_used and one.commit and _did(change, one.commit):
            return f"changes {one.name} from {one.old or 'none'} to {one.new or 'none'}"
    return ""


def _wrote_a_caller(change: MergedPull, ground: Ground) -> str:
    return _wrote(change, ground, "caller", "wrote {place}, which led there")


# What a change may have done, and how much that says.
PROOFS: tuple[tuple[float, Proof], ...] = (
    (0.95, _wrote_failing_line),
    (0.9, _replaced_missing_name),
    (0.7, _wrote_what_is_used),
    (0.6, _changed_library),
    (0.5, _wrote_a_caller),
)


def suspects(
    case: Case,
    changes: CodeChanges,
    pulls: Iterable[MergedPull] = (),
    releases: tuple[Release, ...] = (),
    limit: int = SUSPECTS,
) -> tuple[Suspect, ...]:
    """List changes that may have brought the error, the likeliest first; scores 0 to 1.

    A commit that a pull request of `pulls` brought stands under that one. Nothing is suspected
    where nobody knows when the error began.
    """
    if changes.onset is None:
        return ()
    failing = first_failing(case, changes.onset, releases)
    ground = Ground(changes, changes.onset, failing, _libraries(case))
    known = _changes(changes, tuple(pulls))
    judged = [suspect for change in known if (suspect := _judge(change, ground))]
    judged.sort(key=lambda one: (-one.score, -one.pull.merged_at.timestamp(), one.pull.sha))
    return tuple(judged[: max(0, limit)])


def plain_name(library: str) -> str:
    """Return a library's name as folders spell it.

    >>> plain_name("Flask-SQLAlchemy"), plain_name("@scope/left-pad")
    ('flask_sqlalchemy', 'scope/left_pad')
    """
    return library.lower().replace("-", "_").lstrip("@")


def as_change(commit: LoggedCommit, *files: str) -> MergedPull:
    """Describe a commit as a change; its number is 0 where no pull request is known."""
    return MergedPull(
        number=commit.pull,
        title=commit.subject,
        sha=commit.sha,
        author=commit.author,
        merged_at=commit.at,
        files=files,
    )


def _changes(changes: CodeChanges, pulls: tuple[MergedPull, ...]) -> tuple[MergedPull, ...]:
    """What did something that may count: each commit, or the pull request that brought it, once."""
    named: tuple[LineAuthor | Rename | DependencyChange, ...] = (
        *changes.authors,
        *changes.renames,
        *changes.dependencies,
    )
    files: dict[LoggedCommit, list[str]] = {}
    for one in named:
        if commit := one.commit:
            files.setdefault(commit, []).append(one.path)
    found = (
        next((pull for pull in pulls if is_of(pull, commit.sha)), as_change(commit, *paths))
        for commit, paths in files.items()
    )
    return tuple({change.sha: change for change in found}.values())


def _judge(change: MergedPull, ground: Ground) -> Suspect | None:
    timing = _timing(change, ground)
    proofs = [(weight, text) for weight, proof in PROOFS if (text := proof(change, ground))]
    if timing is None or not proofs:
        return None
    factor, when = timing
    score = round(proofs[0][0] * factor, 3)
    because = (*(text for _, text in proofs[:3]), when)
    return Suspect(pull=change, score=score, because=because) if score >= _LEAST else None


def _timing(change: MergedPull, ground: Ground) -> tuple[float, str] | None:
    """How near the change is to the onset, and in what words; None where it is not."""
    age, failing = ground.onset.at - change.merged_at, ground.failing
    if age < timedelta():
        return None
    if failing and failing.before.at < change.merged_at <= failing.release.at:
        waited = max(timedelta(), ground.onset.at - failing.release.at)
        when = f"{ago(waited)} before {ground.onset.because}"
        return 1.0, f"part of release {failing.release.version}, {failing.because}, made {when}"
    return (fading(age), f"{ago(age)} before {ground.onset.because}") if age <= _NEAR else None


def _wrote(change: MergedPull, ground: Ground, kind: str, text: str) -> str:
    own = (one for one in ground.changes.authors if one.kind == kind and _did(change, one.commit))
    return next((text.format(place=_place(one)) for one in own), "")


def _place(author: LineAuthor) -> str:
    return f"{author.path}:{author.line}"


def _did(change: MergedPull, commit: LoggedCommit) -> bool:
    return is_of(change, commit.sha)


def _libraries(case: Case) -> str:
    frames = case.trace.frames if case.trace else ()
    names = (f"/{one.path}/{one.module.replace('.', '/')}/" for one in frames if not one.in_app)
    return "".join(names).lower().replace("-", "_")
