"""One view of a finding for all renderings: its sections in report, issue, draft and Slack.

Plain texts, as hostile as they came: each rendering escapes them for its own format.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Literal, NamedTuple

from nightwatch_core.code.diffs import file_diffs
from nightwatch_core.code.record_fit import MISFIT
from nightwatch_core.code.related_code import Reach
from nightwatch_core.code.suspects import is_named
from nightwatch_core.code.symptom_fixes import SymptomFix
from nightwatch_core.intake.default_ports import RULES
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.answer import Evidence, Handover, Hypothesis
from nightwatch_core.models.code import ChangedFile, Commit, MergedPull
from nightwatch_core.models.proposals import Check, Correction, GateResult, Reproduction, Skip
from nightwatch_core.publish import blocks
from nightwatch_core.publish.words import WORDS
from nightwatch_core.text.escaping import block, line, shown
from nightwatch_core.text.markers import Permalinks
from nightwatch_core.text.plain_text import middle_out, moment, plural, roughly

Carrier = Literal["branch", "patch", "files"]  # of a draft; "files": a folder of this machine
_NEAR = 3  # lines above and below the failing one
FIRST = 3  # pieces of evidence that are shown at once; the others are folded
NO_CAUSE = "Cause unknown"
_OLD = timedelta(days=30)  # a change that is named and this much older than its error says so
_NAMES = 10  # tests and files that are named
_STEPS = 8  # all that a handover holds, in the shortest rendering too
_OUTPUT = 4 * blocks.MESSAGE  # characters of what a run printed
NOT_RUN = WORDS["not_run"]  # for reviewers
_SMALL = ("syntax", "imports", "lint", "types")  # what a reader takes for granted where it passed
# Reasons for which a fix is no draft on any night; others are choices and limits of one night.
_DOUBTS = ("weak", "worth", "refused", "rejected", "no fix")


class FindingView(NamedTuple):
    """A finding as every rendering shows it: its errors, its code, and its draft if it has one."""

    analysis: Analysis
    twins: tuple[Analysis, ...] = ()
    commit: Commit | None = None  # of the repository; None: not known
    changes: tuple[ChangedFile, ...] | None = None  # of a draft; None: as the analysis has them
    warning: str = ""  # what a reviewer of the draft has to look at first
    mitigations: tuple[SymptomFix, ...] = ()  # of the draft
    reach: Reach = Reach()  # of the draft: who uses it, where the same code still is
    near: tuple[Analysis, ...] = ()  # other errors of tonight that fail in the draft's files
    carrier: Carrier = "branch"
    no_draft: str = ""  # why there is no draft

    @property
    def links(self) -> Permalinks:
        """Return the addresses of its code."""
        return Permalinks.of(self.commit, self.analysis.commit)


def doubts_about(fingerprints: Iterable[str], skips: Iterable[Skip]) -> str:
    """Return the reason against a draft that holds on every night; empty for none."""
    names = frozenset(fingerprints)
    return next(
        (
            skip.reason
            for skip in skips
            if skip.kind == "pull" and skip.fingerprint in names and skip.cause in _DOUBTS
        ),
        "",
    )


def sections(finding: FindingView, limits: blocks.Limits) -> tuple[blocks.Section, ...]:
    """Return all sections of a finding that hold something, in the report's order."""
    make = _with_cause if finding.analysis.has_cause else _without_cause
    return tuple(item for item in make(finding, limits) if item.blocks)


def _with_cause(finding: FindingView, limits: blocks.Limits) -> Iterator[blocks.Section]:
    of, many = finding.analysis, limits.texts
    yield blocks.bullets("caveats", "Note", caveats(of), many)
    yield _message(of)
    ending = "" if of.ending.kind != "wrapped up" else of.ending.detail or "a limit was reached"
    cause = blocks.Paragraphs(
        text=block(of.root_cause, blocks.CAUSE) or "No cause was found.",
        remark=line(f"Stopped early: {ending}", blocks.TEXT) if ending else "",
    )
    yield blocks.section("cause", "Root cause", cause)
    yield blocks.bullets("question", "Question for the team", (question(of),), 1)
    if of.failing and not of.misfit:
        yield blocks.section("failing", "The failing line", _around(of.failing, finding, _NEAR))
    yield from _evidence(finding, limits)
    diffs = (
        blocks.diff_excerpt(file, descriptions(of, file.path), limits.code_lines)
        for file in shown_changes(of)
    )
    yield blocks.section("fix", "Proposed fix", blocks.cut(blocks.Excerpts, diffs, limits.files))
    yield _proof(finding, limits)
    refused = (f"{item.path}: {item.reason}" for item in of.refused)
    yield blocks.bullets("refused", "Not proposed", refused, many)
    quarantined = (
        f"a {part.part}, which contains an instruction from outside: {ascii(part.order)[1:-1]}"
        for part in of.quarantined
    )
    yield blocks.bullets("kept back", "Quarantined", quarantined, many)
    title = "Suspected change" if of.suspect_commit else "Suspects"
    yield blocks.bullets("suspects", title, suspected(of), limits.suspects)
    yield blocks.bullets("open", "Unconfirmed explanations", _explanations(of, "open"), many)
    yield blocks.bullets("next", "Next steps", of.next_steps, many)
    twins = (
        f"{twin.case.title}, {plural(twin.case.occurrences, 'time')}" for twin in finding.twins
    )
    yield blocks.bullets("twins", "Other errors with the same cause", twins, many)
    yield _also(of, many)
    # without a fix, those ruled out are among what was checked
    decided = (
        f"{status}: {text}"
        for status in (("confirmed", "ruled out") if of.has_fix else ("confirmed",))
        for text in _explanations(of, status)
    )
    yield blocks.bullets("considered", "Considered", decided, many, folded=True)
    yield blocks.bullets("learned", "Learned", (item.text for item in of.learnings), many)
    yield from _trace(of)


def _without_cause(finding: FindingView, limits: blocks.Limits) -> Iterator[blocks.Section]:
    of, many = finding.analysis, limits.texts
    given = of.handover or Handover()
    yield blocks.bullets("caveats", "Note", (misfit(of),), many)
    yield _message(of)
    facts = (("What failed", given.value), ("Line last written by", given.last_change))
    findings = tuple(
        blocks.Fact(name=name, text=text) for name, raw in facts if (text := line(raw, blocks.TEXT))
    )
    yield blocks.section("handover", "", (blocks.Facts(items=findings),) if findings else ())
    yield blocks.section("lines", "The failing line", _around(given, finding, len(given.lines)))
    yield blocks.bullets("look", "Next steps", given.look_at, _STEPS)
    claims = () if given.unknown else (of.root_cause,)
    unproved = (*claims, *_explanations(of, "open"))
    yield blocks.bullets("unproved", "Unproved claims", unproved, many)
    yield blocks.bullets("checked", "Checks", checked_lines(of), many)
    yield _also(of, many)
    yield from _trace(of)


def _around(given: Handover, finding: FindingView, most: int) -> tuple[blocks.Excerpts, ...]:
    """The failing line with at most so many lines above and below it."""
    rows = (shown(text)[: blocks.CODE_LINE] for text in given.lines)
    excerpt = blocks.Excerpt(
        place=line(place_of(given), blocks.TITLE),
        address=finding.links.line(given.path, given.line) if given.line else "",
        lines=tuple(
            row.model_copy(update={"is_failing": row.number == given.line})
            for row in blocks.numbered(rows, given.first_line or 1)
            if abs((row.number or 0) - given.line) <= most or not given.line
        ),
    )
    return blocks.cut(blocks.Excerpts, (excerpt,) if excerpt.lines else (), 1)


def _message(of: Analysis) -> blocks.Section:
    """The message where it is more than the line that heads the finding."""
    message = of.case.leader.message.strip()
    text = block(message, blocks.MESSAGE) if "\n" in message or len(message) > blocks.TITLE else ""
    return blocks.section("message", "", (blocks.Verbatim(text=text),) if text else ())


def _also(of: Analysis, many: int) -> blocks.Section:
    others = (f"{line(other.title)} ({other.occurrences:,})" for other in of.case.others)
    return blocks.bullets("also", "Grouped with this error", others, many)


def _trace(of: Analysis) -> Iterator[blocks.Section]:
    """The trace as it came, else its frames."""
    if trace := of.case.trace:
        frames = (f"{frame.place} {frame.function}".rstrip() for frame in trace.frames[:60])
        text = block(trace.raw or "\n".join(frames), blocks.TRACE, code=True)
        yield blocks.section(
            "trace", "", (blocks.Verbatim(name="Stack trace", text=text),) if text else ()
        )


# What is said of the code: caveats, evidence, changes and suspects.


def misfit(analysis: Analysis) -> str:
    """Say that the code that was read is not the code that failed; empty where it may be."""
    reason = analysis.misfit.strip().removeprefix(MISFIT).rstrip(".")
    return f"The error record does not match this commit: {reason}." if reason else ""


def caveats(analysis: Analysis) -> tuple[str, ...]:
    """Return what a reader has to keep in mind about the code that was read."""
    is_live = analysis.base_branch_status is not None and analysis.base_branch_status.kind == "live"
    return tuple(filter(None, (misfit(analysis), "" if is_live else base_branch(analysis))))


def base_branch(analysis: Analysis) -> str:
    """Say how the failing code is on the base branch; empty where it is the code that failed."""
    status = analysis.base_branch_status
    if status is None:
        return ""
    return sentence(status.detail.strip() or WORDS["base_branch"][status.kind])


def awaited(analysis: Analysis) -> str:
    """Name the change that the base branch has and production has not; empty for none."""
    status = analysis.base_branch_status
    if status is None or status.kind != "changed":
        return ""
    by = f" by commit {status.sha[:10]}" if status.sha else ""
    by = f" by {status.sign}{status.pull}" if status.pull else by
    return f"already changed{by}, awaiting deploy"


def _evidence(finding: FindingView, limits: blocks.Limits) -> Iterator[blocks.Section]:
    """The first pieces, what holds first, and the others folded; else the first alone."""
    of = finding.analysis
    pieces = sorted(of.evidence, key=lambda piece: not (piece.verified and not of.misfit))
    excerpts = [_quoted(piece, finding, limits.code_lines) for piece in pieces]
    at_once = min(FIRST, limits.evidence)
    is_cut = "evidence_more" in limits.without
    shown_first = excerpts if is_cut else excerpts[:at_once]
    yield blocks.section("evidence", "Evidence", blocks.cut(blocks.Excerpts, shown_first, at_once))
    if not is_cut:
        more = blocks.cut(blocks.Excerpts, excerpts[at_once:], limits.evidence)
        yield blocks.section(
            "evidence_more", f"{len(excerpts) - at_once:,} more", more, folded=True
        )


def _quoted(evidence: Evidence, finding: FindingView, most: int) -> blocks.Excerpt:
    """At most `most` quoted lines, numbered from where the evidence points; none unverified."""
    place = f"{line(evidence.path, blocks.TITLE)}:{evidence.line}"
    note = line(evidence.note, blocks.LONG)
    if finding.analysis.misfit:
        return blocks.Excerpt(place=place, note=note)
    if not evidence.verified:
        return blocks.Excerpt(place=place, note=note, remark="not found in the code")
    rows = block(evidence.quote.strip("\r\n"), blocks.QUOTE, code=True).splitlines()[:most]
    return blocks.Excerpt(
        place=place,
        remark="verified",
        note=note,
        address=finding.links.line(evidence.path, evidence.line),
        lines=blocks.numbered(rows, evidence.line),
        verified=True,
    )


def shown_changes(analysis: Analysis) -> tuple[ChangedFile, ...]:
    """Return the fix's change to each file."""
    if analysis.misfit or not analysis.fix:
        return ()
    return analysis.changes or file_diffs(analysis.fix)


def descriptions(analysis: Analysis, path: str) -> str:
    """Return the purpose of a file's edits in one line."""
    texts = (edit.description.strip() for edit in analysis.fix if edit.path == path)
    purposes = tuple(dict.fromkeys(filter(None, texts)))
    return " ".join(map(sentence, purposes)) if len(purposes) > 1 else "".join(purposes)


def suspected(analysis: Analysis) -> Iterator[str]:
    """Yield the change that the analysis names; without a model, those that rules suspect."""
    named = analysis.suspect_commit.strip().lower()
    if analysis.misfit:
        return
    if named:
        suspects = [item for item in analysis.suspects if is_named(item.pull, named)]
    else:
        by_rules = analysis.model == RULES or analysis.by_fallback
        suspects = list(analysis.suspects) if by_rules else []
    for suspect in suspects:
        pull = suspect.pull
        author = f" by {pull.author}" if pull.author else ""
        reasons = "; ".join((*suspect.because, *_age(analysis, pull)))
        because = f": {reasons}" if reasons else ""
        sha = f" ({pull.sha[:10]})" if pull.number else ""
        # merging puts the number behind the title
        title = pull.title.strip().removesuffix(f"({pull.sign}{pull.number})").rstrip(" :")
        came = f"{'merged' if pull.number else 'committed'} {moment(pull.merged_at)}"
        yield f"{pull.name} “{title}”{sha}{author}, {came}{because}"
    if named and not suspects:
        yield f"pull request {named}" if named.startswith(("#", "!")) else f"commit {named[:10]}"


def _age(analysis: Analysis, pull: MergedPull) -> Iterator[str]:
    first = analysis.case.first_seen
    if analysis.suspect_commit.strip() and first:
        age = _utc(first) - _utc(pull.merged_at)
        if age >= _OLD:
            yield f"it is {roughly(age)} older than the first occurrence"


def _utc(at: datetime) -> datetime:
    return at if at.tzinfo else at.replace(tzinfo=UTC)


# How sure it is, and what is open.


def sureness(analysis: Analysis) -> str:
    """Return the confidence in the cause, and in the fix where it differs.

    >>> from nightwatch_core.models.errors import Case, ErrorGroup
    >>> of = Case(leader=ErrorGroup(fingerprint="v1:0", source="file", error_class="E"))
    >>> sureness(Analysis(case=of, title="", root_cause="", confidence="high",
    ...                   fix_confidence="low"))
    'high for the cause, low for the fix'
    """
    fix = analysis.fix_confidence
    if fix is None or fix == analysis.confidence:
        return analysis.confidence
    return f"{analysis.confidence} for the cause, {fix} for the fix"


def doubt(analysis: Analysis) -> str:
    """Return the reason the confidence was lowered; empty for none."""
    return "" if analysis.misfit else analysis.doubt.strip()


def question(analysis: Analysis) -> str:
    """Return the question to the team, without a label of its own; empty for none."""
    return re.sub(r"(?i)^a product choice: *", "", analysis.question.strip())


def _explanations(analysis: Analysis, status: str) -> Iterator[str]:
    return (_explained(item) for item in analysis.hypotheses if item.standing == status)


def _explained(hypothesis: Hypothesis) -> str:
    statement, because = hypothesis.statement.strip(), hypothesis.because.strip()
    if not because or statement.endswith(("!", "?", "…")):
        return f"{statement} {because}".strip()
    return f"{statement.rstrip('.:;, ')}: {because}"


def sentence(text: str) -> str:
    """Return a text with the stop that ends it.

    >>> sentence("Count none."), sentence("is it so?"), sentence("no host")
    ('Count none.', 'is it so?', 'no host.')
    """
    return text if text.endswith((".", "!", "?", "…", ":")) else f"{text.rstrip(' ,;')}."


# What running a fix showed, and what was checked where there is no draft.


def _proof(finding: FindingView, limits: blocks.Limits) -> blocks.Section:
    """Return the proof of the fix; or the reason for no draft, and what was checked."""
    of, gate, reason = finding.analysis, finding.analysis.gate, finding.no_draft
    lines = checked_lines(of)
    if gate is not None and gate.outcome == "failed":
        title, reason = "No draft pull request: the fix failed its checks", ""
    elif not shown_changes(of):
        title = "Why there is no fix"
    elif reason:
        title = "Why there is no draft pull request"
    else:
        title, lines = "Proof", proof_lines(gate) if gate else ()
    first = (sentence(f"No draft pull request: {reason}"),) if reason else ()
    listed = blocks.bullets("proof", title, (*first, *lines), 2 * limits.texts)
    return blocks.section("proof", title, listed.blocks, quotes(gate))


def checked_lines(analysis: Analysis) -> tuple[str, ...]:
    """Return what was read, ruled out, run and tried for a finding without a draft."""
    fresh = analysis.ending.kind != "reused"
    lines = [f"Read: {_named(analysis.read)}"] if fresh and analysis.read else []
    lines += [
        f"Ruled out: {item.statement.rstrip('.')}"
        + (f", because {item.because}" if item.because else "")
        for item in analysis.hypotheses
        if item.standing == "ruled out" and not analysis.has_fix
    ]
    lines += proof_lines(analysis.gate) if analysis.gate else ()
    return tuple(map(sentence, lines))


def proof_lines(gate: GateResult | None) -> tuple[str, ...]:
    """Return everything that was tried of a fix and what came of it, what proves most first."""
    if gate is None:
        return ("No checks were run.",)
    # what could not be run at all could not be reproduced for the same reason
    reproduced = () if gate.outcome == "not run" else _reproduced(gate.reproduction)
    lines = [*reproduced, *_corrected(gate.correction), *_checked(gate)]
    for names, why in (
        (gate.preexisting, "red without the fix, too,"),
        (gate.flaky, "flaky (red and green on the same code)"),
        (gate.silent, "new, and red without the fix, too,"),
    ):
        verb, count = "is" if len(names) == 1 else "are", plural(len(names), "test")
        lines += [f"{count} that {verb} {why} {verb} left out: {_named(names)}"] * bool(names)
    if story := gate.story:
        done = sum(step.outcome == "passed" for step in story.steps)
        state = f"{done} of {len(story.steps)} steps passed" if story.steps else "not started"
        lines.append(f"Made in steps: {state}" + (f" ({story.because})" if story.because else ""))
    return tuple(map(sentence, lines))


def _named(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
    return f"{', '.join(names[:_NAMES])}{more}"


def _reproduced(made: Reproduction | None) -> Iterator[str]:
    if made is None or (made.outcome == "not tried" and not made.because):
        return
    tries = plural(made.tries, "try", "tries") if made.tries else ""
    took = f"{made.seconds:.0f} s" if made.seconds >= 1 else ""
    effort = ", ".join(filter(None, (tries, took)))
    effort = f" ({effort})" if effort else ""
    if made.outcome == "not tried":
        yield f"Reproduction skipped: {made.because}"
    elif made.outcome == "not reproduced":
        yield f"Not reproduced{effort}: {made.because or 'no test raised the error'}"
    else:
        through = f" through {made.frames[0]}" if made.frames else ""
        is_out = not made.test and made.tries  # a fix's own test was not asked for
        left_out = "its test is left out: " if is_out else ""
        left_out = f"; {left_out}{made.because}" if made.because else ""
        test, error = made.name or "a test", made.error_class or "the error"
        yield f"Reproduced{effort}: {test} raises {error}{through}, as production does{left_out}"


def _corrected(attempt: Correction | None) -> Iterator[str]:
    if attempt is None:
        return
    if attempt.outcome == "passed":
        first = attempt.first_failed.rstrip(".")
        yield f"The first fix failed: {first}. This is the second fix: {attempt.because}"
    elif attempt.outcome == "failed":
        yield f"The second fix failed: {attempt.because}"
    else:
        yield f"No second fix was made: {attempt.because}"


def _checked(gate: GateResult) -> Iterator[str]:
    if gate.outcome == "not run":
        yield f"No checks were run: {NOT_RUN.get(gate.kind, gate.text)}"
        return
    if gate.outcome == "failed" and all(check.outcome != "failed" for check in gate.checks):
        yield f"Failed: {gate.text}"
    if gate.executing != 0:
        number = plural(gate.executing, "test") if gate.executing else "tests"
        runs = "runs" if gate.executing == 1 else "run"
        yield f"Passed: {number} that {runs} the changed lines"
    elif gate.outcome == "passed":
        yield "Not proved: no test is known to run the changed lines"
    made = gate.reproduction is not None and gate.reproduction.outcome == "reproduced"
    listed = ("reproduction", "passed") if made else ()
    checks = [check for check in gate.checks if (check.name, check.outcome) != listed]
    small = [check for check in checks if check.name in _SMALL and check.outcome == "passed"]
    large = [check for check in checks if check not in small]
    yield from (check_line(check) for check in large if check.outcome != "not run")
    if small:
        yield f"Passed: {', '.join(dict.fromkeys(check.name for check in small))}"
    if not any(check.name == "tests" and check.outcome == "passed" for check in large):
        yield from (check_line(check) for check in large if check.outcome == "not run")


def check_line(check: Check) -> str:
    """Return one check with its result and duration."""
    is_timed = check.seconds >= 0.1 and check.outcome != "not finished"  # whose text says it
    took = f" ({check.seconds:.1f} s)" if is_timed else ""
    is_lacking = (check.name, check.outcome) == ("dependencies", "not run")
    text = NOT_RUN["not prepared"] if is_lacking else check.text or check.name
    return f"{check.outcome[:1].upper()}{check.outcome[1:]}: {text}{took}"


def quotes(gate: GateResult | None) -> Iterator[blocks.Verbatim]:
    """Return what runs printed, under our own names: the crash and its end, failures, a retry."""
    if gate is None:
        return
    printed: list[tuple[str, str]] = []
    if gate.reproduction and gate.reproduction.outcome == "reproduced":
        printed.append(("The snippet", gate.reproduction.snippet))
        printed.append(("Before the change", gate.reproduction.red))
        printed.append(("With the change", gate.reproduction.green))
    for check in gate.checks:
        name = "tests" if check.name == "tests" else "run"
        printed.append((f"Output of the {name}", check.output))
    if gate.correction:
        printed.append(("The second fix", gate.correction.diff))
        printed.append(("Output of the second fix", gate.correction.output))
    for name, output in printed:
        if output.strip():
            yield blocks.Verbatim(
                name=name, text=block(middle_out(output, _OUTPUT - 60), _OUTPUT, code=True)
            )


# What is known where no cause is.


def place_of(given: Handover) -> str:
    """Return the failing location; empty where unknown."""
    return f"{given.path}:{given.line}" if given.path and given.line else given.path


def failed_in(given: Handover) -> str:
    """Return the failing location with its code; empty where unknown.

    >>> failed_in(Handover(path="a.py", line=3, lines=("x = 1", "  y(x)"), first_line=2))
    'a.py:3 `y(x)`'
    """
    place, index = line(place_of(given), blocks.TITLE), given.line - given.first_line
    is_shown = given.first_line and 0 <= index < len(given.lines)
    row = line(given.lines[index].strip(), blocks.NAME) if is_shown else ""
    code = f" `{row}`" if row and "`" not in row else ""
    return f"{place}{code}" if place else ""


def short_handover(given: Handover) -> str:
    """Return the unknown cause and its location in one sentence.

    >>> short_handover(Handover(unknown="why `x` is None in a.py:3"))
    'Cause unknown: why `x` is None in a.py:3.'
    >>> short_handover(Handover(path="a.py", line=3)), short_handover(Handover())
    ('Cause unknown; it failed in a.py:3.', 'Cause unknown.')
    """
    if given.unknown.strip():
        return f"{NO_CAUSE}: {given.unknown.strip().rstrip('.')}."
    place = place_of(given)
    return f"{NO_CAUSE}; it failed in {place}." if place else f"{NO_CAUSE}."
