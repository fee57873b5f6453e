"""Several error sources as one; one that fails leaves the others' answer partial."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from nightwatch_core.errors import NightWatchError, StopTheNight
from nightwatch_core.models.error import ErrorGroup, Fetched, Trace, Window
from nightwatch_core.ports import ErrorSource


class ManySources:
    """The ErrorSource port over named sources."""

    def __init__(self, sources: Mapping[str, ErrorSource]) -> None:
        """Ask `sources`, in their order."""
        self._sources = sources

    def window(self, lookback: timedelta | None, now: datetime) -> Window:
        """From the earliest beginning to the latest end."""
        windows = [source.window(lookback, now) for source in self._sources.values()]
        return Window(
            since=min(window.since for window in windows),
            until=max(window.until for window in windows),
        )

    def error_groups(self, window: Window) -> Fetched:
        """Everybody's groups; raises `StopTheNight` where nobody answered."""
        answers, troubles = [], []
        for name, source in self._sources.items():
            try:
                answers.append(source.error_groups(window))
            except NightWatchError as trouble:
                troubles.append(f"{name}: {trouble}")
        if not answers:
            raise StopTheNight("no error source answered: " + "; ".join(troubles))
        return Fetched(
            groups=tuple(group for answer in answers for group in answer.groups),
            window=window,
            rejects=tuple(reject for answer in answers for reject in answer.rejects),
            partial=(*(p for answer in answers for p in answer.partial), *troubles),
        )

    def traces(self, group: ErrorGroup, limit: int = 3) -> tuple[Trace, ...]:
        """The traces its own source has."""
        source = self._sources.get(group.source)
        return source.traces(group, limit) if source else ()

    def probe(self) -> str:
        """What everybody says."""
        return "; ".join(f"{name}: {source.probe()}" for name, source in self._sources.items())
