"""The time of this machine."""

import time
from datetime import datetime


class SystemClock:
    """The Clock port on the operating system, in its time zone."""

    def now(self) -> datetime:
        """The present."""
        return datetime.now().astimezone()

    def monotonic(self) -> float:
        """Seconds since the machine started, or so."""
        return time.monotonic()


def pause(seconds: float) -> None:
    """Wait that long."""
    time.sleep(seconds)
