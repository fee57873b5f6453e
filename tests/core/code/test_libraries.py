"""Tests of lock files: one version a package, in the form of each tool."""

import pytest
from tables import tables_of

from nightwatch_core.code.libraries import locked_version

TABLES = tables_of(__file__)

LOCKS = TABLES["locks"]


@pytest.mark.parametrize(("ecosystem", "package", "version"), TABLES["the_locked_version_is_read"])
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
