"""Where code is run that nobody has read."""

from functools import partial
from pathlib import Path

from nightwatch_core.adapters.sandbox.limits import TREE_BYTES, TREE_FILES
from nightwatch_core.adapters.sandbox.local_sandbox import LocalSandbox
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.code import Commit
from nightwatch_core.models.options import NightOptions, listed
from nightwatch_core.ports import LaysOut
from nightwatch_core.settings import Settings
from tasks.wiring import code_hosts, local


def sandbox(options: NightOptions, at: Settings) -> LocalSandbox:
    """The sandbox of this machine; nothing is looked at before something is to be run."""
    return LocalSandbox(
        at.state,
        partial(_lay_out, options, at),
        folders=tuple(Path(one).expanduser().resolve() for one in listed(options.sandbox_folders)),
        network=options.prepare_network,
        libraries=local.library_folders(options, at),
        image=options.sandbox_image,
    )


def _lay_out(options: NightOptions, at: Settings, commit: Commit, folder: Path) -> int:
    """The files as they are: what is run has to be what people will merge into."""
    reader = code_hosts.bare_code(options, at).reader(commit)
    if not isinstance(reader, LaysOut):
        raise GiveUp("its repository is not cloned here, so nothing of it can be run")
    return reader.lay_out(str(folder), TREE_BYTES, TREE_FILES)
