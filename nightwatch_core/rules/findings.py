"""The failing line as far as it was seen, and what a rule found out, to be put into the answer."""

import re
from typing import Literal

from nightwatch_core.code.definitions import function_around
from nightwatch_core.code.languages import Language, language_of
from nightwatch_core.code.symptoms import Symptom
from nightwatch_core.code.syntax import receivers_of
from nightwatch_core.models.answer import Edit, Evidence, Hypothesis, Learning
from nightwatch_core.models.code import SearchHit
from nightwatch_core.models.errors import Frame
from nightwatch_core.models.value import Value
from nightwatch_core.rules.known_code import Context
from nightwatch_core.rules.limits import LINES_ABOVE, LINES_BELOW
from nightwatch_core.rules.similar_names import definitions
from nightwatch_core.traces.placing import fitted

Standing = Literal["confirmed", "open", "ruled out"]


class FailingLine(Value):
    """Where the error came up, as far as it was seen.

    `seen`: the line was read at this commit. `moved`: the trace prints another text for the line
    than this commit has, so the code that failed is not the code that was read.
    """

    path: str = ""
    line: int = 0
    function: str = ""
    text: str = ""
    language: Language
    seen: bool = False
    moved: bool = False
    lines: dict[int, str] = {}  # around the line
    top: int = 0  # first line of the function; 0 where it was not seen

    @property
    def place(self) -> str:
        """`path:line`."""
        return f"{self.path}:{self.line}" if self.line else self.path

    def evidence(self, note: str) -> Evidence:
        """Give the failing line as evidence."""
        return Evidence(path=self.path, line=self.line, quote=self.text.strip(), note=note)


class Finding(Value):
    """Sentences that explain, and what they rest on; `explained` where the cause was seen."""

    because: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()  # besides the failing line
    fault: Evidence | None = None  # a better place than the failing line, where one is known
    changed: tuple[tuple[str, int], ...] = ()  # lines whose last change brought the failure
    edits: tuple[Edit, ...] = ()
    hypotheses: tuple[Hypothesis, ...] = ()
    learnings: tuple[Learning, ...] = ()
    steps: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    subject: str = ""  # for the title: "`order` is None"
    explained: bool = False
    value: str = ""  # what failed, where no cause is known: "`order` is None"
    unknown: str = ""  # what is not known then: "why `order` is None in shop/orders.py:14"

    def __add__(self, other: "Finding") -> "Finding":
        """Both, in this order; the first subject is kept."""
        return Finding(
            because=self.because + other.because,
            evidence=self.evidence + other.evidence,
            fault=self.fault or other.fault,
            changed=self.changed + other.changed,
            edits=self.edits + other.edits,
            hypotheses=self.hypotheses + other.hypotheses,
            learnings=self.learnings + other.learnings,
            steps=self.steps + other.steps,
            tags=self.tags + other.tags,
            subject=self.subject or other.subject,
            explained=self.explained or other.explained,
            value=self.value or other.value,
            unknown=self.unknown or other.unknown,
        )


def or_else(finding: Finding, rest: Finding) -> Finding:
    """Add what is said of every error of a kind; what to look at only where no cause is known."""
    return finding + (rest.model_copy(update={"steps": ()}) if finding.explained else rest)


def quoted(path: str, line: int, text: str, note: str) -> Evidence:
    """Make a line that was read evidence."""
    return Evidence(path=path, line=line, quote=text.strip()[:500], note=note)


def hypothesis(statement: str, because: str, standing: Standing = "open") -> Hypothesis:
    """Make an explanation, left open where nothing else is said."""
    return Hypothesis(statement=statement, because=because, standing=standing)


def failing_line(context: Context) -> FailingLine:
    """Find the place of the failure; without a usable frame, an empty one in the likeliest file."""
    if context.research.misfit:  # its lines are not those of the code at hand
        return FailingLine(language=language_of("", context.language), moved=True)
    if context.app_frames:
        return line_of_frame(context.app_frames[0], context)
    likely = next(iter(context.research.likely_files), None)
    path = likely.path if likely else ""
    return FailingLine(path=path, language=language_of(path, context.language))


def line_of_frame(frame: Frame, context: Context) -> FailingLine:
    """Read the line of one frame, and what is around it, at this commit."""
    path, line = context.code.resolved(frame.repo_path or frame.path), frame.line or 0
    lines = context.code.lines(path, line - LINES_ABOVE, line + LINES_BELOW)
    now = _line_now(lines, frame)
    return FailingLine(
        path=path,
        line=now or line,
        function=frame.function,
        text=lines.get(now or line, ""),
        language=language_of(path, context.language),
        seen=bool(now),
        moved=line in lines and not now,
        lines=lines,
        top=function_around(path, lines, now or line),
    )


def _line_now(lines: dict[int, str], frame: Frame) -> int:
    """Where the printed line stands at this commit: there, or where its text has moved to."""
    here = fitted(frame, lines)
    return 0 if here.fit == "differs" or here.line not in lines else here.line or 0


# Finds where the class or module of a receiver is defined.


def owner_of(symptom: Symptom, failing: FailingLine, context: Context) -> SearchHit | None:
    """Find where the receiver's class or module is defined; None where that is not one place."""
    if symptom.module:
        path = module_file(symptom.module, context)
        return SearchHit(path=path, line=1, text="") if path else None
    name = re.split(r"[.:\\]+", symptom.owner)[-1]
    if name:
        defined = definitions(name, failing.language, context.code)
        hits = [h for h in defined.hits if re.match(r"\s*+(?:[\w ]+\s)?(?:class|module)\b", h.text)]
        return hits[0] if len(hits) == 1 else None
    named = (symptom.receiver,) if symptom.receiver else ()
    receivers = named or receivers_of(symptom.name, failing.text, failing.language)
    return _imported(receivers[0], failing, context) if receivers else None


def module_file(dotted: str, context: Context) -> str:
    """Give the file of a dotted module, found among the lines that a search for its name shows."""
    if not re.fullmatch(r"[A-Za-z_][\w.]*", dotted):
        return ""
    path = f"{dotted.replace('.', '/')}.py"
    context.code.lines(path, 1, 20)
    known = context.code.resolved(path)
    return known if context.code.exists(known) and known.endswith(path) else ""


def _imported(receiver: str, failing: FailingLine, context: Context) -> SearchHit | None:
    """The file that a JavaScript module name stands for."""
    lines = context.code.whole(failing.path) if failing.seen else None
    for text in lines or ():
        match = re.match(
            rf"\s*(?:import|const|let|var)\s.*\b{re.escape(receiver)}\b.*['\"](\.[^'\"]+)['\"]",
            text[:500],
        )
        if match:
            return relative_file(match[1], failing.path, context)
    return None


def relative_file(target: str, origin: str, context: Context) -> SearchHit | None:
    """Find the file that a relative JavaScript import at `origin` means; None where it is gone."""
    parts = origin.split("/")[:-1]
    for step in target.split("/"):
        parts = parts[:-1] if step == ".." else parts if step == "." else [*parts, step]
    path = "/".join(parts)
    suffix = "" if "." in path.rsplit("/", 1)[-1] else f".{origin.rsplit('.', 1)[-1]}"
    context.code.lines(path + suffix, 1, 20)
    known = context.code.exists(path + suffix)
    return SearchHit(path=path + suffix, line=1, text="") if known else None


# What a message says of a call, held against the parameters that a function is written with.


def can_be_of(
    symptom: Symptom, written: tuple[str, ...], takes: tuple[str, ...], is_ruby: bool
) -> bool:
    """Tell whether the message can be about a function that takes these parameters."""
    takes_any = any(re.match(r"\*\*|&|\.\.\.|\*\w", part) for part in written)
    if symptom.keyword:
        return symptom.keyword not in takes and not any(p.startswith("**") for p in written)
    if symptom.missing:
        missing = re.findall(r"['\":](\w+)", symptom.missing) or re.findall(r"\w+", symptom.missing)
        return bool(missing) and {*missing} - {"and"} <= {*takes}
    numbers = re.findall(r"\d+", symptom.expected)
    plain = written[: written.index("*")] if "*" in written else written
    if is_ruby:
        plain = tuple(part for part in plain if not re.match(r"\w+:", part))
    return bool(numbers) and not takes_any and int(numbers[-1]) in (len(plain), len(plain) + 1)


def plain_name(parameter: str) -> str:
    """Give the bare name of a parameter; empty for separators.

    >>> plain_name("b: int = 3"), plain_name("*"), plain_name("string $name"), plain_name("a:")
    ('b', '', 'name', 'a')
    """
    php = re.search(r"\$(\w+)", parameter)
    match = php or re.match(r"[*&]*(\w+)", parameter)
    return match[1] if match else ""


def complaint_of(symptom: Symptom) -> str:
    """Say what the message complains of, in a few words."""
    if symptom.keyword:
        return f"unknown keyword `{symptom.keyword}`"
    if symptom.missing:
        return f"missing {symptom.missing}"
    if symptom.expected:
        return f"given {symptom.given}, expected {symptom.expected}"
    return symptom.text.split(": ", 1)[-1][:200] or "wrong arguments"
