"""What a change does instead of mending the cause, if it does."""

from collections.abc import Callable, Iterator

from nightwatch_core.code.band_aids.casts import casts
from nightwatch_core.code.band_aids.guards import guard_only
from nightwatch_core.code.band_aids.handlers import swallowed, widened
from nightwatch_core.code.band_aids.inflation import inflated
from nightwatch_core.code.band_aids.lenient import lenient
from nightwatch_core.code.band_aids.quieting import (
    ignored_warning,
    lowered_log_level,
    silenced_report,
    widened_ignore,
)
from nightwatch_core.code.band_aids.values import BandAid, Change
from nightwatch_core.code.band_aids.weakening import (
    commented_out,
    weakened_test,
    weakened_validation,
)

# Surest first: the first that fits names the change.
RULES: tuple[Callable[[Change], Iterator[BandAid]], ...] = (
    commented_out,
    weakened_test,
    widened,
    swallowed,
    silenced_report,
    lowered_log_level,
    ignored_warning,
    widened_ignore,
    inflated,
    casts,
    lenient,
    guard_only,
    weakened_validation,
)


def band_aids(path: str, before: str, after: str) -> tuple[BandAid, ...]:
    r"""List what a change to one file does instead of mending the cause, surest first.

    >>> before = "def price(order):\n    return order.net\n"
    >>> after = "def price(order):\n    if order is None:\n        return 0\n    return order.net\n"
    >>> [one.kind for one in band_aids("shop/price.py", before, after)]
    ['masking_default']
    >>> asked = after.replace("return 0", "raise ValueError('an order is needed')")
    >>> band_aids("shop/price.py", before, asked)
    ()
    """
    if before == after:
        return ()
    change = Change(path, before, after)
    return tuple(one for rule in RULES for one in rule(change))
