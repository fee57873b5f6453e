"""Reports of invented nights, for every rendering's tests."""

from datetime import UTC, datetime, timedelta
from typing import Any

from core.proof_shapes import FELL_THROUGH, PROVED, UNPROVED
from core.scoreboard_shapes import drafts, record

from nightwatch_core.code.diffs import file_diffs
from nightwatch_core.memory.scoreboard import calibrated, scoreboard, with_drafts
from nightwatch_core.models.analysis import Analysis, Ending, Failure, RefusedEdit, Standing
from nightwatch_core.models.answer import Edit, Evidence, Handover, Hypothesis, Learning, Usage
from nightwatch_core.models.code import Commit, MergedPull, Suspect
from nightwatch_core.models.errors import (
    Case,
    DroppedGroup,
    ErrorGroup,
    ExceptionLink,
    Frame,
    RejectedRecord,
    Trace,
    Triage,
    Window,
)
from nightwatch_core.models.knowledge import (
    Backtest,
    FixWatch,
    IgnoreSuggestion,
    OccurrenceCount,
    OutcomeEvent,
    OutcomeUpdate,
    Pattern,
)
from nightwatch_core.models.options import Health, NightOptions, ServiceCalls, ServiceHealth
from nightwatch_core.models.proposals import OwnItem, Receipt, Skip, SkipCause
from nightwatch_core.models.report import LearningResult, Night, RunReport
from nightwatch_core.publish.blocks import FULL, Limits
from nightwatch_core.report.view import view

NEW_RELIC = {"service": "New Relic", "inbox": "Errors Inbox"}

NOW = datetime(2026, 11, 20, 4, 0, tzinfo=UTC)
HOSTILE = (
    "</title></td><script>alert(1)</script><img src=x onerror=alert(1)> ![x](https://evil.example/a)"
    " [click](javascript:alert(1)) @octocat fixes #1 GH-2 \x1b[31mred\x1b]0;owned\x07 \u202egnp.exe"
    " ``` ~~~ | a | b | {{ 7*7 }} {% raw %} [bold]rich[/bold] <!-- --> &lt;b&gt; https://evil.example"
    " \ud800 \x00 \ue000\U000e0041\n\n# heading\n/approve\n- [ ] task\n```\n<details>"
)


def group(number: int = 1, **changes: object) -> ErrorGroup:
    values: dict[str, object] = {
        "fingerprint": f"v1:{number:016x}",
        "source": "file",
        "app": "tidepool-bookings",
        "error_class": "KeyError",
        "transaction": "bookings/confirm",
        "message": "'EUR'",
        "occurrences": 1204,
        "users": 45,
        "hosts": ("web-1", "web-2"),
        "first_seen": NOW - timedelta(hours=22),
        "last_seen": NOW - timedelta(minutes=3),
        "release": "2026.11.3",
        "hourly": (0, 0, 3, 8, 12, 40, 90, 130, 160, 150, 120, 80, 60, 55, 52, 50, 44, 40, 38, 30),
    }
    return ErrorGroup.model_validate(values | changes)


def trace() -> Trace:
    frames = (
        Frame(
            path="/srv/tidepool/tidepool/rates.py",
            line=41,
            function="rate_for",
            in_app=True,
            repo_path="tidepool/rates.py",
        ),
        Frame(path="/srv/tidepool/tidepool/views.py", line=88, function="confirm", in_app=True),
    )
    raw = (
        "Traceback (most recent call last):\n"
        '  File "/srv/tidepool/tidepool/views.py", line 88, in confirm\n'
        "    total = price * rate_for(currency)\n"
        '  File "/srv/tidepool/tidepool/rates.py", line 41, in rate_for\n'
        "    return RATES[currency.upper()]\n"
        "KeyError: 'EUR'"
    )
    return Trace(
        language="python",
        links=(ExceptionLink(error_class="KeyError", message="'EUR'", frames=frames),),
        raw=raw,
    )


def analysis(number: int = 1, **changes: object) -> Analysis:
    """An analysis; each number has files of its own, and so a cause of its own."""
    own = "" if number == 1 else f"_{number}"
    values: dict[str, object] = {
        "case": Case(leader=group(number), trace=trace(), signature=f"s1:{number:016x}"),
        "title": "Confirming a booking fails for currencies without a rate",
        "root_cause": (
            "`rate_for` looks the currency up in `RATES`, which has been filled from the nightly "
            "import since #412. The import skips currencies whose rate is unchanged, so that EUR "
            "is missing on quiet days.\nThe view does not expect a KeyError."
        ),
        "confidence": "high",
        "evidence": (
            Evidence(
                path=f"tidepool/rates{own}.py",
                line=40,
                quote="def rate_for(currency: str) -> Decimal:\n    return RATES[currency.upper()]",
                note="no default, no check",
                verified=True,
            ),
            Evidence(path=f"tidepool/importer{own}.py", line=19, quote="if rate == old: continue"),
        ),
        "fix": (
            Edit(
                path=f"tidepool/importer{own}.py",
                old="for code, rate in rows:\n    if rate == old.get(code):\n        continue\n"
                "    RATES[code] = rate\n",
                new="for code, rate in rows:\n    RATES[code] = rate\n",
                description="Keep unchanged rates too",
            ),
        ),
        "hypotheses": (
            Hypothesis(statement="The feed lost EUR", standing="ruled out", because="it is there"),
        ),
        "suspects": (
            Suspect(
                pull=MergedPull(
                    number=412,
                    title="Import only changed rates",
                    sha="9f8e7d6c5b4a39281706",
                    author="mira",
                    merged_at=NOW - timedelta(days=1),
                    files=("tidepool/importer.py",),
                ),
                score=0.9,
                because=("touched tidepool/importer.py", "merged 2 h before the onset"),
            ),
        ),
        "next_steps": ("Add a test for a day without changes", "Alert when a rate is missing"),
        "learnings": (Learning(fact="RATES is filled at import", path="tidepool/rates.py"),),
        "tags": ("currency", "import"),
        "because": ("the quoted line is the failing line", "a pull request touched it"),
        "score": 0.84,
        "iterations": 4,
        "read": ("tidepool/rates.py", "tidepool/importer.py"),
        "usage": Usage(calls=4, input_tokens=8200, output_tokens=900, cost=0.11),
        "model": "rules",
        "commit": "9f8e7d6c5b4a39281706",
    }
    return Analysis.model_validate(values | changes)


def empty(**changes: object) -> RunReport:
    night = Night(
        id="2026-11-20-3fa9c1",
        window=Window(since=NOW - timedelta(days=1), until=NOW),
        now=NOW,
        folder="/var/lib/tidepool/.nightwatch/nights/2026-11-20-3fa9c1",
    )
    values: dict[str, object] = {
        "night": night,
        "options": NightOptions(source="file", errors="export.jsonl"),
        "banner": (
            "Errors from export.jsonl, code from the checkout, issues as files: all local.",
            "No language model was used: findings come from rules.",
        ),
        "started": NOW + timedelta(minutes=5),
        "finished": NOW + timedelta(minutes=6, seconds=12),
    }
    return RunReport.model_validate(values | changes)


def complete(**changes: object) -> RunReport:
    nil = group(
        2,
        error_class="NoMethodError",
        transaction="InvoicesController#show",
        message="undefined method 'total' for nil",
        occurrences=310,
        users=None,
    )
    timeout = group(
        3, error_class="Net::ReadTimeout", transaction="SyncCalendarJob", occurrences=88
    )
    known = group(4, error_class="ValueError", transaction="guests/import", occurrences=17)
    analyses = (
        analysis(1),
        analysis(
            2,
            case=Case(leader=nil, others=(group(7, transaction="InvoicesController#print"),)),
            title="An invoice without lines has no total",
            root_cause="Invoice#lines is nil for drafts. InvoicesController#show does not check.",
            confidence="medium",
            fix=(),
            suspects=(),
        ),
        analysis(
            3,
            case=Case(leader=timeout),
            title="The calendar answers slowly",
            root_cause="The calendar service took over 5 s. Nothing in the code explains it.",
            confidence="low",
            evidence=(),
            fix=(),
            ending=Ending(kind="wrapped up", detail="15 turns"),
            passes=2,
        ),
        analysis(
            4,
            case=Case(leader=known),
            title="Guest lists in Latin-1 cannot be imported",
            root_cause="The importer reads every file as UTF-8. Some hotels send Latin-1.",
            ending=Ending(kind="reused", detail="errors/2026-11-02_valueerror.md"),
            because=("known since 2026-11-02", "the cited files are unchanged"),
            known_since="known since 2026-11-02",
            usage=Usage(),
            iterations=0,
        ),
    )
    values: dict[str, object] = {
        "commit": Commit(
            repository="tidepool", sha="9f8e7d6c5b4a39281706", branch="main", because="head of main"
        ),
        "errors": 9,
        "occurrences": 3310,
        "analyses": analyses,
        "dropped": (
            DroppedGroup(
                group=group(11, error_class="SystemExit"),
                kind="ignored",
                reason="ignored by rule 3: SystemExit",
            ),
            DroppedGroup(
                group=group(12, error_class="IOError", occurrences=2), reason="below the limit"
            ),
            DroppedGroup(
                group=group(13, error_class="OSError", occurrences=1), reason="below the limit"
            ),
        ),
        "receipts": (
            Receipt(
                key="k1",
                kind="issue",
                fingerprint="v1:0000000000000001",
                status="done",
                title="Confirming fails",
                number=12,
                url="https://git.example/tidepool/issues/12",
            ),
            Receipt(
                key="k2",
                kind="pull",
                fingerprint="v1:0000000000000001",
                status="done",
                number=13,
                url="/var/lib/tidepool/.nightwatch/outbox/pulls/13.md",
            ),
            Receipt(
                key="k3",
                kind="issue",
                fingerprint="v1:0000000000000002",
                status="unknown",
                reason="the answer was cut",
            ),
        ),
        "skips": (
            Skip(
                fingerprint="v1:0000000000000003",
                title="The calendar answers slowly",
                kind="issue",
                reason="low confidence and no fix",
            ),
        ),
        "outcomes": (
            OwnItem(
                kind="pull",
                number=9,
                fingerprint="v1:0000000000000004",
                title="Read guest lists as Latin-1 too",
                state="merged",
                url="https://git.example/tidepool/pull/9",
                words=("Good catch",),
            ),
        ),
        "learned": LearningResult(
            lessons=("errors/a.md", "errors/b.md"),
            patterns=(
                Pattern(
                    title="KeyError on three nights",
                    description="KeyError in bookings came back on 3 nights.",
                    pattern_type="recurring_error",
                    suggestion="Check currencies at import",
                ),
            ),
            suggestions=(
                IgnoreSuggestion(
                    pattern="Net::ReadTimeout",
                    match="exact",
                    reason="transient, never fixed",
                    evidence="seen on 5 nights, no fix",
                ),
            ),
        ),
        "usage": Usage(),
    }
    return empty(**(values | changes))


def degraded() -> RunReport:
    return complete(
        status="degraded",
        degraded=(
            "export.jsonl ended in the middle of line 2,114: later errors are missing",
            "1 of 5 analyses failed",
        ),
        failures=(
            Failure(
                case=Case(leader=group(5, error_class="RuntimeError", transaction="reports/daily")),
                reason="the file is larger than can be read",
            ),
        ),
        rejects=tuple(
            RejectedRecord(place=f"export.jsonl:{line}", reason="not JSON", text='{"error": ')
            for line in range(2000, 2012)
        ),
        complaints=("ignore.yml line 4: unknown match 'regex'",),
    )


def followed() -> tuple[OutcomeUpdate, ...]:
    """A fix that worked, one that did not, one turned down, and one still being measured."""
    watch = FixWatch(
        number=9,
        merged_at=NOW - timedelta(days=6),
        deployed_at=NOW - timedelta(days=5),
        before=OccurrenceCount(occurrences=12, hours=48, nights=2),
        after=OccurrenceCount(occurrences=0, hours=120, nights=5),
        verdict="verified",
    )
    fate = OutcomeEvent(kind="verified", number=9, on=NOW.date(), because="")
    back = "0 in 240 h after the fix, then 31 in 24 h"
    words = ("The import is meant to skip these.", "See the wiki")
    return (
        OutcomeUpdate(
            fingerprint="v1:00000000000000aa",
            title="Guest lists were read twice",
            fates=(OutcomeEvent(kind="closed unmerged", number=5, on=NOW.date(), words=words),),
        ),
        OutcomeUpdate(
            fingerprint="v1:0000000000000004", title="Latin-1 lists", fates=(fate,), watch=watch
        ),
        OutcomeUpdate(
            fingerprint="v1:00000000000000bb",
            title="Rooms were double-booked",
            fates=(OutcomeEvent(kind="regressed", number=6, on=NOW.date(), because=back),),
        ),
        OutcomeUpdate(
            fingerprint="v1:00000000000000cc",
            title="Invoices without a number",
            watch=watch.model_copy(update={"number": 7, "verdict": "", "deployed_at": None}),
        ),
    )


def remembered(**changes: object) -> RunReport:
    """A degraded night of which the memory has something to say everywhere."""
    report = degraded()
    pattern, suggestion = report.learned.patterns[0], report.learned.suggestions[0]
    nights = tuple(NOW.date() - timedelta(days=days) for days in (18, 9, 0))
    back = Backtest(nights=14, groups=3, occurrences=412, fixed_later=1, users=12)
    learned = report.learned.model_copy(
        update={
            "new": 3,
            "refreshed": 1,
            "reused": 4,
            "stale": ("errors/a.md",),
            "archived": ("errors/x.md", "errors/y.md"),
            "patterns": (
                pattern.model_copy(
                    update={"because": ("same root cause", "same module"), "nights": nights}
                ),
            ),
            "suggestions": (
                suggestion.model_copy(
                    update={
                        "backtest": back,
                        "expires": NOW.date() + timedelta(days=30),
                        "unless_rate_above": 40.0,
                    }
                ),
            ),
            "scoreboard": with_drafts(
                scoreboard([*record("mmvvmmvcc"), *record("mcce", "medium", 200)]),
                drafts("mmmmmmcc", "..pp.f.."),
            ),
        }
    )
    board = learned.scoreboard
    assert board is not None
    first, *others = report.analyses
    analyses = (
        calibrated(first, board).model_copy(update={"news": "a new release touches its files"}),
        *others[:-1],
        others[-1].model_copy(update={"waiting": "its fix is not deployed yet"}),
    )
    update = {"learned": learned, "followed": followed(), "analyses": analyses, "health": unwell()}
    return report.model_copy(update=update | changes)


def well() -> Health:
    """Services of which none failed."""
    claude = ServiceCalls(service="Claude", requests=41)
    return Health(
        services=(
            ServiceHealth(name="files of errors"),
            ServiceHealth(name="Claude", calls=claude),
            ServiceHealth(name="knowledge", detail="12 lessons"),
        )
    )


def unwell() -> Health:
    """Services of which one is away and one was slow, and what is due."""
    slow = ServiceCalls(service="GitHub", requests=212, unanswered=3, waits=3, waited=74.0)
    away = ServiceCalls(
        service="Slack", requests=4, unanswered=4, trouble="Slack cannot be reached: gaierror"
    )
    return Health(
        services=(
            *well().services,
            ServiceHealth(name="GitHub", state="troubled", calls=slow),
            ServiceHealth(
                name="Slack",
                state="away",
                calls=away,
                detail=away.trouble,
                last_well=NOW - timedelta(days=3),
            ),
        ),
        due=("the sign-in to GitHub ends on 2026-11-25: make a new one",),
    )


def known(**changes: object) -> RunReport:
    """A healthy night: what came is known, and a rule ignored the rest."""
    report = complete()
    one = report.analyses[3]
    other = one.model_copy(update={"case": Case(leader=group(5)), "title": "No rate for EUR"})
    ignored = tuple(each for each in report.dropped if each.kind == "ignored")
    values: dict[str, object] = {
        "errors": 3,
        "occurrences": 2_425,
        "commit": report.commit,
        "analyses": (one, other),
        "dropped": ignored,
        "health": well(),
    }
    return empty(**(values | changes))


def regression() -> RunReport:
    """An error that the team had resolved, with an assignee who would like to be markup."""
    leader = group(triage=Triage(state="regressed", assignee="@ann <b>Ann</b>", **NEW_RELIC))
    return complete(analyses=(analysis(case=Case(leader=leader)),))


def failed() -> RunReport:
    return empty(
        status="failed",
        degraded=("export.jsonl cannot be read: permission denied. Make it readable, run again.",),
    )


def stated() -> RunReport:
    """Findings in every state that a morning has to tell: twins, doubts, refusals, questions."""
    sha = "9f8e7d6c5b4a39281706"
    base = analysis(1)
    more = tuple(
        Evidence(path=f"tidepool/feeds/{name}.py", line=at, quote=f"feed_{name} = read()", **held)
        for at, (name, held) in enumerate(
            (("ecb", {"verified": True}), ("boe", {"verified": True}), ("fed", {})), 7
        )
    )
    edits = (
        Edit(path="tidepool/rates.py", old="return RATES[code]", new="return RATES.get(code)"),
        Edit(path="tidepool/rates.py", old="RATES = {}", new="RATES: Rates = {}",
             description="say what it holds"),
    )  # fmt: skip
    text = "import feeds\n\nRATES = {}\n\n\ndef rate_for(code):\n    return RATES[code]\n"
    known = {
        "evidence": (*base.evidence, *more),
        "fix": edits,
        "changes": file_diffs(edits, {"tidepool/rates.py": text}.get),
        "root_cause": "tidepool/rates.py:7 reads `RATES`, which Tidepool::Import fills since "
        "0a1b2c3d4e; see https://git.example/tidepool/wiki/rates_of_day and dict[str, Rate].",
        "suspects": base.suspects,
        "suspect_commit": sha,
        "model": "claude-opus-4-5",
        "hypotheses": (
            Hypothesis(statement="The feed of the ECB was empty", because="nobody kept it"),
            *base.hypotheses,
        ),
        "fix_confidence": "medium",
        "question": "no rate, or yesterday's?",
        "refused": (RefusedEdit(path=".github/workflows/ci.yml", reason="it configures CI"),),
        "standing": Standing(
            kind="drifted", detail="main has another tidepool/rates.py than the code that failed."
        ),
    }
    twin = group(2, error_class="TypeError", transaction="invoices/show", occurrences=77)
    analyses = (
        analysis(1, **known),
        analysis(2, **(known | {"case": Case(leader=twin), "title": "An invoice has no rate"})),
        analysis(
            3,
            case=Case(leader=group(3, error_class="AttributeError", transaction="guests/show")),
            misfit="app/guests.py:14 is blank there, and the record printed `guest.name`",
            confidence="low",
            fix=(),
        ),
        analysis(
            4,
            case=Case(leader=group(4, transaction="rooms/show")),
            standing=Standing(kind="changed", pull=431),
            confidence="medium",
            doubt="said high, but tidepool/rates.py:70, which the cause rests on, was not read",
            fix_confidence="high",
            question="no room, or 404?",
            suspects=(),
            suspect_commit="0a1b2c3d4e5f",
        ),
    )
    one, two = (each.fingerprint for each in analyses[:2])
    commit = Commit(repository="acme/tidepool", sha=sha, branch="main", because="release 2026.11.3",
                    address="https://github.com/acme/tidepool")  # fmt: skip
    return complete(
        commit=commit,
        analyses=analyses,
        receipts=(
            Receipt(key="k1", kind="issue", fingerprint=one, also=(two,), status="done",
                    title="A rate is missing", number=12,
                    url="https://github.com/acme/tidepool/issues/12"),
        ),
        advice=("Not connected: Slack, for which SLACK_CHANNEL must be set.",),
    )  # fmt: skip


def proved(**changes: object) -> RunReport:
    """Fixes that were run: proved and drafted, green and waiting, failed; and one without a fix."""
    analyses = (
        analysis(1, gate=PROVED),
        analysis(2, gate=UNPROVED, case=Case(leader=group(2, transaction="rates/day"))),
        analysis(3, gate=FELL_THROUGH, case=Case(leader=group(3, transaction="rates/import"))),
        analysis(4, fix=(), case=Case(leader=group(4, occurrences=3)), question="no rate, or 404?"),
    )
    whys: tuple[tuple[str, SkipCause], ...] = (
        ("limit of draft pull requests a night: 1", "limit"),
        ("it was run and did not pass: red with the fix, green without it: test_import", "refused"),
        ("no fix is proposed: what should happen instead is for the team to say", "no fix"),
    )
    skips = tuple(
        Skip(fingerprint=one.fingerprint, title=one.title, kind="pull", reason=why, cause=cause)
        for one, (why, cause) in zip(analyses[1:], whys, strict=True)
    )
    return complete(**{"analyses": analyses, "skips": skips, **changes})


def handed_over(number: int = 2, given: Handover | None = None, **changes: object) -> Analysis:
    """An analysis that knows no cause; each number is an error of its own."""
    code = "    return Decimal(row[currency])"
    lines = ("def price_of(row, currency):", '    """One row of the feed."""', code, "", "")
    known = Handover(
        path="tidepool/feeds.py",
        line=57,
        lines=lines,
        first_line=55,
        value="'n/a'",
        last_change="Mira Kowalczyk, 2026-10-05: Read the feed row by row (#398, 9f8e7d6c5b)",
        look_at=("Who calls `price_of` with `currency`?", "Keep a row that failed."),
    )
    values: dict[str, object] = {
        "case": Case(leader=group(number, transaction=f"feeds/{number}", occurrences=9 * number)),
        "title": "The feed is broken",
        "root_cause": "",
        "confidence": "low",
        "evidence": (),
        "fix": (),
        "suspects": (),
        "next_steps": (),
        "learnings": (),
        "hypotheses": (),
        "handover": given or known,
    }
    return analysis(number, **(values | changes))


def unknown(**changes: object) -> RunReport:
    """One error with a cause, several without: with all that is known, with nothing, waiting."""
    said = "Perhaps the bank sends no rate on Sundays."
    waits = "no proof since 2026-11-17 (cause unknown): looked at again on the 4th night"
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
            reason="cause unknown: only in the report",
            cause="unknown",
        )
        for one in analyses[1:]
    )
    values: dict[str, object] = {
        "errors": 4,
        "occurrences": 1300,
        "analyses": analyses,
        "skips": tuple(skips),
        "commit": Commit(
            repository="acme/tidepool",
            sha="9f8e7d6c5b4a39281706",
            address="https://git.example/acme/tidepool",
        ),
        "learned": LearningResult(lessons=("a.md", "b.md", "c.md", "d.md"), new=1, unknown=3),
    }
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
    fixed |= {"standing", "publish", "effort", "said", "verdict", "field", "cause", "fit", "on"}
    fixed |= {"checks", "expires", "last_well", "outcome", "by"}

    def spoiled(value: object, name: str = "") -> object:
        if isinstance(value, dict):
            return {key: spoiled(each, key) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return tuple(spoiled(each, name) for each in value)
        return text if isinstance(value, str) and name not in fixed else value

    spoilt = spoiled(report.model_dump())
    assert isinstance(spoilt, dict)
    return RunReport.model_validate(spoilt)


def shown(report: RunReport, kind: str, limits: Limits = FULL) -> Any:
    """The first block of a section of the report."""
    return view(report, limits).section(kind).blocks[0]
