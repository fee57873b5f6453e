"""The shop's story as GitHub and New Relic hold it."""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from connected import shop
from connected.standins import Bell, TodaysGitHub
from git_repositories import git
from services import sentry
from services.nerdgraph import NerdGraphService, frame, inbox_group
from services.sentry import SentryService

FIRST_SEEN, LAST_SEEN = timedelta(hours=20), timedelta(minutes=20)  # ago


def a_github(folder: Path, bell: Bell, now: datetime) -> TodaysGitHub:
    """The repository with its history, and the pull requests that made it."""
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet", "--bare", "--initial-branch=main")
    git(folder, "fast-import", "--quiet", stdin=_stream(now))
    github = TodaysGitHub(folder, bell, repository=shop.REPOSITORY)
    shas = git(folder, "rev-list", "--reverse", "main").split()
    for merged, sha in zip(shop.HISTORY, shas, strict=True):
        if merged.number:
            at = now - merged.ago
            github.add_merged(merged.number, merged.message, sha, at, list(merged.files))
    return github


def a_newrelic(now: datetime, errors: Iterable[shop.Failing], released: str) -> NerdGraphService:
    """The errors; what the team said about them in the Errors Inbox; the release that runs."""
    service = NerdGraphService(now)
    for error in errors:
        fails(service, error)
    fails(service, shop.IGNORED)
    fails(service, shop.EXPECTED, **{"error.expected": True})
    back, noise = shop.NO_ADDRESS, shop.IGNORED
    since = {"regressedAt": _milliseconds(now - FIRST_SEEN)}
    service.inbox = [
        inbox_group("back", back.message, "UNRESOLVED", **since) | {"name": back.error_class},
        inbox_group("noise", noise.message, "IGNORED") | {"name": noise.error_class},
    ]
    made = next(change for change in shop.HISTORY if change.tag == shop.RELEASE)
    at = _milliseconds(now - made.ago)
    service.deployments = [{"version": shop.RELEASE, "commit": released, "timestamp": at}]
    return service


def a_sentry(
    now: datetime, errors: Iterable[shop.Failing], culprits: Mapping[str, str] = {}
) -> SentryService:
    """The same errors as Sentry has them, some under another name of the transaction."""
    service = SentryService(now)
    for error in (*errors, shop.IGNORED):
        step = (FIRST_SEEN - LAST_SEEN) / error.occurrences
        times = [FIRST_SEEN - step * number for number in range(error.occurrences)]
        own = error is not shop.IGNORED
        lines = map(_RUBY.fullmatch, reversed(shop.frames(error))) if error.path else ()
        frames = [
            sentry.frame(line[1], int(line[2]), line[3], "/gems/" not in line[1])
            for line in lines
            if line
        ]
        culprit = culprits.get(error.transaction, error.transaction)
        release = {"version": f"shop@{shop.RELEASE.removeprefix('v')}", "lastCommit": None}
        service.error(
            error.error_class, culprit, error.message, frames, times,
            status="unresolved" if own else "ignored",
            event={"platform": "ruby", "release": release, "tags": {"transaction": culprit}},
        )  # fmt: skip
    return service


_RUBY = re.compile(r"(.+):(\d+):in '(?:.*#)?(.+)'")


def _stream(now: datetime) -> bytes:
    """The history for `git fast-import`."""
    parts = []
    for mark, merged in enumerate(shop.HISTORY, start=1):
        at = int((now - merged.ago).timestamp())
        who = f"Ann Lee <ann@shop.example> {at} +0000"
        subject = f"{merged.message} (#{merged.number})" if merged.number else merged.message
        parts.append(f"commit refs/heads/main\nmark :{mark}\nauthor {who}\ncommitter {who}\n")
        parts.append(f"data {len(subject.encode())}\n{subject}\n")
        parts += [f"from :{mark - 1}\n"] if mark > 1 else []
        parts += [_file(path, text) for path, text in merged.files.items()]
        parts.append("\n")
        parts += [f"reset refs/tags/{merged.tag}\nfrom :{mark}\n\n"] if merged.tag else []
    return "".join(parts).encode()


def _file(path: str, text: str) -> str:
    return f"M 100644 inline {path}\ndata {len(text.encode())}\n{text}\n"


def fails(service: NerdGraphService, error: shop.Failing, **more: Any) -> None:
    """Its occurrences, evenly between first and last; New Relic kept two traces."""
    traced = [frame(line) for line in shop.frames(error)] if error.path else None
    for number in range(error.occurrences):
        share = number / max(error.occurrences - 1, 1)
        service.error(
            error.error_class,
            error.transaction,
            error.message,
            FIRST_SEEN - (FIRST_SEEN - LAST_SEEN) * share,
            traced if number in (0, error.occurrences - 1) else None,
            **{"service.version": shop.RELEASE, "host": f"web-{number % 2}"}
            | {"userId": f"u{number % 5}", **more},
        )


def _milliseconds(at: datetime) -> int:
    return round(at.timestamp() * 1_000)
