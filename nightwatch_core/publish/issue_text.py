"""What our issues, comments and pull requests say: evidence first, everything untrusted escaped."""

import re
from collections.abc import Callable, Iterator
from textwrap import fill

from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.answer import Handover
from nightwatch_core.publish import draft_text as draft
from nightwatch_core.publish import finding_parts as parts
from nightwatch_core.publish import issue_sections as say
from nightwatch_core.publish.draft_text import failed_runs, in_steps, is_part, second_attempt
from nightwatch_core.publish.finding_parts import checked_lines, proof_lines, sentence
from nightwatch_core.publish.issue_sections import bulleted, language_named
from nightwatch_core.publish.markers import Told, marker, patch_marker, step_line
from nightwatch_core.publish.overlap import met_pulls
from nightwatch_core.publish.tiers import told_as
from nightwatch_core.text.commit_prose import commit_prose
from nightwatch_core.text.escaping import code_span, fenced, markdown, title
from nightwatch_core.text.plain_text import one_line, shortened

# What is told of an error whose cause is not known: the same in report and issue.
#
# Plain texts, as hostile as they came: each rendering escapes them for its own format.

NO_CAUSE = "No cause is known"


def place_of(given: Handover) -> str:
    """Where it failed; empty where that is not known.

    >>> place_of(Handover(path="app/a.py", line=3)), place_of(Handover())
    ('app/a.py:3', '')
    """
    return f"{given.path}:{given.line}" if given.path and given.line else given.path


def failing_row(given: Handover) -> str:
    """The failing line's own text; empty where it is not known.

    >>> failing_row(Handover(path="a.py", line=3, lines=("x = 1", "  y(x)"), first_line=2))
    'y(x)'
    """
    at = given.line - given.first_line
    return given.lines[at].strip() if given.first_line and 0 <= at < len(given.lines) else ""


def short_handover(given: Handover) -> str:
    """What is not known, and where it failed, in a sentence.

    >>> short_handover(Handover(unknown="why `x` is None in a.py:3"))
    'Cause unknown: why `x` is None in a.py:3.'
    >>> short_handover(Handover(path="a.py", line=3)), short_handover(Handover())
    ('No cause is known; it failed in a.py:3.', 'No cause is known.')
    """
    if given.unknown.strip():
        return f"Cause unknown: {given.unknown.strip().rstrip('.')}."
    place = place_of(given)
    return f"{NO_CAUSE}; it failed in {place}." if place else f"{NO_CAUSE}."


def handover_facts(given: Handover) -> tuple[tuple[str, str], ...]:
    """What is known besides the place, each under its name.

    >>> handover_facts(Handover(path="a.py", line=3, value="'EUR'"))
    (('What failed', "'EUR'"),)
    """
    facts = (
        ("What failed", given.value),
        ("Line last written by", given.last_change),
    )
    return tuple((name, text) for name, text in facts if text.strip())


# The section of an issue that stands where its cause would: what is known, and where to look.

_LINES, _STEPS = 4_000, 8  # characters of the lines around the failing one; what to look at


def handed_over(told: Told) -> str:
    """What is known of an error whose cause is not."""
    given = told.analysis.handover or Handover()
    return "\n\n".join(filter(None, _parts(told, given)))


def _parts(told: Told, given: Handover) -> Iterator[str]:
    what = f" {told.prose(short_handover(given))}" if given.unknown else ""
    yield f"## {NO_CAUSE}\n\nIt was looked at, and nothing was proved.{what} This is what is known."
    place = place_of(given)
    facts = (*((("Failed in", place),) if place else ()), *handover_facts(given))
    yield "\n".join(f"- {name}: {told.prose(text)}" for name, text in facts)
    width = len(str(given.first_line + len(given.lines)))
    rows = enumerate(given.lines, given.first_line)
    numbered = "\n".join(f"{number:>{width}}  {text}" for number, text in rows)
    yield fenced(numbered, language_named(given.path), _LINES) if numbered else ""
    yield bulleted("To look at next", map(told.prose, given.look_at[:_STEPS]))


# What stands where a draft would: why there is none, what was checked, what would settle it.

NO_FIX, NO_DRAFT = "No fix, and why", "No draft, and why"
FAILED = "The fix was tried, and did not pass"


def without_draft(told: Told) -> str:
    """Why no draft is made of a finding, and what was checked; what was run, where one is."""
    of = told.analysis
    name = heading(told)
    if not name:
        ran = of.gate is not None and of.gate.outcome == "passed"
        return bulleted("What was run", map(told.prose, proof_lines(of.gate))) if ran else ""
    why = f"**Why no draft:** {told.prose(sentence(told.no_draft))}" if told.no_draft else ""
    listed = "\n".join(f"- {told.prose(line)}" for line in checked_lines(of))
    checked = f"What was checked:\n\n{listed}" if listed else ""
    body = tuple(filter(None, (why, checked, failed_runs(told))))
    return "\n\n".join((f"## {name}", *body)) if body else ""


def checked(told: Told) -> str:
    """What was checked of an error whose cause is not known."""
    listed = bulleted("What was checked", map(told.prose, checked_lines(told.analysis)))
    return "\n\n".join(filter(None, (listed, failed_runs(told))))


def heading(told: Told) -> str:
    """Name what is missing; empty where a draft is made, or may yet be."""
    gate = told.analysis.gate
    if gate is not None and gate.outcome == "failed":
        return FAILED
    if not parts.shown_changes(told.analysis):
        return NO_FIX
    return NO_DRAFT if told.no_draft else ""


LABEL = "nightwatch"
BODY_LIMIT = 60_000  # characters, like all sizes here; GitHub takes 65,536
COMMENT_LIMIT = 65_000  # a draft's body and its patch
SUBJECT = 72
_CLAUSE = re.compile(r"[:;,.] | \(")  # where one ends
_MORE = "(More is in the night's report.)"
# What switches checks off in a commit message, as [skip ci] does.
_SWITCH = re.compile(r"(?<![a-z])(?:skip|ci|no|actions|build|deploy)(?![a-z])", re.IGNORECASE)


def issue_title(analysis: Analysis) -> str:
    """The title of an issue: at most 120 characters that ping and close nothing."""
    named = title(analysis.title if analysis.has_cause else "") or title(analysis.case.title)
    named = named or "Production error"
    return named if analysis.has_cause else title(f"{NO_CAUSE}: {named}")


def labels(analysis: Analysis) -> tuple[str, ...]:
    """Labels of an issue."""
    if not analysis.has_cause:
        return (LABEL, "cause-unknown")
    fix = ("has-fix",) if parts.shown_changes(analysis) else ()
    return (LABEL, f"confidence-{analysis.confidence}", *fix)


def issue_body(told: Told, key: str, night: str) -> str:
    """The body of an issue."""
    sections = _ISSUE if told.analysis.has_cause else _HANDOVER
    return _joined(_head(told, key, night), *(write(told) for write in sections))


def comment_body(told: Told, key: str, night: str, news: str) -> str:
    """A comment on an issue whose error has news."""
    sections = _COMMENT if told.analysis.has_cause else _HANDOVER
    return _joined(
        _head(told, key, night), f"**{markdown(news)}**", *(write(told) for write in sections)
    )


def pull_title(told: Told) -> str:
    """The title of a draft pull request."""
    return _calm(title(f"{_verb(told)}: {told.analysis.title}"))


def _verb(told: Told) -> str:
    verb = "Mitigate" if told.mitigations else "Fix"
    return f"{verb} in part" if is_part(told.analysis) else verb


def pull_body(told: Told, key: str, night: str, issue: int | None) -> str:
    """The body of a draft pull request; `Refs` our own issue, never closes anything."""
    note = (
        "> Proposed by NightWatch, a program, from production errors. Its input was untrusted: "
        "read it as you would a stranger's patch."
    )
    refers = f"Refs #{issue}" if issue else ""
    warning = f"**Look at this first:** {markdown(told.warning, 300)}." if told.warning else ""
    return _joined(
        *(_head(told, key, night), note, warning, told_as(told.mitigations), refers),
        *(write(told) for write in _PULL),
    )


def patch_comment(body: str, fix: str, base: str, patch: str, file: str = "") -> str:
    """The comment that carries a patch below the draft's own body, or says in which file it lies.

    Empty where it is longer than a comment may be.
    """
    head, _, rest = body.partition("\n")
    how = "save the block as `nightwatch.patch`, then `git am nightwatch.patch`"
    if file:
        lies = f"It is too long for a comment: it lies in {code_span(file)}, below the state folder"
        text = f"## Patch\n\n{lies} of the machine that NightWatch runs on."
    else:
        ticks = "`" * max(3, 1 + max(map(len, re.findall("`+", patch)), default=0))
        text = f"## Patch\n\nNo branch was pushed. On {code_span(base)}: {how}.\n\n"
        text += f"{ticks}diff\n{patch.rstrip(chr(10))}\n{ticks}"
    whole = "\n".join((head, patch_marker(fix, base), rest.rstrip("\n"), "", text, ""))
    return whole if len(whole) <= COMMENT_LIMIT else ""


def commit_message(told: Told, issue: int | None) -> str:
    """Subject and body of the one commit; its last paragraph is never taken for a trailer."""
    refers = f"\n\nRefs #{issue}" if issue else ""
    cause = commit_prose(re.sub(r"#(?=\d|\s|$)", "", told.analysis.root_cause[:4_000]))
    body = fill(f"Root cause: {_calm(cause)}", 72, break_long_words=False, break_on_hyphens=False)
    return f"{_subject(told)}\n\n{body}{refers}\n"


def step_message(step: str, number: int, of: int, message: str) -> str:
    """Subject and body of one of several commits; the last one says what the only one would."""
    subject, _, rest = message.partition("\n")
    fix = f"Part of: {subject}" if number < of else rest.strip("\n")
    named = shortened(_calm(title(step)), SUBJECT)
    return f"{named}\n\n{step_line(number, of)}\n\n{fix}\n"


def _subject(told: Told) -> str:
    """The title of the draft, as far as whole words, and better whole clauses, go into a line."""
    whole = pull_title(told).rstrip(".…")
    for fits in (whole, whole.removeprefix("Fix: ")):
        if len(fits) <= SUBJECT:
            return fits
    words = shortened(whole, SUBJECT + 1).rstrip("…")
    ends = [end.start() for end in _CLAUSE.finditer(words) if 2 * end.start() > SUBJECT]
    return words[: ends[-1]] if ends else words


def _calm(text: str) -> str:
    """Without what switches checks off in a commit message: `[skip ci]`, `***NO_CI***`.

    The last step before it is written: whatever else is taken out may leave a switch.
    """

    def calmed(found: re.Match[str]) -> str:
        return f"({found[1]})" if _SWITCH.search(found[1]) else found[0]

    plain = re.sub(r"\*{3,}", " ", text)
    return one_line(re.sub(r"\[([^\[\]]*)\]", calmed, plain))


def _head(told: Told, key: str, night: str) -> str:
    also = (one.fingerprint for one in told.twins)
    return marker(told.analysis.fingerprint, key, night, also)


Section = Callable[[Told], str]
_ISSUE: tuple[Section, ...] = (
    say.source,
    say.caveats,
    say.where,
    say.twins,
    say.cause,
    say.question,
    say.evidence,
    say.fix,
    met_pulls,
    without_draft,
    in_steps,
    second_attempt,
    say.refused,
    say.suspects,
    say.undecided,
    say.next_steps,
    say.decided,
    say.trace,
    say.how,
)
_HANDOVER: tuple[Section, ...] = (  # where no cause is known
    say.source,
    say.caveats,
    say.where,
    handed_over,
    checked,
    say.trace,
    say.how,
)
_COMMENT: tuple[Section, ...] = tuple(one for one in _ISSUE if one not in (say.trace, say.decided))
_PULL: tuple[Section, ...] = (
    draft.opening,
    draft.caveats,
    say.twins,
    say.cause,
    say.question,
    say.evidence,
    draft.change,
    draft.proof,
    in_steps,
    draft.risk,
    met_pulls,
    draft.not_mended,
    say.refused,
    draft.rejecting,
    draft.by_the_way,
    say.how,
)


def _joined(head: str, *sections: str) -> str:
    """The parts that fit; what does not is left out whole, so that no fence stays open."""
    body, left_out = head, False
    for part in (part for part in sections if part.strip()):
        fits = len(body) + len(part) + len(_MORE) + 4 <= BODY_LIMIT
        body, left_out = (f"{body}\n\n{part}", left_out) if fits else (body, True)
    return body + (f"\n\n{_MORE}" if left_out else "") + "\n"
