"""Several error sources as one; one that fails leaves the others' answer partial."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import TypeVar

from nightwatch_core.errors import NightWatchError, StopTheNight, TryLater
from nightwatch_core.models.code import Release
from nightwatch_core.models.error import ErrorGroup, Fetched, Window
from nightwatch_core.models.trace import Trace
from nightwatch_core.ports import ErrorSource

T = TypeVar("T")


class ManySources:
    """The ErrorSource port over named sources; groups name theirs in `source`."""

    def __init__(self, sources: Mapping[str, ErrorSource]) -> None:
        """Ask `sources`, in their order."""
        if not sources:
            raise StopTheNight("no error source is named: choose one with --source")
        self._sources = sources

    def window(self, lookback: timedelta | None, now: datetime) -> Window:
        """From the earliest beginning to the latest end of those that answer."""
        windows, _ = self._answers(lambda source: source.window(lookback, now))
        return Window(
            since=min(window.since for window in windows),
            until=max(window.until for window in windows),
        )

    def error_groups(self, window: Window) -> Fetched:
        """Everybody's groups; a group that several sources know is counted once.

        Where nobody answers, raises `TryLater` if all are unwell, else `StopTheNight`.
        """
        answers, troubles = self._answers(lambda source: source.error_groups(window))
        return Fetched(
            groups=_each_once(group for answer in answers for group in answer.groups),
            window=window,
            rejects=tuple(reject for answer in answers for reject in answer.rejects),
            partial=(*(p for answer in answers for p in answer.partial), *troubles),
            left_out=tuple(sentence for answer in answers for sentence in answer.left_out),
            whole=not troubles and all(answer.whole for answer in answers),
            traffic=None if troubles else _traffic(answers),
        )

    def traces(self, group: ErrorGroup, limit: int = 3) -> tuple[Trace, ...]:
        """The traces its own source has."""
        source = self._sources.get(group.source)
        return source.traces(group, limit) if source else ()

    def releases(self) -> tuple[Release, ...]:
        """The deployments of those that answer, newest first."""
        answers, _ = self._answers(lambda source: source.releases())
        releases = (release for answer in answers for release in answer)
        return tuple(sorted(releases, key=lambda release: release.at, reverse=True))

    def probe(self) -> str:
        """What everybody says; raises `StopTheNight` where one of them cannot be reached."""
        texts, troubles = self._answers(lambda source: source.probe())
        if troubles:
            raise StopTheNight("; ".join((*troubles, *texts)))
        return "; ".join(f"{name}: {text}" for name, text in zip(self._sources, texts, strict=True))

    def _answers(self, ask: Callable[[ErrorSource], T]) -> tuple[list[T], list[str]]:
        """What the sources answer, and what went wrong with those that do not."""
        answers: list[T] = []
        troubles: dict[str, NightWatchError] = {}
        for name, source in self._sources.items():
            try:
                answers.append(ask(source))
            except NightWatchError as trouble:
                troubles[name] = trouble
        texts = [f"{name}: {trouble}" for name, trouble in troubles.items()]
        if answers:
            return answers, texts
        unwell = all(isinstance(trouble, TryLater) for trouble in troubles.values())
        kind = TryLater if unwell else StopTheNight
        raise kind("no error source answered: " + "; ".join(texts))


def _traffic(answers: Iterable[Fetched]) -> int | None:
    """Everybody's transactions together; None where one does not know its own.

    Errors of all are counted, so the transactions of some would make every rate too high, and by
    another factor on every night on which another source has none.
    """
    counts = [answer.traffic for answer in answers]
    numbers = [count for count in counts if count is not None]
    return sum(numbers) if len(numbers) == len(counts) else None


def _each_once(groups: Iterable[ErrorGroup]) -> tuple[ErrorGroup, ...]:
    """One group a fingerprint, the one with most occurrences: they are the same ones twice."""
    best: dict[str, ErrorGroup] = {}
    former: dict[str, dict[str, None]] = {}
    for group in groups:
        former.setdefault(group.fingerprint, {}).update(dict.fromkeys(group.formerly))
        if group.occurrences > best.setdefault(group.fingerprint, group).occurrences:
            best[group.fingerprint] = group
    return tuple(
        group.model_copy(update={"formerly": tuple(former[name])}) for name, group in best.items()
    )
