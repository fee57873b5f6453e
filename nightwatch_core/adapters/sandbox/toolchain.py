"""The programs of this machine that a confined one may use: read-only, and nothing else."""

import os
import sys
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from nightwatch_core.adapters.sandbox.cell import Mount

_SYSTEM = ("/usr",)
_FEW = (  # of /etc and /var: what programs cannot do without
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/mime.types",
    "/usr/share/zoneinfo",
    "/var/lib/gems",
)
_NETWORK = ("/etc/resolv.conf", "/etc/nsswitch.conf")
_PATH = ("/usr/local/bin", "/usr/bin", "/bin")


class Toolchain:
    """Folders of programs; those a `user` may not enter are left out."""

    def __init__(self, named: Sequence[Path], user: int, image: str = "") -> None:
        """Take folders that a person has named, besides the system's; `image`: of a container."""
        self.image = image
        self._named, self._user = tuple(named), user

    @cached_property
    def mounts(self) -> tuple[Mount, ...]:
        """Everything that is seen in every run."""
        named = (*self._own, *(one for one in self._named if one.is_dir()))
        listed = (*map(Path, (*_SYSTEM, *_FEW)), *named)
        return tuple(Mount(one, str(one)) for one in listed if one.exists() and not _inside(one))

    @cached_property
    def network(self) -> tuple[Mount, ...]:
        """What a program needs besides to look names up."""
        files = (Path(one) for one in _NETWORK)
        return tuple(Mount(one.resolve(), str(one)) for one in files if one.exists())

    @cached_property
    def path(self) -> str:
        """Where programs are looked for, dependencies first."""
        named = (str(one / "bin") for one in (*self._own, *self._named) if (one / "bin").is_dir())
        return ":".join(("/env/bin", *named, *_PATH))

    @cached_property
    def programs(self) -> frozenset[str]:
        """Names of the programs that can be started."""
        names: set[str] = set()
        for folder in self.path.split(":")[1:]:
            if Path(folder).is_dir():
                names.update(one.name for one in Path(folder).iterdir())
        return frozenset(names)

    @cached_property
    def python(self) -> str:
        """The first Python there is, by name and version: python3.12; empty where there is none."""
        places = (Path(folder) / "python3" for folder in self.path.split(":")[1:])
        return next((one.resolve().name for one in places if one.exists()), "")

    @cached_property
    def _own(self) -> tuple[Path, ...]:
        """The Python that runs us, where it is not the system's and may be entered."""
        own = Path(sys.base_prefix).resolve()
        if own.is_relative_to("/usr") or not may_enter(own, self._user):
            return ()
        return (own,)


def _inside(folder: Path) -> bool:
    """Whether the system's folders show it already."""
    return any(folder != Path(one) and folder.is_relative_to(one) for one in _SYSTEM)


def may_enter(folder: Path, user: int) -> bool:
    """Tell whether a user who is in no group of its owners may walk to it."""
    if user == os.geteuid():
        return os.access(folder, os.R_OK | os.X_OK)
    return all(one.stat().st_mode & 0o005 == 0o005 for one in (folder, *folder.parents))
