"""Reports of invented nights, for every rendering's tests."""

import json
from datetime import UTC, datetime
from typing import Any

from core.proof_shapes import FELL_THROUGH, PROVED, UNPROVED
from core.scoreboard_shapes import drafts, record
from tables import tables_of

from nightwatch_core.code.diffs import file_diffs
from nightwatch_core.memory.scoreboard import calibrated, scoreboard, with_drafts
from nightwatch_core.models.analysis import Analysis, Ending, Failure
from nightwatch_core.models.answer import Handover
from nightwatch_core.models.code import CodeReads
from nightwatch_core.models.errors import (
    Case,
    DroppedGroup,
    ErrorGroup,
    RejectedRecord,
    Trace,
    Triage,
)
from nightwatch_core.models.knowledge import OutcomeUpdate
from nightwatch_core.models.options import Health
from nightwatch_core.models.proposals import Skip, SkipCause
from nightwatch_core.models.report import LearningResult, RunReport
from nightwatch_core.publish.blocks import FULL, Limits
from nightwatch_core.report.view import view

TABLES = tables_of(__file__)

NOW = datetime(2026, 11, 20, 4, 0, tzinfo=UTC)
HOSTILE = (
    "</title></td><script>alert(1)</script><img src=x onerror=alert(1)> ![x](https://evil.example/a)"
    " [click](javascript:alert(1)) @octocat fixes #1 GH-2 \x1b[31mred\x1b]0;owned\x07 \u202egnp.exe"
    " ``` ~~~ | a | b | {{ 7*7 }} {% raw %} [bold]rich[/bold] <!-- --> &lt;b&gt; https://evil.example"
    " \ud800 \x00 \ue000\U000e0041\n\n# heading\n/approve\n- [ ] task\n```\n<details>"
)


def group(number: int = 1, **changes: object) -> ErrorGroup:
    return ErrorGroup.model_validate(
        {"fingerprint": f"v1:{number:016x}", **TABLES["group"], **changes}
    )


def trace() -> Trace:
    return Trace.model_validate(TABLES["trace"])


def analysis(number: int = 1, **changes: object) -> Analysis:
    """An analysis; each number has files of its own, and so a cause of its own."""
    own = "" if number == 1 else f"_{number}"
    values = json.loads(json.dumps(TABLES["analysis"]).replace("{own}", own))
    case = Case(leader=group(number), trace=trace(), signature=f"s1:{number:016x}")
    return Analysis.model_validate({"case": case, **values, **changes})


def analyses_of(night: str) -> tuple[Analysis, ...]:
    """The analyses of a night; one with a `leader` is of an error without a trace."""
    made = []
    for number, changes in enumerate(TABLES[f"{night}_analyses"], 1):
        values = dict(changes)
        leader, others = values.pop("leader", None), values.pop("others", {})
        if leader:
            kin = tuple(group(other, **of) for other, of in others.items())
            values["case"] = Case(leader=group(number, **leader), others=kin)
        made.append(analysis(number, **values))
    return tuple(made)


def empty(**changes: object) -> RunReport:
    return RunReport.model_validate(TABLES["empty"] | changes)


def complete(**changes: object) -> RunReport:
    dropped = tuple(
        DroppedGroup(group=group(number, **of), **why)
        for number, of, why in TABLES["complete_dropped"]
    )
    values = {"analyses": analyses_of("complete"), "dropped": dropped, **TABLES["complete"]}
    return empty(**(values | changes))


def degraded() -> RunReport:
    broken = Case(leader=group(5, error_class="RuntimeError", transaction="reports/daily"))
    return complete(
        failures=(Failure(case=broken, reason="the file is larger than can be read"),),
        rejects=tuple(
            RejectedRecord(place=f"export.jsonl:{line}", reason="not JSON", text='{"error": ')
            for line in range(2000, 2012)
        ),
        **TABLES["degraded"],
    )


def followed() -> tuple[OutcomeUpdate, ...]:
    """A fix that worked, one that did not, one turned down, and one still being measured."""
    return tuple(map(OutcomeUpdate.model_validate, TABLES["followed"]))


def remembered(**changes: object) -> RunReport:
    """A degraded night of which the memory has something to say everywhere."""
    report = degraded()
    board = with_drafts(
        scoreboard([*record("mmvvmmvcc"), *record("mcce", "medium", 200)]),
        drafts("mmmmmmcc", "..pp.f.."),
    )
    learned = LearningResult.model_validate({"scoreboard": board, **TABLES["learned"]})
    first, *others, last = report.analyses
    analyses = (
        calibrated(first, board).model_copy(update={"news": "a new release touches its files"}),
        *others,
        last.model_copy(update={"waiting": "its fix is not deployed yet"}),
    )
    update = {"learned": learned, "followed": followed(), "analyses": analyses, "health": unwell()}
    return report.model_copy(update=update | changes)


def well() -> Health:
    """Services of which none failed."""
    return Health.model_validate(TABLES["well"])


def unwell() -> Health:
    """Services of which one is away and one was slow, and what is due."""
    more = Health.model_validate(TABLES["unwell"])
    return more.model_copy(update={"services": (*well().services, *more.services)})


def known(**changes: object) -> RunReport:
    """A healthy night: what came is known, and a rule ignored the rest."""
    report = complete()
    one = report.analyses[3]
    other = one.model_copy(update={"case": Case(leader=group(5)), "title": "No rate for EUR"})
    values: dict[str, object] = {
        "errors": 3,
        "occurrences": 2_425,
        "commit": report.commit,
        "analyses": (one, other),
        "dropped": report.dropped[:1],
        "health": well(),
        "code_reads": CodeReads(different=46, known=41, asked=1_092),
    }
    return empty(**(values | changes))


def regression() -> RunReport:
    """An error that the team had resolved, with an assignee who would like to be markup."""
    team = Triage(
        state="regressed", assignee="@ann <b>Ann</b>", service="New Relic", inbox="Errors Inbox"
    )
    return complete(analyses=(analysis(case=Case(leader=group(triage=team))),))


def failed() -> RunReport:
    return empty(
        status="failed",
        degraded=("export.jsonl cannot be read: permission denied. Make it readable, run again.",),
    )


def stated() -> RunReport:
    """Findings in every state that a morning has to tell: twins, doubts, refusals, questions."""
    text = "import feeds\n\nRATES = {}\n\n\ndef rate_for(code):\n    return RATES[code]\n"
    first, second, *others = analyses_of("stated")
    changes = file_diffs(first.fix, {"tidepool/rates.py": text}.get)
    twins = (one.model_copy(update={"changes": changes}) for one in (first, second))
    return complete(analyses=(*twins, *others), **TABLES["stated"])


def proved(**changes: object) -> RunReport:
    """Fixes that were run: proved and drafted, green and waiting, failed; and one without a fix."""
    analyses = (
        analysis(1, gate=PROVED),
        analysis(2, gate=UNPROVED, case=Case(leader=group(2, transaction="rates/day"))),
        analysis(3, gate=FELL_THROUGH, case=Case(leader=group(3, transaction="rates/import"))),
        analysis(4, fix=(), case=Case(leader=group(4, occurrences=3)), question="no rate, or 404?"),
    )
    whys: tuple[tuple[str, SkipCause], ...] = (
        ("at most 1 draft pull request a night", "limit"),
        (
            "the fix failed its checks: fails with the fix, passes without it: test_import",
            "refused",
        ),
        ("no fix is proposed: the team must decide the expected behaviour", "no fix"),
    )
    skips = tuple(
        Skip(fingerprint=one.fingerprint, title=one.title, kind="pull", reason=why, cause=cause)
        for one, (why, cause) in zip(analyses[1:], whys, strict=True)
    )
    return complete(**{"analyses": analyses, "skips": skips, **changes})


def handed_over(number: int = 2, given: Handover | None = None, **changes: object) -> Analysis:
    """An analysis that knows no cause; each number is an error of its own."""
    leader = group(number, transaction=f"feeds/{number}", occurrences=9 * number)
    values = {"case": Case(leader=leader), **TABLES["handed_over"], **changes}
    return analysis(number, **(values | ({"handover": given} if given else {})))


def unknown(**changes: object) -> RunReport:
    """One error with a cause, several without: with all that is known, with nothing, waiting."""
    said = "Perhaps the bank sends no rate on Sundays."
    waits = (
        "seen since 2026-11-17 (cause unknown), looked at on 2 of 3 nights, waiting for a change"
    )
    analyses = (
        analysis(1),
        handed_over(2, root_cause=said, model="claude-opus-4-5"),
        handed_over(3, Handover(), case=Case(leader=group(3, error_class="SIGKILL"))),
        handed_over(
            4,
            Handover(path="tidepool/jobs.py", line=8),
            ending=Ending(kind="reused", detail="errors/2026-11-17_keyerror.md"),
            known_since="seen since 2026-11-17, 3rd night",
            waiting=waits,
        ),
    )
    skips = (
        Skip(
            fingerprint=one.fingerprint,
            title=one.case.title,
            kind="issue",
            reason="cause unknown: listed in the report only",
            cause="unknown",
        )
        for one in analyses[1:]
    )
    values = {"analyses": analyses, "skips": tuple(skips), **TABLES["unknown"]}
    return empty(**(values | changes))


def huge() -> RunReport:
    reasons = ("over tonight's limit of 200 errors", "below 3 occurrences", "ignored by rule 1")
    return complete(
        errors=5200,
        analyses=tuple(analysis(number) for number in range(1, 201)),
        dropped=tuple(
            DroppedGroup(group=group(number + 1000, occurrences=number), reason=reasons[number % 3])
            for number in range(1, 5001)
        ),
        rejects=tuple(
            RejectedRecord(place=f"export.jsonl:{line}", reason="not JSON") for line in range(3000)
        ),
    )


def hostile(text: str = HOSTILE) -> RunReport:
    """A report in which every free string is `text`."""
    report, more = remembered(), (analysis(8, gate=PROVED), analysis(7, gate=FELL_THROUGH, fix=()))
    report = report.model_copy(update={"analyses": (*report.analyses, handed_over(9), *more)})
    fixed = {"id", "kind", "status", "confidence", "state", "pattern_type", "match", "action"}
    fixed |= {
        "standing",
        "publish",
        "effort",
        "stated_confidence",
        "verdict",
        "field",
        "cause",
        "fit",
        "on",
        "sign",
    }
    fixed |= {"checks", "expires", "last_well", "outcome", "by", "delivery", "notify"}

    def spoiled(value: object, name: str = "") -> object:
        if isinstance(value, dict):
            return {key: spoiled(each, key) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return tuple(spoiled(each, name) for each in value)
        return text if isinstance(value, str) and name not in fixed else value

    spoilt = spoiled(report.model_dump())
    assert isinstance(spoilt, dict)
    spoilt["options"]["code"] = report.options.code  # one of three; of a frame it is any text
    return RunReport.model_validate(spoilt)


def shown(report: RunReport, kind: str, limits: Limits = FULL) -> Any:
    """The first block of a section of the report."""
    return view(report, limits).section(kind).blocks[0]
