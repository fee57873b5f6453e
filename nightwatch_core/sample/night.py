"""The sample as a night reads it: its errors, and its repository unpacked from its history."""

import hashlib
import secrets
import shutil
from functools import cached_property
from pathlib import Path

from nightwatch_core import sample
from nightwatch_core.adapters.files.source import ErrorFiles
from nightwatch_core.adapters.git.checkout import Checkout
from nightwatch_core.adapters.git.command import Git, new_repository
from nightwatch_core.adapters.stores import atomic_files
from nightwatch_core.errors import GiveUp, StopTheNight


def sample_errors(folder: Path) -> ErrorFiles:
    """Unpack the records into `folder` and read them as any other export."""
    path = folder / sample.ERRORS
    records = sample.errors()
    if not path.is_file() or path.read_bytes() != records:
        atomic_files.write(path, records)
    return ErrorFiles((path,), name="sample")


class SampleCode(Checkout):
    """A `CodeHost` over a `git fast-import` stream, unpacked to a bare repository beside `folder`.

    A folder named by the stream's digest stands between, so that another stream is another
    repository. Branches that the delivery makes stay there.
    """

    def __init__(self, stream: bytes, folder: Path) -> None:
        digest = hashlib.sha256(stream).hexdigest()[:12]
        super().__init__(folder.parent / digest / folder.name)
        self._stream = stream

    @cached_property
    def git(self) -> Git:
        """Return the repository; raises `StopTheNight` where it cannot be unpacked."""
        if not self._folder.exists():
            self._unpack()
        return Git(self._folder.resolve())

    def _unpack(self) -> None:
        """Unpack beside the folder, then rename: nobody ever sees half of it."""
        new = self._folder.with_name(f".{self._folder.name}-{secrets.token_hex(8)}")
        try:
            new.mkdir(parents=True)
            new_repository(new, "main").run("fast-import", "--quiet", stdin=self._stream)
            new.rename(self._folder)
        except (GiveUp, OSError) as error:
            shutil.rmtree(new, ignore_errors=True)
            if not self._folder.exists():  # else another process was quicker
                raise StopTheNight(f"the sample cannot be unpacked: {error}") from error
