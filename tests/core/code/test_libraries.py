"""Tests of lock files: one version a package, in the form of each tool."""

import pytest

from nightwatch_core.code.libraries import locked_version

LOCKS = {
    "uv.lock": '[[package]]\nname = "flask-login"\nversion = "0.6.3"\n',
    "a/poetry.lock": '[[package]]\nname = "Jinja2"\nversion = "3.1.4"\ndescription = ""\n',
    "requirements/base.txt": "# pins\nDjango == 5.1.2 ; python_version > '3'\nDjango-extra==9\n",
    "package-lock.json": '{"packages": {"node_modules/@a/b": {\n  "version": "1.2.3"}}}',
    "web/yarn.lock": '"lodash@^4.0.0", lodash@^4.1:\n  version "4.17.21"\n',
    "web/pnpm-lock.yaml": "packages:\n\n  /axios@1.6.0:\n    resolution: {}\n",
    "Gemfile.lock": "GEM\n  specs:\n    rack (2.2.8)\n      other (>= 1)\n",
    "go.mod": "module x\n\nrequire (\n\tgithub.com/gin-gonic/gin v1.9.1\n)\n",
    "composer.lock": '{"packages": [{"name": "laravel/framework",\n "version": "v10.1.0"}]}',
    "node_modules/x/yarn.lock": 'left@1:\n  version "1"\n',
}


@pytest.mark.parametrize(
    ("ecosystem", "package", "version"),
    [
        ("python", "Flask_Login", "0.6.3"),
        ("python", "jinja2", "3.1.4"),
        ("python", "django", "5.1.2"),
        ("javascript", "@a/b", "1.2.3"),
        ("javascript", "lodash", "4.17.21"),
        ("javascript", "axios", "1.6.0"),
        ("javascript", "left", ""),
        ("ruby", "rack", "2.2.8"),
        ("ruby", "other", ""),
        ("go", "github.com/gin-gonic/gin", "v1.9.1"),
        ("php", "laravel/framework", "10.1.0"),
        ("python", "rack", ""),
        ("python", ".*", ""),
        ("javascript", "(", ""),
    ],
)
def test_the_locked_version_is_read(ecosystem, package, version):
    assert locked_version(ecosystem, package, LOCKS, LOCKS.get)[0] == version


def test_hostile_lock_files_are_read_in_time():
    hostile = {
        "uv.lock": '[[package]]\nname = "a"\n' * 50_000,
        "Pipfile.lock": '"a": {' * 100_000,
        "web/yarn.lock": "a@" * 500_000,
        "package-lock.json": '"a": {' + " " * 1_000_000,
    }
    for ecosystem in ("python", "javascript"):
        assert locked_version(ecosystem, "a", hostile, hostile.get) == ("", "")
