"""The parts of a report that are not analyses: what was dropped, failed and rejected, and how."""

from collections.abc import Iterable

from nightwatch_core.models.error import DroppedGroup
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import RunReport
from nightwatch_core.report.hints import command
from nightwatch_core.report.spent import accounted
from nightwatch_core.report.values import Bunch, DroppedError, Fact, Limits, Line
from nightwatch_core.text.escaping import line
from nightwatch_core.text.words import Some, caching, capped, lasting, moment, spending

COUNTED = "by the analyses; research before them is not counted"
FILES = ("report.html", "report.md", "report.json")


def warnings(report: RunReport, limits: Limits) -> tuple[str, ...]:
    """Why the night is not complete; never empty where it is not."""
    said = capped([line(each, 500) for each in report.degraded], limits.lines)
    if report.status == "complete" or said:
        return said
    return ("The night ended without saying why: see the flow run's log.",)


def failures(report: RunReport, limits: Limits) -> Some[Line]:
    """Analyses that did not come about, with how to try again."""
    lines = [
        Line(
            head=line(failure.case.title, 200),
            text=line(failure.reason, 500),
            small=command(failure.case.fingerprint),
        )
        for failure in report.failures[: limits.lines]
    ]
    return Some(items=tuple(lines), more=len(report.failures) - len(lines))


def dropped(report: RunReport, limits: Limits) -> Some[Bunch]:
    """Groups that were not analysed, by reason, the largest bunch first."""
    by_reason: dict[str, list[DroppedGroup]] = {}
    for each in report.dropped:
        by_reason.setdefault(line(each.reason, 200) or "no reason given", []).append(each)
    ordered = sorted(by_reason.items(), key=lambda item: (-len(item[1]), item[0]))
    bunches = tuple(_bunch(reason, each, limits) for reason, each in ordered[: limits.reasons])
    return Some(items=bunches, more=len(ordered) - len(bunches))


def _bunch(reason: str, members: list[DroppedGroup], limits: Limits) -> Bunch:
    groups = sorted((each.group for each in members), key=lambda group: -group.occurrences)
    examples = tuple(
        DroppedError(
            error=line(group.title, 200),
            count=group.occurrences,
            fingerprint=line(group.fingerprint, 100),
        )
        for group in groups[: limits.examples]
    )
    return Bunch(
        reason=reason,
        groups=len(groups),
        count=sum(group.occurrences for group in groups),
        examples=Some(items=examples, more=len(groups) - len(examples)),
    )


def rejects(report: RunReport, limits: Limits) -> Some[Line]:
    """Records that could not be read."""
    lines = tuple(
        Line(head=line(each.place, 200), text=line(each.reason, 300), small=line(each.text, 160))
        for each in report.rejects[: limits.lines]
    )
    return Some(items=lines, more=len(report.rejects) - len(lines))


def facts(report: RunReport) -> Iterable[Fact]:
    """Under which conditions all this was found."""
    night, commit = report.night, report.commit
    resumed = " (resumed)" if night.resumed else ""
    took = lasting(report.finished - report.started)
    window = f"{moment(night.window.since)} to {moment(night.window.until)}"
    yield Fact(name="Night", text=line(night.id, 120) + resumed)
    yield Fact(name="Window", text=window)
    yield Fact(name="Ran", text=f"{moment(report.started)}, took {took}")
    if commit:
        because = f" ({commit.because})" if commit.because else ""
        at = f"{commit.repository} at {commit.sha[:12]} {commit.branch}".rstrip()
        yield Fact(name="Code", text=line(f"{at}{because}", 300))
    models = sorted({each.model for each in report.analyses if each.model})
    if models or report.options.model:
        yield Fact(name="Analyst", text=line(", ".join(models) or report.options.model, 200))
    yield Fact(name="Used", text=spending(report.usage))
    yield from accounted(report.accounts)
    if cached := code_cache(report):
        yield Fact(name="Code cache", text=cached)
    chosen = ", ".join(_chosen(report.options))
    yield Fact(name="Options", text=line(chosen, 1_000) if chosen else "all defaults")


def code_cache(report: RunReport) -> str:
    """What the code cache did for the analyses; empty where the code was local."""
    return f"{caching(report.code_reads)} ({COUNTED})" if report.code_reads else ""


def _chosen(options: NightOptions) -> Iterable[str]:
    """Options that differ from their defaults."""
    for name, field in NightOptions.model_fields.items():
        value = getattr(options, name)
        if value != field.default:
            yield f"{name}={value}"


def files(report: RunReport) -> tuple[str, ...]:
    """Paths of what the night left on disk; empty before it has a folder."""
    folder = line(report.night.folder, 1_000).rstrip("/")
    names = (*FILES, "rejects.jsonl") if report.rejects else FILES
    return tuple(f"{folder}/{name}" for name in names) if folder else ()
