"""Deployments and tags as one list of releases, and the commit that a version stands for."""

import re
from collections.abc import Callable, Iterable

from nightwatch_core.code.limits import RELEASES
from nightwatch_core.models.code import Release

_SHA = re.compile(r"[0-9a-f]{7,64}")


def _as_it_is(version: str) -> str:
    return version


def _bare(version: str) -> str:
    """Without the application of "shop@1.2" and the v of "v1.2"."""
    return version.rpartition("@")[2].removeprefix("v")


# How two names may be one version; the first way that finds any wins.
SPELLINGS: tuple[Callable[[str], str], ...] = (_as_it_is, _bare)


def merged(tagged: Iterable[Release], deployed: Iterable[Release]) -> tuple[Release, ...]:
    """Join both lists as one, newest first, at most 200; `sha` is empty where nobody knows it.

    A release that was deployed is listed once for each time it replaced another one, at the time
    and under the name of its deployment, with the sha of its tag. A tag that no deployment names
    stands for itself.
    """
    tags = tuple(tagged)
    known: list[Release] = []
    for release in sorted(deployed, key=lambda one: one.at):
        full = release.model_copy(update={"sha": _full(release, tags)})
        again = known and (known[-1].version, known[-1].sha) == (full.version, full.sha)
        known += [] if again else [full]
    rest = (tag for tag in tags if not any(_same(tag, one) for one in known))
    releases = sorted((*known, *rest), key=lambda one: (one.at, one.version), reverse=True)
    return tuple(releases[:RELEASES])


def sha_of(version: str, deployed: Iterable[Release]) -> str:
    """Give the commit that was deployed last under this version; empty where no deployment tells.

    >>> from datetime import UTC, datetime
    >>> at = datetime(2026, 11, 20, tzinfo=UTC)
    >>> sha_of("1.2", (Release(version="v1.2", sha="0A1B2C3D", at=at),))
    '0a1b2c3d'
    """
    known = [one for one in deployed if _commit(one.sha)]
    for spelling in SPELLINGS if version.strip() else ():
        wanted = spelling(version.strip())
        same = [one for one in known if spelling(one.version.strip()) == wanted]
        if same:
            return _commit(max(same, key=lambda one: one.at).sha)
    return ""


def _full(release: Release, tags: tuple[Release, ...]) -> str:
    """The whole sha of a deployment, where a tag knows it; whoever deploys may write anything."""
    sha = _commit(release.sha)
    if sha:
        return next((tag.sha for tag in tags if tag.sha.startswith(sha)), sha)
    return sha_of(release.version, tags)


def _same(tag: Release, release: Release) -> bool:
    if release.sha:
        return tag.sha == release.sha
    return _bare(tag.version) == _bare(release.version)


def _commit(text: str) -> str:
    """A sha, whole or shortened; empty for anything else."""
    wanted = text.strip().lower()
    return wanted if _SHA.fullmatch(wanted) else ""
