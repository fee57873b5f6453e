"""Errors, named by what to do about them."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nightwatch_core.models.analysis import Ending
    from nightwatch_core.models.answer import Usage


class NightWatchError(Exception):
    """Everything we raise on purpose; the message says what to do."""

    usage: "Usage | None" = None  # what an analysis had used before it ended so
    ending: "Ending | None" = None  # how a conversation ended without an answer
    printed: str = ""  # by a program that failed


class TryLater(NightWatchError):
    """A neighbour is unwell (429, 5xx, timeout, cut stream): try this step again."""


class MayHaveArrived(TryLater):
    """The request may have been carried out: look before repeating it."""


class GiveUp(NightWatchError):
    """Trying again cannot help: this error's run ends, the night goes on."""


class StopTheNight(NightWatchError):
    """Nothing can be done tonight (bad credentials, spend limit, unreadable settings)."""


class NotTonight(StopTheNight):
    """Nothing began, and nothing is wrong: another process is at it, or nobody was meant."""
