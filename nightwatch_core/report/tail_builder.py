"""The long tail in a night's report: what batches said of it, what was submitted."""

from nightwatch_core.models.long_tail import LongTail
from nightwatch_core.models.report import RunReport
from nightwatch_core.report.builder import degrade
from nightwatch_core.text.units import plural


def add_long_tail(report: RunReport, tail: LongTail) -> RunReport:
    """Add what batches said of the long tail, and what they took; nothing said degrades it."""
    answered = sum(one.first_sight is not None for one in tail.judged)
    silent = f"none of {plural(len(tail.judged), 'error')} was judged at first sight"
    usage = report.usage + tail.usage
    update = {"long_tail": tail, "usage": usage}
    return degrade(report.model_copy(update=update), silent if tail.judged and not answered else "")


def with_submitted(report: RunReport, tail: LongTail) -> RunReport:
    """Replace the long tail by the same with what was submitted."""
    return report.model_copy(update={"long_tail": tail})
