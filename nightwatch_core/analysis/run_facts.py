"""What the errors of a night say about each other before any of them is analysed.

Each rule reads what is certain: the names in a message, what the merged changes did, the failing
line. A fact is a sentence of ours around such names, with the place where it stands.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from nightwatch_core.analysis.limits import RUN_FACT
from nightwatch_core.code.onset import onset
from nightwatch_core.code.symptoms import Symptom, neighbour, symptom_of
from nightwatch_core.intake.cases import root_class
from nightwatch_core.models.code import LoggedCommit
from nightwatch_core.models.error import Case
from nightwatch_core.models.research import ResearchContext
from nightwatch_core.models.run_context import FactKind, RunFact
from nightwatch_core.text.error_classes import last_segment
from nightwatch_core.text.escaping import line

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
        """What its class and message say."""
        trace = self.case.trace
        message = (trace.root.message if trace else "") or self.case.leader.message
        return symptom_of(root_class(self.case.leader, trace), message)

    @property
    def place(self) -> str:
        """Where it fails; its transaction where no frame is ours."""
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


def run_fact(kind: FactKind, text: str, one: Gathered, **more: object) -> RunFact:
    """Make a fact that was drawn from one case, its sentence on one line."""
    began = onset(one.case)
    told = {"sources": (one.case.fingerprint,), "at": began.at if began else None, **more}
    return RunFact.model_validate({"kind": kind, "text": line(text, RUN_FACT), **told})


def commit_names(commit: LoggedCommit | None) -> tuple[str, ...]:
    """Name a commit and its pull request, as far as they are known."""
    if commit is None:
        return ()
    return (commit.sha[:10], *((f"#{commit.pull}",) if commit.pull else ()))


def _renamed(gathered: Sequence[Gathered]) -> Iterator[RunFact]:
    """Names that a change replaced and that an error misses: each once, with its files."""
    for one in gathered:
        files: dict[tuple[str, str, tuple[str, ...]], list[str]] = defaultdict(list)
        for rename in one.research.changes.renames:
            files[rename.old, rename.new, commit_names(rename.commit)].append(rename.path)
        for (old, new, names), paths in files.items():
            by = f" by {', '.join(names)}" if names else ""
            more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
            text = f"`{old}` was replaced by `{new}`{by} in {paths[0]}{more}"
            told = {"names": (old, new), "paths": tuple(paths), "changes": names}
            yield run_fact("renamed", text, one, **told)


def _moved(gathered: Sequence[Gathered]) -> Iterator[RunFact]:
    """Files that the deployment before an error renamed."""
    for one in gathered:
        deployed = one.research.changes.deployment
        for file in deployed.diffs if deployed else ():
            if file.old_path and file.old_path != file.path:
                text = f"{file.old_path} was moved to {file.path} by what was deployed last"
                paths = (file.path, file.old_path)
                yield run_fact("moved", text, one, names=_module_names(file.old_path), paths=paths)


def _missing_modules(gathered: Sequence[Gathered]) -> Iterator[RunFact]:
    """Modules that cannot be loaded."""
    for one in gathered:
        symptom = one.symptom
        if symptom.kind == "import" and symptom.module:
            text = f"the module `{symptom.module}` cannot be loaded: {_says(one)}"
            names = tuple(dict.fromkeys((symptom.module, symptom.module.strip("./"))))
            yield run_fact("missing module", text, one, names=names, paths=_own(one))


def _not_migrated(gathered: Sequence[Gathered]) -> Iterator[RunFact]:
    """Tables and columns that the database does not have."""
    for one in gathered:
        symptom = one.symptom
        match = _NOT_MIGRATED.search(symptom.text)
        if match:
            name = next(filter(None, match.groups()))
            text = f"the database has no `{name}`, a migration may be missing: {_says(one)}"
            names = tuple(dict.fromkeys((name, name.rpartition(".")[2])))
            yield run_fact("not migrated", text, one, names=names, paths=_own(one))
        elif "PendingMigration" in symptom.text[:200]:
            yield run_fact("not migrated", f"migrations are pending: {_says(one)}", one)


def _not_configured(gathered: Sequence[Gathered]) -> Iterator[RunFact]:
    """Settings that are not there: the message says so, or the line reads the environment."""
    for one in gathered:
        symptom = one.symptom
        match = _NOT_SET.search(symptom.text)
        name = next(filter(None, match.groups())) if match else ""
        is_read = _SETTING.fullmatch(symptom.key) and _ENVIRONMENT.search(_failing_line(one))
        if name := name or (symptom.key if is_read else ""):
            text = f"the setting `{name}` is not set: {_says(one)}"
            yield run_fact("not configured", text, one, names=(name,), paths=_own(one))


def _unreachable(gathered: Sequence[Gathered]) -> Iterator[RunFact]:
    """Neighbours that several errors could not reach: it is not their code alone."""
    by_host: dict[str, list[tuple[Gathered, str]]] = defaultdict(list)
    for one in gathered:
        symptom = one.symptom
        host = neighbour(symptom).lower() if symptom.kind in _AWAY else ""
        if host:
            by_host[_service(host)].append((one, host))
    for service, those in by_host.items():
        names = dict.fromkeys((service, *(host for _, host in those)))
        if len(those) < 2:
            continue
        places = " and ".join(_says(one) for one, _ in those[:2])
        text = f"{len(those)} errors cannot reach `{service}`: {places}"
        sources = tuple(one.case.fingerprint for one, _ in those)
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
    """What tells neighbours apart: the host, on this machine with its port."""
    name = host.partition(":")[0]
    return host if name in _LOCAL else name


def _says(one: Gathered) -> str:
    """Which error says so, and where."""
    return f"{last_segment(root_class(one.case.leader, one.case.trace))[:60]} at {one.place[:80]}"


def _own(one: Gathered) -> tuple[str, ...]:
    return (one.path,) if one.path else ()


def _failing_line(one: Gathered) -> str:
    """The failing line, as the record holds it or as the preview shows it."""
    top = one.case.trace.top if one.case.trace else None
    if top is None or top.line is None:
        return ""
    shown = next(
        (
            preview.text.split("\n")[top.line - preview.start]
            for preview in one.research.previews
            if preview.path == top.repo_path and preview.start <= top.line <= preview.end
        ),
        "",
    )
    return shown or top.code


def _module_names(path: str) -> tuple[str, ...]:
    """How code names a file's module: `app/billing.py` is `app.billing` and `app/billing`."""
    stem = path.rpartition(".")[0] or path
    parts = stem.split("/")[-2:]
    return (".".join(parts), "/".join(parts)) if len(parts) == 2 else ()
