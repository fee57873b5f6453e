"""Answer like a model, by rules that read the code through the same tools; no network."""

import re
from collections.abc import Callable

from nightwatch_core.code.likely_files import TEST, ranked_places
from nightwatch_core.code.symptoms import Symptom, symptom_of
from nightwatch_core.code.syntax import indent, masked
from nightwatch_core.models.answer import Answer, Evidence, Handover
from nightwatch_core.models.conversation import (
    AssistantTurn,
    Capabilities,
    Conversation,
    Reply,
    ToolCall,
)
from nightwatch_core.rules.calls import wrong_arguments
from nightwatch_core.rules.findings import (
    EVIDENCE,
    HANDED_LINE,
    HANDED_LINES,
    LEARNINGS,
    LONGEST_TITLE,
    QUESTIONS,
    QUOTED_VALUES,
    ROUNDS,
    SENTENCES,
    STEPS,
    WRITING_LINES,
    Context,
    FailingLine,
    Finding,
    KnownCode,
    failing_line,
    line_of_frame,
)
from nightwatch_core.rules.names import undefined_name, unknown_member
from nightwatch_core.rules.none import missing_key, none_receiver
from nightwatch_core.rules.triage_notes import general, last_change, suspect_change
from nightwatch_core.text.words import last_segment

_RAISES = re.compile(r"(?:^|[\s;{(])(?:raise|throw|panic|abort|fail)\b")
_RAISED_CLASS = re.compile(r"\b(?:raise|throw)\s+(?:new\s+)?(?P<name>[A-Z][\w.:\\]{0,200})")
_GUARD = re.compile(
    r"\s*(?:\}\s*)?(?:if|elif|elsif|else|unless|case|when|except|rescue|catch|default)\b"
)


def raised_on_purpose(failing: FailingLine, context: Context) -> Finding:
    """Tell that the failing line raises the error itself, below which line, and who led there."""
    if not _RAISES.search(masked(failing.text, failing.language)):
        return Finding()
    named = _RAISED_CLASS.search(failing.text)
    trace, group = context.case.trace, context.case.leader
    classes = {group.error_class, trace.root.error_class if trace else ""} - {""}
    name = last_segment(named["name"]) if named else ""
    raises_another = bool(name) and name not in {last_segment(item) for item in classes}
    if raises_another:
        return Finding()  # it came up while that one was made
    guard, caller = _guard(failing), _caller(context)
    below = f", below `{failing.lines[guard].strip()[:120]}` in line {guard}" if guard else ""
    steps = [f"{failing.place} raises it on purpose{below}: find the caller that passes the value."]
    if caller and caller.seen:
        steps.append(f"{caller.place} led there (`{caller.text.strip()[:120]}`).")
    return Finding(
        steps=tuple(steps),
        tags=("raised-on-purpose",),
        unknown=f"which caller passes the value that {failing.place} rejects",
    )


def _guard(failing: FailingLine) -> int:
    """Return the line that the failing one stands in: the nearest above with less indentation."""
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
    frame = next((f for f in context.app_frames if (f.repo_path or f.path) == best.path), None)
    if frame is None or context.code.resolved(best.path) == failing.path:
        return Finding()
    other = line_of_frame(frame, context)
    if not other.seen:
        return Finding()
    why = "; ".join(best.because[1:]) or "the frames nearer to the error only check or carry"
    return Finding(steps=(f"Look at {other.place}, too: {why}.",))


_VALUE = re.compile(r"'([^'\n]{3,60})'|\"([^\"\n]{3,60})\"|`([^`\n]{3,60})`")
_SETS = re.compile(r"\breturn\b|(?<![=!<>])=(?![=>])")  # lines that give a value come first

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
    shape = next((item for item in SHAPES if re.search(item[0], symptom.text, re.IGNORECASE)), None)
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
    values = [item for result in _VALUE.findall(message) for item in result if item][:QUOTED_VALUES]
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


# What the rules hand on where they know no cause: the place, the value, who looks at what next.


def handed_over(
    symptom: Symptom, failing: FailingLine, finding: Finding, context: Context
) -> Answer:
    """Give the answer without a cause: one line that says so, and the handover."""
    group = context.case.leader
    where = failing.place or group.transaction or group.app
    name = last_segment(group.error_class) or "Error"
    title = " ".join((f"{name} in {where}" if where else name).split())[:120]
    return Answer(
        title=title,
        root_cause=f"Cause unknown: {finding.unknown or _why(failing, context)}.",
        confidence="low",
        suspect_commit="",
        evidence=_evidence(failing, finding),
        tags=tuple(dict.fromkeys((*finding.tags, "unknown-cause"))),
        related_to=tuple(p.lesson.fingerprint for p in context.research.priors[:3]),
        handover=_handover(symptom, failing, finding, context),
    )


def _evidence(failing: FailingLine, finding: Finding) -> tuple[Evidence, ...]:
    """Return the failing line; without one, what the rules came upon."""
    if failing.seen and failing.text.strip():
        return (failing.evidence("the failing line"),)
    return () if failing.line or failing.moved else finding.evidence[:1]


def _handover(
    symptom: Symptom, failing: FailingLine, finding: Finding, context: Context
) -> Handover:
    near = range(failing.line - HANDED_LINES, failing.line + HANDED_LINES + 1)
    numbers = [n for n in near if n in failing.lines] if failing.seen else []
    return Handover(
        unknown=finding.unknown or _why(failing, context),
        path=failing.path,
        line=failing.line,
        lines=tuple(failing.lines[n][:HANDED_LINE] for n in numbers),
        first_line=numbers[0] if numbers else 0,
        value=finding.value or _value(symptom),
        last_change=last_change(failing, context),
        look_at=tuple(dict.fromkeys((*chained(context).because, *finding.steps)))[:STEPS],
    )


def _value(symptom: Symptom) -> str:
    """Return what the message names: the key, the name, the argument."""
    if symptom.kind == "none receiver":
        return f"nothing, which was asked for `{symptom.name}`" if symptom.name else ""
    named = (("key", symptom.key), ("name", symptom.name), ("argument", symptom.keyword))
    return next((f"{what} `{text}`" for what, text in named if text), "")


def _why(failing: FailingLine, context: Context) -> str:
    where = failing.place or context.case.leader.transaction or context.case.leader.app
    name = last_segment(context.case.leader.error_class) or "the error"
    return f"why {where} raises {name}" if where else f"why {name} is raised"


Rule = Callable[[Symptom, FailingLine, Context], Finding]

RULES: dict[str, Rule] = {  # all other kinds are explained by kinds.py
    "none receiver": none_receiver,
    "wrong arguments": wrong_arguments,
    "undefined name": undefined_name,
    "unknown member": unknown_member,
    "missing key": missing_key,
}
_RAISED = ("unknown", "wrong arguments", "wrong type", "assertion", "missing record", "permission")


def answer(context: Context) -> Answer:
    """Give the answer from what is known now; what is missing becomes questions."""
    symptom = symptom_in(context)
    failing = failing_line(context)
    finding = _finding(symptom, failing, context)
    if not (failing.seen and finding.explained):
        return handed_over(symptom, failing, finding, context)
    evidence = _evidence_answer(failing, finding)
    sha, since = suspect_change(failing, finding.changed, context)
    edits = finding.edits if failing.seen else ()
    sentences = _few(finding.because, SENTENCES - bool(since)) + ((since,) if since else ())
    return Answer(
        title=_title_answer(failing, finding, context),
        root_cause=" ".join(sentences),
        confidence="medium",
        has_fix=bool(edits),
        file_changes=edits,
        evidence=evidence,
        hypotheses=finding.hypotheses[:5],
        suspect_commit=sha,
        tags=_few(finding.tags, 6),
        learnings=finding.learnings[:LEARNINGS],
        related_to=tuple(p.lesson.fingerprint for p in context.research.priors[:3]),
        suggested_next_steps=_few(finding.steps, STEPS),
    )


def symptom_in(context: Context) -> Symptom:
    """Find the first kind that fits: from the root exception outwards, then the group's words."""
    trace, leader = context.case.trace, context.case.leader
    words = [(link.error_class, link.message) for link in reversed(trace.links)] if trace else []
    words.append((leader.error_class, leader.message))
    symptoms = [symptom_of(*word) for word in words if any(word)]
    return next((item for item in symptoms if item.kind != "unknown"), symptoms[0])


def _finding(symptom: Symptom, failing: FailingLine, context: Context) -> Finding:
    if failing.moved:
        return _stale(failing, context)
    if failing.line and not failing.seen and symptom.kind in RULES:
        return _unread(symptom, failing) + chained(context)
    raised = raised_on_purpose(failing, context) if failing.seen else Finding()
    own = bool(raised.steps) and symptom.kind in _RAISED
    rule = RULES.get(symptom.kind, general)
    parts = (
        raised if own else rule(symptom, failing, context),
        *_clues(symptom, failing, context),
        in_dependency(failing, context),
        chained(context),
        likeliest(failing, context) if symptom.kind not in RULES else Finding(),
    )
    finding = Finding()
    for part in sorted(parts, key=lambda item: not item.explained):
        finding = finding + part
    return finding


def _clues(symptom: Symptom, failing: FailingLine, context: Context) -> tuple[Finding, ...]:
    if symptom.kind in RULES or not failing.seen:
        return ()
    if symptom.kind == "parse error":
        return (telling_shape(symptom, failing),)
    return (written_values(symptom, failing, context),)


def _stale(failing: FailingLine, context: Context) -> Finding:
    """Say that the code at hand is not the code that failed, and claim nothing about it."""
    commit = context.case.leader.release or "the failing release"
    why = context.research.misfit or (
        f"{failing.place} does not hold the line that failed, so this is not the code that failed"
    )
    return Finding(
        steps=(f"Read the code of {commit}, or check the mapping of releases to commits.",),
        tags=("stale-code",),
        unknown=f"the cause, for {why}",
    )


def _unread(symptom: Symptom, failing: FailingLine) -> Finding:
    """Say that the code could not be read."""
    return Finding(
        steps=(f"Find where {failing.path} is kept, and check how trace paths are mapped.",),
        tags=(symptom.kind.replace(" ", "-"),),
        unknown=f"the cause, for {failing.place} could not be read at this commit",
    )


def _evidence_answer(failing: FailingLine, finding: Finding) -> tuple[Evidence, ...]:
    own = (failing.evidence("the failing line"),) if failing.seen and failing.text.strip() else ()
    evidence = (*((finding.fault,) if finding.fault else ()), *own, *finding.evidence)
    once: dict[tuple[str, int], Evidence] = {}
    for item in evidence:
        if item.quote:
            once.setdefault((item.path, item.line), item)
    return tuple(once.values())[:EVIDENCE]


def _title_answer(failing: FailingLine, finding: Finding, context: Context) -> str:
    group = context.case.leader
    where = failing.place or group.transaction or group.app
    name = last_segment(group.error_class) or "Error"
    what = f"{name}: {finding.subject}" if finding.subject else name
    title = " ".join(f"{what} in {where}".split()) if where else what
    if len(title) > LONGEST_TITLE:  # the folders say least
        title = " ".join(f"{what} in {where.rsplit('/', 1)[-1]}".split())
    return title[:LONGEST_TITLE]


def _few(values: tuple[str, ...], most: int) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))[:most]


def next_turn(conversation: Conversation) -> AssistantTurn:
    """Ask for code that the rules still need, or answer with what is known.

    Nothing is remembered between calls: the same conversation gives the same turn.
    """
    code = KnownCode(conversation)
    given = answer(Context(conversation.case, conversation.research, code))
    if code.questions and not conversation.tools_off and code.rounds < ROUNDS:
        return AssistantTurn(text="I need to see more of the code.", calls=_calls(code))
    return AssistantTurn(text=given.model_dump_json())


def _calls(code: KnownCode) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(id=f"call-{code.rounds + 1}-{n}", name=asked.tool, arguments=dict(asked.arguments))
        for n, asked in enumerate(code.questions[:QUESTIONS], start=1)
    )


NAME = "rules"


class RulesModel:
    """The Model port over the rules of `nightwatch_core.rules`; keeps no state."""

    def reply(self, conversation: Conversation, timeout: float) -> Reply:
        """Give the next turn; takes milliseconds, so `timeout` does not matter."""
        turn = next_turn(conversation)
        return Reply(turn=turn, stop="tools" if turn.calls else "answer")

    def capabilities(self) -> Capabilities:
        """Say that it is local and free."""
        return Capabilities(model=NAME, local=True, input_price=0, output_price=0)

    def probe(self) -> str:
        """Say what it is."""
        return "rules on this machine, no language model"
