"""What can go wrong, named by what to do about it."""


class NightWatchError(Exception):
    """Everything we raise on purpose; the message says what to do."""


class TryLater(NightWatchError):
    """A neighbour is unwell (429, 5xx, timeout, cut stream): try this step again."""


class GiveUp(NightWatchError):
    """Trying again cannot help: this error's run ends, the night goes on."""


class StopTheNight(NightWatchError):
    """Nothing can be done tonight (bad credentials, spend limit, unreadable settings)."""
