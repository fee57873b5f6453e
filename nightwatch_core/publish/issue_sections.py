"""The sections of our issues, comments and pull requests; everything untrusted is escaped."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime

from nightwatch_core.code.diffs import joined_diff
from nightwatch_core.models.answer import Evidence, Hypothesis
from nightwatch_core.publish import finding_parts as parts
from nightwatch_core.publish.markers import Told
from nightwatch_core.text.escaping import code_span, fenced, markdown
from nightwatch_core.text.plain_text import plural

_CAUSE, _SENTENCE = 6_000, 600  # characters, like all sizes here
_MESSAGE, _QUOTE, _DIFF, _TRACE = 1_000, 1_500, 20_000, 6_000
_GROUPS, _QUOTES, _FILES, _TWINS, _HYPOTHESES, _STEPS, _SUSPECTS = 10, 12, 10, 20, 6, 8, 3  # items
_LANGUAGES = {"py": "python", "rb": "ruby", "js": "javascript", "ts": "typescript", "cs": "csharp"}


def commit(told: Told) -> str:
    """The commit that was read, linked where it can be."""
    sha = told.analysis.commit
    address = told.links.commit(sha)
    return f"[{code_span(sha[:10])}](<{address}>)" if address else code_span(sha[:10])


def source(told: Told) -> str:
    """Which application failed, and which code was read."""
    app, repository = told.analysis.case.leader.app, told.commit.repository if told.commit else ""
    texts = (
        f"Application {code_span(app)}" if app.strip() else "",
        f"repository {code_span(repository)}" if repository.strip() else "",
        f"read at {commit(told)}" if told.analysis.commit else "",
    )
    return " · ".join(filter(None, texts))


def caveats(told: Told) -> str:
    """What speaks against reading on: other code, or a change that awaits its deploy."""
    texts = (parts.misfit(told.analysis), parts.standing(told.analysis))
    return "\n\n".join(told.prose(text) for text in texts if text)


def where(told: Told) -> str:
    """How often, where and for whom it happened."""
    case, group = told.analysis.case, told.analysis.case.leader
    places = [
        f"- {code_span(one.title)}: {plural(one.occurrences, 'time')}"
        for one in case.groups[:_GROUPS]
    ]
    if (more := len(case.groups) - _GROUPS) > 0:
        places.append(f"- and {more} more")
    facts = [plural(case.occurrences, "occurrence")]
    facts += [] if group.users is None else [plural(group.users, "user")]
    facts += [f"first {utc(group.first_seen)}"] if group.first_seen else []
    facts += [f"last {utc(group.last_seen)}"] if group.last_seen else []
    facts += [f"release {code_span(group.release)}"] if group.release.strip() else []
    inbox, triage = case.triage_texts
    team = f"{markdown(inbox, 60)}: {markdown(triage, 500)}" if triage else ""
    message = fenced(group.message, limit=_MESSAGE) if group.message.strip() else ""
    return "\n\n".join(filter(None, (", ".join(facts), team, "\n".join(places), message)))


def utc(at: datetime) -> str:
    """A time of the source, which may count in any zone."""
    return f"{at.astimezone(UTC) if at.tzinfo else at:%Y-%m-%d %H:%M} UTC"


def twins(told: Told) -> str:
    """Other errors with the same cause."""
    lines = parts.twin_lines(told.twins[:_TWINS])
    return bulleted("The same cause is behind", map(markdown, lines))


def cause(told: Told) -> str:
    """The cause, and how sure we are."""
    cause = _paragraphs(told)
    why = parts.doubt(told.analysis)
    lowered = f"; {told.prose(why)}" if why else ""
    return f"## Root cause\n\n{cause}\n\nConfidence: {parts.sureness(told.analysis)}{lowered}."


def question(told: Told) -> str:
    """What the team is asked."""
    asked = parts.question(told.analysis)
    return f"## A question to the team\n\n{told.prose(asked)}" if asked else ""


def evidence(told: Told) -> str:
    """All evidence, folded beyond the first."""
    quotes = [_quote(told, one) for one in parts.shown_evidence(told.analysis)[:_QUOTES]]
    if not quotes:
        return ""
    first = "\n\n".join(quotes[: parts.FIRST])
    return f"## Evidence\n\n{first}{folded(quotes[parts.FIRST :], 'more')}"


def _quote(told: Told, evidence: Evidence) -> str:
    place = f"{evidence.path}:{evidence.line}"
    address = told.links.line(evidence.path, evidence.line) if evidence.verified else ""
    name = f"[{code_span(place)}](<{address}>)" if address else code_span(place)
    note = f" · {told.prose(evidence.note)}" if evidence.note else ""
    if not evidence.verified:
        return f"{name}{note}" + ("" if told.analysis.misfit else " · not found in the code")
    return f"{name}{note}\n\n{fenced(evidence.quote, language_named(evidence.path), _QUOTE)}"


def suspects(told: Told) -> str:
    """The change that the analysis names."""
    of = told.analysis
    texts = [
        _suspect(
            told,
            one.pull.sha,
            one.pull.number,
            parts.change_title(one.pull),
            "; ".join(parts.suspect_reasons(of, one)),
        )
        for one in parts.shown_suspects(of)[:_SUSPECTS]
    ]
    named = parts.named_commit(of)
    if named.startswith("#"):
        texts.append(code_span(named))
    elif named:
        texts.append(_suspect(told, named))
    name = "Suspected change" if of.suspect_commit else "Recently merged"
    return bulleted(name, texts)


def _suspect(told: Told, sha: str, number: int = 0, name: str = "", why: str = "") -> str:
    address = told.links.commit(sha)
    commit = f"[{code_span(sha[:10])}](<{address}>)" if address else code_span(sha[:10])
    pull = f"`#{number}` " if number else ""
    called = f"{pull}{markdown(name)} ({commit})" if name else f"commit {commit}"
    return f"{called}: {told.prose(why)}" if why else called


def fix(told: Told) -> str:
    """What the fix would do."""
    of = told.analysis
    files = parts.shown_changes(of) if told.changes is None else told.changes
    if not files:
        return ""
    texts = ((one.path, parts.descriptions(of, one.path)) for one in files[:_FILES])
    described = "\n".join(
        f"- {code_span(path)}: {told.prose(text)}" for path, text in texts if text
    )
    diff = fenced(joined_diff(files[:_FILES]), "diff", _DIFF)
    return "\n\n".join(filter(None, ("## Proposed fix", described, diff)))


def refused(told: Told) -> str:
    """What is not proposed, and why, without its text."""
    edits = told.analysis.refused[:_FILES]
    texts = (f"{code_span(one.path)}: {markdown(one.reason, _SENTENCE)}" for one in edits)
    return bulleted("Not proposed", texts)


def undecided(told: Told) -> str:
    """Explanations that were not decided."""
    shown = parts.open_explanations(told.analysis)[:_HYPOTHESES]
    return bulleted("Open explanations", (_explained(told, one) for one in shown))


def decided(told: Told) -> str:
    """Explanations that were confirmed or ruled out, folded."""
    return folded([texts] if (texts := _decided(told)) else [], "Explanations considered").strip()


def decided_list(told: Told) -> str:
    """The same under a heading."""
    return f"## Explanations considered\n\n{texts}" if (texts := _decided(told)) else ""


def _decided(told: Told) -> str:
    decided = parts.decided_explanations(told.analysis)
    if not parts.shown_changes(told.analysis):  # what was ruled out stands among what was checked
        decided = tuple(one for one in decided if one.standing != "ruled out")
    shown = decided[:_HYPOTHESES]
    return "\n".join(f"- {_explained(told, one, f'{one.standing}: ')}" for one in shown)


def _explained(told: Told, one: Hypothesis, standing: str = "") -> str:
    texts = map(told.prose, filter(None, parts.explained(one.statement, one.because)))
    return f"{standing}{' '.join(texts)}"


def next_steps(told: Told) -> str:
    """What to do next."""
    name = "Next steps" if parts.shown_changes(told.analysis) else "What would settle it"
    return bulleted(name, map(told.prose, told.analysis.next_steps[:_STEPS]))


def trace(told: Told) -> str:
    """The trace as it came."""
    trace = told.analysis.case.trace
    raw = fenced(trace.raw, limit=_TRACE) if trace and trace.raw.strip() else ""
    return f"<details><summary>Stack trace</summary>\n\n{raw}\n\n</details>" if raw else ""


def how(told: Told) -> str:
    """Who says so, and how to ask again."""
    model = code_span(told.analysis.model) or "an unnamed model"
    again = code_span(f"nightwatch one {told.analysis.fingerprint}")
    return f"---\nFound by {model}. One error again: {again}"


def bulleted(name: str, texts: Iterable[str]) -> str:
    """A list under its heading; empty where there is nothing to list."""
    listed = [f"- {text}" for text in texts]
    return "\n".join((f"## {name}\n", *listed)) if listed else ""


def folded(texts: list[str], what: str) -> str:
    """Blocks that a reader unfolds; empty where there are none."""
    name = f"{len(texts)} more" if what == "more" else what
    body = "\n\n".join(texts)
    return f"\n\n<details><summary>{name}</summary>\n\n{body}\n\n</details>" if texts else ""


def _paragraphs(told: Told) -> str:
    blocks = re.split(r"\n\s*\n", told.analysis.root_cause[:_CAUSE].strip())
    return "\n\n".join(told.prose(block, _CAUSE) for block in blocks[:20] if block.strip())


def language_named(path: str) -> str:
    """What a code block of such a file is marked with."""
    ending = path.rsplit(".", 1)[-1] if "." in path else ""
    return _LANGUAGES.get(ending, ending)
