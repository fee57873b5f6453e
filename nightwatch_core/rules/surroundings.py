"""What stands around a failure: errors raised on purpose, dependencies, chains, clues of words."""

import re

from nightwatch_core.code.likely_files import TEST, ranked_places
from nightwatch_core.code.line_reading import indent, masked
from nightwatch_core.code.symptoms import Symptom
from nightwatch_core.models.trace import Frame
from nightwatch_core.rules.findings import FailingLine, Finding, hypothesis, line_of_frame, quoted
from nightwatch_core.rules.known_code import Context
from nightwatch_core.rules.limits import QUOTED_VALUES, WRITING_LINES

_RAISES = re.compile(r"(?:^|[\s;{(])(?:raise|throw|panic|abort|fail)\b")
_GUARD = re.compile(
    r"\s*(?:\}\s*)?(?:if|elif|elsif|else if|unless|case|when|except|rescue|catch)\b"
)
_PHRASE = re.compile(r"[A-Za-z][A-Za-z ,'-]{11,80}[A-Za-z]")


def raised_on_purpose(failing: FailingLine, context: Context) -> Finding:
    """Find where the failing line raises the error itself: the condition, and who came there."""
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
    frames = context.app_frames
    return line_of_frame(frames[1], context) if len(frames) > 1 else None


def in_dependency(failing: FailingLine, context: Context) -> Finding:
    """Find where a dependency raised the error: the application's own call into it."""
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
    """Find where the reported error only wraps another one."""
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
    """Give the line of the likeliest other file, by the trace alone."""
    trace = context.case.trace
    best = next(iter(ranked_places(trace)), None) if trace else None
    if best is None:
        return Finding()
    frame = next((f for f in context.app_frames if _path(f) == best.path), None)
    if frame is None or context.code.resolved(best.path) == failing.path:
        return Finding()
    other = line_of_frame(frame, context)
    if not other.seen:
        return Finding()
    why = "; ".join(best.because[1:]) or "the frames nearer to the error only check or carry"
    return Finding(evidence=(other.evidence(f"the likeliest caller: {why}"),))


def _path(frame: Frame) -> str:
    return frame.repo_path or frame.path


def said_in_code(context: Context) -> Finding:
    """Find, without frames, the line that holds the longest phrase of the message."""
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
    """Take up a finding of the family's leader that names the same file."""
    same_file = [
        text for text in context.research.leader_findings if failing.path and failing.path in text
    ]
    return Finding(
        hypotheses=tuple(
            hypothesis(f"same cause as: {text[:200]}", because="it names the same file")
            for text in same_file[:1]
        )
    )


_VALUE = re.compile(r"'([^'\n]{3,60})'|\"([^\"\n]{3,60})\"|`([^`\n]{3,60})`")
_SETS = re.compile(r"\breturn\b|(?<![=!<>])=(?![=>])")  # lines that give a value come first
_RECORD = re.compile(
    r"\b([a-z][a-z_]{2,40}) (?:with (?:id )?)?[#'\"]?[\w-]{1,40}['\"]? (?:was )?not found"
)

SHAPES: tuple[tuple[str, str], ...] = (  # texts that parsers refuse, and what they look like
    (r"'-?\d{1,3}(?:[. ]?\d{3})*,\d+'", "a number with a decimal comma"),
    (r"'\d{1,3}(?:,\d{3})+(?:\.\d+)?'", "a number with commas between thousands"),
    (r"'[$€£]\s?\d|'\d[\d.,]*\s?[$€£]", "an amount with its currency"),
    (r"'\s*'|(?:from|of|with) empty|: \"\"", "an empty text"),
    (r"'(?:None|null|nil|undefined|NaN|n/a)'", "a word for nothing"),
    (r"['\"]?<(?:!DOCTYPE|html|\?xml)|token '?<", "a page of markup, such as an error page"),
    (r"line 1 column 1 \(char 0\)|Unexpected end of", "an empty answer or no JSON at all"),
    (r"'\d{1,2}/\d{1,2}/\d{2,4}'", "a date written with slashes"),
)


def telling_shape(symptom: Symptom) -> Finding:
    """Say what the text that could not be parsed looks like, where the message shows it."""
    said = symptom.text
    shape = next((what for pattern, what in SHAPES if re.search(pattern, said, re.IGNORECASE)), "")
    if symptom.kind != "parse error" or not shape:
        return Finding()
    return Finding(
        because=(f"The text looks like {shape}.",),
        hypotheses=(hypothesis(f"whoever writes the text sends {shape}", because="the message"),),
        subject=f"{shape} cannot be parsed",
    )


def written_values(symptom: Symptom, failing: FailingLine, context: Context) -> Finding:
    """List lines of the code that write a value the message quotes: they may have sent it there."""
    message = symptom.text.split(": ", 1)[-1]
    values = [one for result in _VALUE.findall(message) for one in result if one][:QUOTED_VALUES]
    finding = Finding()
    for value in values:
        result = context.code.search(value)
        literal = re.compile(rf"[\"'`:]{re.escape(value)}(?:[\"'`]|\b)")
        hits = [
            h for h in result.hits if literal.search(h.text[:1_000]) and not TEST.search(h.path)
        ]
        hits = [h for h in hits if (h.path, h.line) != (failing.path, failing.line)]
        if not result.complete or not 1 <= len(hits) <= WRITING_LINES:
            continue
        hits.sort(key=lambda hit: not _SETS.search(hit.text[:1_000]))
        places = ", ".join(f"{hit.path}:{hit.line}" for hit in hits)
        finding = finding + Finding(
            because=(f"The message's `{value}` is written in {places}.",),
            evidence=tuple(quoted(h.path, h.line, h.text, f"writes `{value}`") for h in hits),
            changed=tuple((hit.path, hit.line) for hit in hits) if len(hits) == 1 else (),
            hypotheses=(
                hypothesis(
                    f"`{value}` of {places} is what was refused", because="the message quotes it"
                ),
            ),
        )
    return finding


def deleted_records(symptom: Symptom, failing: FailingLine, context: Context) -> Finding:
    """List lines that delete records of the kind that was not found."""
    said = _RECORD.search(symptom.text)
    noun = (symptom.relation or (said[1] if said else "")).lower()
    if symptom.kind != "missing record" or not re.fullmatch(r"\w{3,40}", noun):
        return Finding()
    queries = (f"DELETE FROM {noun}", f"delete from {noun}", f"{noun}.destroy", f"{noun}.delete")
    hits = [hit for query in queries for hit in context.code.search(query).hits]
    hits = [hit for hit in hits if not TEST.search(hit.path)][:WRITING_LINES]
    if not hits:
        return Finding()
    places = ", ".join(f"{hit.path}:{hit.line}" for hit in hits)
    newer = context.newer(hits[0].path, hits[0].line, failing.path, failing.line)
    first = quoted(hits[0].path, hits[0].line, hits[0].text, f"deletes a {noun}")
    return Finding(
        because=(f"Records of `{noun}` are deleted in {places}, and others still point to them.",),
        evidence=tuple(quoted(h.path, h.line, h.text, f"deletes a {noun}") for h in hits),
        fault=first if len(hits) == 1 and newer else None,
        changed=((hits[0].path, hits[0].line),) if len(hits) == 1 and newer else (),
        hypotheses=(
            hypothesis(
                f"the {noun} was deleted by {places} while something still refers to it",
                because="nothing else that was found deletes it",
            ),
        ),
        steps=(f"Check what still refers to a {noun} when {places} deletes it.",),
    )
