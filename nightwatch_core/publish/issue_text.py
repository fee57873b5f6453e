"""Titles, bodies and commit messages of issues, comments and drafts; untrusted text is escaped.

The texts are in `templates/`.
"""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import cache
from textwrap import fill
from typing import Literal, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup

from nightwatch_core.code.diffs import joined_diff
from nightwatch_core.code.edits import diff as edits_diff
from nightwatch_core.code.likely_files import TEST
from nightwatch_core.code.related_code import Reach
from nightwatch_core.code.symptom_fixes import SymptomFix
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.answer import Handover
from nightwatch_core.models.code import ChangedFile, Commit
from nightwatch_core.publish import finding_parts as parts
from nightwatch_core.publish.expected_value import PROOF_WORDS, proof_of
from nightwatch_core.publish.finding_parts import NO_CAUSE
from nightwatch_core.publish.tiers import DOES
from nightwatch_core.text.commit_prose import commit_prose
from nightwatch_core.text.escaping import code_span, fenced, is_web, line, link, markdown, title
from nightwatch_core.text.markers import LABEL, Permalinks, marker, step_line
from nightwatch_core.text.plain_text import one_line, plural, shortened

BODY_LIMIT = 60_000  # characters, like all sizes here; GitHub takes 65,536
SUBJECT = 72
_CLAUSE = re.compile(r"[:;,.] | \(")  # where one ends
_MORE = "(More is in the night's report.)"
# What switches checks off in a commit message, as [skip ci] does.
_SWITCH = re.compile(r"(?<![a-z])(?:skip|ci|no|actions|build|deploy)(?![a-z])", re.IGNORECASE)

_SENTENCE = 600  # characters
Carrier = Literal["branch", "patch", "files"]  # "files": a folder of this machine


class FindingView(NamedTuple):
    """A finding as issues, comments and drafts show it: its errors, its code, its draft."""

    analysis: Analysis
    twins: tuple[Analysis, ...] = ()
    commit: Commit | None = None  # of the repository; None: not known
    changes: tuple[ChangedFile, ...] | None = None  # of a draft; None: as the analysis has them
    warning: str = ""  # what a reviewer of the draft has to look at first
    mitigations: tuple[SymptomFix, ...] = ()  # of the draft
    reach: Reach = Reach()  # of the draft: who uses it, where the same still stands
    near: tuple[Analysis, ...] = ()  # other errors of tonight that fail in the draft's files
    carrier: Carrier = "branch"  # how the draft comes to its reviewer
    no_draft: str = ""  # why tonight's issue has no draft beside it

    @property
    def links(self) -> Permalinks:
        """Addresses of its code."""
        return Permalinks.of(self.commit, self.analysis.commit)

    def prose(self, text: str, limit: int = _SENTENCE) -> str:
        """Return a line of prose, its places linked."""
        return markdown(text, limit, address_of=self.links.code)


def issue_title(analysis: Analysis) -> str:
    """Return the title of an issue: at most 120 characters that ping and close nothing."""
    named = title(analysis.title if analysis.has_cause else "") or title(analysis.case.title)
    named = named or "Production error"
    return named if analysis.has_cause else title(f"{NO_CAUSE}: {named}")


def labels(analysis: Analysis) -> tuple[str, ...]:
    """Labels of an issue."""
    if not analysis.has_cause:
        return (LABEL, "cause-unknown")
    fix = ("has-fix",) if parts.shown_changes(analysis) else ()
    return (LABEL, f"confidence-{analysis.confidence}", *fix)


def issue_body(finding: FindingView, key: str, night: str) -> str:
    """Return the body of an issue."""
    names = ISSUE if finding.analysis.has_cause else HANDOVER
    return _joined(_head(finding, key, night), *_sections(finding, names))


def comment_body(finding: FindingView, key: str, night: str, news: str) -> str:
    """Return a comment on an issue whose error has news."""
    names = COMMENT if finding.analysis.has_cause else HANDOVER
    sections = _sections(finding, names)
    return _joined(_head(finding, key, night), f"**{markdown(news)}**", *sections)


def pull_title(finding: FindingView) -> str:
    """Return the title of a draft pull request."""
    verb = "Mitigate" if finding.mitigations else "Fix"
    return _calm(title(f"{verb}: {finding.analysis.title}"))


def pull_body(finding: FindingView, key: str, night: str, issue: int | None) -> str:
    """Return the body of a draft pull request; it refers to our issue and closes nothing."""
    sections = _sections(finding, DRAFT, ("finding.md.j2", "draft.md.j2"), issue=issue)
    return _joined(_head(finding, key, night), *sections)


def commit_message(finding: FindingView, issue: int | None) -> str:
    """Subject and body of the one commit; its last paragraph is never taken for a trailer."""
    refers = f"\n\nRefs #{issue}" if issue else ""
    cause = commit_prose(re.sub(r"#(?=\d|\s|$)", "", finding.analysis.root_cause[:4_000]))
    body = fill(f"Root cause: {_calm(cause)}", 72, break_long_words=False, break_on_hyphens=False)
    return f"{_subject(finding)}\n\n{body}{refers}\n"


def step_message(step: str, number: int, of: int, message: str) -> str:
    """Subject and body of one of several commits; the last one says what the only one would."""
    subject, _, rest = message.partition("\n")
    fix = f"Part of: {subject}" if number < of else rest.strip("\n")
    named = shortened(_calm(title(step)), SUBJECT)
    return f"{named}\n\n{step_line(number, of)}\n\n{fix}\n"


def _subject(finding: FindingView) -> str:
    whole = pull_title(finding).rstrip(".…")
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


def _head(finding: FindingView, key: str, night: str) -> str:
    also = (twin.fingerprint for twin in finding.twins)
    return marker(finding.analysis.fingerprint, key, night, also)


# The sections of each text in their order: macros of templates/.
ISSUE = (
    "source caveats where twins cause question evidence fix other_pulls without_draft steps "
    "second_attempt refused suspects undecided next_steps decided trace how"
)
COMMENT = ISSUE.replace(" decided trace", "")
HANDOVER = "source caveats where handover checked trace how"
DRAFT = (
    "note warning mitigation issue_reference opening caveats twins cause "
    "question evidence change proof steps risk other_pulls not_fixed "
    "refused rejecting more how"
)
_CAUSE, _SENTENCE = 6_000, 600  # characters, like all sizes here
_DIFF, _ROWS, _LAST = 20_000, 14, 1_200
_LANGUAGES = {"py": "python", "rb": "ruby", "js": "javascript", "ts": "typescript", "cs": "csharp"}


def _sections(
    finding: FindingView,
    names: str,
    templates: tuple[str, ...] = ("finding.md.j2",),
    **more: object,
) -> Iterator[str]:
    """Render the named macros; of macros with one name that of the last template counts."""
    of, case = finding.analysis, finding.analysis.case
    files = parts.shown_changes(of) if finding.changes is None else finding.changes
    tests = tuple(file for file in files if TEST.search(file.path))
    code = tuple(file for file in files if file not in tests)
    size = {
        "files": len(code),
        "lines": sum(file.added + file.removed for file in code),
        "test_lines": sum(file.added + file.removed for file in tests),
    }
    shown, folded = (code, tests) if code else (files, ())
    context = {
        "finding": finding,
        "of": of,
        "case": case,
        "leader": case.leader,
        "gate": of.gate,
        "given": of.handover or Handover(),
        "places": len({group.transaction for group in case.groups}),
        "files": files,
        "size": size,
        "code_files": shown,
        "test_files": folded,
        "code_rows": sum(file.diff.count("\n") + 1 for file in shown),
        "proof_kind": proof_of(of.gate),
        "proved": PROOF_WORDS[proof_of(of.gate)],
        **more,
    }
    macros: dict[str, Callable[[], str]] = {}
    for template in templates:
        macros |= vars(_environment().get_template(template).make_module(context))
    for name in names.split():
        yield str(macros[name]()).strip("\n")


def markdown_environment(package: str) -> Environment:
    """Build the environment of a package's templates; an unfiltered value raises `TypeError`."""
    environment = Environment(
        loader=PackageLoader(package),
        autoescape=True,
        finalize=_escaped,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        name: _safe(filter)
        for name, filter in (
            ("trusted", str),
            ("web", lambda address: address if is_web(address) else ""),
            ("code", code_span),
            ("fence", lambda text, language="", limit=8_000: fenced(text, language, limit)),
            ("md", markdown),
            ("utc", utc),
            ("plural", plural),
            ("link", lambda of: link(of.name, of.url) if of.url else markdown(of.name)),
            ("diff", lambda files: fenced(joined_diff(files), "diff", _DIFF)),
            ("edits_diff", lambda edits: fenced(edits_diff(edits), "diff", 6_000)),
        )
    }
    return environment


@cache
def _environment() -> Environment:
    environment = markdown_environment("nightwatch_core.publish")
    environment.globals |= {"parts": parts, "effects": DOES}
    environment.filters |= {
        "prose": _prose,
        "paragraphs": _paragraphs,
        "language": language_named,
        "shortened": shortened,
        "line": line,
        "last_lines": _last_lines,
        "is_cut": lambda quote: len(_last_lines(quote)) < len(quote.output.strip()),
    }
    return environment


def _escaped(value: object) -> object:
    if not isinstance(value, Markup | int):
        raise TypeError("a template shows a value that passed no filter")
    return value


def _safe(filter: Callable[..., str]) -> Callable[..., Markup]:
    return lambda *given, **named: Markup(filter(*given, **named))


@pass_context
def _prose(context: Context, text: str, limit: int = _SENTENCE) -> Markup:
    return Markup(context["finding"].prose(text, limit))


@pass_context
def _paragraphs(context: Context, text: str) -> Markup:
    blocks = re.split(r"\n\s*\n", text[:_CAUSE].strip())
    shown = (context["finding"].prose(block, _CAUSE) for block in blocks[:20] if block.strip())
    return Markup("\n\n".join(shown))


def _last_lines(quote: parts.Quote) -> str:
    return "\n".join(quote.output.strip().splitlines()[-_ROWS:])[-_LAST:]


def language_named(path: str) -> str:
    """Return the language of a code block for a file of that name."""
    ending = path.rsplit(".", 1)[-1] if "." in path else ""
    return _LANGUAGES.get(ending, ending)


def utc(at: datetime) -> str:
    """Return a time, of any zone, in UTC."""
    return f"{at.astimezone(UTC) if at.tzinfo else at:%Y-%m-%d %H:%M} UTC"


def _joined(head: str, *sections: str) -> str:
    """The parts that fit; what does not is left out whole, so that no fence stays open."""
    body, left_out = head, False
    for part in (part for part in sections if part.strip()):
        fits = len(body) + len(part) + len(_MORE) + 4 <= BODY_LIMIT
        body, left_out = (f"{body}\n\n{part}", left_out) if fits else (body, True)
    return body + (f"\n\n{_MORE}" if left_out else "") + "\n"
