"""Answers on the drafts that people rejected: what became of their review, once."""

from collections.abc import Iterable

from nightwatch_core.code.edits import fix_digest
from nightwatch_core.intake.default_ports import RULES
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.knowledge import Rejection
from nightwatch_core.models.proposals import Answer, OwnItem, Receipt, Skip
from nightwatch_core.models.report import RunReport
from nightwatch_core.publish.expected_value import effect_key, names_of
from nightwatch_core.publish.words import WORDS
from nightwatch_core.text.escaping import markdown
from nightwatch_core.text.markers import marker

MOST_ANSWERS = 10  # a night; the others follow on the next ones
_MADE = ("done", "already there")
_REASON = 300  # characters


def plan_answers(
    report: RunReport,
    own: tuple[OwnItem, ...],
    receipts: tuple[Receipt, ...],
    skips: tuple[Skip, ...],
) -> tuple[Answer, ...]:
    """Return a comment for each rejected draft of which something became.

    `receipts` and `skips` are this night's. A night that makes no drafts comments on none.
    """
    base, night, options = report.base or report.commit, report.night.id, report.options
    if base is None or options.highest_tier()[0] != "draft":
        return ()
    closed = {item.number for item in own if (item.kind, item.state) == ("pull", "closed")}
    answers: list[Answer] = []
    for rejection in report.rejections:
        text = _result(rejection, report, own, receipts, skips)
        if not text or rejection.number not in closed:
            continue
        key = effect_key("answer", base.repository, str(rejection.number))
        answers.append(
            Answer(
                key=key,
                fingerprint=rejection.fingerprint,
                number=rejection.number,
                body=f"{marker(rejection.fingerprint, key, night)}\n\n{text}\n",
            )
        )
    return tuple(answers[:MOST_ANSWERS])


def _result(
    rejection: Rejection,
    report: RunReport,
    own: tuple[OwnItem, ...],
    receipts: tuple[Receipt, ...],
    skips: tuple[Skip, ...],
) -> str:
    """Say what became of a rejection; empty while nothing did."""
    words, names = WORDS["answers"], frozenset(rejection.names)
    if proposed := _another_draft(rejection.number, names, own, receipts, report):
        return words["draft"].format(draft=proposed)
    analysis = next((one for one in report.analyses if names & names_of(one)), None)
    if analysis is not None and _took_it_in(analysis, rejection):
        if analysis.has_fix and fix_digest(analysis.fix) not in analysis.rejected:
            reason = _why_not(analysis, skips)
            return words["withheld"].format(reason=markdown(reason, _REASON)) if reason else ""
        return words["rules" if analysis.model == RULES else "none"]
    return words["stopped"].format(since=rejection.stopped) if rejection.stopped else ""


def _another_draft(
    rejected: int,
    names: frozenset[str],
    own: Iterable[OwnItem],
    receipts: Iterable[Receipt],
    report: RunReport,
) -> str:
    """Name the newest other draft for the error; empty for none."""
    is_patch = report.options.publish == "patches"
    made = [
        receipt.number
        for receipt in receipts
        if receipt.kind == "pull" and receipt.status in _MADE and names & receipt.names
    ]
    if numbers := [number for number in made if number and number != rejected]:
        return f"a patch on issue #{numbers[0]}" if is_patch else _draft(numbers[0], report)
    later = [
        item.number
        for item in own
        if item.kind == "pull" and item.state in ("open", "merged") and names & item.names
        if item.number > rejected and not item.as_patch
    ]
    return _draft(max(later), report) if later else ""


def _draft(number: int, report: RunReport) -> str:
    return f"draft {report.options.pull_sign}{number}"


def _took_it_in(analysis: Analysis, rejection: Rejection) -> bool:
    """Tell whether an analysis of this night knew of the rejection."""
    is_fresh = analysis.ending.kind != "reused" and not analysis.by_fallback
    return is_fresh and rejection.number in analysis.failed_pulls


def _why_not(analysis: Analysis, skips: Iterable[Skip]) -> str:
    """Return why another fix is no draft; empty where a later night may still make it one."""
    names = names_of(analysis)
    waits = analysis.gate is not None and analysis.gate.kind == "enough"
    skip = next((one for one in skips if one.kind == "pull" and one.fingerprint in names), None)
    return "" if skip is None or skip.cause == "limit" or waits else skip.reason
