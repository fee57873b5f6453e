"""Git writes no file that would fill the disk."""

import os
import subprocess
import sys

import pytest

from nightwatch_core.adapters.git.command import start


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds another process's files")
@pytest.mark.parametrize(("largest", "is_kept"), [(10_000, False), (10_000_000, True)])
def test_a_file_that_gets_too_large_ends_git(tmp_path, largest, is_kept):
    subprocess.run(("git", "init", "-q", "--bare", str(tmp_path)), check=True)
    place, pipe = {"GIT_DIR": str(tmp_path)}, subprocess.PIPE
    process = start(tmp_path, ("hash-object", "-w", "--stdin"), pipe, pipe, place, largest)
    process.communicate(os.urandom(1_000_000))
    assert (process.returncode == 0) is is_kept
