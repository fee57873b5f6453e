"""The READMEs are true: tables, commands, paths, examples and the excerpt of the sample night.

`python tests/test_readme.py` writes the tables between the markers anew.
"""

import importlib
import pkgutil
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer
import yaml
from bundles.golden_bundles import clean_environment
from pydantic_core import PydanticUndefined

from flows.commands.app import VERBS, app
from nightwatch_core.adapters.files import logs as line_shapes
from nightwatch_core.adapters.files import shapes
from nightwatch_core.adapters.files.shapes.described import Shape
from nightwatch_core.adapters.files.shapes.table import SHAPES
from nightwatch_core.adapters.files.source import ErrorFiles
from nightwatch_core.analysis import agent_specs
from nightwatch_core.intake.ignore_rules import rules_from
from nightwatch_core.models.conversation import TOOLS
from nightwatch_core.models.options import OF_A_RUN, SECTIONS, NightOptions
from nightwatch_core.models.report import EXIT_CODES, Efficiency
from nightwatch_core.settings import Settings, names
from nightwatch_core.traces import grammar
from tasks.wiring import DEFAULT_MODEL, services

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
EXAMPLE = ROOT / ".env.example"
DEPLOYING = ROOT / "deployments/README.md"
MEMORY = ROOT / "knowledge/README.md"
AGENTS = ROOT / "agents/README.md"
HOUSE = ROOT / "nightwatch_core/README.md"
FILES = ROOT / "nightwatch_core/adapters/files/README.md"
DOCUMENTS = (README, DEPLOYING, MEMORY, AGENTS, HOUSE, FILES, ROOT / "CHANGELOG.md")
MADE_BY_A_RUN = (
    *(".nightwatch/", "knowledge/index.yml", "knowledge/archive/", "knowledge/quarantine/"),
    *("outbox/", "report.", "nightwatch.toml"),
)
LANGUAGES = {
    "python": "Python",
    "java": "Java",
    "go": "Go",
    "ruby": "Ruby",
    "php": "PHP",
    "csharp": "C#",
    "javascript": "JavaScript",
    "rust": "Rust",
    "elixir": "Elixir",
}


KEYS = {
    field: f"`[{name}] {key}`" for name, keys in SECTIONS.items() for key, field in keys.items()
}


def options_table() -> str:
    """Every choice of a night: key, setting, flag, default, meaning."""
    rows = [
        (
            "" if name in OF_A_RUN else KEYS[name],
            "of a run" if name in OF_A_RUN else f"`NIGHTWATCH_{name.upper()}`",
            f"`--{name.replace('_', '-')}`",
            _default(field.default),
            field.description or "",
        )
        for name, field in NightOptions.model_fields.items()
    ]
    return _table(("Key", "Setting", "Flag", "Default", "Meaning"), rows)


def settings_table() -> str:
    """Every other setting: folders, addresses and secrets."""
    rows = [
        (
            "" if "SecretStr" in str(field.annotation) else KEYS.get(name, ""),
            f"`{field.alias}`",
            "the checkout" if name == "home" else _default(field.default),
            field.description or "",
        )
        for name, field in Settings.model_fields.items()
    ]
    return _table(("Key", "Setting", "Default", "Meaning"), rows)


def shapes_table() -> str:
    """Every module of shapes: what it says of itself, and its shapes by the names people see."""
    rows = []
    for module in (*shape_modules(), line_shapes):
        names = dict.fromkeys(shape.name for shape in shapes_in(module) if shape.name)
        file = module.__name__.removeprefix("nightwatch_core.adapters.files.").replace(".", "/")
        rows.append(((module.__doc__ or "").strip().rstrip("."), ", ".join(names), f"`{file}.py`"))
    return _table(("What is read", "Names of its shapes", "Module"), rows)


def shape_modules() -> list[ModuleType]:
    """The modules that bring shapes, by their names."""
    names = [module.name for module in pkgutil.iter_modules(shapes.__path__, f"{shapes.__name__}.")]
    return [module for module in map(importlib.import_module, names) if shapes_in(module)]


def shapes_in(module: ModuleType) -> list[Any]:
    """The shapes of documents, or of lines, in the tables of a module."""
    kinds = (Shape, line_shapes.LineShape)
    tables = [value for value in vars(module).values() if isinstance(value, tuple)]
    own = [table for table in tables if table is not SHAPES]
    return [item for table in own for item in table if isinstance(item, kinds)]


# What stands between which markers of which document.
BLOCKS = {
    "options": (DEPLOYING, options_table),
    "settings": (DEPLOYING, settings_table),
    "shapes": (FILES, shapes_table),
}


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join(f"| {' | '.join(_cell(cell) for cell in line)} |\n" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _default(value: object) -> str:
    if value in (None, "", PydanticUndefined):
        return ""
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _block(name: str) -> re.Pattern[str]:
    return re.compile(rf"(<!-- {name} -->\n)(.*?)(<!-- /{name} -->)", re.DOTALL)


def rewrite() -> None:
    """Put the tables between their markers."""
    for name, (document, make) in BLOCKS.items():
        before, first, _, last, after = _block(name).split(document.read_text(encoding="utf-8"))
        document.write_text("".join((before, first, make(), last, after)), encoding="utf-8")


def rewrite_example() -> None:
    """Put the options and settings into `.env.example`, each commented out."""
    head = EXAMPLE.read_text(encoding="utf-8").partition("\n# --- ")[0]
    options = [
        (field.description, f"NIGHTWATCH_{name.upper()}", field.default)
        for name, field in NightOptions.model_fields.items()
        if name not in OF_A_RUN
    ]
    rest = [
        (field.description, field.alias, "" if name == "home" else field.default)
        for name, field in Settings.model_fields.items()
    ]
    parts = (
        "# --- One night's choices: also flags of `nightwatch night` and parameters of the flow "
        "nightly ---",
        *(_setting(*each) for each in options),
        "# --- Folders, addresses and secrets ---",
        *(_setting(*each) for each in rest),
    )
    EXAMPLE.write_text("\n\n".join((head.rstrip(), *parts)) + "\n", encoding="utf-8")


def _setting(description: object, name: object, default: object) -> str:
    return f"# {description}\n# {name}={_default(default).strip('`')}"


def fences(document: Path) -> list[tuple[str, str]]:
    """Language and text of every fenced block."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", document.read_text(encoding="utf-8"), re.S | re.M)
    return [(language, text) for language, text in found]


def spans(document: Path) -> list[str]:
    """Inline code outside fenced blocks."""
    text = re.sub(r"^```.*?^```$", "", document.read_text(encoding="utf-8"), flags=re.S | re.M)
    return re.findall(r"`([^`\n]+)`", text)


def commands(document: Path) -> Iterator[list[str]]:
    """Every command line that the document shows, as words; continued lines are joined."""
    shown = [text for language, text in fences(document) if language == "sh"]
    lines = "\n".join(shown).replace("\\\n", " ").splitlines()
    for line in (*lines, *spans(document)):
        for part in re.split(r" \| | && ", line.partition("  #")[0]):
            try:
                words = shlex.split(part)
            except ValueError:
                continue
            while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
                words.pop(0)
            if words:
                yield [Path(words[0]).name, *words[1:]]


def tables(document: Path) -> str:
    return "\n".join(
        line for line in document.read_text(encoding="utf-8").splitlines() if line.startswith("|")
    )


@pytest.mark.parametrize("name", list(BLOCKS))
def test_the_tables_are_what_the_code_says(name: str) -> None:
    document, make = BLOCKS[name]
    block = _block(name).search(document.read_text(encoding="utf-8"))
    assert block, f"the markers of {name} are gone"
    assert block[2] == make(), "run python tests/test_readme.py"


def test_every_shape_that_a_module_brings_is_tried() -> None:
    brought = {id(shape) for module in shape_modules() for shape in shapes_in(module)}
    assert brought == {id(shape) for shape in SHAPES}


def test_every_service_is_described_and_so_is_every_setting_it_needs() -> None:
    text = README.read_text(encoding="utf-8")
    needed = {name for groups in services.NEEDED.values() for group in groups for name in group}
    assert set(services.NEEDED) == set().union(*services.SERVICES.values())
    assert not {name for name in needed if f"`{name}`" not in text}


def test_every_setting_is_read_by_somebody() -> None:
    rooms = ("flows", "tasks", "nightwatch_core")
    files = [path for room in rooms for path in (ROOT / room).rglob("*.py")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    assert not [name for name in Settings.model_fields if f".{name}" not in text]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.parent.name + path.name)
def test_every_make_target_and_variable_exists(document: Path) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.M))
    variables = set(re.findall(r"\$\(([A-Z]+)\)", makefile)) | {"NIGHTWATCH_STATE"}
    for word, *rest in commands(document):
        if word == "make" and rest:
            named = {part.partition("=")[0] for part in rest if "=" in part}
            assert {part for part in rest if "=" not in part} <= targets, rest
            assert named <= variables, rest
            flags = " ".join(part.removeprefix("ARGS=") for part in rest if "ARGS=" in part)
            _check(_cli(), ["night", *flags.split()])


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.parent.name + path.name)
def test_every_nightwatch_command_and_flag_exists(document: Path) -> None:
    for word, *rest in commands(document):
        if word == "nightwatch" and rest:
            _check(_cli(), rest)


def test_the_readme_names_every_verb() -> None:
    shown = {rest[0] for word, *rest in commands(README) if word == "nightwatch" and rest}
    assert shown >= set(VERBS)


def _cli() -> Any:
    return typer.main.get_command(app())


def _check(command: Any, words: list[str]) -> None:
    while hasattr(command, "commands") and words and not words[0].startswith("-"):
        assert words[0] in command.commands, words
        command, words = command.commands[words[0]], words[1:]
    flags = {flag for parameter in command.params for flag in parameter.opts}
    flags |= {flag for parameter in command.params for flag in parameter.secondary_opts}
    used = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
    assert used <= flags | {"--help"}, words


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.parent.name + path.name)
def test_every_path_and_link_exists(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)
    assert not [link for link in links if not (document.parent / link).exists()]
    paths = [span for span in spans(document) if _is_path(span)]
    assert document.name == "CHANGELOG.md" or paths
    missing = [
        path
        for path in paths
        if not path.startswith(MADE_BY_A_RUN)
        and not any(list(folder.glob(path.rstrip("/"))) for folder in (document.parent, ROOT))
    ]
    assert not missing


def _is_path(span: str) -> bool:
    is_file = re.fullmatch(r"[\w.*-]+(?:/[\w.*<>-]+)*\.(?:py|md|ya?ml|toml|txt|sh)", span)
    return bool(is_file or re.fullmatch(r"(?:[\w.*-]+/)+", span))


def differences() -> list[list[str]]:
    """Design, today and reason of every row of "Differences from the first design"."""
    part = HOUSE.read_text(encoding="utf-8").partition("## Differences from the first design")[2]
    rows = [line for line in part.splitlines() if line.startswith("| ")][2:]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def test_what_the_differences_name_exists() -> None:
    night = _cli().commands["night"]
    flags = {flag for parameter in night.params for flag in parameter.opts}
    fields = {*NightOptions.model_fields, *agent_specs.FrontMatter.model_fields}
    figures = {"accounts.efficiency", *Efficiency.model_fields}
    known = {*names(), *flags, *VERBS, *fields, *figures, *TOOLS, *services.PRICES}
    rows = differences()
    assert len(rows) > 30
    assert not [row for row in rows if len(row) != 3 or not (row[0] and row[1])]
    for _, today, reason in rows:
        for span in re.findall(r"`([^`]+)`", f"{today} {reason}"):
            is_command = span.split()[0] in ("nightwatch", "make")  # tried by the tests above
            is_there = is_command or span in known or _is_path(span)
            assert is_there, span
    assert f"| `{DEFAULT_MODEL}`, by setting" in tables(HOUSE)


def test_every_variable_of_the_design_that_is_read_otherwise_has_its_row() -> None:
    text = tables(HOUSE)
    switches = [f"NIGHTWATCH_{name}_ENABLED" for name in ("COMPOUND", "AGENTS", "PATTERNS")]
    budgets = ["TOKEN_BUDGET_PER_ERROR", "TOTAL_TOKEN_BUDGET", "MAX_ITERATIONS", "USE_COMPACTION"]
    for name in (*switches, *(f"NIGHTWATCH_{name}" for name in budgets)):
        assert f"`{name}`" in text


def test_links_to_headings_lead_somewhere() -> None:
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        for path, head in re.findall(r"\]\(([^)#]*)#([^)]+)\)", text):
            assert head in _heads(document.parent / path if path else document), (document, head)


def _heads(document: Path) -> set[str]:
    return {
        re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-")
        for head in re.findall(r"^#+ (.+)$", document.read_text(encoding="utf-8"), re.M)
    }


def test_the_examples_of_records_are_read(tmp_path: Path) -> None:
    examples = [text for language, text in fences(README) if language in ("json", "text")]
    records = [text for text in examples if "Traceback" in text]
    assert len(records) == 1
    for number, text in enumerate(records):
        file = tmp_path / f"{number}.log"
        file.write_text(text, encoding="utf-8")
        source = ErrorFiles((file,))
        fetched = source.error_groups(source.window(None, datetime(2030, 1, 1, tzinfo=UTC)))
        assert [(g.error_class, g.occurrences) for g in fetched.groups] == [("KeyError", 1)]
        top = source.traces(fetched.groups[0])[0].top
        assert top
        assert top.path.endswith("cart.py")
        assert not fetched.rejects
        assert not fetched.partial


def test_the_readme_names_what_there_is() -> None:
    text = README.read_text(encoding="utf-8")
    assert set(LANGUAGES) == grammar.LANGUAGES.keys() - {"other"}
    assert not [name for name in LANGUAGES.values() if name not in text]
    agents = AGENTS.read_text(encoding="utf-8")
    assert not [key for key in agent_specs.FrontMatter.model_fields if f"`{key}`" not in agents]
    for status, code in EXIT_CODES.items():
        assert re.search(rf"^\| {code} \| {status}", tables(README), re.M)


def test_the_ignore_rule_of_the_readme_is_one() -> None:
    (rule,) = [text for language, text in fences(MEMORY) if language == "yaml"]
    rules = rules_from(yaml.safe_dump({"ignore": yaml.safe_load(rule)}))
    assert len(rules.rules) == 1
    assert not rules.complaints


def test_the_settings_file_of_the_readme_is_one() -> None:
    (file,) = [text for language, text in fences(DEPLOYING) if language == "toml"]
    for section, given in tomllib.loads(file).items():
        assert set(given) <= set(SECTIONS[section])


def test_nothing_of_a_machine_or_of_marketing_is_in_it() -> None:
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        assert not re.search(r"/root\b|/work\b|localhost:8\d|blazing|powerful|seamless", text)
        assert not re.search("[\U0001f300-\U0001faff]", text)


def excerpt() -> list[str]:
    """The lines of the sample night that the README shows, without those that stand for gaps."""
    (block,) = [text for _, text in fences(README) if "The sample night" in text]
    lines = (line.rstrip() for line in block.splitlines())
    return [line for line in lines if line and line.strip() != "[…]"]


@pytest.mark.slow
@pytest.mark.needs("sandbox")
def test_the_excerpt_is_what_the_sample_night_prints(tmp_path: Path) -> None:
    environment = {**clean_environment(tmp_path), "COLUMNS": "100"}
    done = subprocess.run(
        [sys.executable, str(ROOT / "flows/nightly.py")],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    printed = [line.rstrip() for line in done.stdout.splitlines()]
    assert not [line for line in excerpt() if line not in printed]
    readme = (ROOT / "README.md").read_text("utf-8")
    asked = re.findall(r'bin/nightwatch ((?:knowledge search|learnings) "[^"]+")', readme)
    assert len(asked) == 2
    for command in asked:  # what was just learned is found
        code = ("-c", "from flows.commands.app import main; main()", *shlex.split(command))
        found = subprocess.run(
            [sys.executable, *code], env=environment, capture_output=True, text=True, cwd=ROOT
        )
        assert "AttributeError" in found.stdout, found.stdout + found.stderr


if __name__ == "__main__":
    rewrite()
    rewrite_example()
