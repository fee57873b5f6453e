"""What our issues, comments and pull requests say: evidence first, everything untrusted escaped."""

import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from textwrap import fill

from nightwatch_core.code.edits import diff
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.answer import Evidence, Hypothesis
from nightwatch_core.models.code import Suspect
from nightwatch_core.models.proposal import Marker
from nightwatch_core.text.escaping import code_span, fenced, markdown, title

LABEL = "nightwatch"
BODY_LIMIT = 60_000  # characters, like all sizes here; GitHub takes 65,536
_CAUSE, _SENTENCE, _BECAUSE = 6_000, 600, 1_000
_MESSAGE, _QUOTE, _DIFF, _TRACE = 1_000, 1_500, 20_000, 6_000
_GROUPS, _QUOTES, _EDITS, _SUSPECTS, _HYPOTHESES, _STEPS = 10, 8, 10, 3, 6, 8  # of each so many
_MORE = "(More is in the night's report.)"
_MARKER = re.compile(
    r"\s{0,20}<!-- nightwatch:v1 fp=([\w:.-]{1,200}) key=([\w.-]{1,100}) run=([\w:.-]{0,100}) -->",
    re.ASCII,
)
_LANGUAGES = {"py": "python", "rb": "ruby", "js": "javascript", "ts": "typescript", "cs": "csharp"}


def marker(fingerprint: str, key: str, night: str) -> str:
    """The hidden first line that tells our items from everybody's, on any service.

    >>> marker("v1:0a", "k", "2026-11-20-ab")
    '<!-- nightwatch:v1 fp=v1:0a key=k run=2026-11-20-ab -->'
    """
    fp, key, run = (re.sub(r"[^A-Za-z0-9_:.-]", "", part) for part in (fingerprint, key, night))
    return f"<!-- nightwatch:v1 fp={fp} key={key} run={run} -->"


def read_marker(body: str) -> Marker | None:
    """The marker a body begins with; None where it is not ours, wherever else it holds one.

    >>> read_marker(marker("v1:0a", "k", "2026-11-20-ab") + "\\nText").key
    'k'
    """
    found = _MARKER.match(body[:1_000].removeprefix("\ufeff"))
    return Marker(fingerprint=found[1], key=found[2], night=found[3]) if found else None


def issue_title(analysis: Analysis) -> str:
    """The title of an issue: at most 120 characters that ping and close nothing."""
    return title(analysis.title) or title(analysis.case.title) or "Production error"


def labels(analysis: Analysis) -> tuple[str, ...]:
    """Labels of an issue."""
    fix = ("has-fix",) if analysis.has_fix else ()
    return (LABEL, f"confidence-{analysis.confidence}", *fix)


def issue_body(analysis: Analysis, key: str, night: str) -> str:
    """The body of an issue."""
    head = marker(analysis.fingerprint, key, night)
    return _joined(head, *(write(analysis) for write in _ISSUE))


def comment_body(analysis: Analysis, key: str, night: str, news: str) -> str:
    """A comment on an issue whose error has news."""
    head = marker(analysis.fingerprint, key, night)
    parts = (_where(analysis), _cause(analysis), _evidence(analysis), _fix(analysis))
    return _joined(head, f"**{markdown(news)}**", *parts)


def pull_title(analysis: Analysis) -> str:
    """The title of a draft pull request."""
    return title(_calm(f"Fix: {analysis.title}"))


def pull_body(analysis: Analysis, key: str, night: str, issue: int | None) -> str:
    """The body of a draft pull request; `Refs` our own issue, never closes anything."""
    head = marker(analysis.fingerprint, key, night)
    note = (
        "Proposed by NightWatch from production errors and the code at "
        f"{code_span(analysis.commit[:10])}. The input was untrusted: read it as you would a "
        "stranger's patch. The changed files parse; nothing was run."
    )
    refers = f"Refs #{issue}" if issue else ""
    parts = (_cause(analysis), _changes(analysis), _evidence(analysis), _suspects(analysis))
    return _joined(head, note, refers, *parts, _how(analysis))


def commit_message(analysis: Analysis, issue: int | None) -> str:
    """Subject and body of the one commit; its last paragraph is never taken for a trailer."""
    refers = f"\n\nRefs #{issue}" if issue else ""
    change = next((e.description for e in analysis.fix if e.description.strip()), analysis.title)
    subject = title(_calm(change).rstrip("."), 72)
    cause = title(_calm(analysis.root_cause).replace("#", ""), 1_000)
    return f"{subject}\n\n{fill(f'Root cause: {cause}', 72)}{refers}\n"


def _calm(text: str) -> str:
    """Without the brackets by which commit messages switch checks off, as in `[skip ci]`."""
    return text[:4_000].translate({ord("["): "(", ord("]"): ")"}).replace("***", "")


def _where(analysis: Analysis) -> str:
    case, group = analysis.case, analysis.case.leader
    places = [f"- {code_span(one.title)}: {one.occurrences} times" for one in case.groups[:_GROUPS]]
    if (more := len(case.groups) - _GROUPS) > 0:
        places.append(f"- and {more} more")
    facts = [f"{case.occurrences} occurrences"]
    facts += [] if group.users is None else [f"{group.users} users"]
    facts += [f"first {_utc(group.first_seen)}"] if group.first_seen else []
    facts += [f"last {_utc(group.last_seen)}"] if group.last_seen else []
    facts += [f"release {code_span(group.release)}"] if group.release.strip() else []
    inbox, triage = case.triage_texts
    team = f"{markdown(inbox, 60)}: {markdown(triage, 500)}" if triage else ""
    message = fenced(group.message, limit=_MESSAGE) if group.message.strip() else ""
    return "\n\n".join(filter(None, (", ".join(facts), team, "\n".join(places), message)))


def _utc(at: datetime) -> str:
    """A time of the source, which may count in any zone."""
    return f"{at.astimezone(UTC) if at.tzinfo else at:%Y-%m-%d %H:%M} UTC"


def _cause(analysis: Analysis) -> str:
    cause = _paragraphs(analysis.root_cause)
    return f"## Root cause\n\n{cause}\n\nConfidence: {analysis.confidence}."


def _evidence(analysis: Analysis) -> str:
    quotes = "\n\n".join(map(_quote, analysis.evidence[:_QUOTES]))
    return f"## Evidence\n\n{quotes}" if quotes else ""


def _quote(evidence: Evidence) -> str:
    note = f" · {markdown(evidence.note, _SENTENCE)}" if evidence.note else ""
    doubt = "" if evidence.verified else " · not found in the code"
    quoted = fenced(evidence.quote, _language(evidence.path), _QUOTE)
    return f"{code_span(f'{evidence.path}:{evidence.line}')}{note}{doubt}\n\n{quoted}"


def _suspects(analysis: Analysis) -> str:
    return _bulleted("Recently merged", map(_suspect, analysis.suspects[:_SUSPECTS]))


def _suspect(suspect: Suspect) -> str:
    pull = suspect.pull
    name = f"`#{pull.number}` " if pull.number else ""
    because = markdown("; ".join(suspect.because), _SENTENCE)
    return f"{name}{markdown(pull.title)} ({code_span(pull.sha[:10])}): {because}"


def _fix(analysis: Analysis) -> str:
    return _changes(analysis, "Proposed fix")


def _changes(analysis: Analysis, name: str = "Change") -> str:
    if not analysis.fix:
        return ""
    texts = [e.description for e in analysis.fix[:_EDITS] if e.description]
    described = "\n".join(f"- {markdown(text, _SENTENCE)}" for text in texts)
    return f"## {name}\n\n{described}\n\n{fenced(diff(analysis.fix), 'diff', _DIFF)}"


def _hypotheses(analysis: Analysis) -> str:
    return _bulleted("Considered", map(_hypothesis, analysis.hypotheses[:_HYPOTHESES]))


def _hypothesis(hypothesis: Hypothesis) -> str:
    because = f": {markdown(hypothesis.because, _SENTENCE)}" if hypothesis.because else ""
    return f"{markdown(hypothesis.statement, _SENTENCE)} ({hypothesis.standing}{because})"


def _next_steps(analysis: Analysis) -> str:
    steps = (markdown(step, _SENTENCE) for step in analysis.next_steps[:_STEPS])
    return _bulleted("Next steps", steps)


def _trace(analysis: Analysis) -> str:
    if not analysis.case.trace or not analysis.case.trace.raw.strip():
        return ""
    raw = fenced(analysis.case.trace.raw, limit=_TRACE)
    return f"<details><summary>Stack trace</summary>\n\n{raw}\n\n</details>"


def _how(analysis: Analysis) -> str:
    because = markdown("; ".join(analysis.because), _BECAUSE)
    reasons = f" ({because})" if because else ""
    return (
        f"---\nFound by {code_span(analysis.model) or 'an unnamed model'} in "
        f"{analysis.iterations} turns, score {analysis.score:.2f}{reasons}. One error again: "
        f"{code_span(f'nightwatch one {analysis.fingerprint}')}"
    )


_ISSUE: tuple[Callable[[Analysis], str], ...] = (
    _where,
    _cause,
    _evidence,
    _fix,
    _suspects,
    _hypotheses,
    _next_steps,
    _trace,
    _how,
)


def _bulleted(name: str, texts: Iterable[str]) -> str:
    listed = "\n".join(f"- {text}" for text in texts)
    return f"## {name}\n\n{listed}" if listed else ""


def _paragraphs(text: str) -> str:
    parts = re.split(r"\n\s*\n", text[:_CAUSE].strip())
    return "\n\n".join(markdown(part, _CAUSE) for part in parts[:20] if part.strip())


def _language(path: str) -> str:
    ending = path.rsplit(".", 1)[-1] if "." in path else ""
    return _LANGUAGES.get(ending, ending)


def _joined(head: str, *parts: str) -> str:
    """The parts that fit; what does not is left out whole, so that no fence stays open."""
    body, left_out = head, False
    for part in (part for part in parts if part.strip()):
        fits = len(body) + len(part) + len(_MORE) + 4 <= BODY_LIMIT
        body, left_out = (f"{body}\n\n{part}", left_out) if fits else (body, True)
    return body + (f"\n\n{_MORE}" if left_out else "") + "\n"
