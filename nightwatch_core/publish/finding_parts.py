"""Parts of a finding besides its cause, the same in report, issue, draft and Slack.

Plain texts, as hostile as they came: each rendering escapes them for its own format.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from nightwatch_core.code.diffs import file_diffs, joined_diff
from nightwatch_core.code.record_fit import MISFIT
from nightwatch_core.code.suspects import is_of
from nightwatch_core.intake.default_ports import RULES
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.answer import Evidence, Handover, Hypothesis
from nightwatch_core.models.code import ChangedFile, MergedPull, Suspect
from nightwatch_core.models.proposals import Check, Correction, GateResult, Reproduction, Story
from nightwatch_core.models.report import RunReport
from nightwatch_core.text.plain_text import plural, roughly

_OLD = timedelta(days=30)  # a change that is named and this much older than its error says so
FIRST = 3  # pieces of evidence that are shown at once; the others are folded


def shown_evidence(analysis: Analysis) -> tuple[Evidence, ...]:
    """Return all evidence, what holds first; none holds where the record is of other code."""
    if analysis.misfit:
        return tuple(
            evidence.model_copy(update={"verified": False}) for evidence in analysis.evidence
        )
    return tuple(sorted(analysis.evidence, key=lambda evidence: not evidence.verified))


def shown_changes(analysis: Analysis) -> tuple[ChangedFile, ...]:
    """Return the fix's change to each file."""
    if analysis.misfit or not analysis.fix:
        return ()
    return analysis.changes or file_diffs(analysis.fix)


def descriptions(analysis: Analysis, path: str) -> str:
    """Return the purpose of a file's edits in one line."""
    texts = (edit.description.strip() for edit in analysis.fix if edit.path == path)
    each = tuple(dict.fromkeys(filter(None, texts)))
    return " ".join(map(sentence, each)) if len(each) > 1 else "".join(each)


def sentence(text: str) -> str:
    """Return a text with the stop that ends it.

    >>> sentence("Count none."), sentence("is it so?"), sentence("no host")
    ('Count none.', 'is it so?', 'no host.')
    """
    return text if text.endswith((".", "!", "?", "…", ":")) else f"{text.rstrip(' ,;')}."


def explained(statement: str, because: str) -> tuple[str, str]:
    """Return a statement, ready to be followed by what it is held for, and that.

    >>> explained("There is no host.", "line 3"), explained("Is there one?", "x")
    (('There is no host:', 'line 3'), ('Is there one?', 'x'))
    """
    bare = statement.strip()
    if not because.strip() or bare.endswith(("!", "?", "…")):
        return bare, because.strip()
    return f"{bare.rstrip('.:;, ')}:", because.strip()


def explanation(hypothesis: Hypothesis) -> str:
    """Return an explanation with its reason as one text."""
    return " ".join(filter(None, explained(hypothesis.statement, hypothesis.because)))


def change_title(pull: MergedPull) -> str:
    """Return the title of a change, without the number that merging put behind it.

    >>> from datetime import UTC, datetime
    >>> at = datetime(2026, 1, 1, tzinfo=UTC)
    >>> change_title(MergedPull(number=7, title="Add links (#7)", sha="0", merged_at=at))
    'Add links'
    """
    return pull.title.strip().removesuffix(f"(#{pull.number})").rstrip()


def shown_suspects(analysis: Analysis) -> tuple[Suspect, ...]:
    """The change that the analysis names; of a night without a model, those that rules suspect."""
    if analysis.misfit:
        return ()
    named = analysis.suspect_commit.strip().lower()
    if not named:
        return analysis.suspects if analysis.model == RULES or analysis.by_fallback else ()
    return tuple(suspect for suspect in analysis.suspects if _is_named(suspect, named))


def suspect_reasons(analysis: Analysis, suspect: Suspect) -> tuple[str, ...]:
    """Return the reasons a change is suspected, with the age of an old one."""
    groups = analysis.case.groups
    first = min((_utc(group.first_seen) for group in groups if group.first_seen), default=None)
    age = first - _utc(suspect.pull.merged_at) if first else timedelta()
    if not analysis.suspect_commit.strip() or age < _OLD:
        return suspect.because
    return (*suspect.because, f"it is {roughly(age)} older than the first occurrence")


def _utc(at: datetime) -> datetime:
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def named_commit(analysis: Analysis) -> str:
    """Return the commit or pull request that is named, where nothing more is known of it."""
    if analysis.misfit or shown_suspects(analysis):
        return ""
    return analysis.suspect_commit.strip()


def named_change(analysis: Analysis) -> str:
    """Name it.

    >>> from nightwatch_core.models.errors import Case, ErrorGroup
    >>> of = Case(leader=ErrorGroup(fingerprint="v1:0", source="file", error_class="E"))
    >>> one = Analysis(case=of, title="", root_cause="", confidence="high",
    ...                suspect_commit="0123456789abcdef")
    >>> named_change(one), named_change(one.model_copy(update={"suspect_commit": "#12"}))
    ('commit 0123456789ab', 'pull request #12')
    """
    named = named_commit(analysis)
    if not named:
        return ""
    return f"pull request {named}" if named.startswith("#") else f"commit {named[:12]}"


def _is_named(suspect: Suspect, named: str) -> bool:
    pull = suspect.pull
    return is_of(pull, named) or bool(pull.number and named == f"#{pull.number}")


def open_explanations(analysis: Analysis) -> tuple[Hypothesis, ...]:
    """Explanations that were not decided."""
    return tuple(hypothesis for hypothesis in analysis.hypotheses if hypothesis.standing == "open")


def decided_unless_checked(analysis: Analysis) -> tuple[Hypothesis, ...]:
    """Return decided explanations; without a fix those ruled out are in `checked_lines`."""
    hidden = ("open",) if analysis.has_fix else ("open", "ruled out")
    return tuple(item for item in analysis.hypotheses if item.standing not in hidden)


def sureness(analysis: Analysis) -> str:
    """Return the confidence in the cause, and in the fix where it differs.

    >>> from nightwatch_core.models.errors import Case, ErrorGroup
    >>> of = Case(leader=ErrorGroup(fingerprint="v1:0", source="file", error_class="E"))
    >>> sureness(Analysis(case=of, title="", root_cause="", confidence="high",
    ...                   fix_confidence="low"))
    'high in the cause, low in what should happen instead'
    """
    fix = analysis.fix_confidence
    if fix is None or fix == analysis.confidence:
        return analysis.confidence
    return f"{analysis.confidence} in the cause, {fix} in what should happen instead"


def doubt(analysis: Analysis) -> str:
    """Return the reason the confidence was lowered.

    >>> from nightwatch_core.models.errors import Case, ErrorGroup
    >>> of = Case(leader=ErrorGroup(fingerprint="v1:0", source="file", error_class="E"))
    >>> doubt(Analysis(case=of, title="", root_cause="", confidence="medium",
    ...                doubt="said high, but a.py:3 was not read"))
    'said high, but a.py:3 was not read'
    """
    return "" if analysis.misfit else analysis.doubt.strip()


def question(analysis: Analysis) -> str:
    """Return the question to the team; empty for none."""
    asked = analysis.question.strip()
    if not asked or asked.lower().startswith("a product choice"):
        return asked
    return f"{'To confirm' if analysis.fix_confidence == 'high' else 'A product choice'}: {asked}"


def misfit(analysis: Analysis) -> str:
    """Say that the code that was read is not the code that failed; empty where it may be."""
    why = analysis.misfit.strip().removeprefix(MISFIT).rstrip(".")
    return f"The record does not fit this commit: {why}." if why else ""


def standing(analysis: Analysis) -> str:
    """Say where the base branch stands; empty where the code that failed is its own.

    >>> from nightwatch_core.models.analysis import Standing
    >>> from nightwatch_core.models.errors import Case, ErrorGroup
    >>> of = Case(leader=ErrorGroup(fingerprint="v1:0", source="file", error_class="E"))
    >>> one = Analysis(case=of, title="", root_cause="", confidence="high",
    ...                standing=Standing(kind="changed", pull=12))
    >>> standing(one)
    'Already changed on the base branch, awaiting deploy.'
    """
    stands = analysis.standing
    if stands is None:
        return ""
    said = stands.detail.strip()
    return f"{said.rstrip('.')}." if said else _STANDINGS[stands.kind]


def awaited(analysis: Analysis) -> str:
    """Name the change that the base branch has and production has not.

    >>> from nightwatch_core.models.analysis import Standing
    >>> from nightwatch_core.models.errors import Case, ErrorGroup
    >>> of = Case(leader=ErrorGroup(fingerprint="v1:0", source="file", error_class="E"))
    >>> awaited(Analysis(case=of, title="", root_cause="", confidence="high",
    ...                  standing=Standing(kind="changed", pull=12)))
    'already changed by #12, awaiting deploy'
    """
    stands = analysis.standing
    if stands is None or stands.kind != "changed":
        return ""
    by = f"#{stands.pull}" if stands.pull else f"commit {stands.sha[:10]}" if stands.sha else ""
    return f"already changed{f' by {by}' if by else ''}, awaiting deploy"


_STANDINGS = {
    "live": "The failing code is still on the base branch.",
    "drifted": "The failing files differ on the base branch.",
    "changed": "Already changed on the base branch, awaiting deploy.",
}


def twin_lines(twins: Iterable[Analysis]) -> tuple[str, ...]:
    """Other errors with the same cause, a line each."""
    return tuple(
        f"{twin.case.title}, {twin.case.occurrences:,} "
        f"{'time' if twin.case.occurrences == 1 else 'times'}"
        for twin in twins
    )


# What running a fix showed: the same in report, issue, draft and Slack.
#
# Plain texts, as hostile as they came: each rendering escapes them for its own format.

_NAMES = 10  # tests that are named
_SMALL = ("syntax", "imports", "lint", "types")  # what a reader takes for granted where it passed

_FAILED = {"": "What the run printed", "tests": "What the tests printed"}


class Quote(NamedTuple):
    """Output of a run, under its name."""

    name: str
    output: str


def proof_lines(gate: GateResult | None) -> tuple[str, ...]:
    """Return everything that was tried of a fix and what came of it, what proves most first."""
    if gate is None:
        return ("Nothing was run.",)
    lines = (
        *_reproduced(gate.reproduction),
        *_corrected(gate.correction),
        *_checked(gate),
        *_named(gate),
        *_in_steps(gate.story),
    )
    return tuple(map(sentence, lines))


def _reproduced(made: Reproduction | None) -> Iterator[str]:
    if made is None or (made.outcome == "not tried" and not made.because):
        return
    if made.outcome == "not tried":
        yield f"No reproduction was tried: {made.because}"
    elif made.outcome == "not reproduced":
        yield f"Not reproduced{_effort(made)}: {made.because or 'no test raised it'}"
    else:
        through = f" through {made.frames[0]}" if made.frames else ""
        yield (
            f"Reproduced{_effort(made)}: {made.name or 'a test'} raises "
            f"{made.error_class or 'the error'}{through}, as production does"
            f"{'' if made.test else f'; it is not part of the change: {made.because}'}"
        )


def _effort(made: Reproduction) -> str:
    tries = plural(made.tries, "try", "tries") if made.tries else ""
    took = f"{made.seconds:.0f} s" if made.seconds >= 1 else ""
    effort = ", ".join(filter(None, (tries, took)))
    return f" ({effort})" if effort else ""


def _corrected(tried: Correction | None) -> Iterator[str]:
    if tried is None or tried.outcome == "not tried":
        return
    if tried.outcome == "passed":
        first = tried.first_failed.rstrip(".")
        yield f"The first fix did not pass: {first}; this is the second: {tried.because}"
    else:
        yield f"A second attempt did not pass: {tried.because}"


def _checked(gate: GateResult) -> Iterator[str]:
    if gate.outcome == "not run":
        yield f"Nothing was run: {gate.text}"
        return
    made = gate.reproduction is not None and gate.reproduction.outcome == "reproduced"
    shown = ("reproduction", "passed") if made else ()  # told already, by what it is
    checks = [check for check in gate.checks if (check.name, check.outcome) != shown]
    told = [check for check in checks if check.name not in _SMALL or check.outcome != "passed"]
    yield from (check_line(item) for item in told if item.outcome != "not run")
    small = list(dict.fromkeys(check.name for check in checks if check not in told))
    if small:
        yield f"Passed: {', '.join(small)}"
    if not any(item.name == "tests" and item.outcome == "passed" for item in told):
        yield from (check_line(item) for item in told if item.outcome == "not run")


def check_line(check: Check) -> str:
    """Return one check with its result and duration."""
    took = f" ({check.seconds:.1f} s)" if check.seconds >= 0.1 else ""
    return f"{check.outcome[:1].upper()}{check.outcome[1:]}: {check.text or check.name}{took}"


def _named(gate: GateResult) -> Iterator[str]:
    for what, names in (
        ("Already failing without the fix", gate.preexisting),
        ("Flaky, passing and failing on the same code", gate.flaky),
    ):
        if names:
            more = f" and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
            yield f"{what}: {', '.join(names[:_NAMES])}{more}"


def _in_steps(story: Story | None) -> Iterator[str]:
    if story is None:
        return
    done = sum(step.outcome == "passed" for step in story.steps)
    came = f"{done} of {len(story.steps)} steps passed" if story.steps else "not begun"
    yield f"Made in steps: {came}{f' ({story.because})' if story.because else ''}"


def crash_quotes(gate: GateResult | None) -> tuple[Quote, ...]:
    """Return the runs that show the crash, and that it is gone."""
    made = gate.reproduction if gate else None
    if made is None or made.outcome != "reproduced":
        return ()
    quotes = (Quote("Before the change", made.red), Quote("With the change", made.green))
    return tuple(quote for quote in quotes if quote.output.strip())


def failure_quotes(gate: GateResult | None) -> tuple[Quote, ...]:
    """Return the output of failing runs as quotes under our own titles."""
    if gate is None:
        return ()
    quotes = (Quote(_FAILED.get(check.name, _FAILED[""]), check.output) for check in gate.checks)
    return tuple(quote for quote in quotes if quote.output.strip())


def correction_quotes(gate: GateResult | None) -> tuple[Quote, ...]:
    """Return the output of the second attempt as quotes."""
    output = gate.correction.output if gate and gate.correction else ""
    return (Quote("The second attempt", output),) if output.strip() else ()


def told_in_report(analysis: Analysis) -> str:
    """Return one report line on the runs of a fix; empty for none."""
    gate = analysis.gate
    if gate is None:
        return ""
    tests = (
        check.text for check in gate.checks if check.name == "tests" and check.outcome == "passed"
    )
    made = gate.reproduction
    shown = made is not None and made.outcome == "reproduced"
    others = (*(_reproduced(made) if not shown else ()), *_corrected(gate.correction))
    parts = (
        gate.text or "; ".join(tests),
        "reproduced by a test" if shown else "",
        f"already failing: {len(gate.preexisting)}" if gate.preexisting else "",
        f"flaky: {', '.join(gate.flaky[:5])}" if gate.flaky else "",
        *(f"{item[:1].lower()}{item[1:]}" for item in (*others, *_in_steps(gate.story))),
    )
    return f"{gate.outcome}: {'; '.join(part.rstrip('.') for part in parts if part)}"


def checked_lines(analysis: Analysis) -> tuple[str, ...]:
    """Return what was read, ruled out, run and tried for a finding without a draft."""
    fresh = analysis.ending.kind != "reused"
    read = analysis.read if fresh else ()
    more = f" and {len(read) - _NAMES} more" if len(read) > _NAMES else ""
    lines = [f"Read: {', '.join(read[:_NAMES])}{more}"] if read else []
    lines += [
        f"Ruled out: {hypothesis.statement.rstrip('.')}"
        + (f", because {hypothesis.because}" if hypothesis.because else "")
        for hypothesis in analysis.hypotheses
        if hypothesis.standing == "ruled out" and not analysis.has_fix
    ]
    lines += proof_lines(analysis.gate) if analysis.gate else ()
    return tuple(map(sentence, lines))


NO_CAUSE = "Cause unknown"


def place_of(given: Handover) -> str:
    """Return the failing location; empty where unknown.

    >>> place_of(Handover(path="app/a.py", line=3)), place_of(Handover())
    ('app/a.py:3', '')
    """
    return f"{given.path}:{given.line}" if given.path and given.line else given.path


def failing_row(given: Handover) -> str:
    """Return the failing line's own text; empty where it is not known.

    >>> failing_row(Handover(path="a.py", line=3, lines=("x = 1", "  y(x)"), first_line=2))
    'y(x)'
    """
    at = given.line - given.first_line
    return given.lines[at].strip() if given.first_line and 0 <= at < len(given.lines) else ""


def short_handover(given: Handover) -> str:
    """Return the unknown cause and its location in one sentence.

    >>> short_handover(Handover(unknown="why `x` is None in a.py:3"))
    'Cause unknown: why `x` is None in a.py:3.'
    >>> short_handover(Handover(path="a.py", line=3)), short_handover(Handover())
    ('Cause unknown; it failed in a.py:3.', 'Cause unknown.')
    """
    if given.unknown.strip():
        return f"Cause unknown: {given.unknown.strip().rstrip('.')}."
    place = place_of(given)
    return f"{NO_CAUSE}; it failed in {place}." if place else f"{NO_CAUSE}."


def handover_facts(given: Handover) -> tuple[tuple[str, str], ...]:
    """Return the known facts besides the location, by name.

    >>> handover_facts(Handover(path="a.py", line=3, value="'EUR'"))
    (('What failed', "'EUR'"),)
    """
    facts = (("What failed", given.value), ("Line last written by", given.last_change))
    return tuple((name, text) for name, text in facts if text.strip())


NO_FIX, NO_DRAFT = "No fix, and why", "No draft, and why"
FAILED = "The fix was tried, and did not pass"


def missing_draft(analysis: Analysis, no_draft: str) -> str:
    """Return the heading of a finding without a draft; empty where a draft is, or may be, made."""
    gate = analysis.gate
    if gate is not None and gate.outcome == "failed":
        return FAILED
    if not shown_changes(analysis):
        return NO_FIX
    return NO_DRAFT if no_draft else ""


def numbered_lines(given: Handover) -> str:
    """Return the code around the failing line with its line numbers."""
    width = len(str(given.first_line + len(given.lines)))
    rows = enumerate(given.lines, given.first_line)
    return "\n".join(f"{number:>{width}}  {text}" for number, text in rows)


# Results of running fixes, added to their findings.


def with_gates(report: RunReport, gates: Iterable[tuple[str, GateResult]]) -> RunReport:
    """Return the report, told what was run of fixes, by the fingerprints of their errors."""
    known = dict(gates)
    analyses = tuple(
        _with_gate(analysis, known[analysis.fingerprint])
        if analysis.fingerprint in known
        else analysis
        for analysis in report.analyses
    )
    return report.model_copy(update={"analyses": analyses}) if known else report


def _with_gate(analysis: Analysis, gate: GateResult) -> Analysis:
    """The analysis, its fix being what passed: edits to be published are kept there alone."""
    kept = gate.model_copy(update={"edits": (), "correction": _in_words(gate.correction)})
    if not gate.edits:
        return analysis.model_copy(update={"gate": kept})
    read = tuple(dict.fromkeys((*analysis.read, *gate.read)))
    update = {"gate": kept, "fix": gate.edits, "changes": gate.changes, "read": read}
    return analysis.model_copy(update=update)


def _in_words(attempt: Correction | None) -> Correction | None:
    """A second attempt without its edits: they are the fix, or a diff that nobody applies."""
    if attempt is None or not attempt.edits:
        return attempt
    diff = joined_diff(file_diffs(attempt.edits)) if attempt.outcome == "failed" else ""
    return attempt.model_copy(update={"edits": (), "diff": diff})
