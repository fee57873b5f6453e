"""CI that a pushed branch of ours starts, and watching the checks of drafts."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

import yaml

from nightwatch_core.code.edits import apply, changes_between, fix_digest
from nightwatch_core.models import proposals
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.answer import Usage
from nightwatch_core.models.assignment import CiResult
from nightwatch_core.models.code import CiRun, DraftCi, numbered
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import RunReport
from nightwatch_core.publish.check_history import CheckWait
from nightwatch_core.publish.expected_value import effect_key
from nightwatch_core.publish.words import WORDS
from nightwatch_core.text.escaping import code_span, markdown
from nightwatch_core.text.markers import CORRECTION, marker
from nightwatch_core.text.plain_text import data_table, one_line, shortened

Read = Callable[[str], str | None]
_BRANCH = "nightwatch/0123456789ab"
_FOLDER = ".github/workflows/"
_MOST_FILES, _MOST_CHARACTERS = 40, 64 * 1024
_EVENTS = ("push", "pull_request", "pull_request_target", "create")
_OTHERS = data_table("nightwatch_core.publish", "ci.toml", dict[str, tuple[str, ...]])["others"]
HOW = (
    "exclude these branches (`branches-ignore: ['nightwatch/**']`), put secrets into environments "
    "that require approval, or set NIGHTWATCH_PUBLISH=patches"
)


def ci_of_branches(paths: Iterable[str], read: Read, base: str, *, pushed: bool) -> str:
    """Say which CI our drafts would start, and how to withhold secrets; raises as `read`.

    `pushed` is whether we push branches; on this machine somebody else does.
    """
    names = ci_started(paths, read, base)
    if not names:
        return "no CI workflow runs on branches of NightWatch"
    shown = one_line(", ".join(names))[:500]
    when = "when it is pushed" if pushed else "when somebody pushes it"
    return (
        f"Warning: {shown} may run a draft {when}, with access to secrets and before review: {HOW}"
    )


def ci_started(paths: Iterable[str], read: Read, base: str) -> tuple[str, ...]:
    """Name the CI configurations that run a draft of ours; raises as `read`."""
    present = frozenset(paths)
    flows = sorted(p for p in present if p.startswith(_FOLDER) and p.endswith((".yml", ".yaml")))
    runs = (
        f"{path.removeprefix(_FOLDER)} ({', '.join(events)})"
        for path in flows[:_MOST_FILES]
        if (events := starting_events(read(path) or "", base))
    )
    return (*runs, *(other for other in _OTHERS if other in present))


def starting_events(workflow: str, base: str) -> tuple[str, ...]:
    """Return the events by which a workflow of GitHub runs a draft of ours for branch `base`.

    All where it cannot be read: then nobody can tell that it does not.

    >>> starting_events("on: [push, release]", "main")
    ('push',)
    >>> starting_events("on:\\n  push:\\n    branches-ignore: ['nightwatch/**']", "main")
    ()
    """
    try:  # the base loader makes nothing but texts, lists and mappings, and leaves `on` a text
        root = yaml.load(workflow[:_MOST_CHARACTERS], Loader=yaml.BaseLoader)  # noqa: S506
    except (yaml.YAMLError, RecursionError, ValueError):
        return _EVENTS
    events = root.get("on") if isinstance(root, dict) else None
    if not isinstance(events, dict):
        return tuple(event for event in _EVENTS if event in _texts(events))
    return tuple(event for event in _EVENTS if event in events and _starts(events, event, base))


def _starts(events: dict[str, Any], event: str, base: str) -> bool:
    rules = events[event] if isinstance(events[event], dict) else {}
    branch = base if event.startswith("pull_request") else _BRANCH
    allowed, ignored = _texts(rules.get("branches")), _texts(rules.get("branches-ignore"))
    if event == "push" and "tags" in rules and not allowed and not ignored:
        return False
    return not _last_match(ignored, branch) and (not allowed or _last_match(allowed, branch))


def _last_match(patterns: tuple[str, ...], branch: str) -> bool:
    fits = False
    for pattern in patterns:
        if fnmatchcase(branch, pattern.removeprefix("!")) and (
            "**" in pattern or pattern.count("/") == branch.count("/")
        ):
            fits = not pattern.startswith("!")
    return fits


def _texts(value: object) -> tuple[str, ...]:
    items = value if isinstance(value, list) else [value]
    return tuple(item for item in items if isinstance(item, str))


# Waiting for the checks of a night's drafts.
#
# A pass is what ran and was good. Where nothing appears, or it may not be read, that is said, and
# is no pass.

CI_FAILED = "ci-failed"  # a label
LOOK_EVERY = 30.0  # seconds
_NAMED, _LONGEST = 5, 600  # checks; characters
_MADE = ("done", "already there")


@dataclass
class Watched:
    """A draft of tonight whose checks are waited for."""

    draft: proposals.DraftPull
    number: int
    url: str = ""
    sha: str = ""  # that we left its branch at; empty: not known
    run: CiRun = CiRun(state="pending")
    former: str = ""  # its commit before the correction, of which checks may still tell
    since: float = 0.0  # seconds that had been waited when its branch came to stand at `sha`
    appeared: float | None = None  # seconds that had been waited when a check was first seen
    corrected: str = ""  # the result of the one correction, for people; empty: none was tried

    @property
    def name(self) -> str:
        """Return its number with its host's sign."""
        return numbered(self.number, self.url)

    @property
    def is_red(self) -> bool:
        """Tell whether its checks failed on what we made, and not on the base before."""
        return self.run.state == "failed" and not self.run.before

    @property
    def text(self) -> str:
        """Return the state of its checks, for people."""
        run, corrected = self.run, f"; {self.corrected}" if self.corrected else ""
        names = one_line(", ".join(run.failed[:_NAMED])) or "names unknown"
        before = ", as on the base branch" if run.before else ""
        because = run.because or "they cannot be read"
        text = WORDS["ci"][run.state].format(before=before, names=names, because=because)
        return text + corrected


def watched_drafts(
    drafts: Iterable[proposals.DraftPull],
    receipts: Iterable[proposals.Receipt],
    options: NightOptions,
) -> list[Watched]:
    """List the drafts that a service holds; none without branches, and none in a dry run."""
    made = {item.key: item for item in receipts if item.status in _MADE and item.number}
    if not options.is_hosted or options.dry_run:
        return []
    return [
        Watched(draft, receipt.number or 0, receipt.url, receipt.sha)
        for draft in drafts
        if not draft.as_patch and (receipt := made.get(draft.key))
    ]


class Hands(NamedTuple):
    """Outside functions that waiting for CI needs."""

    look: Callable[[tuple[int, ...]], tuple[tuple[CiRun, ...], str]]  # runs, or why there are none
    mend: Callable[[Watched, Analysis], tuple[proposals.GateResult | None, str]]  # likewise
    publish: Callable[[proposals.Proposal], proposals.Receipt]
    read: Read  # a file of the base
    pause: Callable[[float], None]  # lets that many seconds pass


@dataclass
class Waiting:
    """Drafts of one night, looked at until their checks have ended or there is no time left."""

    report: RunReport
    drafts: list[Watched]
    hands: Hands
    first_check: CheckWait
    waited: float = 0.0  # seconds
    receipts: list[proposals.Receipt] = field(default_factory=list)
    gates: dict[str, proposals.GateResult] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)

    def until_the_end(self, minutes: int) -> CiResult:
        """Look again and again, at most so many minutes, and say how the checks stand then."""
        while self._look() and self.waited < 60 * minutes:
            self.hands.pause(LOOK_EVERY)
            self.waited += LOOK_EVERY
        for watched in self.drafts:
            if watched.is_red:
                self.say(_red_words(watched, self._repository, self.report.night.id))
        ended = tuple(
            DraftCi(
                number=watched.number,
                fingerprint=watched.draft.fingerprint,
                url=watched.url,
                state=watched.run.state,
                text=self._text(watched),
                waited=self.waited,
                appeared=watched.appeared,
            )
            for watched in self.drafts
        )
        gates = tuple(self.gates.items())
        return CiResult(ci=ended, receipts=tuple(self.receipts), gates=gates, usage=self.usage)

    def say(self, proposal: proposals.Proposal) -> proposals.Receipt:
        """Publish something, and remember it."""
        self.receipts.append(self.hands.publish(proposal))
        return self.receipts[-1]

    def _text(self, watched: Watched) -> str:
        because = f"; {self.first_check.because}" if watched.run.state == "none" else ""
        return watched.text + because

    @property
    def _repository(self) -> str:
        base = self.report.base or self.report.commit
        return base.repository if base else ""

    def _look(self) -> bool:
        """Take in how the checks stand, mend what is red once; returns whether to look again."""
        runs, trouble = self.hands.look(tuple(draft.number for draft in self.drafts))
        if trouble:
            for watched in self.drafts:
                watched.run = CiRun(state="unreadable", because=trouble)
            return True
        for watched, run in zip(self.drafts, runs, strict=True):
            is_stale = bool(watched.former) and run.sha == watched.former
            watched.run = CiRun(state="pending", sha=run.sha) if is_stale else run
            if watched.appeared is None and run.state in ("passed", "failed", "pending"):
                watched.appeared = self.waited
            if watched.is_red and not watched.corrected:
                watched.corrected = self._correct(watched)
        return any(
            watched.run.state == "pending"
            or (
                watched.run.state == "none"
                and self.waited - watched.since < self.first_check.seconds
            )
            for watched in self.drafts
        )

    def _correct(self, watched: Watched) -> str:
        """Push one commit more where another attempt can be had; returns the result, for people."""
        if not watched.sha or watched.run.sha != watched.sha:
            return "somebody changed its branch: NightWatch leaves it unchanged"
        name = watched.draft.fingerprint
        analysis = next((a for a in self.report.analyses if a.fingerprint == name), None)
        result, trouble = self.hands.mend(watched, analysis) if analysis else (None, "")
        if result is None:
            return f"no second fix: {trouble or 'checks cannot be run here'}"
        self.usage += result.usage
        night = self.report.night.id
        update = _update_of(watched, result, self.hands.read, self._repository, night)
        if update is None:
            return f"no second fix passed: {result.text}".rstrip(": ")
        receipt = self.say(update)
        if receipt.status not in _MADE:
            return f"the second fix was not pushed: {receipt.reason}"
        self.gates[name] = result
        watched.former, watched.sha, watched.since = watched.sha, receipt.sha, self.waited
        watched.run = CiRun(state="pending")
        return "after a second fix on its branch"


def _update_of(
    watched: Watched, result: proposals.GateResult, read: Read, repository: str, night: str
) -> proposals.PullUpdate | None:
    """The one commit that puts another attempt in the first one's place; None: nothing new."""
    after, draft = apply(result.edits, read), watched.draft
    first = {change.path: change.text for change in draft.changes}
    then = {change.path: change.text for change in after.changes}
    changes = changes_between(first, then, read)
    if not result.edits or after.refusal or not changes:
        return None
    key = effect_key("update", repository, str(watched.number))
    because = result.correction.because if result.correction else ""
    ran = "passed" if result.outcome == "passed" else "were not run"
    text = (
        f"The checks of the first fix failed ({_failed_names(watched.run)}). "
        f"This is the second and last automatic fix. "
        f"Its checks {ran} here.\n\n{markdown(because, _LONGEST)}"
    )
    return proposals.PullUpdate(
        key=key,
        fingerprint=draft.fingerprint,
        also=draft.also,
        number=watched.number,
        branch=draft.branch,
        head=watched.sha,
        body=f"{marker(draft.fingerprint, key, night)}\n\n{text}\n",
        commit_message=f"{CORRECTION}\n",
        changes=changes,
        commit=draft.commit,
        fix=fix_digest(result.edits),
    )


def _red_words(watched: Watched, repository: str, night: str) -> proposals.Comment:
    result = watched.corrected[:1].upper() + watched.corrected[1:]
    corrected = f" {markdown(result, _LONGEST)}." if result else ""
    text = f"The checks failed: {_failed_names(watched.run)}.{corrected} "
    return _word(watched.number, watched.draft.fingerprint, text, repository, night)


def carried(report: RunReport) -> tuple[proposals.Comment, ...]:
    """Return words for open drafts of earlier nights whose checks failed after their night."""
    options, base, night = report.options, report.base or report.commit, report.night.id
    if not options.is_hosted or options.highest_tier()[0] != "draft" or base is None:
        return ()
    return tuple(
        _word(item.number, item.fingerprint, "The checks failed. ", base.repository, night)
        for item in report.outcomes
        if (item.kind, item.state, item.checks) == ("pull", "open", "failed")
        and not item.as_patch
        and CI_FAILED not in item.labels
        and item.night != night
    )


def _word(
    number: int, fingerprint: str, text: str, repository: str, night: str
) -> proposals.Comment:
    key = effect_key("ci", repository, str(number))
    rest = "NightWatch does nothing more here: close the draft, or fix it on its branch."
    return proposals.Comment(
        key=key,
        fingerprint=fingerprint,
        number=number,
        on="pull",
        body=f"{marker(fingerprint, key, night)}\n\n{text}{rest}\n",
        label=CI_FAILED,
    )


def _failed_names(run: CiRun) -> str:
    names = (code_span(shortened(one_line(name), 80)) for name in run.failed[:_NAMED])
    return ", ".join(names) or "names unknown"
