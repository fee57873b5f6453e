"""One analysis as a finding of the report."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.answer import Hypothesis, Learning
from nightwatch_core.models.code import Commit, Suspect
from nightwatch_core.models.report import RunReport
from nightwatch_core.publish import finding_parts as parts
from nightwatch_core.publish.permalinks import Permalinks
from nightwatch_core.publish.proof_parts import checked_lines, told_in_report
from nightwatch_core.report import finding_facts as say
from nightwatch_core.report.blocks import (
    Bullets,
    Command,
    Excerpts,
    Fact,
    Facts,
    Finding,
    Paragraphs,
    Publications,
    Section,
    Verbatim,
    cut,
    section,
)
from nightwatch_core.report.error_rows import NO_CAUSE, known_since
from nightwatch_core.report.excerpts import Excerpt, diff_excerpt, evidence_excerpt
from nightwatch_core.report.handover import FOLD, handover_sections, short_gist
from nightwatch_core.report.limits import CAUSE, LONG, MESSAGE, NAME, TEXT, TITLE, Limits
from nightwatch_core.report.proof_sections import proof_section, worth
from nightwatch_core.report.publications import (
    Publication,
    capture_command,
    one_command,
    published_for,
)
from nightwatch_core.text.escaping import block, line
from nightwatch_core.text.units import moment, rebinned


class Shown(NamedTuple):
    """An analysis as a report shows it, with the other errors of its cause."""

    analysis: Analysis
    report: RunReport
    twins: tuple[Analysis, ...] = ()

    @property
    def publications(self) -> tuple[Publication, ...]:
        """What was published for it."""
        case = self.analysis.case
        return published_for(self.report, (case.fingerprint, *case.aliases))

    @property
    def links(self) -> Permalinks:
        """Addresses of the code it was found in."""
        return Permalinks.of(self.report.commit, self.analysis.commit)


def finding(rank: int, shown: Shown, limits: Limits) -> Finding:
    """Everything the morning reader wants to know about one analysis."""
    analysis, case, links = shown.analysis, shown.analysis.case, shown.links
    known = known_since(analysis)
    without = limits.without | (limits.without_if_known if known else frozenset())
    unknown = not analysis.has_cause
    return Finding(
        rank=rank,
        anchor=f"error-{rank}",
        title=line("" if unknown else analysis.title, TITLE) or line(case.title, TITLE),
        error=line(case.leader.error_class, NAME),
        where=line(case.leader.transaction, TITLE),
        seen=say.seen(case),
        confidence=analysis.confidence,
        unknown=unknown,
        gist=short_gist(analysis.handover) if analysis.handover else "",
        fold=FOLD if unknown else "",
        sureness=parts.sureness(analysis),
        doubt=line(parts.doubt(analysis), TEXT),
        proved=say.proved(analysis),
        hourly=rebinned(say.hourly(case)),
        known=known,
        news=say.news(analysis),
        team=line(": ".join(filter(None, case.triage_texts)), TEXT),
        regression=case.regressed,
        source=source_of((case.leader.app,), shown.report.commit, analysis.commit),
        address=links.address,
        commit=links.sha,
        publications=shown.publications,
        sections=tuple(
            each
            for each in (_handed_over if unknown else _sections)(shown, limits)
            if each.blocks and each.kind not in without
        ),
    )


def _sections(shown: Shown, limits: Limits) -> Iterator[Section]:
    analysis, case, many = shown.analysis, shown.analysis.case, limits.texts
    facts = tuple(say.facts(analysis, shown.report.commit))[: limits.facts]
    yield section("facts", "", Facts(items=facts))
    calm = analysis.standing is not None and analysis.standing.kind == "live"
    caveats = filter(None, (parts.misfit(analysis), "" if calm else parts.standing(analysis)))
    yield _bullets("caveats", "Mind", caveats, many)
    if message := block(case.leader.message, MESSAGE):
        yield section("message", "", Verbatim(text=message))
    text = block(analysis.root_cause, CAUSE) or NO_CAUSE
    cause = Paragraphs(text=text, remark=say.ending(analysis))
    yield section("cause", "Root cause", cause)
    asked = filter(None, (parts.question(analysis),))
    yield _bullets("question", "A question to the team", asked, 1)
    yield from _evidence(shown, limits)
    yield section("fix", "Proposed fix", cut(Excerpts, _fix(analysis, limits), limits.files))
    yield proof_section(analysis, shown.report.skips, limits)
    refused = (f"{one.path}: {one.reason}" for one in analysis.refused)
    yield _bullets("refused", "Not proposed", refused, many)
    yield _bullets("kept back", "Kept back", map(say.kept_back, analysis.kept_back), many)
    yield _suspects(analysis, limits)
    undecided = map(_hypothesis, parts.open_explanations(analysis))
    yield _bullets("open", "Open explanations", undecided, many)
    yield _bullets("next", "Next steps", analysis.next_steps, many)
    yield _bullets("twins", "The same cause is behind", parts.twin_lines(shown.twins), many)
    also = (f"{line(each.title)} ({each.occurrences:,})" for each in case.others)
    yield _bullets("also", "Also this error", also, many)
    decided = (
        _decided(one)
        for one in parts.decided_explanations(analysis)
        if analysis.has_fix or one.standing != "ruled out"  # else it stands among what was checked
    )
    yield _bullets("considered", "Considered", decided, many).model_copy(update={"folded": True})
    yield _bullets("learned", "Learned", map(_learning, analysis.learnings), many)
    files = ", ".join(line(each.path, TITLE) for each in parts.shown_changes(analysis))
    verdict = Fact(name="Fix", text=line(f"yes, in {files}", TEXT) if files else "no")
    gate = line(told_in_report(analysis), LONG)
    tried = (Fact(name="Tried", text=gate),) if gate else ()
    value = worth((analysis, *shown.twins))
    yield section("verdict", "", Facts(items=(verdict, *tried, *value)))
    yield from _end(shown, limits)


def _handed_over(shown: Shown, limits: Limits) -> Iterator[Section]:
    """What is known of an error whose cause is not."""
    analysis, case, many = shown.analysis, shown.analysis.case, limits.texts
    yield _bullets("caveats", "Mind", filter(None, (parts.misfit(analysis),)), many)
    yield from handover_sections(analysis, shown.links, limits)
    yield _bullets("checked", "What was checked", checked_lines(analysis), many)
    facts = tuple(say.facts(analysis, shown.report.commit))[: limits.facts]
    yield section("facts", "The error", Facts(items=facts))
    if message := block(case.leader.message, MESSAGE):
        yield section("message", "", Verbatim(text=message))
    also = (f"{line(each.title)} ({each.occurrences:,})" for each in case.others)
    yield _bullets("also", "Also this error", also, many)
    yield from _end(shown, limits)


def _evidence(shown: Shown, limits: Limits) -> Iterator[Section]:
    """The first pieces, and the others folded; where nothing folds, the first alone."""
    links = shown.links
    found = [
        evidence_excerpt(
            each, limits.code_lines, links.line(each.path, each.line) if each.verified else ""
        )
        for each in parts.shown_evidence(shown.analysis)
    ]
    at_once = min(parts.FIRST, limits.evidence)
    if "evidence_more" in limits.without:
        yield section("evidence", "Evidence", cut(Excerpts, found, at_once))
        return
    yield section("evidence", "Evidence", cut(Excerpts, found[:at_once], at_once))
    more = cut(Excerpts, found[at_once:], limits.evidence)
    name = f"{len(found) - at_once:,} more"
    yield Section(kind="evidence_more", title=name, blocks=more, folded=True)


def _fix(analysis: Analysis, limits: Limits) -> Iterator[Excerpt]:
    for file in parts.shown_changes(analysis):
        yield diff_excerpt(file, parts.descriptions(analysis, file.path), limits.code_lines)


def _suspects(analysis: Analysis, limits: Limits) -> Section:
    texts = (
        _suspect(each, parts.suspect_reasons(analysis, each))
        for each in parts.shown_suspects(analysis)
    )
    shown = (*texts, parts.named_change(analysis))
    title = "Suspected change" if analysis.suspect_commit else "Suspects"
    return _bullets("suspects", title, filter(None, shown), limits.suspects)


def _end(shown: Shown, limits: Limits) -> Iterator[Section]:
    """What was done, and how it was found."""
    analysis, case = shown.analysis, shown.analysis.case
    done = cut(Publications, shown.publications, len(shown.publications))
    yield section("done", "What was done", done)
    if capture := capture_command(analysis, shown.report):
        yield section("capture", "", Command(name="Capture what was learned", text=capture))
    because = tuple(line(each, LONG) for each in analysis.because[: limits.texts])
    how = (*tuple(say.how(analysis))[: limits.how], *worth((analysis, *shown.twins)))
    yield Section(
        kind="how",
        title="How it was found",
        blocks=(Facts(items=how, because=because),),
        folded=True,
    )
    if again := one_command(case.fingerprint):
        yield section("again", "", Command(name="Again", text=again))
    if trace := say.trace_text(case.trace):
        yield section("trace", "", Verbatim(name="Stack trace", text=trace))


def source_of(apps: Iterable[str], commit: Commit | None, sha: str = "") -> str:
    """Say which applications failed, and in which repository.

    >>> source_of(("shop", ""), Commit(repository="acme/shop", sha="0123456789abcdef"))
    'shop · acme/shop at 0123456789'
    """
    named = list(dict.fromkeys(filter(None, (line(app, NAME) for app in apps))))
    shown = ", ".join(named[:3]) + (f" and {len(named) - 3} more" if len(named) > 3 else "")
    where = f"{commit.repository} at {(sha or commit.sha)[:10]}" if commit else ""
    return line(" · ".join(filter(None, (shown, where))), TITLE)


def _bullets(kind: str, title: str, texts: Iterable[str], limit: int) -> Section:
    return section(kind, title, cut(Bullets, (line(each, LONG) for each in texts), limit))


def _hypothesis(hypothesis: Hypothesis) -> str:
    return " ".join(filter(None, parts.explained(hypothesis.statement, hypothesis.because)))


def _decided(hypothesis: Hypothesis) -> str:
    return f"{hypothesis.standing}: {_hypothesis(hypothesis)}"


def _learning(learning: Learning) -> str:
    return f"{learning.fact} ({learning.path})" if learning.path else learning.fact


def _suspect(suspect: Suspect, reasons: tuple[str, ...]) -> str:
    pull = suspect.pull
    author = f" by {pull.author}" if pull.author else ""
    because = f": {'; '.join(reasons)}" if reasons else ""
    called = f"{pull.name} “{parts.change_title(pull)}”{author}"
    return f"{called}, merged {moment(pull.merged_at)}{because}"
