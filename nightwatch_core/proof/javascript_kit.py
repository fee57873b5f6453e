"""JavaScript and TypeScript: jest, vitest, mocha or Node's own runner, as package.json says."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from nightwatch_core.models.proposals import FileChange, Preparation
from nightwatch_core.proof.kit import MANIFEST_CHARACTERS, Inspection, Kit, Runner, Words

Read = Callable[[str], str | None]
_BIN = "node_modules/.bin"
_LOCKED: tuple[tuple[str, str], ...] = (  # a lock file, and what installs by it
    ("package-lock.json", "npm ci --no-audit --no-fund"),
    ("npm-shrinkwrap.json", "npm ci --no-audit --no-fund"),
    ("yarn.lock", "yarn install --frozen-lockfile --non-interactive"),
    ("pnpm-lock.yaml", "pnpm install --frozen-lockfile"),
    ("package.json", "npm install --no-audit --no-fund --no-package-lock"),
)
_RUNNERS: tuple[tuple[str, Words, str], ...] = (
    ("jest", (f"{_BIN}/jest", "--ci", "--verbose", "--colors=false"), "jest"),
    ("vitest", (f"{_BIN}/vitest", "run", "--reporter=tap-flat"), "tap"),
    ("mocha", (f"{_BIN}/mocha", "--reporter", "tap"), "tap"),
)
_NODE = ("node", "--test", "--test-reporter=tap")
_TEST = re.compile(r"(\.(test|spec)\.[cm]?[jt]sx?$)|(^|/)(tests?|__tests__)/.*\.[cm]?[jt]sx?$")
_PLAIN = (".js", ".mjs", ".cjs")


def kit(root: str, paths: tuple[str, ...], read: Read) -> Kit | None:
    """How the project below `root` is tested; None where package.json names no way."""
    package = _package(read(f"{root}package.json"))
    inside = {path.removeprefix(root) for path in paths if path.startswith(root)}
    needs = {**_table(package, "dependencies"), **_table(package, "devDependencies")}
    said = str(_table(package, "scripts").get("test", ""))
    runners = [_runner(*one) for one in _RUNNERS if one[0] in needs or one[0] in said]
    if "node --test" in said or (not runners and any(map(_TEST.search, inside))):
        runners.append(_runner("node --test", _NODE, "tap"))
    elif said and not runners and "no test specified" not in said:
        words = ("npm", "test", "--silent")
        runners.append(Runner("npm test", words, lambda _: words, ""))
    if not runners:
        return None
    return Kit(
        "javascript",
        root,
        preparation=_preparation(root, inside, read) if needs else None,
        runners=tuple(runners),
        inspections=(Inspection("syntax", _checked, _PLAIN),),
        links=((f"{root}node_modules", "/env/node_modules"),) if needs else (),
        snippet=_snippet,
    )


def _snippet(code: str) -> Words:
    module = ("--input-type=module",) if re.search(r"^\s*import\b(?!\s*\()", code, re.M) else ()
    return ("node", *module, f"--eval={code}")


def _runner(name: str, words: Words, form: str) -> Runner:
    return Runner(name, words, lambda files: (*words, *files), form)


def _checked(files: tuple[str, ...]) -> Words:
    each = (
        'for one; do node --check "$one" 2>&1 | grep -E "^[A-Za-z]*Error" | sed "s|^|$one: |"; done'
    )
    return ("/bin/sh", "-c", f"{each}; true", "sh", *files)


def _preparation(root: str, inside: set[str], read: Read) -> Preparation:
    lock, install = next(one for one in _LOCKED if one[0] in inside)
    names = dict.fromkeys(("package.json", lock, ".npmrc", ".yarnrc.yml", "pnpm-workspace.yaml"))
    texts = {name: read(root + name) if name in inside else None for name in names}
    files = tuple(FileChange(path=name, text=text) for name, text in texts.items() if text)
    script = f"{install} && mkdir -p node_modules && mv node_modules /env/"
    return Preparation(language="javascript", files=files, words=("/bin/sh", "-c", script))


def _package(text: str | None) -> Mapping[str, Any]:
    try:
        value = json.loads((text or "")[:MANIFEST_CHARACTERS])
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _table(value: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    inner = value.get(name)
    return inner if isinstance(inner, dict) else {}
