"""From an answer to a verdict: quotes looked up, edits judged, confidence and score computed."""

import re
from collections.abc import Callable
from contextlib import suppress

from nightwatch_core.code.code_view import inside, lines_of, verified
from nightwatch_core.code.diffs import file_diffs
from nightwatch_core.code.edits import NO_INSTRUCTIONS, grounds_of, judged, reasons
from nightwatch_core.code.injected_instructions import InjectedInstructions
from nightwatch_core.code.suspects import named_change
from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.models.analysis import FELL_BACK, Analysis, RefusedEdit
from nightwatch_core.models.answer import Answer, Confidence, Evidence, Handover
from nightwatch_core.models.code import Blame
from nightwatch_core.models.errors import Case
from nightwatch_core.models.research import ResearchContext
from nightwatch_core.ports import CodeReader
from nightwatch_core.text.plain_text import one_line, shortened
from nightwatch_core.text.words import stem, words

ROOT_CAUSE, QUESTION = 8_000, 500  # characters
HANDED_LINES, HANDED_STEPS = 4, 6  # lines above and below the failing one; what to look at next
IMPORTED = 200  # files from which a commit tells nothing of a line: it brought the code in
HANDED_LINE, HANDED_TEXT, HANDED_VALUE = 300, 300, 200  # characters of a line; a text; the value

# Triage notes of an error without a known cause: the failing line with the lines around it, the
# value that failed, and the last change of the line.

_MOST = 2 * HANDED_LINES + 1  # lines


def completed(given: Handover, case: Case, code: CodeReader, *, fits: bool = True) -> Handover:
    """Fill in what a handover leaves open, and bound what it holds.

    Where the record does not fit the code (`fits`), the code is not asked: the lines are those that
    the record itself holds. What cannot be read stays empty.
    """
    frames = case.trace.in_app if case.trace else ()
    frame = next((frame for frame in frames if frame.repo_path), next(iter(frames), None))
    path, line = given.path, given.line
    if frame and not path:
        path, line = frame.repo_path or frame.path, line or frame.line or 0
    is_readable = fits and not (frame and frame.fit == "differs") and bool(path and line)
    lines, first, changed = given.lines, given.first_line or line, given.last_change
    with suppress(GiveUp, TryLater):
        if is_readable and not lines:
            rows = lines_of(code.read_file(path) or "")
            first = max(1, line - HANDED_LINES)
            lines = rows[first - 1 : line + HANDED_LINES] if line <= len(rows) else ()
    with suppress(GiveUp, TryLater):
        if is_readable and not changed:
            wrote = next((row for row in code.blame(path, line) if not row.is_root), None)
            commit = code.show_commit(wrote.sha, path) if wrote else None
            is_import = commit is not None and commit.changed >= IMPORTED
            changed = _written_by(wrote) if wrote and not is_import else ""
    if frame and frame.code and not lines and not given.path:
        before, after = frame.before[-HANDED_LINES:], frame.after[:HANDED_LINES]
        lines, first = (*before, frame.code, *after), max((frame.line or 1) - len(before), 1)
    return Handover(
        unknown=_line(given.unknown, HANDED_TEXT),
        path=_line(path, HANDED_TEXT),
        line=line,
        lines=tuple(line.replace("\n", " ")[:HANDED_LINE] for line in lines[:_MOST]),
        first_line=first if lines else 0,
        value=_line(given.value, HANDED_VALUE),
        last_change=_line(changed, HANDED_TEXT),
        look_at=tuple(_line(item, HANDED_TEXT) for item in given.look_at[:HANDED_STEPS]),
    )


def _written_by(blame: Blame) -> str:
    pull = f"{blame.sign}{blame.pull}, " if blame.pull else ""
    subject = blame.subject.removesuffix(f"({blame.sign}{blame.pull})").rstrip()
    return f"{blame.author}, {blame.at:%Y-%m-%d}: {subject} ({pull}{blame.sha[:10]})"


def _line(text: str, limit: int) -> str:
    return shortened(one_line(text[: 4 * limit]), limit)


_RANKS: dict[Confidence, int] = {"low": 0, "medium": 1, "high": 2}


def _quoted(analysis: Analysis) -> set[str]:
    return {evidence.path for evidence in analysis.evidence if evidence.verified}


def has_verified_evidence(analysis: Analysis) -> bool:
    """Return whether a quoted line was found in the code."""
    return bool(_quoted(analysis))


def _reaches_top_frame(analysis: Analysis) -> bool:
    top = analysis.case.trace.top if analysis.case.trace else None
    return top is not None and top.repo_path in _quoted(analysis)


def _says_what_is_open(analysis: Analysis) -> bool:
    standings = [hypothesis.standing for hypothesis in analysis.hypotheses]
    return bool(standings) and ("open" not in standings or analysis.confidence != "high")


SCORE: tuple[tuple[float, str, Callable[[Analysis], bool]], ...] = (
    (0.25, "a quoted line was found in the code", has_verified_evidence),
    (
        0.10,
        "every quoted line was found",
        lambda a: bool(a.evidence) and all(item.verified for item in a.evidence),
    ),
    (0.15, "the evidence reaches the top frame's file", _reaches_top_frame),
    (
        0.10,
        "the cause names a code location",
        lambda a: bool(re.search(r"\w\.\w+:\d+", a.root_cause)),
    ),
    (
        0.10,
        "the files quoted from were read",
        lambda a: bool(_quoted(a)) and _quoted(a) <= set(a.read),
    ),
    (0.15, "a fix is proposed and applies", lambda a: a.has_fix),
    (0.10, "the confidence fits the open explanations", _says_what_is_open),
    (0.05, "a suspect change is named", lambda a: bool(a.suspect_commit)),
)

# Why one verdict is better than another, the weightiest first; the larger value wins.
BETTER: tuple[tuple[str, Callable[[Analysis], float]], ...] = (
    ("a fix with verified evidence", lambda a: a.has_fix and has_verified_evidence(a)),
    ("a known cause", lambda a: a.has_cause),
    ("confidence", lambda a: _RANKS[a.confidence]),
    ("score", lambda a: a.score),
)


def scored(analysis: Analysis) -> Analysis:
    """Return the analysis with its score and confidence, and the rules that gave them.

    The score is of a cause: without one it is 0, whatever was quoted.
    """
    rules = SCORE if analysis.has_cause else ()
    held = [(points, reason) for points, reason, rule in rules if rule(analysis)]
    confidence, why = _confidence(analysis)
    update = {
        "score": round(sum(points for points, _ in held), 2),
        "confidence": confidence,
        "doubt": why or analysis.doubt,
        "because": (
            *analysis.because,
            *(f"{reason} (+{points:.2f})" for points, reason in held),
            *((why,) if why else ()),
        ),
    }
    return analysis.model_copy(update=update)


def advantage(first: Analysis, second: Analysis) -> str:
    """Name by what the second is better than the first; empty where it is not."""
    for name, value in BETTER:
        if value(first) != value(second):
            return name if value(second) > value(first) else ""
    return ""


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(stem, words(text))) - {""}


def quotes_what_it_names(analysis: Analysis) -> bool:
    """Tell whether a verified quote holds a name of the cause, or the cause names its file."""
    cause = f"{analysis.title} {analysis.root_cause}"
    return any(
        item.path.rpartition("/")[2] in cause or not _stems(cause).isdisjoint(_stems(item.quote))
        for item in analysis.evidence
        if item.verified
    )


# Why a cause is of low confidence whatever the answer says, the first reason that holds.
LOW: tuple[tuple[Callable[[Analysis], bool], str], ...] = (
    (lambda a: not has_verified_evidence(a), "no quoted line was found in the code"),
    (lambda a: bool(a.misfit), "{misfit}"),
    (lambda a: not quotes_what_it_names(a), "no quoted line contains a name from the cause"),
    (
        lambda a: any(not edit.is_slip for edit in a.refused) and not a.has_fix,
        "its fix was refused",
    ),
)


def _confidence(analysis: Analysis) -> tuple[Confidence, str]:
    why = next((reason for rule, reason in LOW if rule(analysis)), "")
    if not why or analysis.confidence == "low":
        return analysis.confidence, ""
    return "low", f"said {analysis.confidence}, but {why.replace('{misfit}', analysis.misfit)}"


def verdict(
    case: Case,
    answer: Answer,
    research: ResearchContext,
    code: CodeReader,
    read: tuple[str, ...] = (),
    orders: InjectedInstructions = NO_INSTRUCTIONS,
) -> Analysis:
    """Say what the answer is worth: evidence checked against the code, only edits that may stand.

    `read` are the files the model has seen. No edit may repeat `orders` from outside.
    """
    evidence = looked_up(answer.evidence, code, case)
    claims = answer.confidence != "low" or answer.has_fix or any(item.verified for item in evidence)
    unknown = answer.handover is not None or not claims
    with_fix = answer.has_fix and not unknown
    change = named_change(answer.suspect_commit, code)
    grounds = grounds_of(answer, case, evidence, read, orders)
    fix = judged(answer.file_changes if with_fix else (), code, grounds)
    draft = Analysis(
        case=case,
        title=shortened(one_line(answer.title), 120) or case.title,
        root_cause=answer.root_cause.strip()[:ROOT_CAUSE],
        confidence=answer.confidence,
        evidence=evidence,
        fix=fix.edits,
        changes=file_diffs(fix.edits, code.read_file),
        refused=fix.refused,
        hypotheses=answer.hypotheses,
        suspects=change.suspects,
        suspect_commit=change.commit,
        next_steps=answer.suggested_next_steps,
        learnings=answer.learnings[:3],
        tags=tuple(tag for tag in answer.tags if tag != FELL_BACK),  # ours alone
        related_to=answer.related_to,
        read=read,
        commit=code.commit.sha,
        fix_confidence=answer.fix_confidence if fix.edits else None,
        question=" ".join(answer.question.split())[:QUESTION],
        because=(*reasons(fix.refused), *change.because),
    )
    if unknown:
        draft = _handed_over(draft, answer, code, fits=not research.misfit)
    if research.misfit:
        return scored(unfit(draft, research.misfit))
    return scored(draft if unknown else with_failing_line(draft, code))


def with_failing_line(analysis: Analysis, code: CodeReader) -> Analysis:
    """Add the failing line, the lines around it and their last change to a finding."""
    return analysis.model_copy(update={"failing": completed(Handover(), analysis.case, code)})


def _handed_over(draft: Analysis, answer: Answer, code: CodeReader, *, fits: bool) -> Analysis:
    given = answer.handover or Handover()
    steps = given.look_at or (*filter(None, (answer.question,)), *answer.suggested_next_steps)
    handover_of = given.model_copy(update={"look_at": steps})
    handover = completed(handover_of, draft.case, code, fits=fits)
    none = {"confidence": "low", "suspects": (), "suspect_commit": "", "learnings": ()}
    return draft.model_copy(update={**none, "handover": handover})


def looked_up(
    evidence: tuple[Evidence, ...], code: CodeReader, case: Case | None = None
) -> tuple[Evidence, ...]:
    """Look up every quote in its file; a path that leaves the repository is not asked for.

    A quote of a frame's line that is of other code than the record of `case` is not verified.
    """
    paths = {path for item in evidence if (path := inside(item.path))}
    texts = {path: code.read_file(path) for path in sorted(paths)}
    frames = case.trace.frames if case and case.trace else ()
    wrong = {(frame.repo_path, frame.line) for frame in frames if frame.fit == "differs"}
    quotes = (verified(item, texts.get(inside(item.path) or "")) for item in evidence)
    return tuple(
        item.model_copy(update={"verified": False}) if (item.path, item.line) in wrong else item
        for item in quotes
    )


def unfit(analysis: Analysis, why: str) -> Analysis:
    """Take back what an analysis says of places and changes: the record is of other code."""
    refused = (RefusedEdit(path=edit.path, reason=why) for edit in analysis.fix)
    unverified = (item.model_copy(update={"verified": False}) for item in analysis.evidence)
    update = {
        "evidence": tuple(unverified),
        "fix": (),
        "changes": (),
        "fix_confidence": None,
        "refused": (*analysis.refused, *refused),
        "suspects": (),
        "suspect_commit": "",
        "confidence": "low",
        "misfit": why,
        "because": (*analysis.because, why),
    }
    return analysis.model_copy(update=update)
