"""Search for a test that raises what production raised, without asking anybody.

The project's own tests are run with one value changed, and production's functions are called with
what these tests have at hand; then the shortest of what raises it is written as a test.
"""

import ast
import re
from collections.abc import Collection, Iterator
from itertools import islice, product
from typing import Literal, NamedTuple

from nightwatch_core.errors import GiveUp
from nightwatch_core.models.answer import Edit
from nightwatch_core.models.proposals import FileChange, Reproduction
from nightwatch_core.ports import CodeReader
from nightwatch_core.proof.asking import Attempt, ProofBriefing
from nightwatch_core.proof.environment import Bench
from nightwatch_core.proof.kit import EXPLAINED_CHARACTERS, Runner
from nightwatch_core.proof.kits import kit_for
from nightwatch_core.proof.reproduction import Candidate as Test
from nightwatch_core.proof.reproduction import tried
from nightwatch_core.proof.search_driver import Hit, Told, driver, read_report, words
from nightwatch_core.proof.search_suites import (
    Candidate,
    Entry,
    Goal,
    Scene,
    Suite,
    Surroundings,
    Term,
    all_tests,
    as_tests_make,
    changed_functions,
    dotted,
    entries,
    goal_of,
    imported,
    keywords_of,
    least_reached,
    mutations,
    nearest_suites,
    surroundings,
    terms,
)
from nightwatch_core.proof.stage import stage_for
from nightwatch_core.text.plain_text import one_line

# Calls of production's functions, with arguments that the project's tests have at hand.

_CALLS = 40  # of one function in one scene


def calls(entry: Entry, around: Surroundings, values: tuple[str | int, ...]) -> Iterator[Candidate]:
    """Call a function after what a scene does, the likeliest arguments first."""
    module = dotted(entry.place.path, around.root)
    receivers = tuple(_receivers(entry, around, module))
    parameters = entry.node.args
    wanted = [*parameters.posonlyargs, *parameters.args]
    if entry.owner is not None and not _is_static(entry.node):
        wanted = wanted[1:]
    optional = {one.arg for one in wanted[len(wanted) - len(parameters.defaults) :]}
    optional = optional if parameters.defaults else set()
    pools = [terms(one, entry, around, values, one.arg in optional) for one in wanted]
    for one, default in zip(parameters.kwonlyargs, parameters.kw_defaults, strict=True):
        pool = terms(one, entry, around, values, default is not None)
        named = (term._replace(text=f"{one.arg}={term.text}") if term.text else term
                 for term in pool)  # fmt: skip
        pools.append(tuple(named))
    combinations = _likeliest((receivers, *pools))
    for receiver, *given in islice(combinations, _CALLS):
        texts = _by_position(wanted, given)
        if texts is None:
            continue
        text = _as_called(entry, receiver.text, ", ".join(texts))
        imports = (line for term in (receiver, *given) for line in term.imports)
        yield Candidate(
            (*around.scene.body, around.scene.indent + text), tuple(dict.fromkeys(imports))
        )


def _likeliest(pools: tuple[tuple[Term, ...], ...]) -> list[tuple[Term, ...]]:
    """Choices of one term of each pool: those near the heads of all pools first."""
    sizes = [range(len(pool)) for pool in pools]
    ranks = sorted(islice(product(*sizes), 20_000), key=lambda ranks: (sum(ranks), max(ranks)))
    chosen = islice(ranks, 4 * _CALLS)
    return [tuple(pool[at] for pool, at in zip(pools, one, strict=True)) for one in chosen]


def _by_position(wanted: list[ast.arg], given: list[Term]) -> list[str] | None:
    """Arguments as they are written: what follows one that is left out goes by its name."""
    texts, left_out = [], False
    for at, term in enumerate(given):
        if not term.text:
            left_out = True
        elif at < len(wanted) and left_out:
            texts.append(f"{wanted[at].arg}={term.text}")
        else:
            texts.append(term.text)
    return texts


def _as_called(entry: Entry, receiver: str, arguments: str) -> str:
    name = entry.node.name
    if name == "__init__" or name == "__call__":
        call = f"{receiver}({arguments})"
    elif name == "__iter__":
        call = f"list({receiver})"
    elif any(ast.unparse(one).endswith("property") for one in entry.node.decorator_list):
        return f"{receiver}.{name}"
    else:
        call = f"{receiver}.{name}({arguments})" if entry.owner else f"{receiver}({arguments})"
    yields = any(isinstance(one, ast.Yield | ast.YieldFrom) for one in ast.walk(entry.node))
    return f"list({call})" if yields and name != "__iter__" else call


def _is_static(node: ast.AST) -> bool:
    return any(ast.unparse(one) == "staticmethod" for one in getattr(node, "decorator_list", ()))


def _receivers(entry: Entry, around: Surroundings, module: str) -> Iterator[Term]:
    """How the function, or the object whose method it is, is named in a scene."""
    if entry.owner is None:
        yield imported(f"{module}.{entry.node.name}", around)
        return
    name = entry.owner.name
    whole = imported(f"{module}.{name}", around)
    of_class = any(ast.unparse(one) == "classmethod" for one in entry.node.decorator_list)
    if entry.node.name == "__init__" or _is_static(entry.node) or of_class:
        yield whole
        return
    made = f"{whole.text}("
    yield from (Term(one) for one, how in around.locals.items() if how.startswith(made))
    yield from (Term(one) for one, how in around.members.items() if how.startswith(made))
    yield from as_tests_make(name, f"{module}.{name}", around)
    yield Term(f"{whole.text}()", whole.imports)


# What a search tries in a file of tests: production's functions called, tests changed.

_SCENES = 14  # of one file of tests
_TURNS = (12, 40)  # calls of a function in a scene, in turns; and twice as many changes of a test
_MOST = 600  # of one file of tests

Tried = tuple[Scene, Candidate]


def candidates(
    suite: Suite,
    keywords: dict[str, tuple[str, ...]],
    listed: tuple[Entry, ...],
    values: tuple[str | int, ...],
    tree: CodeReader,
    root: str,
) -> tuple[Tried, ...]:
    """List what is tried in one of the files, each once."""
    unique: dict[tuple[object, ...], Tried] = {}
    for scene, one in _each(suite, listed, values, keywords, tree, root):
        unique.setdefault((scene.owner, scene.about, one), (scene, one))
        if len(unique) == _MOST:
            break
    return tuple(unique.values())


def _each(
    suite: Suite,
    listed: tuple[Entry, ...],
    values: tuple[str | int, ...],
    keywords: dict[str, tuple[str, ...]],
    tree: CodeReader,
    root: str,
) -> Iterator[Tried]:
    scenes, constants = _nearest(suite, listed)[:_SCENES], _constants(suite.module)
    for first, last in zip((0, *_TURNS), _TURNS, strict=False):
        for scene in scenes:
            changed = islice(mutations(scene, constants, values), 2 * first, 2 * last)
            yield from ((scene, one) for one in changed)
            around = surroundings(suite, scene, keywords, tree, root)
            for entry in listed:
                yield from (
                    (scene, one) for one in islice(calls(entry, around, values), first, last)
                )


def _nearest(suite: Suite, listed: tuple[Entry, ...]) -> tuple[Scene, ...]:
    """Scenes that name the functions first, then those whose names have most words of theirs."""
    names = [one.node.name for one in listed]
    words = {word for name in names for word in name.lower().split("_") if word}

    def far(scene: Scene) -> tuple[bool, int]:
        text = "\n".join(scene.body)
        named = any(name in text for name in names if not name.startswith("__"))
        return not named, -len(words & set(scene.name.lower().split("_")))

    return tuple(sorted(suite.scenes, key=far))


def _constants(module: ast.Module) -> dict[str, str]:
    """Texts that a file gives names."""
    named = {}
    for node in module.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            value = node.value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                named[node.targets[0].id] = value.value
    return named


# Makes what raises a crash shorter: what it can do without is left out.

_SHORTER = 60


def shorter(candidate: Candidate) -> tuple[Candidate, ...]:
    """Give parts of a candidate that may raise the same, itself among them, the shortest first.

    >>> whole = Candidate(("    a = 1", "    log()", "    b = f(a)", "    run(b)", "    end()"))
    >>> ("    a = 1", "    b = f(a)", "    run(b)") in [one.body for one in shorter(whole)]
    True
    """
    parts = {part: None for part in _parts(candidate.body)}
    ranked = sorted(parts, key=lambda part: (len(part), sum(map(len, part))))
    chosen = [part for part in ranked if part][:_SHORTER]
    return tuple(candidate._replace(body=part) for part in dict.fromkeys((*chosen, candidate.body)))


def emptiness(candidate: Candidate) -> int:
    """Count the empty values in it: a fix that only guards against those is no fix for others.

    >>> [emptiness(Candidate((text,))) for text in ("    load('', limit=None)", "    load('a')")]
    [2, 0]
    """
    try:
        nodes = tuple(ast.walk(ast.parse("def _():\n" + "\n".join(candidate.body))))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return 0
    return sum(_is_empty(node) for node in nodes)


def _is_empty(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        return node.value is None or node.value in ("", b"")
    kept = getattr(node, "elts", getattr(node, "keys", None))
    return isinstance(node, ast.List | ast.Set | ast.Tuple | ast.Dict) and not kept


def _parts(body: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    yield body
    for end in range(len(body), 0, -1):
        yield body[:end]
        yield _needed(body[:end])
    for left_out in range(len(body) - 1):
        yield body[:left_out] + body[left_out + 1 :]
        yield _needed(body, (left_out,))


def _needed(body: tuple[str, ...], besides: Collection[int] = ()) -> tuple[str, ...]:
    """The last statement, and those before it that it has its values from."""
    kept = {len(body) - 1, *besides}
    wanted: set[str] = set()
    for at in reversed(range(len(body))):
        try:
            nodes = list(ast.walk(ast.parse(f"def _():\n{body[at]}")))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return body
        names = [one for one in nodes if isinstance(one, ast.Name)]
        stored = {one.id for one in names if isinstance(one.ctx, ast.Store)}
        if at in kept or stored & wanted:
            kept.add(at)
            wanted |= {one.id for one in names}
    return tuple(body[at] for at in sorted(kept))


# Writes a test that a search has come upon: a new file beside the one it was made from.

_SETS_UP = re.compile(r"(setUp|tearDown|setup|teardown|asyncSetUp|asyncTearDown)")
_ALWAYS = ("pytestmark", "__future__")


def written(
    suite: Suite, scene: Scene, candidate: Candidate, goal: Goal, called: str
) -> tuple[Edit, str]:
    """The edit that adds the test, and the test's name as its runner prints it."""
    error = re.sub(r"\W", "", goal.error_class.rpartition(".")[2]) or "Error"
    snake, called = _snake(error), _snake(called)
    name = f"test_{called}_raises_no_{snake}"
    outer = scene.indent[:-4] if scene.owner else ""
    decorators = [f"{outer}@{ast.unparse(one)}" for one in scene.node.decorator_list]
    returned = " -> None" if scene.node.returns else ""
    head = f"{outer}def {name}({ast.unparse(scene.node.args)}){returned}:"
    doc = f'{scene.indent}"""Raised {error} in production."""'
    body = [one if one in scene.body else _quoted(one, suite.text) for one in candidate.body]
    test = "\n".join((*decorators, head, doc, *body[:-1], _unnamed(body[-1])))
    module = ast.parse(f"if 1:\n{test}" if outer else test)
    needed = _names(module)
    text = "\n".join(_kept(suite, scene, needed, candidate.imports, test)).strip("\n") + "\n"
    folder, _, file = suite.path.rpartition("/")
    stem = f"{called}_{snake}"
    file = f"{stem}_test.py" if file.endswith("_test.py") else f"test_{stem}.py"
    path = f"{folder}/{file}" if folder else file
    shown = f"a test that raises {error} as production did"
    return Edit(path=path, action="create", new=text, description=shown), name


def _quoted(statement: str, text: str) -> str:
    """What we wrote, with the quotes that a file prefers.

    >>> _quoted("a['b']", 'c = "d"')
    'a["b"]'
    """
    if '"' in statement or "\\" in statement or text.count('"') < text.count("'"):
        return statement
    return re.sub(r"'([^'\n]*)'", r'"\1"', statement)


def _unnamed(statement: str) -> str:
    """The last statement, without a name for what nobody looks at.

    >>> _unnamed("    total = cart.total([])")
    '    cart.total([])'
    """
    return re.sub(r"^(\s*)\w+ = (?=[\w.]+\()", r"\1", statement)


def _snake(name: str) -> str:
    """Write a name in small letters.

    >>> _snake("CartTotal___init__"), _snake("VATError")
    ('cart_total_init', 'vat_error')
    """
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return re.sub(r"_+", "_", words).strip("_").lower()


def _kept(
    suite: Suite, scene: Scene, needed: set[str], imports: tuple[str, ...], test: str
) -> Iterator[str]:
    """What the test needs of its file, in the order of the file, and the test."""
    lines = suite.text.split("\n")
    statements, left = [], dict.fromkeys(suite.module.body)
    owner = next((one for one in suite.module.body
                  if isinstance(one, ast.ClassDef) and one.name == scene.owner), None)  # fmt: skip
    members = _members(owner, needed) if owner else []
    if owner:
        left.pop(owner)
        needed |= {name for one in (*owner.bases, *owner.decorator_list) for name in _names(one)}
        needed |= {name for one in members for name in _names(one)}
    grown = True
    while grown:
        grown = False
        for one in tuple(left):
            if _defines(one) & (needed | set(_ALWAYS)) or _is_automatic(one):
                statements.append(one)
                left.pop(one)
                needed |= set() if _is_import(one) else _names(one)
                grown = True
    statements.sort(key=lambda one: one.lineno)
    brought = list(_grouped([one for one in statements if _is_import(one)], needed, lines))
    yield from sorted_imports(brought, imports)
    for one in statements:
        if not _is_import(one):
            gap = 2 if isinstance(one, ast.FunctionDef | ast.ClassDef) else 1
            yield "\n" * gap + _text_of(one, lines)
    yield "\n"
    if owner:
        first = min((owner.lineno, *(one.lineno for one in owner.decorator_list)))
        end = owner.body[0].lineno
        head = lines[first - 1 : end - 1]
        cut = next((at for at, line in enumerate(head) if line.rstrip().endswith(":")), 0)
        yield "\n".join(head[: cut + 1])
        for one in members:
            yield _text_of(one, lines) + "\n"
    yield test


def _grouped(brought: list[ast.stmt], needed: set[str], lines: list[str]) -> Iterator[str]:
    """Imports, with an empty line where the file has one between them."""
    for before, one in zip((None, *brought), brought, strict=False):
        between = lines[before.end_lineno or 0 : one.lineno - 1] if before else ["-"]
        if "" in between:
            yield ""
        yield _pruned(one, needed, lines)


def sorted_imports(brought: list[str], added: tuple[str, ...]) -> list[str]:
    """Put new imports among those of a file, before the first of the same package that follows it.

    >>> sorted_imports(["import re", "from app.web import b"], ("from app.a import c",))
    ['import re', 'from app.a import c', 'from app.web import b']
    """
    result = list(brought)
    for line in added:
        module = line.split()[1]
        alike = [
            at
            for at, one in enumerate(result)
            if one.startswith("from ") and one.split()[1].split(".")[0] == module.split(".")[0]
        ]
        later = next((at for at in alike if result[at].split()[1] > module), None)
        same = next((at for at in alike if result[at].split()[1] == module
                     and "(" not in result[at]), None)  # fmt: skip
        if same is not None:
            names = {one.strip() for one in result[same].split(" import ")[1].split(",")}
            names |= {line.split(" import ")[1]}
            result[same] = f"from {module} import {', '.join(sorted(names, key=_as_isort))}"
        else:
            result.insert(
                later if later is not None else alike[-1] + 1 if alike else len(result), line
            )
    return result


def _as_isort(name: str) -> tuple[int, str]:
    return (0 if name.isupper() else 1 if name[:1].isupper() else 2, name)


def _pruned(node: ast.stmt, needed: set[str], lines: list[str]) -> str:
    """An import of what is needed alone."""
    if isinstance(node, ast.ImportFrom) and node.module != "__future__":
        left = [one for one in node.names if (one.asname or one.name) in needed or one.name == "*"]
        if len(left) < len(node.names) and left:
            return ast.unparse(ast.ImportFrom(module=node.module, names=left, level=node.level))
    return _text_of(node, lines)


def _text_of(node: ast.stmt, lines: list[str]) -> str:
    decorators = getattr(node, "decorator_list", [])
    first = min((node.lineno, *(one.lineno for one in decorators)))
    return "\n".join(lines[first - 1 : node.end_lineno])


def _members(owner: ast.ClassDef, needed: set[str]) -> list[ast.stmt]:
    """What a class has besides its tests, as far as the test needs it."""
    left = [one for one in owner.body if not _is_test_or_text(one)]
    kept: list[ast.stmt] = []
    grown = True
    while grown:
        grown = False
        for one in tuple(left):
            names = _defines(one)
            if names & needed or any(_SETS_UP.match(name) for name in names) or _is_automatic(one):
                kept.append(one)
                left.remove(one)
                needed |= _names(one)
                grown = True
    return sorted(kept, key=lambda one: one.lineno)


def _is_test_or_text(node: ast.stmt) -> bool:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return node.name.startswith("test")
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)


def _is_automatic(node: ast.stmt) -> bool:
    """Whether it is a fixture that no test has to name."""
    decorators = getattr(node, "decorator_list", [])
    return any("autouse=True" in ast.unparse(one) for one in decorators)


def _names(node: ast.AST) -> set[str]:
    """Names and members that a piece of code uses."""
    names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    names |= {one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute)}
    return names | {one.arg for one in ast.walk(node) if isinstance(one, ast.arg)}


def _defines(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        special = {"__future__"} if getattr(node, "module", "") == "__future__" else set()
        return special | {(one.asname or one.name).split(".")[0] for one in node.names}
    inner = (one for one in ast.walk(node) if isinstance(one, ast.stmt) and one is not node)
    names = {one.id for one in ast.walk(node)
             if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}  # fmt: skip
    return names | {name for one in inner for name in _defines(one)}


_SECONDS = 60.0  # for one error
_TRYING, _STARTING = 6.0, 20.0  # of one run: for candidates; for the runner to come up
_NONE = "nothing that was tried raises it"


class Searched(NamedTuple):
    """A test that is said to raise what production raised, or why there is none."""

    edit: Edit | None = None
    name: str = ""
    frames: int = 0  # of production's that it goes through
    because: str = ""
    tries: int = 0
    seconds: float = 0.0


class _Hit(NamedTuple):
    suite: Suite
    scene: Scene
    candidate: Candidate
    reached: int


def by_search(briefing: ProofBriefing) -> Attempt:
    """Look for a test, and see whether it reproduces the crash, as any other test has to."""
    search = searched(briefing)
    if search.edit is None:
        outcome: Literal["not tried", "not reproduced"]
        outcome = "not reproduced" if search.tries else "not tried"
        none = Reproduction(
            outcome=outcome, because=search.because, by="search", tries=search.tries
        )
        return Attempt(reproduction=none.model_copy(update={"seconds": round(search.seconds, 1)}))
    stage = stage_for(briefing)
    if isinstance(stage, str):
        return Attempt(reproduction=Reproduction(outcome="not tried", because=stage, by="search"))
    try:
        came = tried(stage, Test(search.edit.path, search.edit.new), "search").reproduction
    except GiveUp as trouble:
        because = one_line(str(trouble))[:EXPLAINED_CHARACTERS]
        came = Reproduction(outcome="not reproduced", because=because, by="search")
    seconds = round(search.seconds + came.seconds, 1)
    return Attempt(reproduction=came.model_copy(update={"tries": search.tries, "seconds": seconds}))


def searched(briefing: ProofBriefing) -> Searched:
    """Look for a test; never raises for what the project does."""
    trace, tree = briefing.analysis.case.trace, briefing.failing
    goal = goal_of(trace) if trace else None
    if goal is None:
        return Searched(because="its trace has no line of the application")
    kit = kit_for((goal.places[0].path,), tree.paths(), tree.read_file, briefing.options)
    if isinstance(kit, str):
        return Searched(because=kit)
    if kit.language != "python" or kit.verify:
        return Searched(because="only what Python's own test runners run is searched")
    bench = Bench(briefing.sandbox, kit, tree.commit, (), briefing.known, _SECONDS)
    search = _Search(briefing, goal, bench)
    try:
        result = search.result()
    except GiveUp as trouble:
        result = Searched(because=one_line(str(trouble))[:EXPLAINED_CHARACTERS])
    return result._replace(tries=search.tries, seconds=bench.seconds)


class _Search:
    """One search: what for, and where it is run."""

    def __init__(self, briefing: ProofBriefing, goal: Goal, bench: Bench) -> None:
        self._tree, self._goal, self._bench = briefing.failing, goal, bench
        self._listed = entries(goal, briefing.failing)
        read = briefing.base.read_file
        changed = (changed_functions(c.path, read(c.path), c.text) for c in briefing.draft.changes)
        self._least = least_reached(goal, self._listed, frozenset().union(*changed))
        self._shallow = False
        self.tries = 0

    def result(self) -> Searched:
        self._bench.prepare()
        suites = nearest_suites(self._listed, self._tree, self._bench.kit.root)
        if not suites:
            return Searched(because="none of the project's tests is near the functions that failed")
        modules = all_tests(self._tree, self._bench.kit.root)
        keywords = keywords_of((*(one.module for one in suites), *modules))
        runners, others = self._bench.kit.runners, tuple[str, ...]()
        for suite in suites:
            tries = candidates(
                suite, keywords, self._listed, self._goal.values, self._tree, self._bench.kit.root
            )
            for runner in runners:
                told = self._run(suite, tries, runner)
                if told.tried:
                    runners = (runner,)
                    break
            else:
                why = self._bench.lacks or told.printed
                return Searched(because=f"its tests cannot be run: {why}")
            self.tries, others = self.tries + told.tried, others or told.others
            if hit := self._best(suite, tries, told):
                return self._written(self._shrunk(hit, runners[0]))
            if not self._bench.has_time():
                break
        return Searched(because=self._why(others))

    def _why(self, others: tuple[str, ...]) -> str:
        if self._shallow:
            place = self._goal.places[self._least - 1]
            return f"it is raised, but not by way of {place.function} ({place.path})"
        most = f"; most of it raises {', '.join(others)}" if others else ""
        return _NONE + most

    def _run(self, suite: Suite, tries: tuple[Tried, ...], runner: Runner) -> Told:
        path = f"{suite.path.rpartition('/')[0]}/test_nightwatch_search.py".removeprefix("/")
        text = driver(suite, tries, self._goal, _TRYING)
        self._bench.changes = (FileChange(path=path, text=text),)
        run = runner.some(self._bench.kit.inner((path,)))
        most = _TRYING + _STARTING
        output = self._bench.fixed(words(run, most - 3), most).output
        return read_report(output, self._goal, len(tries))

    def _best(self, suite: Suite, tries: tuple[Tried, ...], told: Told) -> _Hit | None:
        """What goes through most of production's frames with values, and needs the least for it."""

        def worth(hit: Hit) -> tuple[int, int, int, int]:
            tried = tries[hit.number][1]
            return hit.reached, -emptiness(tried), -len(tried.imports), -hit.number

        self._shallow = self._shallow or bool(told.hits)
        deep = [hit for hit in told.hits if hit.reached >= self._least]
        best = max(deep, key=worth, default=None)
        return _Hit(suite, *tries[best.number], best.reached) if best else None

    def _shrunk(self, hit: _Hit, runner: Runner) -> _Hit:
        """The shortest part that goes through as many of production's frames."""
        parts = shorter(hit.candidate)
        told = self._run(hit.suite, tuple((hit.scene, one) for one in parts), runner)
        good = [one.number for one in told.hits if one.reached >= hit.reached]
        return hit._replace(candidate=parts[min(good)]) if good else hit

    def _written(self, hit: _Hit) -> Searched:
        entry = self._goal.places[hit.reached - 1]
        owner = next((one.owner for one in self._listed if one.place == entry), None)
        called = f"{owner.name}_{entry.function}" if owner else entry.function
        edit, name = written(hit.suite, hit.scene, hit.candidate, self._goal, called)
        return Searched(edit, name, hit.reached)
