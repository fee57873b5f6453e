"""Which facts of the night an error is told, and whether its finding used them.

Told is what touches the error: it fails in the file, it names the thing, the same change is
suspected. What merely happened in the same night is noise, and says nothing.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import timedelta
from typing import NamedTuple

from nightwatch_core.analysis.limits import NEAR_LINES, RUN_CONTEXT, RUN_FACT, RUN_FACTS, RUN_QUOTE
from nightwatch_core.analysis.second_look import LEAST_SCORE
from nightwatch_core.code.releases import onset
from nightwatch_core.code.symptoms import Symptom, neighbour, symptom_of
from nightwatch_core.intake.cases import root_class
from nightwatch_core.models.analysis import Analysis, FactKind, HandedFact, RunFact
from nightwatch_core.models.code import LoggedCommit
from nightwatch_core.models.errors import Case
from nightwatch_core.models.research import ResearchContext
from nightwatch_core.text.escaping import line
from nightwatch_core.text.plain_text import one_line, shortened
from nightwatch_core.text.words import last_segment

# What the errors of a night say about each other before any of them is analysed.
#
# Each rule reads what is certain: the names in a message, what the merged changes did, the failing
# line. A fact is a sentence of ours around such names, with the place where it stands.

_AWAY = ("connection", "timeout")  # kinds of symptoms of a neighbour that does not answer
_LOCAL = ("localhost", "127.0.0.1", "::1", "0.0.0.0")  # noqa: S104 - a name in a message
_NAME = r"[A-Za-z_][\w.$]{0,99}"
_NOT_MIGRATED = re.compile(
    rf"relation \"(?P<a>{_NAME})\" does not exist"
    rf"|column \"?(?P<b>{_NAME})\"? .{{0,120}}?does not exist"
    rf"|no such (?:table|column): (?P<c>{_NAME})|Unknown column '(?P<d>{_NAME})'"
    rf"|Table '(?P<e>{_NAME})' doesn't exist|Could not find table '(?P<f>{_NAME})'"
)
_NOT_SET = re.compile(
    r"(?:environment variable|env var|setting)s? [`'\"]?(?P<a>[A-Z][A-Z0-9_]{2,60})\b"
    r"|\b(?P<b>[A-Z][A-Z0-9]{0,30}_[A-Z0-9_]{1,60}) (?:setting |variable )?"
    r"(?:is not set|not set|must be set|must not be empty|is missing|is required|is not configured)"
)
_ENVIRONMENT = re.compile(r"environ|getenv|\bENV\b|process\.env|Getenv|LookupEnv")
_SETTING = re.compile(r"[A-Z][A-Z0-9_]{2,60}")


class Gathered(NamedTuple):
    """A case, and what was gathered for it before its analysis."""

    case: Case
    research: ResearchContext

    @property
    def symptom(self) -> Symptom:
        """Return the symptom in its class and message."""
        trace = self.case.trace
        message = (trace.root.message if trace else "") or self.case.leader.message
        return symptom_of(root_class(self.case.leader, trace), message)

    @property
    def place(self) -> str:
        """Return the failing location; the transaction where no frame is in-app."""
        top = self.case.trace.top if self.case.trace else None
        return top.place if top else self.case.leader.transaction or "an unknown place"

    @property
    def path(self) -> str:
        """The file it fails in; empty where that is not known."""
        top = self.case.trace.top if self.case.trace else None
        return top.repo_path if top else ""


def facts_of(gathered: Sequence[Gathered]) -> tuple[RunFact, ...]:
    """Draw every fact that the rules know, each sentence once."""
    facts = (fact for rule in FACT_RULES for fact in rule(gathered))
    return tuple({fact.text: fact for fact in facts}.values())


def run_fact(kind: FactKind, text: str, gathered: Gathered, **more: object) -> RunFact:
    """Make a fact that was drawn from one case, its sentence on one line."""
    began = onset(gathered.case)
    told = {"sources": (gathered.case.fingerprint,), "at": began.at if began else None, **more}
    return RunFact.model_validate({"kind": kind, "text": line(text, RUN_FACT), **told})


def commit_names(commit: LoggedCommit | None) -> tuple[str, ...]:
    """Name a commit and its pull request, as far as they are known."""
    if commit is None:
        return ()
    return (commit.sha[:10], *((f"#{commit.pull}",) if commit.pull else ()))


def _renamed(gathered: Sequence[Gathered]) -> Iterator[RunFact]:
    """Names that a change replaced and that an error misses: each once, with its files."""
    for item in gathered:
        files: dict[tuple[str, str, tuple[str, ...]], list[str]] = defaultdict(list)
        for rename in item.research.changes.renames:
            files[rename.old, rename.new, commit_names(rename.commit)].append(rename.path)
        for (old, new, names), paths in files.items():
            by = f" by {', '.join(names)}" if names else ""
            more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
            text = f"`{old}` was replaced by `{new}`{by} in {paths[0]}{more}"
            told = {"names": (old, new), "paths": tuple(paths), "changes": names}
            yield run_fact("renamed", text, item, **told)


def _moved(gathered: Sequence[Gathered]) -> Iterator[RunFact]:
    for item in gathered:
        deployed = item.research.changes.deployment
        for file in deployed.diffs if deployed else ():
            if file.old_path and file.old_path != file.path:
                text = f"{file.old_path} was moved to {file.path} by what was deployed last"
                paths = (file.path, file.old_path)
                stem = file.old_path.rpartition(".")[0] or file.old_path
                parts = stem.split("/")[-2:]
                module_names = (".".join(parts), "/".join(parts)) if len(parts) == 2 else ()
                yield run_fact("moved", text, item, names=module_names, paths=paths)


def _missing_modules(gathered: Sequence[Gathered]) -> Iterator[RunFact]:
    """Modules that cannot be loaded."""
    for item in gathered:
        symptom = item.symptom
        if symptom.kind == "import" and symptom.module:
            text = f"the module `{symptom.module}` cannot be loaded: {_says(item)}"
            names = tuple(dict.fromkeys((symptom.module, symptom.module.strip("./"))))
            yield run_fact("missing module", text, item, names=names, paths=_own(item))


def _not_migrated(gathered: Sequence[Gathered]) -> Iterator[RunFact]:
    """Tables and columns that the database does not have."""
    for item in gathered:
        symptom = item.symptom
        match = _NOT_MIGRATED.search(symptom.text)
        if match:
            name = next(filter(None, match.groups()))
            text = f"the database has no `{name}`, a migration may be missing: {_says(item)}"
            names = tuple(dict.fromkeys((name, name.rpartition(".")[2])))
            yield run_fact("not migrated", text, item, names=names, paths=_own(item))
        elif "PendingMigration" in symptom.text[:200]:
            yield run_fact("not migrated", f"migrations are pending: {_says(item)}", item)


def _not_configured(gathered: Sequence[Gathered]) -> Iterator[RunFact]:
    """Settings that are not there: the message says so, or the line reads the environment."""
    for item in gathered:
        symptom = item.symptom
        match = _NOT_SET.search(symptom.text)
        name = next(filter(None, match.groups())) if match else ""
        is_read = _SETTING.fullmatch(symptom.key) and _ENVIRONMENT.search(_failing_line(item))
        if name := name or (symptom.key if is_read else ""):
            text = f"the setting `{name}` is not set: {_says(item)}"
            yield run_fact("not configured", text, item, names=(name,), paths=_own(item))


def _unreachable(gathered: Sequence[Gathered]) -> Iterator[RunFact]:
    """Neighbours that several errors could not reach: it is not their code alone."""
    by_host: dict[str, list[tuple[Gathered, str]]] = defaultdict(list)
    for item in gathered:
        symptom = item.symptom
        host = neighbour(symptom).lower() if symptom.kind in _AWAY else ""
        if host:
            by_host[_service(host)].append((item, host))
    for service, those in by_host.items():
        names = dict.fromkeys((service, *(host for _, host in those)))
        if len(those) < 2:
            continue
        places = " and ".join(_says(item) for item, _ in those[:2])
        text = f"{len(those)} errors cannot reach `{service}`: {places}"
        sources = tuple(item.case.fingerprint for item, _ in those)
        yield run_fact("unreachable", text, those[0][0], names=tuple(names), sources=sources)


# Every rule in its order: what says most about other errors first.
FACT_RULES: tuple[Callable[[Sequence[Gathered]], Iterator[RunFact]], ...] = (
    _renamed,
    _moved,
    _missing_modules,
    _not_migrated,
    _not_configured,
    _unreachable,
)


def _service(host: str) -> str:
    name = host.partition(":")[0]
    return host if name in _LOCAL else name


def _says(gathered: Gathered) -> str:
    root = root_class(gathered.case.leader, gathered.case.trace)
    return f"{last_segment(root)[:60]} at {gathered.place[:80]}"


def _own(gathered: Gathered) -> tuple[str, ...]:
    return (gathered.path,) if gathered.path else ()


def _failing_line(gathered: Gathered) -> str:
    top = gathered.case.trace.top if gathered.case.trace else None
    if top is None or top.line is None:
        return ""
    shown = next(
        (
            preview.text.split("\n")[top.line - preview.start]
            for preview in gathered.research.previews
            if preview.path == top.repo_path and preview.start <= top.line <= preview.end
        ),
        "",
    )
    return shown or top.code


_NEAR = timedelta(minutes=30)
_SHORTEST = 4  # characters of a name that can be looked for
_LONG = 9  # characters from which on a plain word is taken for a name


def facts_found(analyses: Iterable[Analysis]) -> tuple[RunFact, ...]:
    """Draw facts from findings: lines that were looked up, never what was said about them."""
    return tuple(
        cause for analysis in analyses if _teaches(analysis) for cause in _causes(analysis)
    )


def told(
    facts: Iterable[RunFact], gathered: Gathered, family: frozenset[str]
) -> tuple[tuple[RunFact, str], ...]:
    """Choose what an error is told, each with the reason, the closest first.

    At most ten lines and 1,500 characters together. What was drawn from its own family alone is
    left out: the family is told more than that.
    """
    others = [(fact, _rated(fact, gathered)) for fact in facts if not set(fact.sources) <= family]
    close = [(fact, rating) for fact, rating in others if rating[0] >= _LEAST]
    close.sort(key=lambda item: -item[1][0])
    chosen, left = list[tuple[RunFact, str]](), RUN_CONTEXT
    for fact, (_, because) in close[:RUN_FACTS]:
        left -= len(fact.text) + 1
        if left < 0:
            break
        chosen.append((fact, because))
    return tuple(chosen)


def handed(research: ResearchContext, finding: Analysis) -> tuple[HandedFact, ...]:
    """Say for every fact that was told whether the finding rests on it."""
    return tuple(
        HandedFact(text=fact.text, because=because, used=_used(fact, finding))
        for fact, because in zip(research.run_facts, research.run_because, strict=True)
    )


def _teaches(finding: Analysis) -> bool:
    sure = finding.confidence != "low" and finding.score >= LEAST_SCORE
    own = not finding.misfit and not finding.by_fallback
    return (
        finding.has_cause
        and sure
        and own
        and all(evidence.verified for evidence in finding.evidence)
    )


def _causes(finding: Analysis) -> Iterator[RunFact]:
    if not finding.evidence:
        return
    first = finding.evidence[0]
    quote = shortened(one_line(first.quote).replace("`", "'"), RUN_QUOTE)
    changed = (finding.suspect_commit[:10],) if finding.suspect_commit else ()
    by = f", changed by {changed[0]}" if changed else ""
    error = shortened(last_segment(finding.case.leader.error_class), RUN_QUOTE)
    where = shortened(one_line(finding.case.leader.transaction), RUN_QUOTE // 2)
    text = f"{error} in {where} comes from {first.path}:{first.line} `{quote}`{by}"
    gathered = Gathered(finding.case, ResearchContext())
    symptom = gathered.symptom
    names = (symptom.name, symptom.module, symptom.keyword)
    paths = dict.fromkeys((first.path, *(evidence.path for evidence in finding.evidence)))
    yield run_fact(
        "cause",
        text,
        gathered,
        names=tuple(name for name in names if _is_distinctive(name)),
        paths=tuple(paths),
        line=first.line,
        changes=changed,
    )


def _fails_there(fact: RunFact, gathered: Gathered) -> bool:
    return gathered.path in fact.paths


def _says_it(fact: RunFact, gathered: Gathered) -> bool:
    texts = [f"{group.error_class} {group.message[:2_000]}" for group in gathered.case.groups[:8]]
    return _names_any(fact.names, "\n".join((*texts, gathered.symptom.text)))


def _source_names_it(fact: RunFact, gathered: Gathered) -> bool:
    shown = [
        preview.text
        for preview in gathered.research.previews
        if preview.kind in ("failing", "flow")
    ]
    names = fact.names[:1] if fact.kind == "renamed" else fact.names  # who has the new one is well
    if fact.kind != "unreachable":
        names = tuple(name for name in names if _is_distinctive(name))
    return _names_any(names, "\n".join(shown))


def _is_same_change(fact: RunFact, gathered: Gathered) -> bool:
    pulls = [suspect.pull for suspect in gathered.research.suspects]
    authors = [
        author.commit for author in gathered.research.changes.authors if author.kind != "used"
    ]
    names = {f"#{pull.number}" for pull in pulls if pull.number}
    names |= {sha[:10] for pull in pulls for sha in (pull.sha, *pull.commits)}
    return bool((names | {commit.sha[:10] for commit in authors}) & set(fact.changes))


def _is_likely(fact: RunFact, gathered: Gathered) -> bool:
    likely = {file.path for file in gathered.research.likely_files}
    shown = {preview.path for preview in gathered.research.previews}
    return bool((likely | shown) & set(fact.paths))


def _is_same_time(fact: RunFact, gathered: Gathered) -> bool:
    began = gathered.case.leader.first_seen
    return bool(fact.at and began and abs(fact.at - began) <= _NEAR)


# What makes a fact worth telling, with its points; the first that holds is the reason. A likely
# file and the time are none, not even together: half of all errors of a night share these.
REASONS: tuple[tuple[str, int, Callable[[RunFact, Gathered], bool]], ...] = (
    ("it fails in that file", 6, _fails_there),
    ("its message names it", 6, _says_it),
    ("its source names it", 4, _source_names_it),
    ("the same change is suspected", 4, _is_same_change),
    ("a likely file", 2, _is_likely),
    ("it began at the same time", 1, _is_same_time),
)
_LEAST = 4


def _rated(fact: RunFact, gathered: Gathered) -> tuple[int, str]:
    holding = [(points, name) for name, points, holds in REASONS if holds(fact, gathered)]
    return sum(points for points, _ in holding), holding[0][1] if holding else ""


def _used(fact: RunFact, finding: Analysis) -> str:
    frames = finding.case.trace.in_app if finding.case.trace else ()
    own = {(frame.repo_path, frame.line) for frame in frames}
    quoted = [
        evidence
        for evidence in finding.evidence
        if evidence.verified and (evidence.path, evidence.line) not in own
    ]
    files = {path for path, _ in own}
    for item in quoted:
        near = not fact.line or abs(item.line - fact.line) <= NEAR_LINES
        if item.path in fact.paths and near and (fact.line or item.path not in files):
            return f"it quotes {item.path}:{item.line}"
    commit = finding.suspect_commit[:10]
    if commit and commit in fact.changes:
        return f"it names {commit}"
    says = Gathered(finding.case, ResearchContext())
    mine = [name for name in fact.names if not _names_any((name,), says.symptom.text)]
    text = f"{finding.title}\n{finding.root_cause}"
    return next((f"it names {name}" for name in mine if _names_any((name,), text)), "")


def _names_any(names: Iterable[str], text: str) -> bool:
    return any(
        len(name) >= _SHORTEST and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)
        for name in names
    )


def _is_distinctive(name: str) -> bool:
    """Tell whether a name is none that half of all code holds.

    >>> _is_distinctive("basket_rows"), _is_distinctive("price"), _is_distinctive("Gateway")
    (True, False, False)
    """
    return len(name) >= _LONG or bool(re.search(r"\w[_.:/]\w|[a-z][A-Z]", name))
