"""What the checks of our drafts say after they were published, and what is done about it.

A pass is what ran and was good. Where nothing appears, or it may not be read, that is said, and is
none.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from nightwatch_core.code.edits import apply, fix_digest
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.gate import GateResult
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposal import (
    Comment,
    DraftPull,
    FileChange,
    PullUpdate,
    Receipt,
)
from nightwatch_core.models.pulls import CiRun, DraftCi
from nightwatch_core.models.report import RunReport
from nightwatch_core.publish.candidates import effect_key
from nightwatch_core.publish.markers import CORRECTION, marker
from nightwatch_core.text.escaping import code_span, markdown
from nightwatch_core.text.plain_text import one_line, shortened
from nightwatch_core.text.units import plural

Read = Callable[[str], str | None]
CI_FAILED = "ci-failed"  # a label
GRACE, QUIET_GRACE = 180.0, 60.0  # seconds in which checks appear; where no CI is seen to start any
_FIRST = (15.0,) * 4 + (30.0,) * 4
_EVERY = 60.0  # seconds between all further looks
_NAMED, _WHY = 5, 600  # checks; characters
MADE = ("done", "already there")


class Watched(NamedTuple):
    """A draft of tonight that its checks are waited for."""

    draft: DraftPull
    number: int
    url: str = ""
    sha: str = ""  # that its branch stands at by what we did; empty: not known
    run: CiRun = CiRun(state="pending")
    former: str = ""  # where it stood before the correction
    since: float = 0.0  # seconds that had been waited when it came to stand there
    corrected: str = ""  # what came of the one correction, for people; empty: none was tried

    @property
    def is_red(self) -> bool:
        """Whether its checks failed on what we made, and not on the base before."""
        return self.run.state == "failed" and not self.run.before


def watched_drafts(
    drafts: Iterable[DraftPull], receipts: Iterable[Receipt], options: NightOptions
) -> tuple[Watched, ...]:
    """List the drafts that a service holds by now; none without branches, and none in a dry run."""
    made = {one.key: one for one in receipts if one.status in MADE and one.number}
    if options.delivery != "github" or options.dry_run:
        return ()
    return tuple(
        Watched(draft, there.number or 0, there.url, there.sha)
        for draft in drafts
        if not draft.as_patch and (there := made.get(draft.key))
    )


def pauses(minutes: int) -> tuple[float, ...]:
    """List the seconds between looks: often at first, then once a minute, `minutes` in all.

    >>> pauses(1), sum(pauses(15)), pauses(0)
    ((15.0, 15.0, 15.0, 15.0), 900.0, ())
    """
    left, kept = 60.0 * minutes, list[float]()
    while left > 0:
        pause = _FIRST[len(kept)] if len(kept) < len(_FIRST) else _EVERY
        kept.append(min(pause, left))
        left -= kept[-1]
    return tuple(kept)


def seen(one: Watched, run: CiRun) -> Watched:
    """Take in a look; what is told of the commit before a correction is not of it."""
    is_stale = bool(one.former) and run.sha == one.former
    return one._replace(run=CiRun(state="pending", sha=run.sha) if is_stale else run)


def is_waiting(one: Watched, waited: float, *, starts: bool) -> bool:
    """Whether another look may tell more, `waited` seconds in all; `starts`: CI is seen.

    >>> one = Watched(DraftPull.model_construct(), 1, run=CiRun(state="none"))
    >>> is_waiting(one, 90, starts=True), is_waiting(one, 90, starts=False)
    (True, False)
    """
    if one.run.state == "none":
        return waited - one.since < (GRACE if starts else QUIET_GRACE)
    return one.run.state == "pending"


def told(one: Watched, waited: float) -> DraftCi:
    """Say what became of a draft's checks."""
    text = _state_text(one.run, waited - one.since)
    return DraftCi(
        number=one.number,
        fingerprint=one.draft.fingerprint,
        url=one.url,
        state=one.run.state,
        text=f"{text}; {one.corrected}" if one.corrected else text,
    )


def _state_text(run: CiRun, waited: float) -> str:
    if run.state == "passed":
        return "its checks passed"
    if run.state == "failed":
        names = one_line(", ".join(run.failed[:_NAMED])) or "nobody says which"
        return f"its checks failed{', as they do on the base' if run.before else ''}: {names}"
    if run.state == "pending":
        return "its checks are still running: the next night looks"
    if run.state == "none":
        spent = plural(round(waited / 60), "minute") if waited >= _EVERY else "a moment"
        return f"no checks appeared within {spent}, which is no pass"
    return f"its checks are not known: {run.because or 'they cannot be read'}"


def update_of(
    one: Watched,
    analysis: Analysis,
    result: GateResult,
    read: Read,
    repository: str,
    night: str,
) -> PullUpdate | None:
    """Make the one commit that puts another attempt in the first one's place; None: nothing new.

    `read` gives a file of the base that the draft was made on.
    """
    after = apply(result.edits, read)
    first = {change.path: change.text for change in one.draft.changes}
    then = {change.path: change.text for change in after.changes}
    paths = tuple(dict.fromkeys((*first, *then)))
    now = {path: first[path] if path in first else read(path) for path in paths}
    wanted = {path: then[path] if path in then else read(path) for path in paths}
    changes = tuple(
        FileChange(path=path, text=wanted[path]) for path in paths if now[path] != wanted[path]
    )
    if after.refusal or not changes or not one.sha:
        return None
    key = effect_key("update", repository, str(one.number))
    why = result.correction.because if result.correction else ""
    ran = "It was run here and passed." if result.outcome == "passed" else "It was not run here."
    text = f"The checks of the first attempt failed ({_listed(one.run)}). This is another one, and "
    text += f"the last that is made unasked. {ran}"
    return PullUpdate(
        key=key,
        fingerprint=analysis.fingerprint,
        also=one.draft.also,
        number=one.number,
        branch=one.draft.branch,
        head=one.sha,
        body=f"{marker(analysis.fingerprint, key, night)}\n\n{text}\n\n{markdown(why, _WHY)}\n",
        commit_message=f"{CORRECTION}\n",
        changes=changes,
        commit=one.draft.commit,
        fix=fix_digest(result.edits),
    )


def red_words(one: Watched, repository: str, night: str) -> Comment:
    """Say on a draft that its checks failed, and label it so."""
    why = f" {markdown(one.corrected[:1].upper() + one.corrected[1:], _WHY)}."
    text = f"The checks failed: {_listed(one.run)}.{why if one.corrected else ''} "
    return _word(one.number, one.draft.fingerprint, text, repository, night)


def carried(report: RunReport) -> tuple[Comment, ...]:
    """Words for open drafts of earlier nights whose checks failed after their night had ended."""
    options, base, night = report.options, report.base or report.commit, report.night.id
    if options.delivery != "github" or options.highest_tier()[0] != "draft" or base is None:
        return ()
    pulls = (one for one in report.outcomes if one.kind == "pull" and not one.as_patch)
    red = (one for one in pulls if one.state == "open" and one.checks == "failed")
    return tuple(
        _word(one.number, one.fingerprint, "The checks failed. ", base.repository, night)
        for one in red
        if CI_FAILED not in one.labels and one.night != night
    )


def _word(number: int, fingerprint: str, text: str, repository: str, night: str) -> Comment:
    key = effect_key("ci", repository, str(number))
    rest = "Nothing more is done about it here: close the draft, or mend it on its branch."
    return Comment(
        key=key,
        fingerprint=fingerprint,
        number=number,
        on="pull",
        body=f"{marker(fingerprint, key, night)}\n\n{text}{rest}\n",
        label=CI_FAILED,
    )


def _listed(run: CiRun) -> str:
    names = (code_span(shortened(one_line(name), 80)) for name in run.failed[:_NAMED])
    return ", ".join(names) or "nobody says which"
