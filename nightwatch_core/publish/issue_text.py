"""What our issues, comments and pull requests say: evidence first, everything untrusted escaped."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from textwrap import fill

from nightwatch_core.code.edits import diff
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.code import Suspect
from nightwatch_core.models.error import Case
from nightwatch_core.models.proposal import Marker
from nightwatch_core.text.escaping import code_span, fenced, markdown, title

LABEL = "nightwatch"
BODY_LIMIT = 60_000  # characters; GitHub takes 65,536
_MORE = "(More is in the night's report.)"
_CAUSE = 6_000  # characters of a root cause
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
    told = next((e.description for e in analysis.fix if e.description.strip()), analysis.title)
    subject = title(_calm(told).rstrip("."), 72)
    cause = title(_calm(analysis.root_cause).replace("#", ""), 1_000)
    return f"{subject}\n\n{fill(f'Root cause: {cause}', 72)}{refers}\n"


def _calm(text: str) -> str:
    """Without the brackets by which commit messages switch checks off, as in `[skip ci]`."""
    return text[:4_000].translate({ord("["): "(", ord("]"): ")"}).replace("***", "")


def _where(analysis: Analysis) -> str:
    case, group = analysis.case, analysis.case.leader
    places = [f"- {code_span(one.title)}: {one.occurrences} times" for one in case.groups[:10]]
    if len(case.groups) > 10:
        places.append(f"- and {len(case.groups) - 10} more")
    told = [f"{case.occurrences} occurrences"]
    told += [] if group.users is None else [f"{group.users} users"]
    told += [f"first {_utc(group.first_seen)}"] if group.first_seen else []
    told += [f"last {_utc(group.last_seen)}"] if group.last_seen else []
    told += [f"release {code_span(group.release)}"] if group.release.strip() else []
    message = f"\n\n{fenced(group.message, limit=1_000)}" if group.message.strip() else ""
    return f"{', '.join(told)}\n\n{_team(case)}" + "\n".join(places) + message


def _team(case: Case) -> str:
    inbox, text = case.triage_texts
    return f"{markdown(inbox, 60)}: {markdown(text, 500)}\n\n" if text else ""


def _utc(at: datetime) -> str:
    """A time of the source, which may count in any zone."""
    return f"{at.astimezone(UTC) if at.tzinfo else at:%Y-%m-%d %H:%M} UTC"


def _cause(analysis: Analysis) -> str:
    return (
        f"## Root cause\n\n{_paragraphs(analysis.root_cause)}\n\nConfidence: {analysis.confidence}."
    )


def _evidence(analysis: Analysis) -> str:
    if not analysis.evidence:
        return ""
    shown = "\n\n".join(
        f"{code_span(f'{e.path}:{e.line}')}"
        f"{' · ' + markdown(e.note, 600) if e.note else ''}"
        f"{'' if e.verified else ' · not found in the code'}\n\n"
        f"{fenced(e.quote, _language(e.path), 1_500)}"
        for e in analysis.evidence[:8]
    )
    return f"## Evidence\n\n{shown}"


def _suspects(analysis: Analysis) -> str:
    if not analysis.suspects:
        return ""
    return "## Recently merged\n\n" + "\n".join(_suspect(one) for one in analysis.suspects[:3])


def _suspect(suspect: Suspect) -> str:
    pull = suspect.pull
    name = f"`#{pull.number}` " if pull.number else ""
    because = markdown("; ".join(suspect.because), 500)
    return f"- {name}{markdown(pull.title)} ({code_span(pull.sha[:10])}): {because}"


def _fix(analysis: Analysis) -> str:
    return _changes(analysis).replace("## Change", "## Proposed fix", 1)


def _changes(analysis: Analysis) -> str:
    if not analysis.fix:
        return ""
    told = "\n".join(
        f"- {markdown(e.description, 600)}" for e in analysis.fix[:10] if e.description
    )
    return f"## Change\n\n{told}\n\n{fenced(diff(analysis.fix), 'diff', 20_000)}"


def _hypotheses(analysis: Analysis) -> str:
    if not analysis.hypotheses:
        return ""
    told = "\n".join(
        f"- {markdown(h.statement, 600)} ({h.standing}"
        f"{': ' + markdown(h.because, 600) if h.because else ''})"
        for h in analysis.hypotheses[:6]
    )
    return f"## Considered\n\n{told}"


def _next_steps(analysis: Analysis) -> str:
    if not analysis.next_steps:
        return ""
    return "## Next steps\n\n" + "\n".join(f"- {markdown(s, 600)}" for s in analysis.next_steps[:8])


def _trace(analysis: Analysis) -> str:
    if not analysis.case.trace or not analysis.case.trace.raw.strip():
        return ""
    raw = fenced(analysis.case.trace.raw, limit=6_000)
    return f"<details><summary>Stack trace</summary>\n\n{raw}\n\n</details>"


def _how(analysis: Analysis) -> str:
    because = markdown("; ".join(analysis.because), 1_000)
    return (
        f"---\nFound by {code_span(analysis.model) or 'an unnamed model'} in "
        f"{analysis.iterations} turns, score {analysis.score:.2f}"
        f"{f' ({because})' if because else ''}. One error again: "
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
