"""Find out how a project is tested, prove it by running its tests on the base, and keep that."""

import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import NamedTuple, get_args

from nightwatch_core.analysis import tools
from nightwatch_core.analysis.loop import converse
from nightwatch_core.analysis.prompts import fenced, only_data
from nightwatch_core.analysis.tool_context import RunsLeft
from nightwatch_core.code.likely_files import TEST
from nightwatch_core.errors import GiveUp, NightWatchError
from nightwatch_core.models.answer import Allowance, Answer, Edit, Usage
from nightwatch_core.models.conversation import Conversation, ToolCall, ToolResult, UserTurn
from nightwatch_core.models.errors import Case, ErrorGroup
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.profiles import Profile
from nightwatch_core.models.proposals import PATIENCE, Run
from nightwatch_core.ports import Clock, CodeReader, Model, ProjectDocuments, Sandbox
from nightwatch_core.proof import asking, kits
from nightwatch_core.proof.environment import Environment, NightCache
from nightwatch_core.proof.finders import ClueKind, first_of
from nightwatch_core.proof.profiles import (
    EXCLUDES,
    PREPARE,
    as_proposed,
    digest_of,
    document_name,
    kept_profile,
    of_day,
    staleness,
    summary,
    with_profile,
)
from nightwatch_core.text.escaping import block, clean, line
from nightwatch_core.text.plain_text import error_line, one_line, plural, shortened

SUITE_SECONDS = 300.0  # of one run of all tests; of one that takes longer some files are run
PROJECT_SECONDS = 1_200.0  # by the clock, after which no other way of one project is tried
_MOST = f"at most {SUITE_SECONDS:.0f} s of the processors, {PATIENCE * SUITE_SECONDS:,.0f} s in all"
_SAMPLE = 10  # files
_RED, _NAME = 200, 200  # tests that are named, and characters of a name
_TOLD = 6  # clues of a kind
_PROJECTS = 4  # of one repository
_ASIDE = re.compile(r"(^|/)(examples?|demos?|docs?|samples?|website|fixtures|benchmarks?)/")
_BUNDLED = ("bundle", "exec")
_GENERIC = re.compile(r"Failed to import test module|while (importing|loading) |^Error:? *$")
_PROGRAMS = {"postgresql": "postgres", "redis": "redis-server", "mysql": "mariadbd"}


class Proof(NamedTuple):
    """One way of running the tests, and what came of it."""

    kit: kits.Kit
    runner: kits.Runner | None
    reading: kits.Reading | None
    environment: Environment
    words: kits.Words = ()
    files: kits.Words = ()  # that were run instead of all

    @property
    def is_late(self) -> bool:
        """Tell whether it did not come to its end in time."""
        return bool(self.reading and self.reading.run.ended == "took too long")

    @property
    def collected(self) -> int:
        """Return the number of tests that were run."""
        return (self.reading.ran or 0) if self.reading else 0

    @property
    def told(self) -> str:
        """Say in a few words what came of it."""
        if self.is_late:
            return f"took more than {SUITE_SECONDS:.0f} s"
        if self.reading and not self.collected:
            return f"no test was run: {_most_common(self.reading.run) or 'no output'}"
        some = f" in {plural(len(self.files), 'file')}" if self.files else ""
        took = f" in {self.reading.run.seconds:.0f} s" if self.reading else ""
        return f"{self.passed:,} of {plural(self.collected, 'test')} pass{some}{took}"

    @property
    def passed(self) -> int:
        """Return the number of green tests."""
        reading = self.reading
        return max(0, (reading.ran or 0) - len(reading.failed)) if reading else 0

    @property
    def is_runnable(self) -> bool:
        """Tell whether at least half of the tests pass."""
        return self.collected > 0 and 2 * self.passed >= self.collected


def projects_of(tree: CodeReader, options: NightOptions) -> tuple[kits.Kit | str, ...]:
    """Find the projects of a repository that have tests, the one with most files first."""
    paths = tree.paths()
    sources = [item for item in paths if not TEST.search(item)]
    found: dict[tuple[str, str], list[str]] = {}
    for path in sources:
        language, root = kits.language_of((path,), paths)
        if language and not path.endswith(kits.TEMPLATES) and not _ASIDE.search(root):
            found.setdefault((language, root), []).append(path)
    largest = sorted(found.values(), key=len, reverse=True)[: 2 * _PROJECTS]
    made = [kits.kit_for((some[0],), paths, tree.read_file, options) for some in largest]
    roots = [root for _, root in found if root]

    def is_outer(kit: kits.Kit) -> bool:  # all of its tests are those of projects inside of it
        inner = tuple(item.removeprefix(kit.root) for item in roots if item != kit.root)
        return bool(inner and kit.tests) and all(item.startswith(inner) for item in kit.tests)

    kept = (kit for kit in made if not isinstance(kit, str) and not is_outer(kit))
    tested = tuple(kept)[:_PROJECTS]
    return tested or tuple(made[:1])


def described_project(
    tree: CodeReader,
    options: NightOptions,
    documents: ProjectDocuments | None,
    sandbox: Sandbox | None = None,
) -> str:
    """Say how far the largest project was tested; raises `GiveUp` where that has to be done.

    With a `sandbox` it also says what keeps dependencies from being here.
    """
    kit = projects_of(tree, options)[0]
    if isinstance(kit, str):
        raise GiveUp(kit)
    kept = kept_profile(documents, document_name(tree.commit.repository, kit))
    by = kit.verify or ", else ".join(item.name for item in kit.runners)
    where = f"{kit.language}{f' in {kit.root}' if kit.root else ''} by {by}"
    if kit.verify:
        return where
    if kept is None and sandbox and kit.preparation and not options.prepare_network:
        try:
            sandbox.prepare(tree.commit, kit.preparation)
        except GiveUp as lacks:
            raise GiveUp(f"{where}, with what is on this machine; {lacks}") from None
    if kept is None or not kept.is_runnable:
        raise GiveUp(f"{where}; {summary(kept) if kept else 'not tried yet'}: {PREPARE}")
    if stale := staleness(as_proposed(kit, tree, kept), kept):
        raise GiveUp(stale)
    return f"{where}. {summary(kept)}"


BESIDE = "beside the checkout"


def described_kit(kit: kits.Kit) -> Iterator[str]:
    """Say in lines what a project's files tell about testing it, and which file says so."""
    for kind in get_args(ClueKind):
        found = first_of(kit.clues, kind)
        for clue in list(found.values())[:_TOLD]:
            yield f"{kind}: {one_line(clue.value)[:_NAME]} ({clue.source})"


def proved_profile(
    kit: kits.Kit,
    tree: CodeReader,
    sandbox: Sandbox,
    kept: Profile | None,
    date: str,
    tell: Callable[[str], object] = lambda _text: None,
    keep: Callable[[str], str] = lambda _output: "",
) -> Profile:
    """Run the project's tests in the ways that its files name, and return the best of them.

    `keep` gets what the tests printed where some are red, and says where it is.
    """
    best: Proof | None = None
    lacked = ""  # by the first way that could not be prepared
    tried: list[Environment] = []

    def is_late() -> bool:
        return sum(item.seconds for item in tried) > PROJECT_SECONDS

    for variant in _variants(_by_hand(kit, kept), tree.commit.at, date):
        is_own = variant.preparation is not None and not variant.preparation.beside
        if best and (is_late() or (is_own and best.environment.how != BESIDE)):
            continue
        environment = Environment(
            sandbox, variant, tree.commit, (), NightCache(), PATIENCE * SUITE_SECONDS
        )
        tried.append(environment)
        listed = variant.preparation.files if variant.preparation else ()
        counts = [f"{one.path} ({len(one.text.splitlines())} lines)" for one in listed if one.text]
        if counts:
            tell(f"dependencies of {', '.join(counts[:2])} …")
        environment.prepare()
        lacked = lacked or environment.lacks
        best = best or Proof(variant, None, None, environment)
        if environment.lacks:
            keep(environment.printed)
            continue
        how = environment.how or "of this machine"
        took = f", {environment.seconds:.0f} s" if environment.seconds else ""
        tell(f"dependencies {how} ({environment.interpreter or variant.language}{took})")
        for runner in variant.used_runners:
            last = best.reading.run if best.reading else None
            if runner.only_after is not None and (last is None or last.code != runner.only_after):
                continue
            tell(f"{runner.name}: running ({_MOST}) …")
            proof = _run(environment, variant, runner, runner.whole)
            if proof.is_late and runner.takes_files and len(variant.tests) > _SAMPLE:
                some = variant.tests[:: -(-len(variant.tests) // _SAMPLE)]
                proof = _run(environment, variant, runner, runner.some(some))._replace(files=some)
            tell(f"{runner.name}: {proof.told}")
            is_better = best.reading is None or proof.is_runnable or proof.passed > best.passed
            best = proof if is_better else best
            if proof.is_runnable or proof.is_late or proof.collected or is_late():
                break
        if best.is_runnable:
            break
    assert best is not None
    if best.reading and not best.reading.is_green and (place := keep(best.reading.run.output)):
        tell(f"what it printed: {place}")
    if is_late():
        tell(f"no other way is tried after {PROJECT_SECONDS:,.0f} s")
    if best.is_runnable:
        tell("once more, to find flaky tests …")
    profile = _profile(best, kept, tree, date, digest_of(kit))
    if profile.is_runnable or lacked in profile.trouble:
        return profile
    return profile.model_copy(update={"trouble": f"{lacked}; {profile.trouble}"})


def _run(environment: Environment, kit: kits.Kit, runner: kits.Runner, words: kits.Words) -> Proof:
    reading = environment.base(words, runner.form, SUITE_SECONDS)
    return Proof(kit, runner, reading, environment, words)


def _by_hand(kit: kits.Kit, kept: Profile | None) -> kits.Kit:
    """Apply what a person wrote into the profile, and nothing that was found before."""
    if kept is None or not kept.by_hand:
        return kit
    own = {name: getattr(kept, name) for name in kept.by_hand if name in Profile.model_fields}
    if "test" in own:
        own |= {"one_test": kept.one_test, "form": kept.form}
    found = {
        "variables": dict(kit.variables),
        "services": kit.services,
        "setup": kit.setup,
        "repository": "",
        "language": kit.language,
    }
    return with_profile(kit, Profile(**{**found, **own}))


def _variants(kit: kits.Kit, at: datetime | None, today: str) -> Iterator[kits.Kit]:
    """Return the project as it is, without its switches, and in an environment of its own.

    Where nothing locks its packages, the last one has those of the day of the commit.
    """
    yield kit
    asked = first_of(kit.clues, "variable")
    said = {name: clue.value.partition("=")[2] for name, clue in asked.items()}
    if said != dict(kit.variables) and kit.services:
        yield kit._replace(variables=tuple(said.items()))
    if kit.runners and kit.runners[0].words[:2] == _BUNDLED:  # gems of the system, no lock
        plain = (item.model_copy(update={"words": item.words[2:]}) for item in kit.runners)
        yield kit._replace(runners=tuple(plain), preparation=None, environment=())
    elif kit.preparation and kit.preparation.fetches and kit.preparation.beside:
        own = kit.preparation.model_copy(update={"beside": False})
        yield kit._replace(preparation=own)
    listed = kit.preparation.files if kit.preparation and kit.language == "python" else ()
    if kit.preparation and listed and not listed[-1].text and at and at.year < int(today[:4]):
        yield kit._replace(preparation=of_day(kit.preparation, at.date().isoformat()))


def _profile(
    proof: Proof, kept: Profile | None, tree: CodeReader, date: str, digest: str
) -> Profile:
    environment, kit, runner, reading = proof.environment, proof.kit, proof.runner, proof.reading
    red, flaky, seconds = frozenset[str](), frozenset[str](), 0.0
    if runner and reading and proof.is_runnable:
        again = environment.base(proof.words, runner.form, SUITE_SECONDS, 1)
        red, flaky = reading.failed & again.failed, reading.failed ^ again.failed
        seconds = reading.run.spent
    elif reading:
        red, seconds = reading.failed, reading.run.spent
    version, lacking, here = _about(environment)
    missing = tuple(item for item in kit.services if _PROGRAMS.get(item, "-") not in here)
    preparation = kit.preparation
    return Profile(
        repository=tree.commit.repository,
        root=kit.root,
        language=kit.language,
        interpreter=version,
        versions=preparation.versions if preparation else (),
        environment=environment.how.replace("kept", "installed"),
        install=kept.install if kept and "install" in kept.by_hand else "",
        not_installed=lacking,
        packages_of=dict(preparation.environment).get(EXCLUDES[0], "") if preparation else "",
        variables=dict(kit.variables),
        services=kit.services,
        setup=kit.setup,
        missing_services=missing,
        test=shlex.join(runner.whole) if runner else "",
        one_test=shlex.join((*runner.words, "{test}")) if runner and runner.takes_files else "",
        form=runner.form if runner else "",
        folders=kit.folders,
        collected=proof.collected,
        passed=proof.passed,
        red=tuple(sorted(name[:_NAME] for name in red)[:_RED]),
        flaky=tuple(sorted(name[:_NAME] for name in flaky)[:_RED]),
        seconds=round(seconds, 1),
        sampled=proof.files,
        trouble="" if proof.is_runnable else _trouble(proof, missing, lacking),
        commit=tree.commit.sha,
        date=date,
        digest=digest,
        sources=_sources(kit, runner),
        **(kept.model_dump(include={"by_hand", "asked", "proposed", "because"}) if kept else {}),
    )


def _about(environment: Environment) -> tuple[str, tuple[str, ...], str]:
    """Return the interpreter's name, what could not be installed, and programs of services."""
    if environment.lacks:
        return "", (), ""
    run = environment.base(("/bin/sh", "-c", kits.kits().scripts["about"]), "", 30).run
    version, _, rest = run.output.partition("\n--\n") if run.went_well else ("", "", "")
    lacking, _, here = rest.partition("--\n")
    return one_line(version)[:80], tuple(lacking.split("\n")[:-1]), here


def _sources(kit: kits.Kit, runner: kits.Runner | None) -> dict[str, str]:
    named = {"versions": "version", "services": "service", "setup": "setup"}
    sources = {
        field: next(iter(found.values())).source
        for field, kind in named.items()
        if (found := first_of(kit.clues, kind))  # type: ignore[arg-type]
    }
    variables = first_of(kit.clues, "variable")
    sources |= {f"variables.{name}": clue.source for name, clue in variables.items()}
    if runner:
        _, _, source = runner.name.partition(" as in ")
        sources["test"] = source or "the project's manifests"
    return sources


def _trouble(proof: Proof, missing: tuple[str, ...], lacking: tuple[str, ...]) -> str:
    """Say why too few tests pass, and what a person can do."""
    environment, reading = proof.environment, proof.reading
    if environment.lacks:
        return environment.lacks
    if reading is None:
        return "no command that runs its tests was found: set `test`"
    if reading.run.ended != "exited":
        how, run = proof.told if proof.is_late else reading.run.ended, reading.run
        if run.cpu is not None and 10 * run.cpu < run.seconds:
            how += " and did nearly nothing, so it waits for something"
            how += f" ({', '.join(missing)} is not on this machine)" if missing else ""
        name = proof.runner.name if proof.runner else "the run"
        return f"{name} {how}: set `test` to fewer tests"
    reasons = [_most_common(reading.run) if proof.collected else proof.told]
    if proof.runner and not proof.collected and not proof.runner.form and reading.run.went_well:
        said = ", ".join(first_of(proof.kit.clues, "test")) or proof.runner.name
        reasons.append(f"what `{said}` prints is not understood")
    if not environment.is_asked and proof.kit.preparation:
        versions = " or ".join(proof.kit.preparation.versions[:2])
        reasons.append(f"{versions} is asked for, this machine has {environment.interpreter}")
    elif proof.kit.preparation and not proof.kit.preparation.fetches:
        reasons.append("no list of dependencies was found")
    if missing:
        reasons.append(f"{', '.join(missing)} is asked for and not on this machine")
    if lacking:
        reasons.append(f"not installed: {', '.join(lacking[:8])}")
    return "; ".join(filter(None, reasons)) or "no test was run"


def _most_common(run: Run) -> str:
    found = (one_line(item)[:200] for item in kits.kits().patterns["why"].findall(run.output))
    counts = Counter(item for item in found if not _GENERIC.search(item))
    if not counts:
        return error_line(run.output, _NAME)
    text, count = counts.most_common(1)[0]
    return f"most often ({count}): {text}" if count > 1 else text


# A model is asked where rules come to nothing: once for a repository's manifests.

_MAY = Allowance(iterations=16, tokens=300_000, cost=0.50, seconds=7_200)  # at most
_RUNS, _RUNS_SECONDS, _RUN_SECONDS = 12, 600.0, 60.0
_TOOLS = ("read_file", "search_code", "find_files", "list_directory", "run_snippet")
_TEXT, _PATHS = 5_000, 150  # characters of what is told or proposed, and files


def asked_for(kit: kits.Kit) -> str:
    """Return what a profile keeps as `asked` once a model was asked about a project."""
    return digest_of(kit) or "no manifests"


class Adviser(NamedTuple):
    """A model that may be asked, and the code as it may see it."""

    model: Model
    shown: CodeReader
    clock: Clock
    fence: str

    def fenced(self, text: str) -> str:
        """Return the end of a text as data."""
        return fenced(block(text[-_TEXT:], _TEXT, code=True), self.fence)


class _Shell(NamedTuple):
    """Runs shell commands in a project, as it is prepared."""

    environment: Environment

    def run_snippet(self, code: str, edits: tuple[Edit, ...]) -> Run:
        return self.environment.base(("/bin/sh", "-c", code), "", _RUN_SECONDS).run

    def run_test(self, test: str, edits: tuple[Edit, ...]) -> Run:
        return self.run_snippet(test, edits)


def advised_profile(
    kit: kits.Kit,
    tree: CodeReader,
    sandbox: Sandbox,
    found: Profile,
    adviser: Adviser,
    printed: list[str],
    prove: Callable[[kits.Kit, Profile], Profile],
) -> tuple[Profile, Usage]:
    """Ask a model how a project is tested, and have `prove` try what it proposes, twice at most.

    `found` is what rules came to, and returned where no proposal does better; `printed` is what
    attempts have printed until now. Never raises for what the model does.
    """
    tried: dict[str, Profile] = {}

    def complain(answer: Answer, _calls: object = None) -> str:
        text = next((item.new for item in answer.file_changes), "")[:_TEXT]
        because = shortened(one_line(clean(answer.root_cause)), 2 * _NAME)
        told = found.model_copy(update={"proposed": text, "because": because})
        if not text or text in tried:
            tried.setdefault(text, told)
            return ""
        printed[:] = [""]
        tried[text] = prove(kits.with_proposal(kit, tree.paths(), tree.read_file, text), told)
        came = adviser.fenced(f"{printed[-1]}\n{summary(tried[text])}")
        return "" if tried[text].is_runnable else asking.prompt("profile_again").format(came=came)

    environment = Environment(sandbox, kit, tree.commit, (), NightCache(), _RUNS_SECONDS)
    environment.prepare()
    here = _about(environment)[2]
    runs = RunsLeft(_Shell(environment), runs=_RUNS, seconds=_RUNS_SECONDS)
    case = Case(leader=ErrorGroup(fingerprint="question", source="projects", error_class="Profile"))
    files = kit.preparation.files if kit.preparation else ()
    request = asking.prompt("profile").format(
        data=only_data(adviser.fence),
        project=line(f"{kit.language} project in {kit.root or 'the root'}"),
        clues=adviser.fenced("\n".join(described_kit(kit))),
        came=adviser.fenced(f"{found.test}\n{printed[-1]}\n{summary(found)}"),
        environment=f"{environment.how or 'none'}, {environment.interpreter or kit.language}",
        services=", ".join(name for name in _PROGRAMS if _PROGRAMS[name] in here) or "none",
        files=adviser.fenced("\n".join(_places(kit.inner(tree.paths())))),
        manifests=", ".join(item.path for item in files[:_TOLD]) or "none of its files",
        runners=", ".join(f"`{item.name.strip('`')}`" for item in kit.runners if item.called),
    )
    opening = Conversation(
        system=asking.prompt("profile_system"),
        tools=tools.offered(_TOOLS, None, runs=True),
        answer_schema=asking.schema_of("file_changes", Edit),
        turns=(UserTurn(text=request),),
        case=case,
    )

    def run_tool(call: ToolCall, shown: frozenset[str]) -> ToolResult:
        return tools.run(call, adviser.shown, case, (), shown, fence=adviser.fence, runs=runs)

    try:
        ended = converse(opening, adviser.model, run_tool, _MAY, adviser.clock, complain)
        usage, why = ended.state.budget.used, ""
        complain(ended.answer)
    except NightWatchError as trouble:
        usage, why = trouble.usage or Usage(), shortened(one_line(str(trouble)), 2 * _NAME)
    last = [found, *tried.values()][-1]
    runnable = [item for item in tried.values() if item.is_runnable]
    vain = why or f"{'in vain' if last.proposed else 'nothing was proposed'}: {last.because}"
    best = next(iter(runnable), found.model_copy(update={"because": vain}))
    return best.model_copy(update={"asked": asked_for(kit) if usage.calls else ""}), usage


def _places(paths: kits.Words) -> list[str]:
    """List the files and folders of a project's two upper levels."""
    cut = ("/".join(path.split("/")[:2]) + "/" * (path.count("/") > 1) for path in paths)
    return list(dict.fromkeys(cut))[:_PATHS]
