"""What has to hold of a night in which a service broke, and of the healthy one after it."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from connected.fault_cells import Cell

from nightwatch_core.models.report import EXIT_CODES, RunReport
from nightwatch_core.text.markers import read_marker

if TYPE_CHECKING:
    from connected.fault_nights import FaultyWorld
    from connected.world import Night

LONGEST_WAIT = 900.0  # seconds of pauses in a night, for one service
THERE = ("done", "already there")
SEEN = 40  # characters of a reason that are looked for


class Clean(NamedTuple):
    """A night in which nothing breaks."""

    calls: dict[str, list[str]]
    verdicts: dict[str, dict[str, Any]]
    keys: frozenset[str]


def verdicts(report: RunReport) -> dict[str, dict[str, Any]]:
    """What the model said of each error, by class; what rules said of it is left out."""
    names = {"title", "root_cause", "confidence", "evidence", "fix", "suspect_commit", "next_steps"}
    return {
        analysis.case.leader.error_class: analysis.model_dump(mode="json", include=names)
        for analysis in report.analyses
        if analysis.ending.kind in ("answered", "reused")
        and not analysis.by_fallback
        and analysis.case.trace
    }


def wrong(cell: Cell, known: Clean, world: "FaultyWorld", night: "Night") -> Iterator[str]:
    """Everything that should not be so after the night of a cell."""
    if "Traceback" in night.output or "unforeseen" in night.output:
        yield f"no typed outcome: {night.code}"
    if not night.report:
        yield "no report"
        return
    report = RunReport.model_validate(night.report)
    if EXIT_CODES[report.status] != night.code:
        yield f"{report.status}, and code {night.code}"
    if not world.proxies[cell.service].met:
        yield "the fault was not met"
    if world.elsewhere.heard:
        yield f"went elsewhere: {world.elsewhere.heard[:2]}"
    yield from (f"waited {s:,.0f} s" for s in world.waited() if s > LONGEST_WAIT)
    yield from _unequal(cell, known, report)
    yield from _unpublished(world, report)
    if report.status == "complete" and known.keys - world.held().keys():
        yield "complete, and not all is published"
    billed = world.claude.bills.totals["output_tokens"]
    if cell.service != "claude" and report.usage.output_tokens != billed:
        yield f"{billed} tokens of output were paid, {report.usage.output_tokens} are told"
    yield from _untold(cell, world, report, night.output)
    yield from (f"twice: {item}" for item in twice(world))


def _unequal(cell: Cell, known: Clean, report: RunReport) -> Iterator[str]:
    """Verdicts that are there are those of the clean night; errors without one are named."""
    came = verdicts(report)
    for error, verdict in came.items():
        if verdict != known.verdicts[error]:
            yield f"another verdict of {error}"
    named = json.dumps(report.model_dump(mode="json", include={"analyses", "failures", "dropped"}))
    for error in sorted(known.verdicts.keys() - came.keys()):
        if report.errors and error not in named:
            yield f"{error} is not named"
        if cell.service == "slack" or not cell.lasting:
            yield f"{error} has no verdict"
        if report.status == "complete":
            yield f"complete without {error}"


def _unpublished(world: "FaultyWorld", report: RunReport) -> Iterator[str]:
    """Receipts are what GitHub holds."""
    held = world.held()
    done = {receipt.key: receipt for receipt in report.receipts if receipt.status in THERE}
    unsure = {receipt.key for receipt in report.receipts if receipt.status == "unknown"}
    for key in held.keys() - done.keys() - unsure:
        yield f"published and not in the report: #{held[key]}"
    for key in done.keys() - held.keys():
        yield f"in the report and not published: {done[key].kind}"
    for key in done.keys() & held.keys():
        if done[key].number != held[key]:
            yield f"another number: {done[key].number}, not {held[key]}"


def _untold(cell: Cell, world: "FaultyWorld", report: RunReport, output: str) -> Iterator[str]:
    slack = _plain(json.dumps([[item.text, item.blocks] for item in world.slack.shown()]))
    terminal = _plain(output)
    if report.status != "complete" and not report.degraded:
        yield f"{report.status} without a reason"
    for why in report.degraded:
        is_all = report.status != "failed" or why == report.degraded[-1]
        if is_all and _plain(why)[:SEEN] not in terminal:
            yield f"the terminal does not say: {why[:60]}"
        if cell.service != "slack" and _plain(why.partition("/")[0])[:SEEN] not in slack:
            yield f"the team is not told: {why[:60]}"
    if not world.slack.shown() and not (cell.service == "slack" and report.unsent):
        yield "the team is told nothing"


def _plain(text: str) -> str:
    """Letters and digits alone, however a text is escaped and folded."""
    return re.sub(r"\\u[0-9a-f]{4}|\\n|&\w+;|[^A-Za-z0-9]", "", text)


def wrong_after(
    known: Clean, world: "FaultyWorld", before: "Night", night: "Night"
) -> Iterator[str]:
    """Everything that should not be so after a healthy night that followed."""
    if night.code != 0:
        yield f"code {night.code}: {night.report.get('degraded')}"
    missing = known.keys - world.held().keys()
    if missing:
        yield f"{len(missing)} of {len(known.keys)} are still not published"
    if world.held().keys() - known.keys:
        yield "something else was published"
    branches = [branch for branch in world.github.branches() if branch != "main"]
    if len(branches) > 1:
        yield f"branches: {branches}"
    if any(read_marker(pull["body"]) and not pull["draft"] for pull in world.github.pulls()):
        yield "a pull request that is no draft"
    told = {night for night, _ in world.slack.parts()}
    if before.report and before.report["night"]["id"] not in told:
        yield "nobody was told of the night that broke"
    yield from (f"twice: {item}" for item in twice(world))


def twice(world: "FaultyWorld") -> list[str]:
    """Keys of issues and drafts, and parts of one night's thread, that are there twice."""
    marked = (read_marker(item["body"]) for item in world.github.items.values())
    keys = [marker.key for marker in marked if marker]
    return [str(one) for one, n in Counter([*keys, *world.slack.parts()]).items() if n > 1]
