"""How the projects of a repository would be tested, said before any night."""

from collections.abc import Iterator

from nightwatch_core.code.likely_files import TEST
from nightwatch_core.errors import GiveUp
from nightwatch_core.gate.kit import Kit
from nightwatch_core.gate.kits import KINDS, TEMPLATES, kit_for
from nightwatch_core.gate.limits import EXPLAINED_CHARACTERS
from nightwatch_core.models.options import NightOptions
from nightwatch_core.ports import CodeReader, Sandbox
from nightwatch_core.text.plain_text import one_line

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
