"""What asking at first sight needs, said before anything is done."""

from nightwatch_core.errors import StopTheNight
from nightwatch_core.intake.default_ports import RULES, is_sample
from nightwatch_core.models.long_tail import LongTail
from nightwatch_core.models.options import NightOptions

_NEEDED = (
    "a batch needs a language model that takes batches, and none is connected: set "
    "ANTHROPIC_API_KEY{sample}. Without a model, leave --batch (NIGHTWATCH_BATCH_MODE) out: the "
    "rules analyse at once, and nothing costs anything"
)
_SAMPLE = ", and name errors of your own (--errors FILE --repo CHECKOUT): the sample asks nobody"
_NO_TAIL = (
    "long_tail is on, but no language model is connected: nothing was asked about the errors that "
    "this night had no room for"
)


def check_batch_mode(options: NightOptions) -> None:
    """Raise `StopTheNight` with what is needed where all errors are to be a batch and cannot be.

    >>> check_batch_mode(NightOptions(model="rules"))
    """
    if options.batch_mode and options.model == RULES:
        raise StopTheNight(_NEEDED.format(sample=_SAMPLE if is_sample(options) else ""))


def asks_tail(options: NightOptions) -> bool:
    """Tell whether a night collects and submits its long tail.

    >>> asks_tail(NightOptions(model="claude-x", long_tail=True)), asks_tail(NightOptions())
    (True, False)
    """
    return options.long_tail and options.model != RULES


def without_tail(options: NightOptions) -> LongTail:
    """Make the value of a night without one; it says why, where one was asked for."""
    return LongTail(complaints=(_NO_TAIL,)) if options.long_tail else LongTail()
