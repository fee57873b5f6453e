"""What stands around a failure: errors raised on purpose, dependencies, chains, other frames."""

import re

from nightwatch_core.code.candidate_files import ranked_places
from nightwatch_core.code.source import indent, masked
from nightwatch_core.models.error import Frame
from nightwatch_core.rules.failing_line import app_frames, line_of_frame
from nightwatch_core.rules.finding import FailingLine, Finding, hypothesis, quoted
from nightwatch_core.rules.known_code import Context

_RAISES = re.compile(r"(?:^|[\s;{(])(?:raise|throw|panic|abort|fail)\b")
_GUARD = re.compile(
    r"\s*(?:\}\s*)?(?:if|elif|elsif|else if|unless|case|when|except|rescue|catch)\b"
)
_PHRASE = re.compile(r"[A-Za-z][A-Za-z ,'-]{11,80}[A-Za-z]")


def raised_on_purpose(failing: FailingLine, context: Context) -> Finding:
    """Where the failing line raises the error itself: the condition, and who came there."""
    if not _RAISES.search(masked(failing.text, failing.language)):
        return Finding()
    guards = [
        number
        for number in range(failing.line - 1, max(failing.top, failing.line - 12), -1)
        if _GUARD.match(failing.lines.get(number, ""))
        and indent(failing.lines[number]) < indent(failing.text)
    ]
    own = _GUARD.search(failing.text) or re.search(r"\s(?:if|unless)\s", failing.text)
    caller = _caller(context)
    when = ""
    if guards or own:
        condition = failing.lines[guards[0]].strip() if guards and not own else failing.text.strip()
        when = f" where `{condition[:120]}` holds"
    who = f"; {caller.place} led there" if caller and caller.seen else ""
    evidence = []
    if guards and not own:
        text = failing.lines[guards[0]]
        evidence.append(quoted(failing.path, guards[0], text, "the condition"))
    if caller and caller.seen:
        evidence.append(caller.evidence("the call that led there"))
    return Finding(
        because=(f"{failing.place} raises this on purpose{when}{who}.",),
        evidence=tuple(evidence),
        steps=(f"Find out where {caller.place if caller else 'its caller'} gets what is refused.",),
        tags=("raised-on-purpose",),
        subject="a condition of the application is not met",
        explained=bool(when),
    )


def _caller(context: Context) -> FailingLine | None:
    frames = app_frames(context.case.trace)
    if len(frames) < 2 or context.case.trace is None:
        return None
    return line_of_frame(frames[1], context.case.trace.language, context.code)


def in_dependency(failing: FailingLine, context: Context) -> Finding:
    """Where a dependency raised the error: the application's own call into it."""
    trace = context.case.trace
    first = next(iter(trace.root.frames), None) if trace else None
    if first is None or first.in_app or not failing.line:
        return Finding()
    where = f"{first.path.rsplit('/', 1)[-1]}" + (f" in {first.function}" if first.function else "")
    return Finding(
        because=(
            f"It is raised inside a dependency ({where[:160]}), called from {failing.place}.",
        ),
        tags=("in-dependency",),
    )


def chained(context: Context) -> Finding:
    """Where the reported error only wraps another one."""
    trace = context.case.trace
    if trace is None or len(trace.links) < 2:
        return Finding()
    reported, root = trace.links[0], trace.root
    if reported.error_class == root.error_class:
        return Finding()
    return Finding(
        because=(
            f"{reported.error_class[:100]} is only what was reported: it began as "
            f"{root.error_class[:100]} ({root.message[:120]}).",
        )
    )


def likeliest(failing: FailingLine, context: Context) -> Finding:
    """The line of the likeliest other file, by the trace alone."""
    trace = context.case.trace
    best = next(iter(ranked_places(trace)), None) if trace else None
    if trace is None or best is None:
        return Finding()
    frame = next((f for f in app_frames(trace) if _path(f) == best.path), None)
    if frame is None or context.code.resolved(best.path) == failing.path:
        return Finding()
    other = line_of_frame(frame, trace.language, context.code)
    if not other.seen:
        return Finding()
    why = "; ".join(best.because[1:]) or "the frames nearer to the error only check or carry"
    return Finding(evidence=(other.evidence(f"the likeliest caller: {why}"),))


def _path(frame: Frame) -> str:
    return frame.repo_path or frame.path


def said_in_code(context: Context) -> Finding:
    """Without frames: the line that holds the longest phrase of the message."""
    message = context.case.leader.message[:500]
    phrases = sorted(_PHRASE.findall(message), key=len, reverse=True)
    hits = context.code.search(phrases[0].strip()).hits if phrases else ()
    if len(hits) != 1:
        return Finding()
    hit = hits[0]
    return Finding(
        because=(f"There is no usable trace; {hit.path}:{hit.line} holds the message's text.",),
        evidence=(quoted(hit.path, hit.line, hit.text, "holds the message's text"),),
    )


def same_as_leader(failing: FailingLine, context: Context) -> Finding:
    """A finding of the family's leader that names the same file."""
    same_file = [
        text for text in context.research.leader_findings if failing.path and failing.path in text
    ]
    return Finding(
        hypotheses=tuple(
            hypothesis(f"same cause as: {text[:200]}", because="it names the same file")
            for text in same_file[:1]
        )
    )
