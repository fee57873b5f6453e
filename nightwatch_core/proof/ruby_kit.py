"""Ruby: RSpec, Rails' own runner, or minitest."""

import re
from collections.abc import Callable

from nightwatch_core.models.proposals import FileChange, Preparation
from nightwatch_core.proof.kit import Inspection, Kit, Runner, Words
from nightwatch_core.proof.template_checks import ERB

Read = Callable[[str], str | None]
_ENVIRONMENT = (
    ("BUNDLE_PATH", "/env/bundle"),
    ("BUNDLE_APP_CONFIG", "/tmp/bundle"),
    ("BUNDLE_FROZEN", "true"),
    ("RAILS_ENV", "test"),
)
_LOAD = "require File.expand_path(ARGV.shift) while ARGV[0] && !ARGV[0].start_with?('-')"
_MINITEST = ("ruby", "-Ilib:test:.", "-e", _LOAD)
_TEST = re.compile(r"(^|/)(test/.*_test|test/test_\w+|test/.*/test_\w+)\.rb$")
_SPEC = re.compile(r"(^|/)spec/.*_spec\.rb$")
_NEEDS = re.compile(r"^\s*gem\b", re.M)
_MANIFESTS = ("Gemfile", "Gemfile.lock", ".ruby-version")


def kit(root: str, paths: tuple[str, ...], read: Read) -> Kit | None:
    """How the project below `root` is tested; None where it has no tests."""
    inside = [path.removeprefix(root) for path in paths if path.startswith(root)]
    gemfile = read(f"{root}Gemfile") or ""
    bundled = ("bundle", "exec") if _NEEDS.search(gemfile) else ()
    runners: list[Runner] = []
    if any(map(_SPEC.search, inside)):
        runners.append(_runner("rspec", (*bundled, "rspec", "--no-color"), (), "rspec"))
    tests = tuple(sorted(filter(_TEST.search, inside)))
    if tests and "bin/rails" in inside:
        runners.append(_runner("rails test", ("ruby", "bin/rails", "test"), (), "minitest"))
    elif tests:
        runners.append(_runner("minitest", (*bundled, *_MINITEST), tests, "minitest"))
    if not runners:
        return None
    rails = ("ruby", "bin/rails", "runner")
    words = rails if "bin/rails" in inside else (*bundled, "ruby", "-Ilib:test:.", "-e")
    return Kit(
        "ruby",
        root,
        preparation=_preparation(root, read) if bundled else None,
        runners=tuple(runners),
        inspections=(Inspection("syntax", _checked, (".rb",)), ERB),
        environment=_ENVIRONMENT if bundled else (),
        snippet=lambda code: (*words, f"\n{code}"),  # never an option, or a file's name
    )


def _runner(name: str, words: Words, all_files: tuple[str, ...], form: str) -> Runner:
    return Runner(name, (*words, *all_files), lambda files: (*words, *files), form)


def _checked(files: tuple[str, ...]) -> Words:
    each = (
        'for one; do ruby -c "$one" 2>&1 >/dev/null | grep -m1 -oE "(syntax )?error.*|unexpected.*"'
    )
    return ("/bin/sh", "-c", f'{each} | sed "s|^|$one: |"; done; true', "sh", *files)


def _preparation(root: str, read: Read) -> Preparation:
    texts = {name: read(root + name) for name in _MANIFESTS}
    files = tuple(FileChange(path=name, text=text) for name, text in texts.items() if text)
    words = ("bundle", "install", "--quiet")
    return Preparation(language="ruby", files=files, words=words, environment=_ENVIRONMENT[:2])
