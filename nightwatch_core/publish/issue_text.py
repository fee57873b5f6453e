"""Titles, bodies and commit messages of issues, comments and drafts; untrusted text is escaped.

The texts are in `templates/`; what a finding has in common with the report comes from `finding.py`.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from textwrap import fill

from jinja2 import ChoiceLoader, Environment, PackageLoader

from nightwatch_core.code.diffs import joined_diff
from nightwatch_core.code.edits import diff as edits_diff
from nightwatch_core.code.likely_files import TEST
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.answer import Handover
from nightwatch_core.models.knowledge import OutcomeEvent
from nightwatch_core.publish import finding as parts
from nightwatch_core.publish.blocks import CAUSE, CodeLine, Limits, code_text
from nightwatch_core.publish.expected_value import Proof, proof_of
from nightwatch_core.publish.finding import NO_CAUSE, FindingView
from nightwatch_core.publish.words import WORDS
from nightwatch_core.text.escaping import code_span, fenced, is_web, line, link, markdown, title
from nightwatch_core.text.markdown_templates import markdown_templates
from nightwatch_core.text.markers import LABEL, Permalinks, marker, step_line
from nightwatch_core.text.plain_text import last_lines, one_line, plural, shortened

BODY_LIMIT = 60_000  # characters, like all sizes here; GitHub takes 65,536
TITLE, SUBJECT = 120, 72
_DOUBTS: Mapping[Proof, str] = {"reproduced": "", "green": " (crash not reproduced)"}
_MORE = "(More is in the night's report.)"
# What switches checks off in a commit message, as [skip ci] does.
_SWITCH = re.compile(r"(?<![a-z])(?:skip|ci|no|actions|build|deploy)(?![a-z])", re.IGNORECASE)


def issue_title(finding: FindingView) -> str:
    """Return the title of an issue: at most 120 characters that ping and close nothing.

    No title holds the night, which the body names first: our items are found by their markers, and
    people search for a title that stays.
    """
    analysis = finding.analysis
    named = title(analysis.title if analysis.has_cause else "") or title(analysis.case.title)
    named = named or "Production error"
    return _with_app(finding, named if analysis.has_cause else f"{NO_CAUSE}: {named}")


def _with_app(finding: FindingView, text: str) -> str:
    """Put the application before a title, if it fits and the repository does not say the same."""
    app = title(finding.analysis.case.leader.app)
    repository = finding.commit.repository.rpartition("/")[2] if finding.commit else app
    prefix = f"{app}: " if app and app.casefold() != repository.casefold() else ""
    return title(f"{prefix}{text}" if len(prefix) + len(text) <= TITLE else text)


def labels(analysis: Analysis) -> tuple[str, ...]:
    """Labels of an issue."""
    if not analysis.has_cause:
        return (LABEL, "cause-unknown")
    fix = ("has-fix",) if parts.shown_changes(analysis) else ()
    return (LABEL, f"confidence-{analysis.confidence}", *fix)


def issue_body(finding: FindingView, key: str, night: str, comes_after: int | None = None) -> str:
    """Return the body of an issue; it links the closed one that the error had by another cause."""
    names = ISSUE if finding.analysis.has_cause else HANDOVER
    link = f"This error came back after #{comes_after} was closed, with another cause."
    first = (link,) if comes_after else ()
    sections = _sections(finding, names, night=night)
    return _joined(_head(finding, key, night), *first, *sections)


def verified_body(
    fingerprint: str, key: str, night: str, event: OutcomeEvent, sign: str, *, closes: bool
) -> str:
    """Return the comment on an issue that can be closed, with the figures that speak for it."""
    fix = f"The fix in {sign}{event.number}"
    text = f"**{fix} is verified in production**: {markdown(event.because)}."
    then = "NightWatch closes this issue." if closes else "This issue can be closed."
    return _joined(marker(fingerprint, key, night), text, then)


def comment_body(finding: FindingView, key: str, night: str, news: str) -> str:
    """Return a comment on an issue whose error has news."""
    names = COMMENT if finding.analysis.has_cause else HANDOVER
    sections = _sections(finding, names, night=night)
    return _joined(_head(finding, key, night), f"**{markdown(news)}**", *sections)


def pull_title(finding: FindingView) -> str:
    """Return the title of a draft pull request; it says so where no test proves the change."""
    doubt = _DOUBTS.get(proof_of(finding.analysis.gate), " (not proved)")
    return _calm(_with_app(finding, _change(finding, TITLE - len(doubt)) + doubt))


def _change(finding: FindingView, limit: int) -> str:
    """Name the change by the error's class and place, which stay: `Fix KeyError in orders/show`."""
    case = finding.analysis.case
    top = case.trace.top if case.trace else None
    place = title(case.leader.transaction) or title(top.repo_path or top.path if top else "")
    what = title(case.leader.error_class) or "an error"
    change = f"{'Mitigate' if finding.mitigations else 'Fix'} {what}"
    whole = f"{change} in {place}" if place else change
    return whole if len(whole) <= limit else title(change, limit)


def pull_body(finding: FindingView, key: str, night: str, issue: int | None) -> str:
    """Return the body of a draft pull request; it refers to our issue and closes nothing."""
    sections = _sections(finding, DRAFT, night=night, issue=issue)
    return _joined(_head(finding, key, night), *sections)


def commit_message(finding: FindingView, issue: int | None) -> str:
    """Subject and body of the one commit; its last paragraph is never taken for a trailer."""
    refers = f"\n\nRefs #{issue}" if issue else ""
    cause = title(re.sub(r"#(?=\d|\s|$)", "", finding.analysis.root_cause[:4_000]), 1_000)
    body = fill(f"Root cause: {_calm(cause)}", 72, break_long_words=False, break_on_hyphens=False)
    return f"{_calm(_change(finding, SUBJECT))}\n\n{body}{refers}\n"


def step_message(step: str, number: int, of: int, message: str) -> str:
    """Subject and body of one of several commits; the last one says what the only one would."""
    subject, _, rest = message.partition("\n")
    fix = f"Part of: {subject}" if number < of else rest.strip("\n")
    named = shortened(_calm(title(step)), SUBJECT)
    return f"{named}\n\n{step_line(number, of)}\n\n{fix}\n"


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


# The sections of each text in their order: those of `finding.sections`, and macros of templates/.
ISSUE = (
    "source caveats where twins cause confidence question evidence evidence_more fix other_pulls "
    "proof steps refused suspects open next considered trace how"
)
COMMENT = ISSUE.replace(" considered trace", "")
HANDOVER = "source caveats where unknown handover lines look checked trace how"
DRAFT = (
    "note warning mitigation issue_reference opening caveats twins cause confidence question "
    "evidence evidence_more change draft_proof steps risk other_pulls not_fixed next refused "
    "rejecting suspects open considered how"
)
_LIMITS = Limits(code_lines=300)
_ROWS, _LAST = 26, 2_000  # of what a run printed that is shown at once: lines, characters


def _sections(finding: FindingView, names: str, **more: object) -> Iterator[str]:
    """Render the named sections and macros."""
    of, case = finding.analysis, finding.analysis.case
    files = parts.shown_changes(of) if finding.changes is None else finding.changes
    tests = tuple(file for file in files if TEST.search(file.path))
    code = tuple(file for file in files if file not in tests)
    context = {
        "finding": finding,
        "of": of,
        "case": case,
        "leader": case.leader,
        "gate": of.gate,
        "given": of.handover or Handover(),
        "places": len({group.transaction for group in case.groups}),
        "files": files,
        "size": {
            "files": len(code),
            "lines": sum(file.added + file.removed for file in code),
            "test_lines": sum(file.added + file.removed for file in tests),
        },
        "code_files": code or files,
        "test_files": tests if code else (),
        "proof_kind": proof_of(of.gate),
        "proved": WORDS["proofs"][proof_of(of.gate)],
        **more,
    }
    templates = _environment()
    render = templates.get_template("blocks.md.j2").module.section  # type: ignore[attr-defined]
    macros: dict[str, Callable[[], str]] = {}
    for template in ("finding.md.j2", "draft.md.j2"):
        macros |= vars(templates.get_template(template).make_module(context))
    sections = {item.kind: item for item in parts.sections(finding, _LIMITS)}
    for name in names.split():
        if name in macros:
            yield str(macros[name]()).strip("\n")
        elif name in sections:
            yield str(render(sections[name], "## {}", finding.links)).strip("\n")


def markdown_environment(package: str) -> Environment:
    """Build the environment of a package's templates; an unfiltered value raises `TypeError`."""
    loader = ChoiceLoader([PackageLoader(package), PackageLoader("nightwatch_core.publish")])
    filters: dict[str, Callable[..., str]] = {
        "trusted": str,
        "web": lambda address: address if is_web(address) else "",
        "code": code_span,
        "fence": lambda text, language="", limit=8_000: fenced(text, language, limit),
        "md": markdown,
        "prose": _prose,
        "cell": lambda text: markdown(text, cell=True),
        "number": lambda count: f"{count:,}",
        "excerpt": _excerpt,
        "utc": utc,
        "plural": plural,
        "link": lambda text, address: link(text, address) if address else markdown(text),
        "diff": lambda files: fenced(joined_diff(files), "diff", 20_000),
        "edits_diff": lambda edits: fenced(edits_diff(edits), "diff", 6_000),
    }
    environment = markdown_templates(loader, filters)
    environment.globals |= {"no_cause": NO_CAUSE}
    environment.filters |= {"type": lambda block: type(block).__name__}
    return environment


@cache
def _environment() -> Environment:
    environment = markdown_environment("nightwatch_core.publish")
    environment.globals |= {"parts": parts, "effects": WORDS["effects"]}
    environment.filters |= {"shortened": shortened, "line": line, "last_lines": _last_lines}
    return environment


def _prose(text: str, links: Permalinks | None = None) -> str:
    return markdown(text, CAUSE, address_of=links.code) if links else markdown(text)


def _excerpt(lines: tuple[CodeLine, ...]) -> str:
    language = "diff" if any(line.mark for line in lines) else ""
    return fenced(code_text(lines), language, 60_000)


def _last_lines(output: str) -> str:
    return last_lines("\n".join(output.strip().splitlines()[-_ROWS:]), _LAST)


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
