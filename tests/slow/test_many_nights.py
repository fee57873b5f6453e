"""Any order of nights, kills, people's doings and damage: each cause is told of once, and why not.

`make fuzz` goes further, with new orders every time.
"""

import logging
import shutil
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)
from many_nights import CAUSES, ERRORS, FILES, MOODS, NAMES, Killed, Shop

from nightwatch_core.errors import StopTheNight
from nightwatch_core.models.options import MAX_OPEN_ISSUES
from nightwatch_core.models.proposals import OwnItem
from nightwatch_core.models.report import RunReport

pytestmark = [pytest.mark.slow, pytest.mark.hypothesis]
LIMITS = {"max_issues": 2, "max_pull_requests": 1}
RANDOM = bytes(range(255, -1, -1)) * 8
MOVES = (  # of the clock from one night to the next
    timedelta(days=1),
    timedelta(hours=2),
    timedelta(0),
    timedelta(days=-1),
    timedelta(days=4_200),  # past 2038
)

_CHOICES: dict[str, dict[str, Any]] = {
    "publish none": {"publish": "none"},
    "publish issues": {"publish": "issues"},
    "force": {"force": True},
}


class ManyNights(RuleBasedStateMachine):
    """One shop from its first night on."""

    on_github = False

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.shop = Shop(self.folder, self.on_github).__enter__()
        self.born: dict[int, OwnItem] = {}  # what we published, as it was when it was seen first
        self.reports: dict[str, RunReport] = {}
        self.by_people: set[int] = set()  # opened again or deleted by people

    def teardown(self) -> None:
        self.shop.__exit__()
        shutil.rmtree(self.folder, ignore_errors=True)

    # Nights.

    @initialize(failing=st.sets(st.sampled_from(sorted(ERRORS)), min_size=1))
    def begin(self, failing: set[str]) -> None:
        self.shop.failing = dict.fromkeys(failing, 5)
        self._night(0)

    @rule(
        failing=st.sets(st.sampled_from(sorted(ERRORS))),
        often=st.sampled_from((1, 5, 400)),
        move=st.sampled_from(MOVES),
        drift=st.sampled_from((timedelta(0), timedelta(hours=-1), timedelta(days=1))),
        dies=st.sampled_from((0, 0, 1, 2, 3, 4, 5, 6, 8, 9, 12, 17, 20)),
    )
    def night(
        self, failing: set[str], often: int, move: timedelta, drift: timedelta, dies: int
    ) -> None:
        self.shop.clock.time += move
        self.shop.fuse.drift = drift
        self.shop.failing = dict.fromkeys(failing, often)
        self._night(dies)
        self.shop.fuse.drift = timedelta(0)

    @rule(dies=st.integers(1, 12))
    def killed_and_taken_up(self, dies: int) -> None:
        self._night(dies)
        self._night(0)

    @rule(choice=st.sampled_from(sorted(_CHOICES)))
    def night_by_choice(self, choice: str) -> None:
        self._night(0, **_CHOICES[choice])

    def _night(self, dies: int, **choices: Any) -> None:
        self.shop.fuse.left = dies
        before = {item.number: item for item in self.shop.items()}
        try:
            report = self.shop.night(**{**LIMITS, **choices})
        except (Killed, StopTheNight):
            report = None
        self.shop.fuse.left = 0
        new = [item for item in self.shop.items() if item.number not in {*before, *self.born}]
        self.born |= {item.number: item for item in new}
        self._within_limits(new, before)
        if report:
            self.reports[report.night.id] = report
            self._tells_everything(report)

    # People.

    @rule(kind=st.sampled_from(("completed", "not_planned")), which=st.integers(0, 5))
    def close_issue(self, kind: str, which: int) -> None:
        if item := self._one("issue", "open", which):
            self.shop.close_issue(item, kind)

    @rule(which=st.integers(0, 5))
    def reopen_issue(self, which: int) -> None:
        item = self._one("issue", "closed", which)
        if item and not any(_same(item, element) for element in self._all("issue", "open")):
            self.shop.reopen_issue(item)
            self.by_people.add(item.number)

    @rule(which=st.integers(0, 5))
    def delete_issue(self, which: int) -> None:
        if item := self._one("issue", "open", which):
            self.shop.delete(item)

    @rule(which=st.integers(0, 5), how=st.sampled_from(("text", "no marker", "quoted", "gone")))
    def rewrite_issue(self, which: int, how: str) -> None:
        if item := self._one("issue", "open", which):
            self.shop.rewrite(item, _REWRITTEN[how])

    @rule(which=st.integers(0, 3), merged=st.booleans())
    def decide_on_draft(self, which: int, merged: bool) -> None:
        if item := self._one("pull", "open", which):
            (self.shop.merge if merged else self.shop.reject)(item)

    # The model, and damage.

    @rule(path=st.sampled_from(sorted(FILES)), mood=st.sampled_from(MOODS))
    def change_mind(self, path: str, mood: str) -> None:
        self.shop.moods[path] = mood

    @rule(
        what=st.sampled_from(
            (
                *("knowledge/errors/*.md", "knowledge/patterns/*.md", "knowledge/index.yml"),
                "nights/*/report.json",
            )
        ),
        how=st.sampled_from(("random", "half", "empty", "gone")),
        which=st.integers(0, 3),
    )
    def damage(self, what: str, how: str, which: int) -> None:
        if files := sorted(self.shop.state.glob(what)):
            file = files[which % len(files)]
            if how == "gone":
                file.unlink()
            else:
                file.write_bytes(
                    {"random": RANDOM, "empty": b""}.get(
                        how, file.read_bytes()[: file.stat().st_size // 2]
                    )
                )

    @rule()
    def lose_history(self) -> None:
        """What the advice says: the database is moved away. What was published is still known."""
        if all(item in {two.number for two in self.shop.items()} for item in self.born):
            for file in self.shop.state.glob("nightwatch.db*"):
                file.unlink()

    # What always holds.

    @invariant()
    def told_once(self) -> None:
        items = self.shop.items()
        for name in CAUSES:
            for kind in ("issue", "pull"):
                about = [
                    i for i in items if (i.kind, i.state) == (kind, "open") and name in i.names
                ]
                assert len(about) <= 1, about

    @invariant()
    def drafts_are_drafts(self) -> None:
        if self.on_github:
            assert all(pull["draft"] for pull in self.shop.github.pulls())

    @invariant()
    def nothing_is_torn(self) -> None:
        assert not [*self.shop.state.rglob(".tmp-*")]

    def _within_limits(self, new: list[OwnItem], before: dict[int, OwnItem]) -> None:
        for night in {item.night for item in new}:
            own = [item for item in self.born.values() if item.night == night]
            kinds = [item.kind for item in own]
            assert kinds.count("issue") <= LIMITS["max_issues"]
            assert kinds.count("pull") <= LIMITS["max_pull_requests"]
            by_cause = [(item.kind, CAUSES[item.fingerprint]) for item in own]
            assert len(by_cause) == len(set(by_cause)), "two of one night have one cause"
        if any(item.kind == "issue" for item in new):
            unchanged = [i for i in self._all("issue", "open") if i.number in before or i in new]
            opened = sum(before.get(i.number, i).state == "open" for i in unchanged)
            assert opened <= MAX_OPEN_ISSUES

    def _tells_everything(self, report: RunReport) -> None:
        """The report knows what its night published, and says why of all that it did not."""
        tonight = {n for n, one in self.born.items() if one.night == report.night.id}
        receipts = {receipt.number for receipt in report.receipts}
        named = {n for n in tonight if any(f"#{n} " in skip.reason for skip in report.skips)}
        assert tonight <= receipts | named | self._forgotten(), (tonight, receipts)
        for one in report.receipts:
            assert one.status in ("done", "already there") or one.reason, one
        for one in report.skips:
            assert one.reason
        told = {name for receipt in (*report.receipts, *report.skips) for name in _names(receipt)}
        if not report.degraded:
            analysed = {analysis.fingerprint for analysis in report.analyses}
            assert analysed <= told, (analysed - told, report.skips, report.receipts)
        seen = {g.fingerprint for analysis in report.analyses for g in analysis.case.groups}
        seen |= {g.fingerprint for failure in report.failures for g in failure.case.groups}
        seen |= {dropped.group.fingerprint for dropped in report.dropped}
        failing = {name for name, at in self._failing().items()}
        assert failing <= seen, failing - seen

    def _failing(self) -> dict[str, str]:
        return {name: at for name, at in NAMES.items() if at in self.shop.failing}

    def _forgotten(self) -> set[int]:
        """What people took out of the tracker, or what is not of an error that failed again."""
        there = {item.number for item in self.shop.items()}
        failing = self._failing()
        return {
            number
            for number, one in self.born.items()
            if number not in there or not one.names & failing.keys()
        }

    def _all(self, kind: str, state: str) -> list[OwnItem]:
        return [item for item in self.shop.items() if (item.kind, item.state) == (kind, state)]

    def _one(self, kind: str, state: str, which: int) -> OwnItem | None:
        every = self._all(kind, state)
        return every[which % len(every)] if every else None


def _same(one: OwnItem, other: OwnItem) -> bool:
    return not one.names.isdisjoint(other.names)


def _names(one: Any) -> tuple[str, ...]:
    return (one.fingerprint, *getattr(one, "also", ()))


_REWRITTEN = {
    "text": lambda text: f"{text}\nWe look after it.\n",
    "no marker": lambda text: text.replace("nightwatch:v1", ""),
    "quoted": lambda text: "".join(f"> {row}\n" for row in text.splitlines()),
    "gone": lambda text: "",
}


class NightsOnGitHub(ManyNights):
    """The same, published on the GitHub stand-in."""

    on_github = True


@pytest.mark.parametrize("machine", [ManyNights, NightsOnGitHub])
def test_whatever_happens_each_cause_is_told_of_once(machine: type[ManyNights]) -> None:
    logging.disable(logging.WARNING)
    try:
        profile = settings(
            max_examples=settings.default.max_examples // 25,
            stateful_step_count=12 if settings.default.derandomize else 30,
            suppress_health_check=list(HealthCheck),
        )
        run_state_machine_as_test(machine, settings=profile)
    finally:
        logging.disable(logging.NOTSET)
