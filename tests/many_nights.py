"""A shop with a few causes, a tracker whose people do as they like, and nights that may be killed.

Everything of ours is real but the model and the clock: lessons, index, ledger and reports are files
in a state folder, drafts are branches in a repository. Issues are files, or the GitHub stand-in's.
"""

import re
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import github_world
import night_world
from git_repositories import Change, git, repository
from services import github_people
from services.github import GitHub
from twins.reading import (
    MemoryAgents,
    MemoryClock,
    MemoryCode,
    MemoryErrors,
    MemoryHost,
    MemoryModel,
)
from twins.writing import MemoryNotifier
from world import World

from nightwatch_core.adapters.git.checkout import Checkout
from nightwatch_core.adapters.local.delivery import LocalDelivery
from nightwatch_core.adapters.stores.database import LedgerOutbox, NightStore
from nightwatch_core.adapters.stores.documents import KnowledgeFiles
from nightwatch_core.errors import GiveUp, StopTheNight, TryLater
from nightwatch_core.models.answer import Answer, Edit, Evidence
from nightwatch_core.models.code import Commit
from nightwatch_core.models.errors import ErrorGroup, Trace
from nightwatch_core.models.proposals import OwnItem
from nightwatch_core.models.report import RunReport
from nightwatch_core.text import frontmatter
from tasks.ports import PublishingPorts, ReadingPorts

FILES = {
    **night_world.FILES,
    "shop/tax.py": "def rate(country):\n    return RATES[country]\n",
    "shop/view.py": "def show(basket):\n    return total(basket.all_lines)\n",
}
ERRORS = {  # transaction: class, failing file, file that is to blame
    "cart/show": ("AttributeError", "shop/cart.py", "shop/cart.py"),
    "api/cart": ("AttributeError", "shop/cart.py", "shop/cart.py"),  # the same case
    "cart/view": ("TypeError", "shop/view.py", "shop/cart.py"),  # another case, the same cause
    "cart/pay": ("TypeError", "shop/pay.py", "shop/pay.py"),
    "cart/tax": ("KeyError", "shop/tax.py", "shop/tax.py"),
}
MOODS = ("fix", "another fix", "no fix", "low", "unknown", "give up", "later", "stop")
CHOICES = {"source": "sample", "code": "sample", "delivery": "local", "notify": "local"}
CHOICES |= {"max_errors": 4}
DAY = timedelta(days=1)


class Killed(BaseException):
    """The process is gone."""


@dataclass
class Fuse:
    """Burns through at the nth effect: before it, or right after."""

    clock: MemoryClock
    left: int = 0  # 0: never
    drift: timedelta = timedelta(0)  # of the clock from one effect to the next

    def burn(self) -> None:
        """One more moment at which a night may be killed."""
        self.clock.time += self.drift
        self.left -= 1
        if not self.left:
            raise Killed


class Fused:
    """Something that is written to: before and after each of these effects the fuse burns."""

    def __init__(self, inner: Any, fuse: Fuse, *effects: str) -> None:
        self._inner, self._fuse, self._effects = inner, fuse, effects

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._inner, name)
        return self._burning(attribute) if name in self._effects else attribute

    def _burning(self, effect: Callable[..., Any]) -> Callable[..., Any]:
        def burning(*given: Any) -> Any:
            self._fuse.burn()
            done = effect(*given)
            self._fuse.burn()
            return done

        return burning


def group_of(transaction: str, occurrences: int, last: datetime) -> ErrorGroup:
    """An error of the shop."""
    group = night_world.group(ERRORS[transaction][0], transaction, occurrences)
    return group.model_copy(update={"first_seen": last - DAY, "last_seen": last})


NAMES = {group_of(error, 1, datetime.now(UTC)).fingerprint: error for error in ERRORS}
CAUSES = {name: ERRORS[transaction][2] for name, transaction in NAMES.items()}


def trace_of(transaction: str) -> Trace:
    """Its trace, with one frame in line 2 of the file that fails."""
    error_class, path, _ = ERRORS[transaction]
    function = FILES[path].partition("(")[0].removeprefix("def ")
    return night_world.trace(error_class, path, function)


@dataclass
class Shop:
    """The state folder, the repository and the tracker below `folder`."""

    folder: Path
    on_github: bool
    clock: MemoryClock = field(default_factory=MemoryClock)
    moods: dict[str, str] = field(default_factory=dict)  # by file
    failing: dict[str, int] = field(default_factory=dict)  # occurrences by transaction

    def __post_init__(self) -> None:
        self.fuse = Fuse(self.clock)

    def __enter__(self) -> "Shop":
        self.repository = repository(self.folder / "shop.git", Change("Shop", FILES), bare=True)
        self.state = self.folder / "state"
        self._open = ExitStack()
        if self.on_github:
            self.github = self._open.enter_context(_ShopsGitHub(self.repository, self.clock))
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    # Nights.

    def night(self, **choices: Any) -> RunReport:
        """One night in a process of its own, as far as that can be had: with ports of its own."""
        return self._world().night(**{**CHOICES, **choices})

    @property
    def store(self) -> NightStore:
        """The nights that were."""
        return NightStore(self.state, self.clock)

    def items(self) -> tuple[OwnItem, ...]:
        """What we know as ours."""
        return self._tracker().own_items()  # type: ignore[no-any-return]

    def _tracker(self) -> Any:
        if self.on_github:
            return github_world.tracker(self.github)
        return LocalDelivery(self.state / "nights", "none", self._checkout(), self.clock)

    def _code(self) -> MemoryCode:
        """What is on main, in memory: asking git a hundred times a night takes seconds."""
        files = {path: git(self.repository, "show", f"main:{path}") + "\n" for path in FILES}
        head = git(self.repository, "rev-parse", "main")
        return MemoryCode(files, Commit(repository="shop", sha=head, branch="main"))

    def _checkout(self) -> Checkout:
        return Checkout(self.repository)

    def _world(self) -> World:
        fuse, clock = self.fuse, self.clock
        knowledge = KnowledgeFiles(self.state / "knowledge")
        groups = [group_of(one, n, clock.now()) for one, n in self.failing.items()]
        traces = {group.fingerprint: (trace_of(group.transaction),) for group in groups}

        def outbox(night: Any) -> Any:
            inner = (
                github_world.outbox(self.github, clock)
                if self.on_github
                else LocalDelivery(self.state / "nights", night.id, self._checkout(), clock)
            )
            sender = Fused(inner, fuse, "publish")
            return LedgerOutbox(sender, self.state / "nightwatch.db", night.id, clock)

        return World(
            reading=ReadingPorts(
                errors=MemoryErrors(groups, traces),
                code=MemoryHost(self._code()),
                tracker=self._tracker(),
                knowledge=knowledge,
                agents=MemoryAgents(),
                model=MemoryModel([self._answer]),
                clock=clock,
            ),
            publishing=PublishingPorts(
                outbox=outbox,
                notifier=MemoryNotifier(),
                knowledge=Fused(knowledge, fuse, "write", "write_pattern", "rebuild_index"),
                nights=Fused(self.store, fuse, "keep", "finish"),
            ),
            state=self.state,
        )

    def _answer(self, conversation: Any) -> Any:
        """What the model says, as it is in the mood for the file that is to blame."""
        failing = conversation.case.trace.top.repo_path
        path = next(blamed for _, place, blamed in ERRORS.values() if place == failing)
        mood = self.moods.get(path, "fix")
        if mood in _TROUBLES:
            return _TROUBLES[mood]
        text = git(self.repository, "show", f"main:{path}").split("\n")[1].strip()
        tried = {"fix": "_net", "another fix": "_gross"}.get(mood, "")
        new = re.sub(r"(price|charge|country)\w*(?=[ (\]])", lambda name: name[0] + tried, text)
        edit = Edit(path=path, old=text, new=new, description="Rename it.")
        return Answer(
            title=f"{path} breaks",
            root_cause=f"{path}:2 does it",
            confidence="low" if mood == "low" else "medium",
            has_fix=bool(tried),
            file_changes=(edit,) if tried else (),
            evidence=(Evidence(path=path, line=2, quote="x" if mood == "unknown" else text),),
            suggested_next_steps=("Mend it.",),
        ).model_dump_json()

    # The people. Where there is no such item, they do nothing.

    def close_issue(self, item: OwnItem, reason: str) -> None:
        """Close an issue."""
        at = self.clock.now().astimezone(UTC)
        said = {"state": "closed", "state_reason": reason, "closed_at": _stamp(at)}
        self._edit(item, said)

    def reopen_issue(self, item: OwnItem) -> None:
        """Open it again."""
        reason = "reopened" if self.on_github else ""
        self._edit(item, {"state": "open", "state_reason": reason, "closed_at": None})

    def delete(self, item: OwnItem) -> None:
        """Delete an issue, as an owner may; its number is not given again."""
        if self.on_github:
            self.github.forget(item.number)
        else:
            Path(item.url).unlink(missing_ok=True)

    def rewrite(self, item: OwnItem, change: Callable[[str], str]) -> None:
        """Change an issue's text; of a file all of it."""
        if self.on_github:
            body = self.github.items[item.number]["body"]
            self.github.items[item.number]["body"] = change(body)
        else:
            path = Path(item.url)
            path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")

    def merge(self, item: OwnItem) -> None:
        """Merge a draft."""
        if self.on_github:
            github_people.merge(self.github, item.number)
            return
        branch = f"refs/heads/{item.branch}"
        tree = git(self.repository, "merge-tree", "--write-tree", "main", branch)
        made = git(
            self.repository, "commit-tree", tree, "-p", "main", "-p", branch,
            "-m", f"Merge {item.branch}",
        )  # fmt: skip
        git(self.repository, "update-ref", "refs/heads/main", made)

    def reject(self, item: OwnItem) -> None:
        """Close a draft unmerged."""
        if self.on_github:
            at = _stamp(self.clock.now().astimezone(UTC))
            self.github.items[item.number] |= {"state": "closed", "closed_at": at}
        else:
            git(self.repository, "update-ref", "-d", f"refs/heads/{item.branch}")

    def _edit(self, item: OwnItem, said: Mapping[str, Any]) -> None:
        if self.on_github:
            self.github.items[item.number] |= said
            return
        path = Path(item.url)
        meta, body = frontmatter.read(path.read_text(encoding="utf-8"))
        told = {name: value or "" for name, value in said.items()}
        path.write_text(frontmatter.render({**meta, **told}, body), encoding="utf-8")


_TROUBLES: Mapping[str, Exception] = {
    "give up": GiveUp("the model refuses"),
    "later": TryLater("the model is away"),
    "stop": StopTheNight("the key is not accepted"),
}


class _ShopsGitHub(GitHub):
    """A GitHub in the shop's time, which is not in a hurry, and does not give a number twice."""

    def __init__(self, folder: Path, clock: MemoryClock) -> None:
        super().__init__(folder)
        self._clock, self._last = clock, 0

    def _now(self) -> str:
        return _stamp(self._clock.now().astimezone(UTC))

    def _creates(self) -> None:
        """No limit a minute: a month passes in one."""

    def add_item(self, title: str, body: str, **more: Any) -> dict[str, Any]:
        self._last = max(self._last, *self.items, 0) + 1
        return super().add_item(title, body, **{"number": self._last, **more})

    def forget(self, number: int) -> None:
        """Delete an item."""
        self.items.pop(number, None)


def _stamp(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")
