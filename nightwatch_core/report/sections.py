"""The sections of a report that are not findings: what was dropped, failed, rejected, and how."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import get_args

from nightwatch_core.models import knowledge
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.answer import Handover
from nightwatch_core.models.assignment import BatchTriage, Sighting, SubmittedBatch
from nightwatch_core.models.batch import Severity
from nightwatch_core.models.errors import DroppedGroup, ErrorGroup
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposals import OwnItem
from nightwatch_core.models.report import ChangeKind, RunReport
from nightwatch_core.publish.blocks import (
    LONG,
    NAME,
    TEXT,
    TITLE,
    Command,
    Entries,
    Entry,
    Fact,
    Facts,
    Limits,
    Paragraphs,
    Publication,
    Publications,
    Section,
    bullets,
    cut,
    section,
)
from nightwatch_core.publish.expected_value import accepted_in, names_of
from nightwatch_core.publish.finding import failed_in, sentence
from nightwatch_core.report import facts as plain
from nightwatch_core.report.headline import merged_fixes, opened
from nightwatch_core.report.health import left_sentence
from nightwatch_core.text.escaping import line
from nightwatch_core.text.plain_text import (
    capped,
    data_table,
    moment,
    money,
    plural,
    shortened,
    spending,
)
from nightwatch_core.text.words import last_segment

# What the memory has to say in the morning: patterns, ignore rules, outcomes, lessons.

VERDICTS: tuple[knowledge.OutcomeKind, ...] = ("regressed", "no effect", "verified")
ORDER: tuple[knowledge.OutcomeKind, ...] = (  # what asks for somebody first
    *VERDICTS,
    *("closed unmerged", "not planned", "reopened"),
    *("wrong", "edited before merge", "merged", "closed", "useful"),
)
WORDS = data_table("nightwatch_core.report", "words.toml", dict[str, dict[str, str]])
_STEPS = get_args(knowledge.FixStatus)
_OF_ISSUES: tuple[knowledge.OutcomeKind, ...] = ("closed", "not planned", "reopened")
_ITEMS = {"pull": "pull request", "issue": "issue"}


def changes(report: RunReport, limits: Limits) -> Section:
    """Return what changed since the night before, what fixes did, and what waits for people."""
    texts: list[str] = []
    told = dict[str, str]()  # what the table of errors says more of
    gone = set[str]()
    for rank, item in enumerate(report.analyses[: limits.rows], 1):
        name = f"error {rank}, {last_segment(item.case.leader.error_class)}"
        told |= dict.fromkeys(names_of(item), line(name, TITLE))
    open_items = [item for item in report.outcomes if item.state == "open"]
    awaited = frozenset[str]().union(*(item.names for item in open_items))
    for kind in get_args(ChangeKind):
        rows = []
        for change in report.changes:
            name = told.get(change.fingerprint, line(change.title, TITLE))
            figures = f"({change.before:,} → {change.now:,})"
            if change.kind == kind == "gone" and change.fingerprint in awaited:  # said of its item
                told[change.fingerprint] = f"{name}, gone {figures}"
                gone.add(change.fingerprint)
            elif change.kind == kind:
                rows.append(f"{kind}: {name} {figures}")
        texts += capped(rows, limits.changes)
    listed = bullets("changes", "", texts, len(texts)).blocks
    urls = _addresses(report)
    publications = [
        Publication(
            text=f"{WORDS['effects'][event.kind]}: pull request{_number(event)}",
            address=line(urls.get(("pull", event.number), ""), LONG),
            note=f"{line(update.title or update.fingerprint, TITLE)}{_figures(update, event)}",
            state="published" if event.kind == "verified" else "failed",
        )
        for update, event in _news(report)
        if event.kind in VERDICTS
    ]
    publications += _open_work(open_items, told, gone, report)
    left = cut(Publications, publications, limits.lines)
    return section("changes", "Since the night before", listed, left)


def _open_work(
    items: Iterable[OwnItem], told: Mapping[str, str], gone: Collection[str], report: RunReport
) -> Iterator[Publication]:
    """Yield our open drafts, and the open issues that have none, with what each waits for."""
    items = sorted(items, key=lambda item: (item.kind == "issue", item.number))
    drafted = frozenset[str]().union(*(item.names for item in items if item.kind == "pull"))
    closed = {item.number for item in opened(report, "close") if report.options.close_verified}
    for item in items:
        is_drafted = not drafted.isdisjoint(item.names)
        if item.kind == "issue" and (is_drafted or item.number in closed):
            continue
        state, why = _state_of(item, report)
        name = next((name for name in sorted(item.names) if name in told), "")
        about = told.get(name) or line(item.title, TITLE)
        about += ": close it if it was fixed" if name in gone and not why else ""
        yield Publication(
            text=WORDS["open_items"][state].format(item.name, _checks(item)),
            address=line(item.url, LONG),
            note="; ".join(filter(None, (about, why))),
            state="waits",
        )


def _state_of(item: OwnItem, report: RunReport) -> tuple[str, str]:
    """Return what an open item waits for, a name of `open_items`, and why where people ask."""
    if item.kind == "pull":
        issue = accepted_in(item.names, report.outcomes)
        return (
            ("accepted", f"its error was accepted in issue {issue.name}") if issue else ("pull", "")
        )
    fix = fix_of(item, report)
    if fix is None or fix.status in ("no effect", "regressed"):
        return "issue", ""
    number, merged = f"{report.options.pull_sign}{fix.number}", f"merged on {fix.merged_at.date()}"
    why = {
        "merged": f"its fix {number} was {merged}; no release with it was seen yet",
        "measuring": f"its fix {number} was {merged}"
        + (f" and runs since {fix.deployed_at.date()}" if fix.deployed_at else ""),
        "verified": f"its fix {number} helped",
    }
    return fix.status, why[fix.status]


def fix_of(item: OwnItem, report: RunReport) -> knowledge.MergedFix | None:
    """Return the merged fix that an issue waits for, the one that is least far; None without one.

    An issue that people reopened waits for them until its fix is verified.
    """
    mine = [fix for fix in report.fixes if not item.names.isdisjoint(fix.names)]
    fix = min(mine, key=lambda fix: _STEPS.index(fix.status), default=None)
    is_reopened = item.state_reason == "reopened" and fix and fix.status != "verified"
    return None if is_reopened else fix


def _checks(item: OwnItem) -> str:
    return item.checks and f", checks {item.checks}"


def _number(event: knowledge.OutcomeEvent) -> str:
    return f" {event.sign}{event.number}" if event.number is not None else ""


def _figures(update: knowledge.OutcomeUpdate, event: knowledge.OutcomeEvent) -> str:
    figures = event.because or (watch_figures(update.watch) if update.watch else "")
    return f" ({line(figures, TEXT)})" if figures else ""


def patterns(report: RunReport, limits: Limits) -> Section:
    """Return the patterns with their reasons."""
    entries = []
    for pattern in report.learned.patterns:
        because = f"because {'; '.join(pattern.because[:5])}" if pattern.because else ""
        since = f" since {min(pattern.nights)}" if len(pattern.nights) > 1 else ""
        said = not pattern.nights or (pattern.opened and not pattern.closed)  # by the description
        nights = "" if said else f"seen on {plural(len(pattern.nights), 'night')}{since}"
        closed = f"closed: {pattern.closed_because}" if pattern.closed else ""
        entry = Entry(
            head=line(pattern.title, TITLE),
            text=line(closed or pattern.description, LONG),
            small="" if closed else line(pattern.suggestion, TEXT),
            more=tuple(filter(None, ("" if closed else line(because, LONG), nights))),
        )
        entries.append(entry)
    listed = cut(Entries, entries, limits.common)
    count = report.learned.patterns_going_on
    errors = f"{plural(count, 'error')} without a known cause" if count else ""
    go_on = f"{errors}, reported on an earlier night, came again (knowledge/patterns/)."
    more = (Paragraphs(text=go_on),) if count else ()
    return section("patterns", "Patterns", listed, more)


def suggestions(report: RunReport, limits: Limits) -> Section:
    """Return ignore rules to add, numbered as `nightwatch ignore accept` counts them."""
    entries = []
    for number, item in enumerate(report.learned.suggestions, 1):
        field = "" if item.field == "any" else f" in {item.field.replace('_', ' ')}"
        ends = f"holds until {item.expires}" if item.expires else "never expires"
        rate = item.unless_rate_above
        wire = f", up to {rate:,g} a day" if rate is not None else ", at any rate"
        accept = line(f"accept: {report.command} ignore accept {number}", LONG)
        entry = Entry(
            head=line(f"{number}. {item.match}: {item.pattern}", TITLE) + field,
            text=line(item.reason, LONG),
            small=backtest_sentence(item.backtest),
            more=tuple(filter(None, (line(item.evidence, TEXT), f"{ends}{wire}", accept))),
        )
        entries.append(entry)
    title = "Suggested ignore rules"
    return section("suggestions", title, cut(Entries, entries, limits.common))


def backtest_sentence(test: knowledge.Backtest) -> str:
    """Return the sentence on what a rule would have hidden.

    >>> test = knowledge.Backtest(nights=14, groups=3, occurrences=412, fixed_later=1, users=12)
    >>> backtest_sentence(test)
    'over 14 nights it would have hidden 3 error groups (412 times), 1 of them fixed later; \
at most 12 users a night'
    """
    if not test.nights:
        return "not back-tested: there are no earlier nights"
    groups = f"{plural(test.groups, 'error group')} ({plural(test.occurrences, 'time')})"
    fixed = f"{test.fixed_later:,} of them" if test.fixed_later else "none of them"
    users = f"at most {plural(test.users, 'user')} a night" if test.users is not None else ""
    return (
        f"over {plural(test.nights, 'night')} it would have hidden {groups}, {fixed} fixed later; "
        f"{users or 'number of users unknown'}"
    )


def outcomes(report: RunReport, limits: Limits) -> Section:
    """Return what people decided on earlier proposals, news first; then those decided before."""
    addresses, issues = (
        _addresses(report),
        {i.number: i for i in report.outcomes if i.kind == "issue"},
    )
    entries: list[Entry] = []
    shown: set[tuple[str, int | None]] = set()
    for update, event in _news(report):
        of_issue = ("issue", event.number) in addresses and event.kind in knowledge.FEEDBACK
        kind = "issue" if event.kind in _OF_ISSUES or of_issue else "pull"
        shown.add((kind, event.number))
        if event.kind in VERDICTS:
            continue  # among the changes
        because = line(event.because, TEXT)
        words = tuple(line(f"“{word}”", TEXT) for word in event.words[:3] if word.strip())
        answer = f". {_answer(update, report)}" if event.kind == "closed unmerged" else ""
        small = f"{because or ' / '.join(words)}{answer}".removeprefix(". ")
        issue = issues.get(event.number or 0) if event.kind == "not planned" else None
        entry = Entry(
            head=f"{'accepted' if issue else event.kind}: {_ITEMS[kind]}{_number(event)}",
            text=line(update.title or update.fingerprint, TITLE),
            small=line(accepted_text(issue, report) if issue else small, LONG),
            more=words if because else (),
            address=line(addresses.get((kind, event.number), ""), LONG),
        )
        entries.append(entry)
    for update in report.followed if limits.standing else ():
        watch = update.watch
        if watch and not update.outcomes and not watch.verdict:
            shown.add(("pull", watch.number))
            waiting = "merged, probably not in production yet"
            entry = Entry(
                head=f"measuring the fix: pull request {watch.sign}{watch.number}",
                text=line(update.title or update.fingerprint, TITLE),
                small=watch_figures(watch) if watch.deployed_at else waiting,
            )
            entries.append(entry)
    closed = (item for item in report.outcomes if item.state != "open")
    left = [item for item in closed if (item.kind, item.number) not in shown]
    for item in sorted(left if limits.standing else (), key=lambda item: -item.number):
        why = f" ({item.state_reason.replace('_', ' ')})" if item.state_reason else ""
        entry = Entry(
            head=line(f"{_ITEMS[item.kind]} {item.name} {item.state}{why}", NAME),
            text=line(item.title, TITLE),
            small=line(
                accepted_text(item, report)
                if item.kind == "issue" and item.state_reason == "not_planned"
                else " / ".join(item.words[:3]),
                LONG,
            ),
            address=line(item.url, LONG),
        )
        entries.append(entry)
    title = "Earlier proposals"
    return section("outcomes", title, cut(Entries, entries, limits.lines))


def _addresses(report: RunReport) -> dict[tuple[str, int | None], str]:
    return {(item.kind, item.number): item.url for item in report.outcomes}


def _news(report: RunReport) -> list[tuple[knowledge.OutcomeUpdate, knowledge.OutcomeEvent]]:
    news = ((update, event) for update in report.followed for event in update.outcomes)
    return sorted(news, key=lambda pair: ORDER.index(pair[1].kind))


def _answer(update: knowledge.OutcomeUpdate, report: RunReport) -> str:
    """Say what became of a rejection, for the person who rejected it."""
    mine = [a for a in report.analyses if update.fingerprint in names_of(a)]
    names = names_of(mine[0]) if mine else frozenset[str]()
    made = [r.name for r in opened(report, "pull") if names & r.names]
    again = any(item.ending.kind != "reused" for item in mine)
    skips = [s.reason for s in report.skips if s.kind == "pull" and s.fingerprint in names]
    return " ".join(plain.texts("answer", made=made, skips=skips if again else [], again=again))


def accepted_text(issue: OwnItem, report: RunReport) -> str:
    """Say who accepted an error, when and in whose words, and what is left to close.

    The words are people's: escape the sentence for where it goes.
    """
    by = f" by @{issue.closed_by}" if issue.closed_by else ""
    on = f" on {issue.closed_at.date()}" if issue.closed_at else ""
    speakers = issue.speakers if len(issue.speakers) == len(issue.words) else ()
    said = [
        f"“{line(word, TEXT)}”" + (f" (@{speakers[at]})" if speakers else "")
        for at, word in enumerate(issue.words)
        if word.strip()
    ]
    words = f": {' / '.join(said[-3:])}" if said else ""
    again = any(
        names_of(item) & issue.names and item.ending.kind != "reused" for item in report.analyses
    )
    rest = "It was analysed again, and nothing was published" if again else "It is left alone"
    pulls = [i for i in report.outcomes if i.kind == "pull" and i.state == "open"]
    numbers = [item.name for item in pulls if item.names & issue.names]
    drafts = f"; its open draft {', '.join(numbers)} can be closed" if numbers else ""
    return f"The error was accepted{by}{on}{words}. {rest}{drafts}."


def scoreboard(report: RunReport, limits: Limits) -> Section:
    """Return how right earlier analyses proved; empty before anything is decided."""
    board = report.learned.scoreboard
    if board is None:
        return section("scoreboard", "")
    if not board.found.decided:
        has_drafts = board.drafts is not None and board.drafts.known
        alone = (Paragraphs(text=plain.drafts_line(board.drafts)),) if has_drafts else ()
        return section("scoreboard", "Scoreboard", alone)
    words = [Paragraphs(text=sentence) for sentence in plain.sentences(board)]
    return section("scoreboard", "Scoreboard", plain.reliability(board), words)


def learned_sentence(report: RunReport) -> str:
    """Return the sentence on what was learned."""
    learned, sentences = report.learned, []
    if not report.options.dry_run:
        counts = (
            *((learned.new, "new"), (learned.refreshed, "refreshed"), (learned.reused, "reused")),
            (learned.kept, "kept, as the new answer proved less"),
            (learned.unknown, "without a cause"),
        )
        if counted := ", ".join(f"{count:,} {what}" for count, what in counts if count):
            sentences.append(f"Lessons: {counted}.")
        if learned.unknown:
            sentences.append("NightWatch analyses those again once code or rate changes.")
        if learned.lessons and not sentences:
            sentences.append(f"{plural(len(learned.lessons), 'lesson')} kept.")
    sentences += [f"{name}." for name, _ in _shelved(report)]
    if learned.failure:
        sentences.append(f"Learning is incomplete: {line(learned.failure, LONG)}")
    return " ".join(sentences)


def watch_figures(watch: knowledge.FixWatch) -> str:
    """Return the occurrences before and since the fix.

    >>> from datetime import UTC, datetime
    >>> counts = {"before": {"occurrences": 12, "hours": 48}, "after": {"hours": 120}}
    >>> watch_figures(knowledge.FixWatch(number=1, merged_at=datetime.now(UTC), **counts))
    '12 in 48 h before, 0 in 120 h after'
    """
    return f"{_counted(watch.before)} before, {_counted(watch.after)} after"


def _counted(count: knowledge.OccurrenceCount) -> str:
    return f"{count.occurrences:,} in {count.hours:,.0f} h"


def _shelved(report: RunReport) -> Iterator[tuple[str, tuple[str, ...]]]:
    stale, archived = report.learned.stale, report.learned.archived
    if stale:
        fit = "no longer fits" if len(stale) == 1 else "no longer fit"
        yield f"{plural(len(stale), 'lesson')} {fit} the code", stale
    if archived:
        yield f"{plural(len(archived), 'lesson')} moved to the archive", archived


# One error: what is known without a cause, and commands for it.


def error_line(group: ErrorGroup, limit: int = TITLE) -> str:
    """Return class and message on one line, cut after a word: what people read first.

    >>> error_line(ErrorGroup(fingerprint="v1:0", source="f", error_class="E", message="no\\nway"))
    'E: no way'
    """
    message = group.message.strip().removeprefix(f"{group.error_class}: ")
    return shortened(line(": ".join(filter(None, (group.error_class, message))), 2 * limit), limit)


def error_in_list(group: ErrorGroup, times: int = 0) -> str:
    """Return class and message, where it happened and how often: its case so many `times`."""
    where = line(group.transaction, NAME)
    return f"{error_line(group)}{' · ' if where else ''}{where} ({times or group.occurrences:,})"


def gist(analysis: Analysis, *, without: tuple[str, ...] = ()) -> str:
    """Return what is unknown, the failing line, its author and the next step as sentences.

    `without` names what stands beside it.

    >>> from nightwatch_core.models.errors import Case
    >>> of = Case(leader=ErrorGroup(fingerprint="v1:0", source="file", error_class="E"))
    >>> known = Handover(path="a.py", line=3, value="'EUR'", look_at=("Who calls it?",))
    >>> gist(Analysis(case=of, title="", root_cause="", confidence="low", handover=known))
    "It failed in a.py:3. What failed: 'EUR'. Next: Who calls it?"
    """
    given = analysis.handover or Handover()
    given = given.model_copy(update={name: getattr(Handover(), name) for name in without})
    sentences = plain.texts("gist", given=given, place=failed_in(given))
    return line(" ".join(map(sentence, sentences)), LONG) or "Only the message is known."


def one_command(report: RunReport, fingerprint: str, verb: str = "one") -> str:
    """Return a command for one error; empty for a name no shell should see, or without a lesson."""
    safe = re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9:._-]{0,99}", fingerprint)
    if not safe or (verb in _ON_LESSONS and not report.options.compound_enabled):
        return ""
    return line(f"{report.command} {verb} {fingerprint}", LONG)


def capture_command(analysis: Analysis, report: RunReport) -> str:
    """Return the command that captures the lesson; empty where nothing was opened."""
    names = frozenset((analysis.case.fingerprint, *analysis.case.aliases))
    made = (*opened(report, "issue"), *opened(report, "pull"))
    learned = analysis.has_cause and any(names & receipt.names for receipt in made)
    return one_command(report, analysis.case.fingerprint, "compound") if learned else ""


# Errors that were not analysed, and what the night could not read.


COMMITS = 8  # that a night read and that are named
VERDICT = "useful|wrong"  # to choose from
_ON_LESSONS = ("compound", "feedback")
CAPTURE = "Write notes for the next developer"
_FILES = ("report.html", "report.md", "report.json")


def failures(report: RunReport, limits: Limits) -> Section:
    """Analyses that did not come about, with how to try again."""
    entries = (
        Entry(
            head=error_in_list(failure.case.leader, failure.case.occurrences),
            text=line(failure.reason, LONG),
            small=one_command(report, failure.case.fingerprint),
        )
        for failure in report.failures
    )
    return section("failures", "Failed analyses", cut(Entries, entries, limits.lines))


def dropped(report: RunReport, limits: Limits) -> Section:
    """Groups that were not analysed, by reason, the most frequent reason first."""
    by_reason: dict[str, list[DroppedGroup]] = {}
    for group in report.dropped:
        by_reason.setdefault(line(group.reason, TITLE) or "no reason given", []).append(group)
    ordered = sorted(by_reason.items(), key=lambda item: (-len(item[1]), item[0]))
    reasons = [_dropped_for(reason, members, limits) for reason, members in ordered]
    title = f"Not analysed: {plural(len(report.dropped), 'error group')}"
    return section("dropped", title, cut(Entries, reasons, limits.reasons))


def _dropped_for(reason: str, members: list[DroppedGroup], limits: Limits) -> Entry:
    members.sort(key=lambda member: -member.group.occurrences)
    examples = [
        f"{error_in_list(member.group)} `{line(member.group.fingerprint, NAME)}` "
        f"{line(member.note, NAME)}".rstrip()
        for member in members
    ]
    seen = plural(sum(member.group.occurrences for member in members), "time")
    head = f"{plural(len(members), 'error group')}, seen {seen}: {reason}"
    return Entry(head=head, more=capped(examples, limits.examples))


def unreadable(report: RunReport, limits: Limits) -> Section:
    """Records that could not be read."""
    entries = []
    for reject in report.rejects[: limits.lines]:
        more = f" and {reject.count - 1:,} more like it" if reject.count > 1 else ""
        place = f"{line(reject.place, TITLE)}{more}"
        entries.append(Entry(head=place, text=line(reject.reason, TEXT), small=line(reject.text)))
    total = sum(reject.count for reject in report.rejects)
    path = report_files(report)[-1:] if entries and limits.paths else ()
    where = _commands("Full list", path)
    title = f"{plural(total, 'record')} could not be read"
    shown = cut(Entries, entries, limits.lines, len(report.rejects))
    return section("unreadable", title, shown, where)


def complaints(report: RunReport, limits: Limits) -> Section:
    """Return complaints about ignore rules, agent files and lessons."""
    texts = (*report.complaints, *report.batch_triage.complaints)
    return bullets("complaints", "Problems to fix", texts, limits.lines)


# The run itself.


def run(report: RunReport, limits: Limits) -> Section:
    """Return the conditions under which all this was found."""
    errors_at = Counter(case.commit.sha for case in report.attempted if case.commit)
    accounts, known = report.accounts, report.experience
    merged = known.merged + len(merged_fixes(report))
    if pulls := [item for item in report.outcomes if item.kind == "pull"]:
        # A night that another error of the same pull request was first seen on counted it again.
        merged = min(merged, sum(item.state == "merged" for item in pulls))
    cost, issues = report.usage.cost or 0.0, len(opened(report, "issue"))
    options = (
        f"{name}={getattr(report.options, name)}"
        for name, field in NightOptions.model_fields.items()
        if getattr(report.options, name) != field.default
    )
    sent = left_sentence(report.health, report.command)
    used = (
        *plain.facts("run", LONG, report=report, errors_at=errors_at, most_commits=COMMITS),
        *(plain.facts("accounts", night=accounts) if accounts.errors else ()),
        *plain.facts("yields", cost=cost, issues=issues, known=known, merged=merged),
        *plain.facts("settings", report=report, sent=sent, options=", ".join(options)),
    )
    shelved = (
        Fact(name=name, text=line(", ".join(capped(files, limits.lines)), LONG))
        for name, files in _shelved(report)
    )
    facts = Facts(items=(*used, *shelved))
    return section("run", "This run", facts, _learned(report), _again(report))


def files(report: RunReport, limits: Limits) -> Section:
    """Return the files of the night."""
    named = ((path.rpartition("/")[2], path) for path in report_files(report)[: limits.paths])
    return section("files", "Files", [Command(name=name, text=path) for name, path in named])


def end(report: RunReport, limits: Limits) -> Section:
    """Return the last lines of a short rendering: lessons, cost, and where to read on."""
    if not limits.advice:
        cost = f" It cost {money(report.usage.cost)}." if report.usage.calls else ""
        facts = plain.facts("efficient", report=report)
        figures = "".join(f" {fact.name}: {fact.text}." for fact in facts)
        text = f"{learned_sentence(report)}{cost}{figures}".strip()
        return section("end", "", (Paragraphs(text=text),) if text else ())
    used = spending(report.usage)
    spent = plain.facts(
        "end", used=used, report=report, sent=left_sentence(report.health, report.command)
    )
    commands = list(filter(None, (capture_command(item, report) for item in report.analyses)))
    more = f" (and {len(commands) - 1:,} more)" if len(commands) > 1 else ""
    helped = filter(
        None, (one_command(report, a.fingerprint, "feedback") for a in report.analyses[:1])
    )
    said = _commands("Say whether a finding helped", [f"{item} {VERDICT}" for item in helped])
    capture = _commands(CAPTURE, [f"{command}{more}" for command in commands[:1]])
    paths = _commands("Report", report_files(report)[: limits.paths])
    parts = (_learned(report), Facts(items=spent), _again(report), capture, said, paths)
    return section("end", "", *parts)


def report_files(report: RunReport) -> tuple[str, ...]:
    """Return paths of what the night left on disk; empty before it has a folder."""
    folder = line(report.night.folder, 1_000).rstrip("/")
    names = (*_FILES, "rejects.jsonl") if report.rejects else _FILES
    return tuple(f"{folder}/{name}" for name in names) if folder else ()


def _commands(name: str, texts: Iterable[str]) -> tuple[Command, ...]:
    return tuple(Command(name=name, text=text) for text in texts)


def _learned(report: RunReport) -> tuple[Paragraphs, ...]:
    sentence = learned_sentence(report)
    return (Paragraphs(text=sentence),) if sentence else ()


def _again(report: RunReport) -> tuple[Command, ...]:
    if report.options.batch_mode or len(report.analyses) == 1:  # none, or it stands with that one
        return ()
    commands = (one_command(report, case.fingerprint) for case in report.cases)
    command = next(filter(None, commands), "")
    return _commands("Analyse one error again", filter(None, (command,)))


# Batch triage: one line an error.

_SEVERITIES: tuple[Severity, ...] = get_args(Severity)
UNJUDGED = WORDS["unjudged"]


def batch_triage(report: RunReport, limits: Limits) -> Section:
    """Return the results of batch triage, worst first; empty where the night had no batch."""
    triage, results = report.batch_triage, dict(_results(report))
    earlier = {item.group.fingerprint: item for item in (*triage.kept, *triage.waiting)}
    every = earlier | {item.group.fingerprint: item for item in triage.judged}

    def worst_first(item: Sighting) -> tuple[int, bool, int]:
        sight = item.first_sight
        severity = _SEVERITIES.index(sight.severity) if sight else len(_SEVERITIES)
        return severity, not item.flagged, item.rank

    shown = sorted(every.values(), key=worst_first)[: limits.triage]
    names = (item.group.fingerprint for item in shown)
    entries = [
        _triaged(item, results.get(name, ""), is_earlier=name in earlier)
        for item, name in zip(shown, names, strict=True)
    ]
    title = f"Batch triage: {plural(len(every), 'error')}" if every else "Batch triage"
    sentences = [Paragraphs(text=line(text, TEXT)) for text in _sentences(triage)]
    listed = cut(Entries, entries, limits.triage, len(every)) if every else ()
    return section("batch_triage", title, sentences, listed)


def _sentences(triage: BatchTriage) -> Iterator[str]:
    if triage.judged:
        yield _judged(triage)
    yield from (f"{item[0].upper()}{item[1:]}" for item in triage.running)
    for batch in triage.submitted:
        yield _submitted(batch, triage.cost)
    if triage.awaited:
        yield f"{plural(triage.awaited, 'error')} wait for the results of an earlier batch."


def _judged(triage: BatchTriage) -> str:
    counted = Counter(item.first_sight.severity for item in triage.judged if item.first_sight)
    words = [f"{counted[name]:,} {name}" for name in _SEVERITIES if counted[name]]
    silent = len(triage.judged) - sum(counted.values())
    flagged = sum(item.flagged for item in triage.judged)
    parts = (
        f"{plural(sum(counted.values()), 'error')} triaged in a batch: "
        f"{', '.join(words) or 'none'}",
        f"{flagged:,} flagged for analysis",
        f"{silent:,} without a result" if silent else "",
        f"{money(triage.usage.cost)} at batch prices",
    )
    return "; ".join(filter(None, parts)) + "."


def _submitted(batch: SubmittedBatch, cost: str) -> str:
    errors = plural(batch.errors, "error")
    if not batch.id:
        return f"{errors} would have been submitted: {cost}."
    until = f", answers until {moment(batch.expires)}" if batch.expires else ""
    name, model = line(batch.id, NAME), line(batch.model, NAME)
    return f"{errors} submitted to {model} as batch {name}: {cost}{until}."


def _triaged(sighting: Sighting, result: str, *, is_earlier: bool) -> Entry:
    sight, group = sighting.first_sight, sighting.group
    when = f" (triaged {sighting.at:%Y-%m-%d})" if is_earlier else ""
    kind = f"{sight.severity}, {sight.category.replace('_', ' ')}: " if sight else ""
    return Entry(
        head=f"{kind}{error_in_list(group)}",
        text=line(sight.likely_cause, TEXT) if sight else "",
        small=line(f"{_result(sighting, result)}{when}", TITLE),
    )


def _result(sighting: Sighting, result: str) -> str:
    if sighting.result and not sighting.first_sight:
        reason = f" ({sighting.result.reason})" if sighting.result.reason else ""
        return f"{UNJUDGED[sighting.result.kind]}{reason}"
    if result:
        return result
    if sighting.taken:
        return "analysed since"
    return "to be analysed on a later night" if sighting.flagged else "no further analysis"


def _results(report: RunReport) -> Iterator[tuple[str, str]]:
    for dropped in report.dropped:
        if dropped.kind == "ignored":
            yield dropped.group.fingerprint, "ignored since"
    for failure in report.failures:
        for group in failure.case.groups:
            yield group.fingerprint, "its analysis failed: see above"
    for rank, analysis in enumerate(report.analyses, start=1):
        verb = "already known" if analysis.ending.kind == "reused" else "analysed"
        for group in analysis.case.groups:
            yield group.fingerprint, f"{verb}: error {rank} above"
