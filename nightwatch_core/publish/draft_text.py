"""The sections of a draft as its reviewer needs them: what fails, what proves it, what it risks."""

from collections.abc import Iterable, Iterator

from nightwatch_core.code import edits as fixing
from nightwatch_core.code.diffs import file_diffs, joined_diff
from nightwatch_core.code.likely_files import TEST
from nightwatch_core.code.related_code import Places
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.proposals import Correction, GateResult, Step, Story
from nightwatch_core.models.report import RunReport
from nightwatch_core.publish import finding_parts as parts
from nightwatch_core.publish import issue_sections as say
from nightwatch_core.publish.expected_value import PROOF_WORDS, proof_of
from nightwatch_core.publish.finding_parts import (
    Quote,
    check_line,
    crash_quotes,
    failure_quotes,
    proof_lines,
)
from nightwatch_core.publish.issue_sections import bulleted, folded
from nightwatch_core.publish.markers import Carrier, Told
from nightwatch_core.text.escaping import code_span, fenced, line, markdown
from nightwatch_core.text.plain_text import plural

_SHORT, _LONG, _DIFF = 1_200, 6_000, 20_000  # characters of a run at once, folded, of a diff
_ROWS, _CHECKS, _NEAR, _MESSAGE = 14, 40, 5, 200  # lines, checks, errors, characters
_DIFF_ROWS = 60  # of a diff that is shown at once; GitHub shows it, too


def opening(told: Told) -> str:
    """Say what fails, how often and for whom; how large the change is, and how far it is proved."""
    case = told.analysis.case
    leader, places = case.leader, len({group.transaction for group in case.groups})
    where = f" in {code_span(leader.transaction)}" if leader.transaction.strip() else ""
    more = f" and {plural(places - 1, 'more place')}" if places > 1 else ""
    facts = [plural(case.occurrences, "time")]
    facts += [] if leader.users is None else [plural(leader.users, "user")]
    facts += [f"last {say.utc(leader.last_seen)}"] if leader.last_seen else []
    fails = f"{code_span(leader.error_class) or 'An error'}{where}{more}"
    message = f"\n{code_span(line(leader.message, _MESSAGE))}" if leader.message.strip() else ""
    proved = PROOF_WORDS[proof_of(told.analysis.gate)]
    short = f"**In short**: {_size(told)}; {proved}."
    return f"**{fails}**: {', '.join(facts)}.{message}\n\n{short}\n\n{say.source(told)}"


def caveats(told: Told) -> str:
    """What speaks against reading on; that the base has the failing lines goes without saying."""
    stands = told.analysis.standing
    return "" if stands is not None and stands.kind == "live" else say.caveats(told)


def proof(told: Told) -> str:
    """How the change is proved: red and green, and what else was run."""
    gate = told.analysis.gate
    lines = (told.prose(line) for line in proof_lines(gate))
    quotes = "\n\n".join(map(_quoted, crash_quotes(gate)))
    checks = [f"- {told.prose(check_line(one))}" for one in (gate.checks if gate else ())]
    took = f"All that was run, {gate.seconds:.0f} s" if gate else ""
    ran = folded(["\n".join(checks[:_CHECKS])] if checks else [], took).strip()
    return "\n\n".join(filter(None, (bulleted("Proof", lines), quotes, ran)))


def failed_runs(told: Told) -> str:
    """What failing runs of an attempt printed, folded."""
    quotes = (f"{q.name}:\n\n{fenced(q.output, limit=_LONG)}" for q in _told(told))
    return folded(list(quotes), "What the failing runs printed").strip()


def _told(told: Told) -> tuple[Quote, ...]:
    gate = told.analysis.gate
    return tuple(Quote(markdown(q.name), q.output) for q in failure_quotes(gate))


def _quoted(quote: Quote) -> str:
    """The end of a run, and all of it folded where that is more."""
    rows = quote.output.strip().splitlines()
    end = "\n".join(rows[-_ROWS:])[-_SHORT:]
    whole = fenced(quote.output, limit=_LONG) if len(end) < len(quote.output.strip()) else ""
    return f"{quote.name}:\n\n{fenced(end)}{folded([whole] if whole else [], 'The whole run')}"


def change(told: Told) -> str:
    """What the draft does: the code at once, tests and long changes folded."""
    files = parts.shown_changes(told.analysis) if told.changes is None else told.changes
    code = tuple(one for one in files if not TEST.search(one.path)) or files
    rest = tuple(one for one in files if one not in code)
    rows = sum(one.diff.count("\n") + 1 for one in code)
    texts = ((one.path, parts.descriptions(told.analysis, one.path)) for one in files)
    described = "\n".join(
        f"- {code_span(path)}: {told.prose(text)}" for path, text in texts if text
    )
    diff = fenced(joined_diff(code), "diff", _DIFF) if code else ""
    tests = [fenced(joined_diff(rest), "diff", _DIFF)] if rest else []
    if rows > _DIFF_ROWS:
        diff = folded([diff], f"The change, {rows} lines").strip()
    return "\n\n".join(
        filter(None, ("## Change", described, diff, folded(tests, "Its tests").strip()))
    )


def risk(told: Told) -> str:
    """What a reviewer weighs: new powers, who depends on what is changed, what is not shown."""
    return bulleted("Risk", _risks(told))


def _size(told: Told) -> str:
    files = parts.shown_changes(told.analysis) if told.changes is None else told.changes
    tests = tuple(one for one in files if TEST.search(one.path))
    code = tuple(one for one in files if one not in tests)
    lines, of_tests = (sum(f.added + f.removed for f in some) for some in (code, tests))
    also = f" and {plural(of_tests, 'line')} of tests" if of_tests else ""
    return f"{plural(lines, 'changed line')} in {plural(len(code), 'file')}{also}"


def _risks(told: Told) -> Iterator[str]:
    powers = "see the top" if told.warning else "none"
    yield f"New powers (network, processes, environment, keys): {powers}."
    for places in told.reach.users:
        yield f"Who uses {_listed(told, places)}." if places.number else _unused(places)
    if not told.reach.is_known:
        yield "Who uses what is changed is not known: the code could not be searched."
    proof = proof_of(told.analysis.gate)
    if proof == "not run":
        yield "That it mends the crash and breaks nothing is reasoned, not shown."
    elif proof == "green":
        yield "Green tests show what it does not break; that the crash is gone is reasoned only."


def _unused(places: Places) -> str:
    return f"Who uses {code_span(places.text)}: nothing that can be seen by its name."


def _listed(told: Told, places: Places) -> str:
    listed = ", ".join(told.prose(one) for one in places.places)
    more = f" and {places.number - len(places.places)} more" * (places.number > len(places.places))
    return f"{code_span(places.text)}, {plural(places.number, 'place')}: {listed}{more}"


def not_mended(told: Told) -> str:
    """Siblings: where the same still stands, and what else fails in these files."""
    near = (
        f"{markdown(one.case.title)} ({one.case.occurrences:,}) fails in a file that this "
        "changes, of another cause."
        for one in told.near[:_NEAR]
    )
    same = (f"The same stands elsewhere: {_listed(told, one)}." for one in told.reach.unmended)
    return bulleted("Not mended here", (*same, *near))


def rejecting(told: Told) -> str:
    """How to reject it so that the next night learns of it, by what is read back."""
    return f"## If you reject it\n\n{_REJECT[told.carrier]}\n\n{_LEARNS}"


_LEARNS = """\
- The cause is right, the change is not: say what should happen; another fix is made to your words.
- The cause is wrong: say what shows it; the next analysis doubts it and asks what settles it.
- Right but for details: change it before you merge; that is noticed."""
_REJECT: dict[Carrier, str] = {
    "branch": "Close it unmerged, and write why in a comment or a review, as an owner, member or "
    "collaborator: the next analysis of this error is told your words. This very change is not "
    "proposed again.",
    "patch": "Close this issue as not planned, and write why in a comment, as an owner, member or "
    "collaborator: the words are kept with the error. This very change is not proposed again.",
    "files": "Set `state: closed` in the first lines of this file, and write why into its `words: "
    "[]`: the next analysis of this error is told your words. This very change is not proposed "
    "again.",
}


def by_the_way(told: Told) -> str:
    """What a reviewer may want to know, folded: suspects and other explanations."""
    texts = (say.suspects(told), say.undecided(told), say.decided_list(told))
    return folded(["\n\n".join(filter(None, texts))] if any(texts) else [], "More").strip()


# The second attempt at a fix, in issues and drafts: why there was one, and what came of it.

_WHY, _DIFF_CORRECTION_SECTION, _OUTPUT = 600, 10_000, 3_000  # characters


def second_attempt(told: Told) -> str:
    """What the first attempt did not pass, and the second one with what failed of it."""
    gate = told.analysis.gate
    if gate is None or gate.correction is None:
        return ""
    attempt = gate.correction
    if attempt.outcome == "passed":
        return (
            "## What was tried before\n\nThe fix was made anew: the first one did not pass "
            f"({markdown(attempt.first_failed, _WHY)}). What is different: "
            f"{markdown(attempt.because, _WHY)}"
        )
    parts = (
        f"## A second attempt\n\n{_sentence(attempt)}",
        fenced(attempt.diff, "diff", _DIFF_CORRECTION_SECTION) if attempt.diff else "",
        fenced(attempt.output, limit=_OUTPUT) if attempt.output.strip() else "",
    )
    return "\n\n".join(filter(None, parts))


def _sentence(attempt: Correction) -> str:
    because = markdown(attempt.because, _WHY)
    if attempt.outcome == "not tried":
        return f"None was made: {because}"
    return f"It did not pass either: {because}" if attempt.diff else f"It was not run: {because}"


# What running fixes brought, put to the findings they are of.


def with_gates(report: RunReport, gates: Iterable[tuple[str, GateResult]]) -> RunReport:
    """The report, told what was run of fixes, by the fingerprints of their errors."""
    known = dict(gates)
    analyses = tuple(
        _with_gate(one, known[one.fingerprint]) if one.fingerprint in known else one
        for one in report.analyses
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


# A fix that was made in several steps: what drafts, issues and reports say of it.

_TEXT, _DIFF_STORY_SECTION = 600, 6_000  # characters
_HEADS = {
    "whole": "Made in steps, a commit each",
    "part": "Made in steps, and not to the end: this is a part of the fix",
    "not made": "Tried in steps",
}


def in_steps(told: Told) -> str:
    """The steps with what came of each, and what is missing; empty where it was one piece."""
    gate = told.analysis.gate
    if gate is None or gate.story is None:
        return ""
    story = gate.story
    listed = bulleted(_HEADS[story.outcome], (*_lines(story), *map(_line, story.steps)))
    made = next((one.edits for one in reversed(story.steps) if one.edits), ())
    if story.outcome != "not made" or not made:
        return listed
    body = fenced(fixing.diff(made), "diff", _DIFF_STORY_SECTION)
    summary = "What its passed steps would change, which does not stand alone"
    return f"{listed}\n\n<details><summary>{summary}</summary>\n\n{body}\n\n</details>"


def _lines(story: Story) -> Iterator[str]:
    if story.why:
        yield f"in steps because {markdown(story.why, _TEXT)}"
    if story.because and not story.steps:
        yield f"not begun: {markdown(story.because, _TEXT)}"


def _line(step: Step) -> str:
    title = markdown(step.title, _TEXT)
    told = {
        "passed": f"passed: {title}; accepted by ",
        "failed": f"did not pass: {title} ({markdown(step.because, _TEXT)}); to be accepted by ",
        "not tried": f"not made: {title}; to be accepted by ",
    }
    alone = step.outcome == "passed" and step.because
    more = f"; {markdown(step.because, _TEXT)}" if alone else ""
    return told[step.outcome] + code_span(step.accepted_when) + more


def is_part(analysis: Analysis) -> bool:
    """Whether only some steps of the fix are proposed."""
    gate = analysis.gate
    return gate is not None and gate.story is not None and gate.story.outcome == "part"
