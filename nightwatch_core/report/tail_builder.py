"""The long tail in a night's report: what batches said of it, what was submitted."""

from nightwatch_core.models.long_tail import LongTail
from nightwatch_core.models.report import RunReport
from nightwatch_core.report.builder import degrade
from nightwatch_core.text.units import plural


def add_long_tail(report: RunReport, tail: LongTail) -> RunReport:
    """Add what batches of the long tail took, and their troubles; nothing said degrades it.

    The errors themselves come last, with `with_long_tail`: there may be thousands, and every step
    is handed the report.
    """
    answered = sum(one.first_sight is not None for one in tail.judged)
    silent = f"none of {plural(len(tail.judged), 'error')} was judged at first sight"
    light = tail.model_copy(update={"judged": (), "kept": (), "waiting": ()})
    update = {"long_tail": light, "usage": report.usage + tail.usage}
    return degrade(report.model_copy(update=update), silent if tail.judged and not answered else "")


def with_long_tail(report: RunReport, tail: LongTail) -> RunReport:
    """Put the whole of the long tail into the report."""
    return report.model_copy(update={"long_tail": tail})
