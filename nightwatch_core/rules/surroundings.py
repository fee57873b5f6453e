"""What stands around a failure: errors raised on purpose, dependencies, chains, clues of words."""

import re

from nightwatch_core.code.likely_files import TEST, ranked_places
from nightwatch_core.code.line_reading import indent, masked
from nightwatch_core.code.symptoms import Symptom
from nightwatch_core.models.trace import Frame
from nightwatch_core.rules.findings import FailingLine, Finding, line_of_frame, quoted
from nightwatch_core.rules.known_code import Context
from nightwatch_core.rules.limits import QUOTED_VALUES, WRITING_LINES
from nightwatch_core.text.error_classes import last_segment

_RAISES = re.compile(r"(?:^|[\s;{(])(?:raise|throw|panic|abort|fail)\b")
_RAISED_CLASS = re.compile(r"\b(?:raise|throw)\s+(?:new\s+)?(?P<name>[A-Z][\w.:\\]{0,200})")
_GUARD = re.compile(
    r"\s*(?:\}\s*)?(?:if|elif|elsif|else|unless|case|when|except|rescue|catch|default)\b"
)
_PHRASE = re.compile(r"[A-Za-z][A-Za-z ,'-]{11,80}[A-Za-z]")


def raised_on_purpose(failing: FailingLine, context: Context) -> Finding:
    """Tell that the failing line raises the error itself, below which line, and who led there."""
    if not _RAISES.search(masked(failing.text, failing.language)):
        return Finding()
    if _raises_another(failing, context):
        return Finding()  # it came up while that one was made
    guard, caller = _guard(failing), _caller(context)
    below = f", below `{failing.lines[guard].strip()[:120]}` in line {guard}" if guard else ""
    steps = [f"{failing.place} raises it on purpose{below}: find out how it comes to that."]
    if caller and caller.seen:
        steps.append(f"{caller.place} led there (`{caller.text.strip()[:120]}`).")
    return Finding(
        steps=tuple(steps),
        tags=("raised-on-purpose",),
        unknown=f"how it comes to what {failing.place} refuses",
    )


def _raises_another(failing: FailingLine, context: Context) -> bool:
    """Whether the line names a class that is not the error's."""
    named = _RAISED_CLASS.search(failing.text)
    trace, group = context.case.trace, context.case.leader
    classes = {group.error_class, trace.root.error_class if trace else ""} - {""}
    name = last_segment(named["name"]) if named else ""
    return bool(name) and name not in {last_segment(one) for one in classes}


def _guard(failing: FailingLine) -> int:
    """The line that the failing one stands in: the nearest above with less indentation."""
    above = range(failing.line - 1, failing.top, -1)
    inside = (
        n
        for n in above
        if failing.lines.get(n, "").strip() and indent(failing.lines[n]) < indent(failing.text)
    )
    nearest = next(inside, 0)
    return nearest if nearest and _GUARD.match(failing.lines[nearest]) else 0


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
    """Give the line of the likeliest other file, by the trace alone, to be looked at."""
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
    return Finding(steps=(f"Look at {other.place}, too: {why}.",))


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
        evidence=(quoted(hit.path, hit.line, hit.text, "holds the message's text"),),
        steps=(f"There is no usable trace: {hit.path}:{hit.line} holds the message's text.",),
    )


def same_as_leader(failing: FailingLine, context: Context) -> Finding:
    """Point to a finding of the family's leader that names the same file."""
    same_file = [
        text for text in context.research.leader_findings if failing.path and failing.path in text
    ]
    return Finding(
        steps=tuple(
            f"Compare what was found of an error like it: {text[:200]}." for text in same_file[:1]
        )
    )


_VALUE = re.compile(r"'([^'\n]{3,60})'|\"([^\"\n]{3,60})\"|`([^`\n]{3,60})`")
_SETS = re.compile(r"\breturn\b|(?<![=!<>])=(?![=>])")  # lines that give a value come first
_RECORD = re.compile(
    r"\b([a-z][a-z_]{2,40}) (?:with (?:id )?)?[#'\"]?[\w-]{1,40}['\"]? (?:was )?not found"
)

SHAPES: tuple[tuple[str, str, bool], ...] = (  # texts that parsers refuse; whether that tells why
    (r"'-?\d{1,3}(?:[. ]?\d{3})*,\d+'", "a number with a decimal comma", True),
    (r"'\d{1,3}(?:,\d{3})+(?:\.\d+)?'", "a number with commas between thousands", True),
    (r"'[$€£]\s?\d|'\d[\d.,]*\s?[$€£]", "an amount with its currency", True),
    (r"(?:int\(\) with base \d+|to float|for Integer\(\)): ['\"]\s*['\"]", "an empty text", True),
    (r"'(?:None|null|nil|undefined|NaN|n/a)'", "a word for nothing", True),
    (r"['\"]?<(?:!DOCTYPE|html|\?xml)|token '?<", "a page of markup, such as an error page", False),
    (r"line 1 column 1 \(char 0\)|Unexpected end of", "empty, or cut off, or no JSON", False),
    (r"'\d{1,2}/\d{1,2}/\d{2,4}' .{0,20}format '[^/']+'", "a date written with slashes", True),
)
_NUMBERS = re.compile(
    r"literal for int|to float|value for (?:Integer|Float)|NumberFormat|time data"
)


def telling_shape(symptom: Symptom, failing: FailingLine) -> Finding:
    """Say what the text that could not be parsed looks like, where the message shows it."""
    shape = next((one for one in SHAPES if re.search(one[0], symptom.text, re.IGNORECASE)), None)
    if symptom.kind != "parse error" or not shape:
        return Finding()
    _, what, tells = shape
    tells = tells and bool(_NUMBERS.search(symptom.text))
    text = symptom.text.split(": ", 1)[-1][:160]
    return Finding(
        because=(f"{failing.place} cannot read the text that it is given: it is {what} ({text}).",),
        steps=(f"Find out who writes the text: it looks like {what}.",),
        subject=f"{what} cannot be read",
        explained=tells,
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
            steps=(f"The message's `{value}` is written in {places}: check whether it came there.",)
        )
    return finding


def deleted_records(symptom: Symptom, context: Context) -> Finding:
    """List lines that delete records of the kind that was not found."""
    missing = _RECORD.search(symptom.text)
    noun = (symptom.relation or (missing[1] if missing else "")).lower()
    if symptom.kind != "missing record" or not re.fullmatch(r"\w{3,40}", noun):
        return Finding()
    queries = (f"DELETE FROM {noun}", f"delete from {noun}", f"{noun}.destroy", f"{noun}.delete")
    hits = [hit for query in queries for hit in context.code.search(query).hits]
    hits = [hit for hit in hits if not TEST.search(hit.path)][:WRITING_LINES]
    if not hits:
        return Finding()
    places = ", ".join(f"{hit.path}:{hit.line}" for hit in hits)
    return Finding(
        steps=(f"{places} deletes a {noun}: check whether that was this one.",),
    )
