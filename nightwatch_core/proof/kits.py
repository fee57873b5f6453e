"""Which kind of project holds the changed files: what it needs, and how it is tested and checked.

Detected from its files; a person's own words (`prepare`, `verify`) win. A kind that is not here is
said with what to set.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from nightwatch_core.code.likely_files import TEST
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposals import Preparation
from nightwatch_core.ports import CodeReader, Sandbox
from nightwatch_core.proof import javascript_kit, python_kit, ruby_kit
from nightwatch_core.proof.kit import EXPLAINED_CHARACTERS, Kit, made_folders
from nightwatch_core.text.plain_text import one_line

Read = Callable[[str], str | None]


class Kind(NamedTuple):
    """A kind of project: files that mark its root, endings of its sources, and how it is made."""

    language: str
    marks: tuple[str, ...]
    endings: tuple[str, ...]
    kit: Callable[[str, tuple[str, ...], Read], Kit | None] | None = None
    example: str = ""  # what such a project is tested by, where no kit knows


TEMPLATES = (".html", ".jinja", ".jinja2", ".txt", ".erb", ".haml", ".slim")
KINDS: tuple[Kind, ...] = (
    Kind(
        "python",
        ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "manage.py", "pytest.ini"),
        (".py", *TEMPLATES[:4]),
        python_kit.kit,
    ),
    Kind("ruby", ("Gemfile", "Rakefile"), (".rb", *TEMPLATES[4:]), ruby_kit.kit),
    Kind(
        "javascript",
        ("package.json",),
        (".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte"),
        javascript_kit.kit,
    ),
    Kind("Go", ("go.mod",), (".go",), example="go test ./..."),
    Kind(
        "Java",
        ("pom.xml", "build.gradle", "build.gradle.kts"),
        (".java", ".kt", ".scala", ".groovy"),
        example="mvn -o -q test",
    ),
    Kind("PHP", ("composer.json",), (".php",), example="vendor/bin/phpunit"),
    Kind("C#", (".csproj", ".sln"), (".cs",), example="dotnet test --no-restore"),
)


def kit_for(
    changed: tuple[str, ...], paths: tuple[str, ...], read: Read, options: NightOptions
) -> Kit | str:
    """Find how the changed files are tested; a sentence with what to set where nobody knows."""
    kind, root = _kind_of(changed, paths)
    made = kind.kit(root, paths, read) if kind and kind.kit else None
    made = made and made._replace(folders=made_folders(root, paths, read))
    if options.verify:
        base = made or Kit(kind.language if kind else "", root)
        made = base._replace(verify=options.verify, runners=())
    if options.prepare and made:
        words = ("/bin/sh", "-c", options.prepare)
        made = made._replace(
            preparation=Preparation(language=made.language, words=words, whole_tree=True)
        )
    if made is None or not (made.runners or made.verify):
        what = f"a {kind.language} project's" if kind else "this project's"
        example = f" ({kind.example}, say)" if kind and kind.example else ""
        return f"nobody knows how {what} tests are run: say so with NIGHTWATCH_VERIFY{example}"
    return made


def _kind_of(changed: tuple[str, ...], paths: tuple[str, ...]) -> tuple[Kind | None, str]:
    """The kind of most of the changed files, and the nearest root above the first of them."""
    counts = [(sum(path.endswith(kind.endings) for path in changed), kind) for kind in KINDS]
    count, best = max(counts, key=lambda one: one[0])
    if not count:
        return None, ""
    first = next(path for path in changed if path.endswith(best.endings))
    folder, known = first.rpartition("/")[0], frozenset(paths)
    dotted = tuple(mark for mark in best.marks if mark.startswith("."))  # of any name
    marked = {path.rpartition("/")[0] for path in paths if dotted and path.endswith(dotted)}
    while folder:
        if any(f"{folder}/{mark}" in known for mark in best.marks) or folder in marked:
            return best, f"{folder}/"
        folder = folder.rpartition("/")[0]
    return best, ""


# How the projects of a repository would be tested, said before any night.

_SHARE = 0.1  # of the source files, below which a language is no project of its own


def projects_told(tree: CodeReader, sandbox: Sandbox, options: NightOptions) -> str:
    """Say how each kind of project is tested, and where its dependencies come from.

    Nothing is run, and nothing is fetched. Raises `GiveUp` where the tree cannot be read.
    """
    paths = tree.paths()
    kits = (kit_for((one,), paths, tree.read_file, options) for one in _one_each(paths))
    told = [one if isinstance(one, str) else _told(one, tree, sandbox, options) for one in kits]
    return "; ".join(told) or "no source file of a language that is known"


def _one_each(paths: tuple[str, ...]) -> Iterator[str]:
    """The outermost source file of each language that there is enough of."""
    plain = [one for one in paths if not one.endswith(TEMPLATES) and not TEST.search(one)]
    of_kind = [[one for one in plain if one.endswith(kind.endings)] for kind in KINDS]
    least = max(1, _SHARE * sum(map(len, of_kind)))
    for files in sorted(of_kind, key=len, reverse=True):
        if len(files) >= least:
            yield min(files, key=lambda one: (one.count("/"), one))


def _told(kit: Kit, tree: CodeReader, sandbox: Sandbox, options: NightOptions) -> str:
    by = kit.verify or ", else ".join(one.name for one in kit.runners)
    where = f" in {kit.root}" if kit.root else ""
    return f"{kit.language}{where} by {by}, {_dependencies(kit, tree, sandbox, options)}"


def _dependencies(kit: Kit, tree: CodeReader, sandbox: Sandbox, options: NightOptions) -> str:
    if kit.preparation is None:
        return "which needs nothing else"
    if options.prepare:
        return "its dependencies prepared as NIGHTWATCH_PREPARE says"
    if options.prepare_network:
        return "its dependencies fetched where they are not here"
    try:
        return f"its dependencies {sandbox.prepare(tree.commit, kit.preparation).how}"
    except GiveUp as trouble:
        return one_line(str(trouble))[:EXPLAINED_CHARACTERS]
