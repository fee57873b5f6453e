"""What our issues, comments and pull requests say: evidence first, everything untrusted escaped."""

import difflib
from collections.abc import Callable

from nightwatch_core.escaping import code_span, fenced, line, markdown, title
from nightwatch_core.models.analysis import Analysis, Edit
from nightwatch_core.models.code import Suspect

LABEL = "nightwatch"
BODY_LIMIT = 60_000  # characters; GitHub takes 65,536
_LANGUAGES = {"py": "python", "rb": "ruby", "js": "javascript", "ts": "typescript", "cs": "csharp"}


def marker(fingerprint: str, key: str, night: str) -> str:
    """The hidden first line that tells our items from everybody's, on any service.

    >>> marker("v1:0a", "k", "2026-11-20-ab")
    '<!-- nightwatch:v1 fp=v1:0a key=k run=2026-11-20-ab -->'
    """
    return f"<!-- nightwatch:v1 fp={fingerprint} key={key} run={night} -->"


def issue_title(analysis: Analysis) -> str:
    """The title of an issue: at most 120 characters that ping and close nothing."""
    return title(analysis.title)


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
    return title(f"Fix: {analysis.title}")


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
    """Subject and body of the one commit."""
    refers = f"\n\nRefs #{issue}" if issue else ""
    cause = line(analysis.root_cause, 1_000)
    return f"{title(analysis.title, 72)}\n\n{title(cause, 1_000)}{refers}\n"


def diff(edits: tuple[Edit, ...]) -> str:
    """The edits as a readable diff, without line numbers: what is taken out, what is put in."""
    parts: list[str] = []
    for edit in edits:
        parts += [f"--- {edit.path}", f"+++ {edit.path}"]
        lines = difflib.ndiff(edit.old.splitlines(), edit.new.splitlines())
        parts += [text for text in lines if not text.startswith("?")]
    return "\n".join(parts)


def _where(analysis: Analysis) -> str:
    case, group = analysis.case, analysis.case.leader
    places = "\n".join(
        f"- {code_span(one.title)}: {one.occurrences} times" for one in case.groups[:10]
    )
    users = "" if group.users is None else f", {group.users} users"
    seen = f"first {group.first_seen:%Y-%m-%d %H:%M}, " if group.first_seen else ""
    last = f"last {group.last_seen:%Y-%m-%d %H:%M} UTC" if group.last_seen else ""
    release = f", release {code_span(group.release)}" if group.release else ""
    return (
        f"{case.occurrences} occurrences{users} ({seen}{last}{release})\n\n{places}\n\n"
        f"{fenced(group.message, limit=1_000)}"
    )


def _cause(analysis: Analysis) -> str:
    return (
        f"## Root cause\n\n{_paragraphs(analysis.root_cause)}\n\nConfidence: {analysis.confidence}."
    )


def _evidence(analysis: Analysis) -> str:
    if not analysis.evidence:
        return ""
    shown = "\n\n".join(
        f"{code_span(f'{e.path}:{e.line}')}"
        f"{' · ' + markdown(e.note) if e.note else ''}"
        f"{'' if e.verified else ' · not found in the code'}\n\n"
        f"{fenced(e.quote, _language(e.path))}"
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
    told = "\n".join(f"- {markdown(e.description)}" for e in analysis.fix if e.description)
    return f"## Change\n\n{told}\n\n{fenced(diff(analysis.fix), 'diff', 20_000)}"


def _hypotheses(analysis: Analysis) -> str:
    if not analysis.hypotheses:
        return ""
    told = "\n".join(
        f"- {markdown(h.statement)} ({h.standing}{': ' + markdown(h.because) if h.because else ''})"
        for h in analysis.hypotheses[:6]
    )
    return f"## Considered\n\n{told}"


def _next_steps(analysis: Analysis) -> str:
    if not analysis.next_steps:
        return ""
    return "## Next steps\n\n" + "\n".join(f"- {markdown(s)}" for s in analysis.next_steps[:8])


def _trace(analysis: Analysis) -> str:
    if not analysis.case.trace:
        return ""
    raw = fenced(analysis.case.trace.raw, limit=6_000)
    return f"<details><summary>Stack trace</summary>\n\n{raw}\n\n</details>"


def _how(analysis: Analysis) -> str:
    because = "; ".join(analysis.because)
    return (
        f"---\nFound by {code_span(analysis.model)} in {analysis.iterations} turns, score "
        f"{analysis.score:.2f} ({markdown(because, 1_000)}). One error again: "
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
    return "\n\n".join(markdown(part) for part in text.split("\n\n") if part.strip())


def _language(path: str) -> str:
    ending = path.rsplit(".", 1)[-1] if "." in path else ""
    return _LANGUAGES.get(ending, ending)


def _joined(*parts: str) -> str:
    body = ""
    for part in (part for part in parts if part.strip()):
        if len(body) + len(part) > BODY_LIMIT:
            return body + "\n\n(More is in the night's report.)\n"
        body += f"\n\n{part}" if body else part
    return body + "\n"
