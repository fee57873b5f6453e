"""Confinement by a container, where a person has named the socket of an engine and an image.

The image brings the programs. Of this machine it is shown what was laid out for the run, read-only;
the engine is asked through its own client, and neither the client nor the socket is inside.
"""

import os
import secrets
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from nightwatch_core.adapters.sandbox.supervision import (
    CHANGES,
    DEVICES_MB,
    ENGINE_SECONDS,
    ENV,
    OPEN_FILES,
    TREE,
    WORK,
    Cell,
    run_bounded,
    runner,
)
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.proposals import Bounds, Run

NAME = "container"
_MB = 1024 * 1024
_SHOWN = (TREE, CHANGES, ENV, "/tools", "/etc/passwd", "/etc/group")
_CLIENTS = (  # where the socket stands, the program that speaks to it, how it is told
    ("DOCKER_HOST", "docker", ("--host",)),
    ("CONTAINER_HOST", "podman", ("--remote", "--url")),
)
_NO_HOME = ("env", "-i", "HOME=/nonexistent", "PATH=/usr/bin:/bin")  # its proxies would go inside
_STATE = ("inspect", "--format", "{{.State.Status}} {{.State.OOMKilled}}")
_ENDED = ("exited", "stopped")
_ROOT = Path("/").stat()
_IN_MEMORY = "tmpfs|devtmpfs|proc|sysfs|devpts|mqueue|cgroup2?"
LOOK = (  # walls and bounds are in force, not merely asked for; what we lay out can be read
    f'! test "$(stat -c %d:%i /)" = {_ROOT.st_dev}:{_ROOT.st_ino} && test -r /etc/passwd'
    " && grep -q '^NoNewPrivs:[[:space:]]*1$' /proc/self/status"
    " && grep -q '^CapBnd:[[:space:]]*0*$' /proc/self/status"
    f" && ! grep ' rw[, ]' /proc/mounts | grep -Evq '^[^ ]+ (/etc/[^ ]+ |[^ ]+ ({_IN_MEMORY}) )'"
    " && cd /sys/fs/cgroup"
    f" && cat pids.max pids/pids.max 2>/dev/null | grep -qx {Bounds().processes}"
    " && cat memory.max memory/memory.limit_in_bytes 2>/dev/null"
    f" | grep -qx {2 * Bounds().memory_mb * _MB}"
)


def start_words(cell: Cell, environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Return the command that runs the cell; raises `GiveUp`, with what to set, without engine."""
    client = _client(environment)
    if not cell.image:
        raise GiveUp("name an image that holds the project's programs: NIGHTWATCH_SANDBOX_IMAGE")
    if cell.image.startswith("-"):
        raise GiveUp("NIGHTWATCH_SANDBOX_IMAGE names no image")
    words = [*client, "run", "--name", f"nightwatch-{secrets.token_hex(8)}", *_walls(client)]
    words += [] if cell.network else ["--network", "none"]
    words += _bounds(cell.bounds)
    for mount in cell.mounts:
        if mount.target.startswith(_SHOWN):
            source = str(mount.source)
            if any(item in source for item in ',"\n'):
                raise GiveUp(
                    f"a container cannot be shown {source!a}: its name would be read as options"
                )
            ending = "" if mount.writable else ",readonly"
            words += ["--mount", f"type=bind,source={source},target={mount.target}{ending}"]
    for name, value in cell.environment.items():
        words += ["--env", f"{name}={value}"]
    ends_at = str(int(cell.bounds.seconds + ENGINE_SECONDS))  # should nobody be left to remove it
    ended = ("--entrypoint", "timeout", cell.image, "-s", "KILL", ends_at)
    return (*words, "--workdir", WORK, *ended, *cell.words)


def run_and_remove(
    words: Sequence[str], bounds: Bounds, enough: Callable[[], bool] | None = None
) -> Run:
    """Run what `start_words` gave; the container is killed and removed however that ends.

    Raises `GiveUp` where the engine did not run it, or did not remove it.
    """
    at = words.index("run")
    client, name = words[:at], words[at + 2]
    short = Bounds(seconds=ENGINE_SECONDS)
    try:
        run = run_bounded(words, bounds, enough, as_nobody=False)
        state = run_bounded((*client, *_STATE, name), short, as_nobody=False)
    finally:
        end = ("rm", "--force", "--volumes", name)
        removed = run_bounded((*client, *end), short, as_nobody=False)
    status, _, killed = state.output.strip().partition(" ")
    if run.ended == "exited" and status not in _ENDED:
        raise GiveUp(f"the engine ran no container: {' '.join(run.output.split())[-200:]}")
    if not removed.went_well:
        raise GiveUp(f"container {name} could not be removed: remove it by hand")
    if run.ended == "exited" and killed == "true":
        return run.model_copy(update={"ended": "took too much memory"})
    return run


def _client(environment: Mapping[str, str]) -> tuple[str, ...]:
    for variable, program, told in _CLIENTS:
        if address := environment.get(variable, ""):
            if not address.startswith("unix:///"):
                raise GiveUp(f"{variable} has to be a socket of this machine: unix:///…")
            if (client := shutil.which(program)) is None:
                raise GiveUp(f"{variable} is set, and {program} is not installed")
            return (*_NO_HOME, client, *told, address)
    raise GiveUp("no engine is named: set DOCKER_HOST or CONTAINER_HOST to its socket")


def _walls(client: tuple[str, ...]) -> list[str]:
    user = runner()
    own = ["--http-proxy=false"] if "--remote" in client else []  # podman alone knows them
    own += ["--userns", "keep-id"] if own and os.geteuid() else []
    return [
        *(*own, "--pull", "never", "--read-only", "--cap-drop", "ALL"),
        *("--security-opt", "no-new-privileges", "--user", f"{user}:{user}"),
        *("--hostname", "sandbox", "--no-healthcheck", "--log-driver", "none"),
        *("--stop-signal", "KILL", "--stop-timeout", "1"),
    ]


def _bounds(bounds: Bounds) -> list[str]:
    memory, data = 2 * bounds.memory_mb * _MB, bounds.memory_mb * _MB
    limits = {"cpu": bounds.cpu_seconds, "data": data, "fsize": bounds.file_mb * _MB}
    limits |= {"nofile": OPEN_FILES, "nproc": 16_384, "core": 0}  # pids-limit counts its own alone
    folders = {WORK: (bounds.work_mb, 1777), "/tmp": (bounds.temporary_mb, 1777)}
    folders |= {"/run": (1, 755), "/var/tmp": (1, 755)}  # that podman would open without bounds
    words = ["--memory", str(memory), "--memory-swap", str(memory), "--cpu-shares", "512"]
    words += ["--pids-limit", str(bounds.processes), "--shm-size", f"{DEVICES_MB}m"]
    for name, most in limits.items():
        words += ["--ulimit", f"{name}={most}:{most}"]
    for folder, (size, mode) in folders.items():
        words += ["--tmpfs", f"{folder}:rw,exec,nosuid,nodev,size={size}m,mode={mode}"]
    return words
