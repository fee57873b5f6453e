"""Answer like a model, by rules that read the code through the same tools; no network."""

import re
from collections.abc import Callable
from datetime import timedelta

from nightwatch_core.code.releases import onset
from nightwatch_core.code.suspects import NEAR_DAYS
from nightwatch_core.code.symptoms import Symptom, host_in, symptoms_of
from nightwatch_core.code.syntax import indent, masked, uses
from nightwatch_core.models import conversation as chat
from nightwatch_core.models.answer import Answer, Evidence, Handover
from nightwatch_core.models.code import Blame
from nightwatch_core.models.value import Value
from nightwatch_core.rules import findings
from nightwatch_core.rules.calls import wrong_arguments
from nightwatch_core.rules.names import undefined_name, unknown_member
from nightwatch_core.rules.none import caller_of, none_receiver
from nightwatch_core.rules.outside import missing_key, outside_input
from nightwatch_core.text.plain_text import data_table, shortened
from nightwatch_core.text.words import last_segment

NAME = "rules"
Rule = Callable[[Symptom, findings.FailingLine, findings.Context], findings.Finding]
RULES: dict[str, Rule] = {  # all other kinds: categories.toml
    "none receiver": none_receiver,
    "wrong arguments": wrong_arguments,
    "undefined name": undefined_name,
    "unknown member": unknown_member,
    "missing key": missing_key,
}


class RulesModel:
    """The Model port over the rules of this room; keeps no state."""

    def reply(self, conversation: chat.Conversation, timeout: float) -> chat.Reply:
        """Return the next turn; takes milliseconds, so `timeout` does not matter."""
        turn = next_turn(conversation)
        return chat.Reply(turn=turn, stop="tools" if turn.calls else "answer")

    def capabilities(self) -> chat.Capabilities:
        """Return the capabilities of a local and free model."""
        return chat.Capabilities(model=NAME, local=True, input_price=0, output_price=0)

    def probe(self) -> str:
        """Return what the model is."""
        return "rules on this machine, no language model"


def next_turn(conversation: chat.Conversation) -> chat.AssistantTurn:
    """Ask for code that the rules still need, or answer; equal conversations give equal turns."""
    code = findings.KnownCode(conversation)
    given = answer(findings.Context(conversation.case, conversation.research, code))
    if code.questions and not conversation.tools_off and code.rounds < findings.ROUNDS:
        calls = tuple(
            chat.ToolCall(
                id=f"call-{code.rounds + 1}-{n}", name=asked.tool, arguments=dict(asked.arguments)
            )
            for n, asked in enumerate(code.questions[: findings.QUESTIONS], start=1)
        )
        return chat.AssistantTurn(text="I need to see more of the code.", calls=calls)
    return chat.AssistantTurn(text=given.model_dump_json())


def answer(context: findings.Context) -> Answer:
    """Answer from the code seen so far; reading code that is missing notes questions."""
    symptom = symptom_in(context)
    failing = findings.failing_line(context)
    finding = _finding(symptom, failing, context)
    is_raised = _RAISES.search(masked(failing.text, failing.language))
    if failing.seen and not finding.edits and not is_raised:
        outside = outside_input(symptom, failing, context)
        is_none = symptom.kind == "none receiver"
        rest = {"steps": (), "because": () if is_none else finding.because}
        if outside.explained or not finding.explained:
            finding = outside + finding.model_copy(update=rest if outside.explained else {})
    if not (failing.seen and finding.explained):
        return _unexplained(failing, finding, context)
    own = (failing.evidence("the failing line"),) if failing.text.strip() else ()
    evidence = (*((finding.fault,) if finding.fault else ()), *own, *finding.evidence)
    once: dict[tuple[str, int], Evidence] = {}
    for item in evidence:
        if item.quote:
            once.setdefault((item.path, item.line), item)
    sha, since = suspect_change(failing, finding.changed, context)
    because, near = (*finding.because, *_chained(context)), () if sha else _near_change(context)
    sentences = _few(because, findings.SENTENCES - bool(since)) + ((since,) if since else ())
    return Answer(
        title=_title(failing, finding.subject, context),
        root_cause=" ".join(sentences),
        confidence="medium",
        has_fix=bool(finding.edits),
        file_changes=finding.edits,
        evidence=tuple(once.values())[: findings.EVIDENCE],
        hypotheses=finding.hypotheses[:5],
        suspect_commit=sha,
        tags=_few(finding.tags, 6),
        learnings=finding.learnings[: findings.LEARNINGS],
        related_to=tuple(p.lesson.fingerprint for p in context.research.priors[:3]),
        suggested_next_steps=_few((*finding.steps, *near), findings.STEPS),
    )


def symptom_in(context: findings.Context) -> Symptom:
    """Find the first kind that fits: from the root exception outwards, then the group's message."""
    symptoms = symptoms_of(context.case)
    return next((item for item in symptoms if item.kind != "unknown"), symptoms[0])


def _finding(
    symptom: Symptom, failing: findings.FailingLine, context: findings.Context
) -> findings.Finding:
    if failing.moved:
        return _stale(failing, context)
    if failing.line and not failing.seen and symptom.kind in RULES:
        return findings.Finding(
            steps=(f"Find where {failing.path} is kept, and check how trace paths are mapped.",),
            tags=(symptom.kind.replace(" ", "-"),),
            unknown=f"{failing.place} could not be read at this commit",
        )
    raised = _raised_on_purpose(failing, context) if failing.seen else findings.Finding()
    if symptom.kind == "import" and symptom.name:  # from a module that may be the repository's
        facts = {"kind": "unknown member", "module": symptom.owner, "owner": ""}
        member = symptom.model_copy(update=facts)
        is_own = findings.owner_of(member, context, failing.language)
        symptom = member if is_own else symptom
    if raised.steps and symptom.kind in findings.WORDS.raised:
        finding = raised
    elif symptom.kind in RULES:
        return RULES[symptom.kind](symptom, failing, context)
    else:
        finding = general(symptom, failing)
    shape = telling_shape(symptom, failing) if failing.seen else findings.Finding()
    return shape + finding if shape.explained else finding + shape


def _stale(failing: findings.FailingLine, context: findings.Context) -> findings.Finding:
    commit = context.case.leader.release or "the failing release"
    why = context.research.misfit or (
        f"{failing.place} does not contain the failing line, so this is not the code that failed"
    )
    return findings.Finding(
        steps=(f"Read the code of {commit}, or check the mapping of releases to commits.",),
        tags=("stale-code",),
        unknown=why,
    )


def _unexplained(
    failing: findings.FailingLine, finding: findings.Finding, context: findings.Context
) -> Answer:
    """Answer without a cause: one line that says so, and what to look at."""
    evidence: tuple[Evidence, ...] = ()
    if failing.seen and failing.text.strip():
        evidence = (failing.evidence("the failing line"),)
    elif not failing.line and not failing.moved:
        evidence = finding.evidence[:1]
    name, where = last_segment(context.case.leader.error_class), _place(failing, context)
    name = name if len(name) > 2 else "the error"  # a minified one says nothing
    why = finding.unknown or (f"why {where} raises {name}" if where else f"why {name} is raised")
    clues, caller = (*_chained(context), *_near_change(context)), _called_from(failing, context)
    return Answer(
        title=_title(failing, "", context),
        root_cause=f"Cause unknown: {why}.",
        confidence="low",
        suspect_commit="",
        evidence=evidence,
        tags=tuple(dict.fromkeys((*finding.tags, "unknown-cause"))),
        related_to=tuple(p.lesson.fingerprint for p in context.research.priors[:3]),
        handover=Handover(
            unknown=why,
            path=failing.path,
            line=failing.line,
            value=finding.value,
            look_at=_few((*clues, *finding.steps, *caller), findings.STEPS),
        ),
    )


def _place(failing: findings.FailingLine, context: findings.Context) -> str:
    raised_in = findings.raised_in_dependency(context)
    return failing.place or raised_in or context.case.leader.transaction


def _title(failing: findings.FailingLine, subject: str, context: findings.Context) -> str:
    name = last_segment(context.case.leader.error_class) or "Error"
    what = f"{name}: {subject}" if subject else name
    where = _place(failing, context)
    title = " ".join(f"{what} in {where}".split()) if where else what
    if len(title) > findings.LONGEST_TITLE:  # the folders say least
        title = " ".join(f"{what} in {where.rsplit('/', 1)[-1]}".split())
    return title[: findings.LONGEST_TITLE]


def _few(values: tuple[str, ...], most: int) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))[:most]


# What to look at where no rule proves a cause.

_RAISES = re.compile(r"(?:^|[\s;{(])(?:raise|throw|panic|abort|fail)\b")
_RAISED_CLASS = re.compile(
    r"\b(?:raise|throw)\s+(?:new\s+)?(?:\w*(?:\.|::|\\)){0,9}(?P<name>[A-Z]\w{0,200})"
)
_CREATES = re.compile(r"^$|init|construct|^new$")  # their calls have the class's name
_GUARD = re.compile(
    r"\s*(?:\}\s*)?(?:if|elif|elsif|else|unless|case|when|except|rescue|catch|default)\b"
)


def _raised_on_purpose(
    failing: findings.FailingLine, context: findings.Context
) -> findings.Finding:
    """Tell the condition under which a line raises the error itself."""
    if not _RAISES.search(masked(failing.text, failing.language)):
        return findings.Finding()
    named = _RAISED_CLASS.search(failing.text)
    trace, group = context.case.trace, context.case.leader
    classes = {group.error_class, trace.root.error_class if trace else ""} - {""}
    if named and named["name"] not in {last_segment(item) for item in classes}:
        return findings.Finding()  # it came up while that one was made
    guard, depth, where = 0, indent(failing.text), "after"
    for line in range(failing.line - 1, min(failing.lines, default=0), -1):
        row = failing.lines.get(line, "")
        if row.strip() and indent(row) < depth:
            guard = line if _GUARD.match(row) else 0
            if not re.fullmatch(r"[\s}]*else[\s:{]*", row):
                break
            depth, where = indent(row) + 1, "in the else of"
    below = f", {where} `{failing.lines[guard].strip()[:120]}` in line {guard}" if guard else ""
    step = f"{failing.place} raises it{below}."
    return findings.Finding(steps=(step,), tags=("raised-on-purpose",))


def _called_from(failing: findings.FailingLine, context: findings.Context) -> tuple[str, ...]:
    caller = caller_of(failing, context) if failing.seen else None
    name = re.split(r"\W+", failing.function.rstrip("=?!()"))[-1]
    is_dynamic = caller and not uses(name, caller.text) and not _CREATES.search(name)
    if caller is None or not caller.seen or is_dynamic:
        return ()
    return (f"Called from {caller.place} (`{shortened(caller.text.strip(), 80)}`).",)


def _chained(context: findings.Context) -> tuple[str, ...]:
    trace = context.case.trace
    if trace is None or len(trace.links) < 2:
        return ()
    reported, root = trace.links[0], trace.root
    if reported.error_class == root.error_class or root.error_class in reported.message:
        return ()
    return (
        f"{reported.error_class[:100]} was caused by {root.error_class[:100]} "
        f"({root.message[:120]}).",
    )


def telling_shape(symptom: Symptom, failing: findings.FailingLine) -> findings.Finding:
    """Describe the text that could not be parsed, where the message shows it."""
    shape = next((item for item in findings.WORDS.shapes if item[0].search(symptom.text)), None)
    if symptom.kind != "parse error" or not shape:
        return findings.Finding()
    _, what, tells = shape
    text = symptom.text.split(": ", 1)[-1][:160]
    return findings.Finding(
        because=(f"{failing.place} cannot parse its input: it is {what} ({text}).",),
        steps=(f"Find out where the input comes from: it is {what}.",),
        subject=f"{what} cannot be read",
        explained=tells and bool(findings.WORDS.numbers.search(symptom.text)),
    )


# What a failure without a known cause gives away, by its category.


class Category(Value):
    """Facts of a category of failures; words in braces are filled in."""

    value: str = ""  # what failed, as far as the class tells it
    tags: tuple[str, ...]
    steps: tuple[str, ...]


CATEGORIES = data_table(__package__, "categories.toml", dict[str, Category])


def general(symptom: Symptom, failing: findings.FailingLine) -> findings.Finding:
    """Say what the class and the message give away, and what to look at: that is no cause."""
    category = CATEGORIES.get(symptom.kind, CATEGORIES["unknown"])
    host, named = host_in(symptom), (symptom.module or symptom.name, symptom.owner)
    words = {
        "place": failing.place or "the code",
        "service": host or "what it waits for",
        "name": " of ".join(f"`{name}`" for name in named if name) or "it",
    }
    is_known = host or "{service}" not in category.value
    return findings.Finding(
        value=category.value.format(**words) if is_known else "",
        tags=category.tags,
        steps=tuple(step.format(**words) for step in category.steps),
    )


# Which change brought the failure: blame of the lines that are shown to be at fault.

_NEAR = timedelta(days=NEAR_DAYS)
_DAY = timedelta(days=1)  # blame tells days only, in no certain time zone


def suspect_change(
    failing: findings.FailingLine, changed: tuple[tuple[str, int], ...], context: findings.Context
) -> tuple[str, str]:
    """Return the commit that brought the failure and a sentence about it; ("", "") where unknown.

    Only blame of a line whose change is shown to have brought it (`changed`) names a commit: that
    the failing line is new, or that a change is near, proves nothing.
    """
    began = onset(context.case)
    for path, line in changed:
        blame = context.code.blame(path, line)
        if blame and (began is None or -_DAY <= began.at.date() - blame.at.date() <= _NEAR):
            suspect = context.suspect_of(blame)
            if suspect is None:
                return blame.sha, _last_written(path, line, blame)
            pull = suspect.pull
            name = f"{pull.name} ({pull.title[:100]}, {pull.merged_at:%Y-%m-%d})"
            return blame.sha, f"{path}:{line} was merged with {name}."
    blame = context.code.blame(failing.path, failing.line) if failing.seen else None
    if blame is None or blame.is_root:
        return "", ""
    return "", _last_written(failing.path, failing.line, blame)


def _near_change(context: findings.Context) -> tuple[str, ...]:
    """Name the change to look at first, though nothing proves that it brought the failure."""
    return tuple(
        f"Look at {item.pull.name} ({item.pull.title[:100]}): {'; '.join(item.because)}."
        for item in context.research.suspects[:1]
    )


def _last_written(path: str, line: int, blame: Blame) -> str:
    facts = (blame.subject[:100], blame.author[:60], f"{blame.at:%Y-%m-%d}")
    return f"{path}:{line} was last written by {blame.sha} ({', '.join(filter(None, facts))})."
