"""What a night does when a service fails: one cell a way of failing, each a whole night."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from connected import shop
from connected.world import Night, World

ALWAYS = 2_000  # requests
A_DAY = "86400"
AT_ONCE = 4  # nights
ERRORS = (shop.BROKEN_BASKET, shop.NO_RATE)
ALL = "2 issues, 1 draft, told"


@dataclass(frozen=True)
class Cell:
    """A way to fail, and what has to come of it.

    `says` is looked for in what the report calls degraded or refused, `published` has the form of
    `ALL`.
    """

    service: str
    way: str
    breaks: Callable[[World], object]
    code: int
    says: str
    published: str

    @property
    def name(self) -> str:
        return f"{self.service} · {self.way}"


@dataclass(frozen=True)
class Outcome:
    """What came of a cell."""

    night: Night
    published: str
    headline: str  # what Slack shows first
    twice: list[str]  # keys of issues and drafts, parts of Slack's thread


def new_relic(how: str, match: str = "", **given: object) -> Callable[[World], object]:
    return lambda world: world.newrelic.fail(how, match, times=ALWAYS, **given)


def github(status: int, **headers: str) -> Callable[[World], object]:
    told = {name.replace("_", "-"): value for name, value in headers.items()}

    def breaks(world: World) -> None:
        for method in ("GET", "POST"):
            world.github.fail(method, "", status=status, headers=told, times=ALWAYS)

    return breaks


def forbidden(*permissions: str) -> Callable[[World], object]:
    def breaks(world: World) -> None:
        world.github.permissions |= dict.fromkeys(permissions, "read")

    return breaks


def lost_answers(world: World) -> None:
    for pattern in ("/issues$", "/git/refs$", "/pulls$"):
        world.github.fail("POST", pattern, stored=True)


def claude(kind: str, **said: str) -> Callable[[World], object]:
    return lambda world: world.claude.fail(kind, ALWAYS, path="/v1/", **said)


def slack(kind: str, value: str = "", times: int = ALWAYS) -> Callable[[World], object]:
    return lambda world: world.slack.fail("chat.postMessage", kind, times=times, value=value)


CELLS: tuple[Cell, ...] = (
    Cell("New Relic", "503 all along", new_relic("status", status=503), 1, "unwell", "told"),
    Cell("New Relic", "429, Retry-After a day", new_relic("429", retry_after=A_DAY), 1,
         "fewer requests", "told"),
    Cell("New Relic", "401", new_relic("status", status=401), 1, "NEW_RELIC_API_KEY", "told"),
    Cell("New Relic", "answers truncated", new_relic("truncated"), 1, "cut off", "told"),
    Cell("New Relic", "Errors Inbox denied", new_relic("errors", "ErrorGroups",
         code="ACCESS_DENIED"), 3, "Errors Inbox could not be read", ALL),
    Cell("New Relic", "no traces to be had", new_relic("status", "exception(", status=503), 3,
         "traces of 2 error groups could not be read", "told"),
    Cell("GitHub", "502 all along", github(502), 1, "GitHub", "told"),
    Cell("GitHub", "429, Retry-After a day", github(429, retry_after=A_DAY), 1,
         "asks to wait", "told"),
    Cell("GitHub", "401", github(401), 1, "GITHUB_TOKEN", "told"),
    Cell("GitHub", "may not write issues", forbidden("issues"), 3, "issues=write",
         "1 draft, told"),
    Cell("GitHub", "may not write code", forbidden("contents"), 3, "contents=write",
         "2 issues, told"),
    Cell("GitHub", "may not be cloned", lambda world: setattr(world.github, "has_clone", False),
         0, "", ALL),
    Cell("GitHub", "502 after issue, branch and draft were stored", lost_answers, 0, "", ALL),
    # The rules know neither cause, and an unknown cause is no issue.
    Cell("Claude", "529 all along", claude("529"), 3, "rules", "told"),
    Cell("Claude", "429, Retry-After a day", claude("429", retry_after=A_DAY), 3, "rules",
         "told"),
    Cell("Claude", "401", claude("401"), 1, "ANTHROPIC_API_KEY", "told"),
    Cell("Claude", "every stream cut", claude("cut"), 3, "rules", "told"),
    Cell("Slack", "500 all along", slack("500"), 3, "telling the team", "2 issues, 1 draft"),
    Cell("Slack", "429, Retry-After a day", slack("429", A_DAY), 3, "asks to wait",
         "2 issues, 1 draft"),
    Cell("Slack", "invalid_auth", slack("invalid_auth"), 3, "SLACK_BOT_TOKEN",
         "2 issues, 1 draft"),
    Cell("Slack", "channel gone", lambda world: world.slack.channels.clear(), 3,
         "channel_not_found", "2 issues, 1 draft"),
    Cell("Slack", "answer lost after posting", slack("cut after", times=1), 0, "", ALL),
)  # fmt: skip


def run(cell: Cell, folder: Path, prefect: str) -> Outcome:
    """One night in which the cell's service fails."""
    with World(folder, ERRORS, prefect) as world:
        cell.breaks(world)
        night = world.night()
        counted = (
            (len(world.github.issues()), "issue"),
            (sum(bool(pull["draft"]) for pull in world.github.pulls()), "draft"),
        )
        told = [f"{n} {what}{'s' * (n > 1)}" for n, what in counted if n]
        told += ["told"] if world.slack.shown() else []
        shown = world.slack.shown()
        first = shown[0].text if shown else ""
        return Outcome(night, ", ".join(told), first, world.published_twice())


def run_all(cells: Sequence[Cell], folder: Path, prefect: str) -> dict[str, Outcome]:
    """All cells by name, several at once: their nights mostly wait."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        folders = (folder / f"{number}" for number in range(len(cells)))
        found = list(pool.map(run, cells, folders, [prefect] * len(cells)))
    return {cell.name: outcome for cell, outcome in zip(cells, found, strict=True)}
