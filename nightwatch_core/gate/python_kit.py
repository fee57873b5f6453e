"""Python: pytest, Django's own runner, or unittest; ruff, flake8 and mypy where they are set up."""

import re
from collections.abc import Callable

from nightwatch_core.gate.kit import Inspection, Kit, Runner
from nightwatch_core.gate.limits import MANIFEST_CHARACTERS
from nightwatch_core.gate.python_needs import names_of, requirements
from nightwatch_core.gate.template_checks import DJANGO, JINJA
from nightwatch_core.models.proposal import FileChange
from nightwatch_core.models.sandbox import Preparation

Read = Callable[[str], str | None]
SHELF = "/env/python"
_LIST = "nightwatch-requirements.txt"
_INSTALL = ("python3", "-m", "pip", "install", "--quiet", "--no-cache-dir", "--target", SHELF)
_PYTEST = ("python3", "-m", "pytest", "-q", "-rfE", "--tb=short", "-p", "no:cacheprovider")
_SYNTAX = (
    "import sys\n"
    "for path in sys.argv[1:]:\n"
    "    try:\n"
    "        compile(open(path, 'rb').read(), path, 'exec', dont_inherit=True)\n"
    "    except SyntaxError as wrong:\n"
    "        print(f'{path}: {wrong.msg}')\n"
)
_IMPORTS = (
    "import importlib, os, sys\n"
    "sys.path[:0] = [name for name in ('src', '.')]\n"
    "settings, *files = sys.argv[1:]\n"
    "if settings:\n"
    "    os.environ.setdefault('DJANGO_SETTINGS_MODULE', settings)\n"
    "    try:\n"
    "        import django\n"
    "        django.setup()\n"
    "    except BaseException:\n"
    "        pass\n"
    "for path in files:\n"
    "    name = path.removeprefix('src/').removesuffix('.py').replace('/', '.')\n"
    "    try:\n"
    "        importlib.import_module(name.removesuffix('.__init__'))\n"
    "    except BaseException as wrong:\n"
    "        print(f'{path}: {type(wrong).__name__}: {str(wrong)[:200]}')\n"
)
_SNIPPET = (
    "import os, sys\n"
    "code, settings = sys.argv[1:]\n"
    "if settings:\n"
    "    os.environ.setdefault('DJANGO_SETTINGS_MODULE', settings)\n"
    "    import django\n"
    "    django.setup()\n"
    "sys.argv[1:] = []\n"
    "exec(compile(code, '<snippet>', 'exec'), {'__name__': '__main__'})\n"
)
_SETTINGS = re.compile(r"DJANGO_SETTINGS_MODULE['\"],\s*['\"]([\w.]+)")


def kit(root: str, paths: tuple[str, ...], read: Read) -> Kit | None:
    """How the project below `root` is tested; None where it has no tests."""
    inside = [path.removeprefix(root) for path in paths if path.startswith(root)]
    tests = [path for path in inside if re.search(r"(^|/)(test_\w+|\w+_test|tests)\.py$", path)]
    if not tests:
        return None
    configured = {name: (read(root + name) or "")[:MANIFEST_CHARACTERS] for name in _CONFIGURED}
    lines = requirements(root, paths, read)
    named, has_django = names_of(lines), "manage.py" in inside
    uses_pytest = "pytest" in named or _is_set_up("pytest", configured)
    if uses_pytest and "pytest" not in named:
        lines = (*lines, "pytest")
    source = ":/work/src" if any(path.startswith("src/") for path in inside) else ""
    runners = (
        *((_pytest(), _pytest_alone()) if uses_pytest else ()),
        *((_django(),) if has_django else ()),
        *((_unittest(),) if not has_django else ()),
    )
    settings = _settings(read(f"{root}manage.py") or "" if has_django else "")
    return Kit(
        "python",
        root,
        preparation=_preparation(lines),
        runners=runners,
        inspections=(
            _SYNTAX_CHECK,
            _imports(settings),
            DJANGO if has_django else JINJA,
            *(one for name, one in _TOOLS if _is_set_up(name, configured)),
        ),
        environment=(
            ("PYTHONPATH", f"/work/{root}{source}:{SHELF}"),
            ("PYTHONDONTWRITEBYTECODE", "1"),
            ("PYTHONHASHSEED", "0"),
        ),
        snippet=lambda code: ("python3", "-c", _SNIPPET, code, settings),
    )


def _settings(manage: str) -> str:
    """The module of Django's settings that `manage.py` names; empty where there is none."""
    named = _SETTINGS.search(manage[:MANIFEST_CHARACTERS])
    return named[1] if named else ""


def _imports(settings: str) -> Inspection:
    """Whether files can be imported; those of tests are left to what runs them."""
    words = ("python3", "-c", _IMPORTS, settings)
    return Inspection("imports", lambda files: (*words, *files), (".py",), of_tests=False)


def _preparation(lines: tuple[str, ...]) -> Preparation | None:
    if not lines:
        return None
    listed = FileChange(path=_LIST, text="".join(f"{line}\n" for line in lines))
    return Preparation(language="python", files=(listed,), words=(*_INSTALL, "-r", _LIST))


def _pytest() -> Runner:
    return Runner("pytest", _PYTEST, lambda files: (*_PYTEST, *files), "pytest")


def _pytest_alone() -> Runner:
    """Without the options of the project, which may name plugins that are not here."""
    words = (*_PYTEST, "-o", "addopts=")
    name, usage_error = "pytest without its addopts", 4
    return Runner(name, words, lambda files: (*words, *files), "pytest", usage_error)


def _django() -> Runner:
    words = ("python3", "manage.py", "test", "--noinput")
    return Runner("manage.py test", words, lambda files: (*words, *map(_dotted, files)), "unittest")


def _unittest() -> Runner:
    words = ("python3", "-m", "unittest")
    return Runner("unittest", words, lambda files: (*words, *map(_dotted, files)), "unittest")


def _dotted(path: str) -> str:
    return path.removesuffix(".py").replace("/", ".")


_CONFIGURED = ("pyproject.toml", "setup.cfg", "pytest.ini", "tox.ini", "mypy.ini", "ruff.toml",
               ".ruff.toml", ".flake8", "conftest.py", "tests/conftest.py")  # fmt: skip
_MARKS = {
    "pytest": r"^\[(tool\.)?(tool:)?pytest",
    "ruff": r"^\[tool\.ruff|^(line-length|select|lint)\b",
    "flake8": r"^\[flake8\]",
    "mypy": r"^\[(tool\.)?mypy\]",
}
_OWN_FILES = {
    "pytest": ("pytest.ini", "conftest.py", "tests/conftest.py"),
    "ruff": ("ruff.toml", ".ruff.toml"),
    "flake8": (".flake8",),
    "mypy": ("mypy.ini",),
}


def _is_set_up(tool: str, configured: dict[str, str]) -> bool:
    if any(configured[name] for name in _OWN_FILES[tool]):
        return True
    shared = ("pyproject.toml", "setup.cfg", "tox.ini")
    return any(re.search(_MARKS[tool], configured[name], re.M) for name in shared)


_SYNTAX_CHECK = Inspection("syntax", lambda files: ("python3", "-c", _SYNTAX, *files), (".py",))
_TOOLS = (
    (
        "ruff",
        Inspection(
            "lint",
            lambda files: (*("python3", "-m", "ruff", "check", "-q", "--no-cache"),
                           *("--output-format", "concise", *files)),
            (".py",),
        ),
    ),
    ("flake8", Inspection("lint", lambda files: ("python3", "-m", "flake8", *files), (".py",))),
    (
        "mypy",
        Inspection(
            "types",
            lambda files: ("python3", "-m", "mypy", "--no-error-summary", "--cache-dir",
                           "/tmp/mypy", *files),
            (".py",),
        ),
    ),
)  # fmt: skip
