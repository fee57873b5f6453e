import ast
import json
import re
import sys
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("flows", "tasks", "nightwatch_core")
TOP_LEVEL = {"agents", "deployments", "flows", "knowledge", "nightwatch_core", "tasks", "tests"}
SOURCES = [path for room in ROOMS for path in (ROOT / room).rglob("*.py")]
TOUCH_THE_WORLD = ("adapters", "sample", "settings.py")
TOUCH_NOTHING = {  # all that the rest of the core imports; whatever joins them can read no file
    *("ast", "base64", "bisect", "collections", "contextlib", "contextvars", "dataclasses"),
    *("datetime", "difflib", "email", "enum", "fnmatch", "functools", "hashlib", "heapq", "hmac"),
    *("html", "inspect", "itertools", "json", "math", "operator", "posixpath", "re"),
    *(
        "shlex",
        "statistics",
        "textwrap",
        "tomllib",
        "types",
        "typing",
        "unicodedata",
        "zlib",
        "warnings",
    ),
    *("concurrent.futures", "importlib", "importlib.resources", "threading", "urllib.parse"),
    *("inflection", "jinja2", "markupsafe", "pydantic", "pydantic_core", "rich"),
    *("tree_sitter", "yaml"),
}


def test_there_are_no_other_rooms() -> None:
    folders = {path.name for path in ROOT.iterdir() if path.is_dir()}
    ours = {name for name in folders if not name.startswith((".", "_"))}
    assert ours - {"mutants"} <= TOP_LEVEL  # which `make mutants` works in


def test_what_is_to_be_mutated_and_its_tests_are_there() -> None:
    chosen = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mutmut"]
    files = [*chosen["only_mutate"], *chosen["pytest_add_cli_args_test_selection"]]
    assert not [name for name in files if not (ROOT / name).is_file()]


def test_what_a_night_of_all_services_needs_is_installed_without_extras() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    plain = [Requirement(text) for text in project["dependencies"]]
    services = {"prefect", "anthropic", "pydantic", "pyyaml", "httpx", "githubkit", "slack-sdk"}
    assert services <= {each.name for each in plain}
    assert set(project["optional-dependencies"]) == {
        *("gitlab", "dask", "ray", "mcp", "source-maps", "postgres", "s3", "gcs")
    }
    rows = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = dict(row.split("==") for row in rows if not row.startswith("#"))
    for each in plain:
        assert {part.operator for part in each.specifier} == {">=", "<"}, each
        assert each.specifier.contains(pins[each.name]), each


def test_no_flow_file_hides_a_package() -> None:
    names = {path.stem for path in (ROOT / "flows").glob("*.py")} - {"__init__"}
    assert not names & (set(ROOMS) | set(sys.stdlib_module_names))


def test_agents_and_knowledge_are_data() -> None:
    assert not [
        path for folder in ("agents", "knowledge") for path in (ROOT / folder).rglob("*.py")
    ]


def test_nothing_of_the_sample_is_known_outside_it() -> None:
    truth = json.loads((ROOT / "tests/core/sample/sample_truth.json").read_text(encoding="utf-8"))
    told = [
        (str(path.relative_to(ROOT)), word)
        for path in [*SOURCES, *(ROOT / "agents").glob("*.md")]
        if "sample" not in path.relative_to(ROOT).parts
        for word in truth["identifiers"]
        if word.lower() in path.read_text(encoding="utf-8").lower()
    ]
    assert not told


# Where a source that is added is named, beside its folder: settings, their keys, the option's text,
# the wiring, and the walls.
NAME_A_SOURCE = {
    "nightwatch_core/settings.py", "nightwatch_core/models/sections.toml",
    "nightwatch_core/models/options.py", "tasks/wiring/services.py", "pyproject.toml",
}  # fmt: skip


def test_a_source_is_a_folder_and_five_files_that_name_it() -> None:
    folder = "nightwatch_core/adapters/sentry"
    named = re.compile(r"""["']sentry["']|\bsentry_[a-z]+|\bSENTRY_|adapters\.sentry|, sentry,""")
    rest = [ROOT / "pyproject.toml", ROOT / "nightwatch_core/models/sections.toml"]
    found = {
        name
        for path in (*SOURCES, *rest)
        if named.search(path.read_text(encoding="utf-8"))
        and not (name := path.relative_to(ROOT).as_posix()).startswith(
            (folder, "nightwatch_core/adapters/files")  # which reads its exports
        )
    }
    assert found == NAME_A_SOURCE
    assert len(found) + len(list((ROOT / folder).glob("*.*"))) <= 8


def test_steps_touch_nothing() -> None:
    core = ROOT / "nightwatch_core"
    thinking = [
        path
        for path in core.rglob("*.py")
        if path.relative_to(core).parts[0] not in TOUCH_THE_WORLD
        and path.parent.name != "recorders"  # they run in the sandbox, with the program
    ]
    used = {name for path in thinking for name in _imported(path)}
    outside = {name for name in used if not name.startswith(("nightwatch_core", "tree_sitter_"))}
    assert {name for name in outside if not _is_within(name, TOUCH_NOTHING)} == set()
    assert {name for name in TOUCH_NOTHING if not any(_is_within(n, {name}) for n in used)} == set()


def _imported(path: Path) -> list[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return names + [
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    ]


def _is_within(name: str, packages: set[str]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def test_no_module_lies_loose_in_the_core() -> None:
    loose = {path.name for path in (ROOT / "nightwatch_core").glob("*.py")}
    assert loose == {"__init__.py", "errors.py", "ports.py", "settings.py"}


def test_every_room_says_what_belongs_there_and_what_does_not() -> None:
    core = ROOT / "nightwatch_core"
    plan = (core / "README.md").read_text(encoding="utf-8")
    for room in sorted(path.parent for path in core.rglob("__init__.py") if path.parent != core):
        docstring = ast.get_docstring(ast.parse((room / "__init__.py").read_text("utf-8"))) or ""
        assert len(re.findall(r"[.:;](?:\s|$)", docstring)) >= 2, room
        assert room.parent != core or f"`{room.name}/`" in plan


def test_the_tests_mirror_the_rooms() -> None:
    core, mirror = ROOT / "nightwatch_core", ROOT / "tests/core"
    rooms = {path.name for path in core.iterdir() if (path / "__init__.py").exists()}
    assert {path.name for path in mirror.iterdir() if any(path.glob("*.py"))} <= rooms
    neighbours = {path.name for path in (core / "adapters").iterdir() if path.is_dir()}
    tested = {path.name for path in (ROOT / "tests/adapters").iterdir() if any(path.glob("*.py"))}
    assert tested <= neighbours
