"""CI that a pushed branch of ours starts, and watching the checks of drafts."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import NamedTuple

import yaml

from nightwatch_core.code.edits import apply, fix_digest
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.answer import Usage
from nightwatch_core.models.assignment import CiResult
from nightwatch_core.models.code import CiRun, DraftCi
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposals import (
    Comment,
    DraftPull,
    FileChange,
    GateResult,
    Proposal,
    PullUpdate,
    Receipt,
)
from nightwatch_core.models.report import RunReport
from nightwatch_core.publish.expected_value import effect_key
from nightwatch_core.text.escaping import code_span, markdown
from nightwatch_core.text.markers import CORRECTION, marker
from nightwatch_core.text.plain_text import one_line, plural, shortened

_BRANCH = "nightwatch/0123456789ab"
_FOLDER = ".github/workflows/"
_MOST_FILES, _MOST_CHARACTERS = 40, 64 * 1024
_EVENTS = ("push", "pull_request", "pull_request_target", "create")
_OTHERS = (
    ".gitlab-ci.yml", ".circleci/config.yml", "Jenkinsfile", ".buildkite/pipeline.yml",
    "azure-pipelines.yml", "bitbucket-pipelines.yml", ".travis.yml", ".drone.yml", "appveyor.yml",
    ".cirrus.yml", ".woodpecker.yml", ".semaphore/semaphore.yml", "codefresh.yml", "buildspec.yml",
    "cloudbuild.yaml", ".teamcity/settings.kts",
)  # fmt: skip
HOW = (
    "give them `branches-ignore: ['nightwatch/**']`, put secrets into environments that need an "
    "approval, or set NIGHTWATCH_PUBLISH=patches"
)


def ci_of_branches(
    paths: Iterable[str], read: Callable[[str], str | None], base: str, *, pushed: bool
) -> str:
    """Say which CI our drafts would start, and how to withhold secrets; raises as `read`.

    `pushed` is whether we push branches; on this machine somebody else does.
    """
    names = ci_started(paths, read, base)
    if not names:
        return "no CI is seen that a branch of ours would start"
    shown = one_line(", ".join(names))[:500]
    when = "once it is pushed" if pushed else "once somebody pushes it"
    return f"Warning: {shown} may run a draft {when}, with secrets, before it was read: {HOW}"


def ci_started(
    paths: Iterable[str], read: Callable[[str], str | None], base: str
) -> tuple[str, ...]:
    """Name what a branch of ours would start, as far as files of the repository tell."""
    there = frozenset(paths)
    flows = sorted(p for p in there if p.startswith(_FOLDER) and p.endswith((".yml", ".yaml")))
    runs = (
        f"{path.removeprefix(_FOLDER)} ({', '.join(events)})"
        for path in flows[:_MOST_FILES]
        if (events := starting_events(read(path) or "", base))
    )
    return (*runs, *(other for other in _OTHERS if other in there))


def starting_events(workflow: str, base: str) -> tuple[str, ...]:
    """Return the events by which a workflow of GitHub runs a draft of ours for branch `base`.

    All where it cannot be read: then nobody can tell that it does not.

    >>> starting_events("on: [push, release]", "main")
    ('push',)
    >>> starting_events("on:\\n  push:\\n    branches-ignore: ['nightwatch/**']", "main")
    ()
    """
    try:
        root = yaml.compose(workflow[:_MOST_CHARACTERS], Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError, ValueError):
        return _EVENTS
    events = _entry(root, "on")
    if not isinstance(events, yaml.MappingNode):
        named = _texts(events)
        return tuple(event for event in _EVENTS if event in named)
    return tuple(event for event in _EVENTS if _starts(events, event, base))


def _starts(events: yaml.MappingNode, event: str, base: str) -> bool:
    if event not in (key.value for key, _ in events.value):
        return False
    about = _entry(events, event)
    branch = base if event.startswith("pull_request") else _BRANCH
    wanted, ignored = _texts(_entry(about, "branches")), _texts(_entry(about, "branches-ignore"))
    only_tags = not wanted and not ignored and _entry(about, "tags") is not None
    if event == "push" and only_tags:
        return False
    return not _last_match(ignored, branch) and (not wanted or _last_match(wanted, branch))


def _last_match(patterns: tuple[str, ...], branch: str) -> bool:
    fits = False
    for pattern in patterns:
        if fnmatchcase(branch, pattern.removeprefix("!")) and (
            "**" in pattern or pattern.count("/") == branch.count("/")
        ):
            fits = not pattern.startswith("!")
    return fits


def _entry(node: yaml.Node | None, name: str) -> yaml.Node | None:
    pairs = node.value if isinstance(node, yaml.MappingNode) else ()
    return next((value for key, value in pairs if key.value == name), None)


def _texts(node: yaml.Node | None) -> tuple[str, ...]:
    if isinstance(node, yaml.ScalarNode):
        return (str(node.value),)
    items = node.value if isinstance(node, yaml.SequenceNode) else ()
    return tuple(str(item.value) for item in items if isinstance(item, yaml.ScalarNode))


# What the checks of our drafts say after they were published, and what is done about it.
#
# A pass is what ran and was good. Where nothing appears, or it may not be read, that is said,
# and is
# none.

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
        """Tell whether its checks failed on what we made, and not on the base before."""
        return self.run.state == "failed" and not self.run.before


def watched_drafts(
    drafts: Iterable[DraftPull], receipts: Iterable[Receipt], options: NightOptions
) -> tuple[Watched, ...]:
    """List the drafts that a service holds by now; none without branches, and none in a dry run."""
    made = {
        receipt.key: receipt for receipt in receipts if receipt.status in MADE and receipt.number
    }
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


def seen(watched: Watched, run: CiRun) -> Watched:
    """Take in a look; what is told of the commit before a correction is not of it."""
    is_stale = bool(watched.former) and run.sha == watched.former
    return watched._replace(run=CiRun(state="pending", sha=run.sha) if is_stale else run)


def is_waiting(watched: Watched, waited: float, *, starts: bool) -> bool:
    """Tell whether another look may tell more, `waited` seconds in all; `starts`: CI is seen.

    >>> one = Watched(DraftPull.model_construct(), 1, run=CiRun(state="none"))
    >>> is_waiting(one, 90, starts=True), is_waiting(one, 90, starts=False)
    (True, False)
    """
    if watched.run.state == "none":
        return waited - watched.since < (GRACE if starts else QUIET_GRACE)
    return watched.run.state == "pending"


def told(watched: Watched, waited: float) -> DraftCi:
    """Say what became of a draft's checks."""
    text = _state_text(watched.run, waited - watched.since)
    return DraftCi(
        number=watched.number,
        fingerprint=watched.draft.fingerprint,
        url=watched.url,
        state=watched.run.state,
        text=f"{text}; {watched.corrected}" if watched.corrected else text,
    )


def _state_text(run: CiRun, waited: float) -> str:
    if run.state == "passed":
        return "its checks passed"
    if run.state == "failed":
        names = one_line(", ".join(run.failed[:_NAMED])) or "names unknown"
        return f"its checks failed{', as they do on the base' if run.before else ''}: {names}"
    if run.state == "pending":
        return "its checks are still running: the next night looks"
    if run.state == "none":
        spent = plural(round(waited / 60), "minute") if waited >= _EVERY else "a moment"
        return f"no checks appeared within {spent}: not passed"
    return f"its checks are not known: {run.because or 'they cannot be read'}"


def update_of(
    watched: Watched,
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
    first = {change.path: change.text for change in watched.draft.changes}
    then = {change.path: change.text for change in after.changes}
    paths = tuple(dict.fromkeys((*first, *then)))
    now = {path: first[path] if path in first else read(path) for path in paths}
    wanted = {path: then[path] if path in then else read(path) for path in paths}
    changes = tuple(
        FileChange(path=path, text=wanted[path]) for path in paths if now[path] != wanted[path]
    )
    if after.refusal or not changes or not watched.sha:
        return None
    key = effect_key("update", repository, str(watched.number))
    why = result.correction.because if result.correction else ""
    ran = "It was run here and passed." if result.outcome == "passed" else "It was not run here."
    failed = _listed(watched.run)
    text = f"The checks of the first attempt failed ({failed}). This is another one, and "
    text += f"the last that is made unasked. {ran}"
    return PullUpdate(
        key=key,
        fingerprint=analysis.fingerprint,
        also=watched.draft.also,
        number=watched.number,
        branch=watched.draft.branch,
        head=watched.sha,
        body=f"{marker(analysis.fingerprint, key, night)}\n\n{text}\n\n{markdown(why, _WHY)}\n",
        commit_message=f"{CORRECTION}\n",
        changes=changes,
        commit=watched.draft.commit,
        fix=fix_digest(result.edits),
    )


def red_words(watched: Watched, repository: str, night: str) -> Comment:
    """Say on a draft that its checks failed, and label it so."""
    why = f" {markdown(watched.corrected[:1].upper() + watched.corrected[1:], _WHY)}."
    text = f"The checks failed: {_listed(watched.run)}.{why if watched.corrected else ''} "
    return _word(watched.number, watched.draft.fingerprint, text, repository, night)


def carried(report: RunReport) -> tuple[Comment, ...]:
    """Words for open drafts of earlier nights whose checks failed after their night had ended."""
    options, base, night = report.options, report.base or report.commit, report.night.id
    if options.delivery != "github" or options.highest_tier()[0] != "draft" or base is None:
        return ()
    pulls = (
        outcome for outcome in report.outcomes if outcome.kind == "pull" and not outcome.as_patch
    )
    red = (pull for pull in pulls if pull.state == "open" and pull.checks == "failed")
    return tuple(
        _word(item.number, item.fingerprint, "The checks failed. ", base.repository, night)
        for item in red
        if CI_FAILED not in item.labels and item.night != night
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
    return ", ".join(names) or "names unknown"


# Waits for the checks of a night's drafts together: looks, mends what is red once, and tells.


class Hands(NamedTuple):
    """Outside functions that waiting for CI needs."""

    look: Callable[[tuple[int, ...]], tuple[tuple[CiRun, ...], str]]  # runs, or why there are none
    mend: Callable[[Watched, Analysis], tuple[GateResult | None, str]]  # likewise
    publish: Callable[[Proposal], Receipt]
    read: Read  # a file of the base
    pause: Callable[[float], None]  # lets that many seconds pass
    elapsed: Callable[[], float]  # seconds since the waiting began


@dataclass
class Waiting:
    """Drafts of one night, looked at until their checks have ended or there is no time left."""

    report: RunReport
    drafts: tuple[Watched, ...]
    hands: Hands
    starts: bool = True  # files of the repository tell of CI that a branch starts
    waited: float = 0.0  # seconds
    receipts: list[Receipt] = field(default_factory=list)
    gates: dict[str, GateResult] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)

    def until_the_end(self, minutes: int) -> CiResult:
        """Look again and again, at most so many minutes, and say how the checks stand then."""
        for seconds in (*pauses(minutes), 0.0):
            if not self._look() or self.hands.elapsed() > 60 * minutes:
                break
            self.hands.pause(seconds)
            self.waited += seconds
        return self._end()

    def say(self, proposal: Proposal) -> Receipt:
        """Publish something, and remember it."""
        self.receipts.append(self.hands.publish(proposal))
        return self.receipts[-1]

    def _look(self) -> bool:
        """Take in how the checks stand, mend what is red; returns whether to look again."""
        runs, trouble = self.hands.look(tuple(draft.number for draft in self.drafts))
        if trouble:
            unknown = CiRun(state="unreadable", because=trouble)
            self.drafts = tuple(draft._replace(run=unknown) for draft in self.drafts)
            return True
        drafts = map(seen, self.drafts, runs)
        self.drafts = tuple(self._mended(draft) if draft.is_red else draft for draft in drafts)
        return any(is_waiting(draft, self.waited, starts=self.starts) for draft in self.drafts)

    def _end(self) -> CiResult:
        for draft in self.drafts:
            if draft.is_red:
                self.say(red_words(draft, self.repository, self.report.night.id))
        return CiResult(
            ci=tuple(told(draft, self.waited) for draft in self.drafts),
            receipts=tuple(self.receipts),
            gates=tuple(self.gates.items()),
            usage=self.usage,
        )

    @property
    def repository(self) -> str:
        """Return its name."""
        base = self.report.base or self.report.commit
        return base.repository if base else ""

    def _mended(self, watched: Watched) -> Watched:
        """One commit more on the branch, where another attempt can be had; else why not."""
        if watched.corrected:
            return watched
        if not watched.sha or watched.run.sha != watched.sha:
            return watched._replace(
                corrected="its branch is not where we left it: it is left alone"
            )
        name = watched.draft.fingerprint
        analysis = next((a for a in self.report.analyses if a.fingerprint == name), None)
        result, why = self.hands.mend(watched, analysis) if analysis else (None, "")
        if result is None or analysis is None:
            return watched._replace(
                corrected=f"no other attempt: {why or 'nothing can be run here'}"
            )
        self.usage += result.usage
        update = None
        if result.edits:
            told = (watched, analysis, result, self.hands.read)
            update = update_of(*told, self.repository, self.report.night.id)
        if update is None:
            return watched._replace(
                corrected=f"no other attempt passed: {result.text}".rstrip(": ")
            )
        receipt = self.say(update)
        if receipt.status not in MADE:
            return watched._replace(corrected=f"another attempt was not pushed: {receipt.reason}")
        self.gates[name] = result
        return watched._replace(
            sha=receipt.sha,
            former=watched.sha,
            since=self.waited,
            run=CiRun(state="pending"),
            corrected="after one correction on its branch",
        )
