"""What a program in the sandbox tries, and does not come to: with bubblewrap and with unshare.

Run as root (who becomes nobody) or as anybody; `test_nobody_can_run_them` does the other.
"""

import ctypes
import os
import platform
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pytest
from adapters.sandbox import cells
from adapters.sandbox.cells import COMMIT, command, running, shell
from machine import needs

# one at a time: the bombs of one take the processes that its user may have from another
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("sandbox holds")]
SECRET = "canary-6f1c2a"
CANARY = f"nightwatch-canary-{os.getpid()}"  # several processes test at once
QUICK = "secrets or host or links or written or reached or powers or bomb or nobody or key or owns"
TREE = {"a.txt": "hello\n", "link": "->/etc/shadow", "up": "->../../../../etc/hostname"}

_CALLS = "import ctypes, os, socket\ncall = ctypes.CDLL(None, use_errno=True)\n"
MARK = 7_000_000 + os.getpid()  # another one than that of tests that run at the same time


def python(text, **bounds):
    return command("python3", "-c", text, **bounds)


@pytest.fixture(scope="module", params=["bubblewrap", "unshare"])
def sandbox(request, tmp_path_factory):
    state = tmp_path_factory.mktemp("state")
    needs(request.param)
    made = cells.sandbox(state, TREE, rung=request.param)
    yield made
    made.close()


@pytest.fixture(scope="module")
def attempt(sandbox):
    return lambda command: sandbox.run(COMMIT, (), command)


@pytest.fixture
def host(monkeypatch):
    """A host with a secret in its environment, a file for everybody, and servers of three kinds."""
    monkeypatch.setenv("GITHUB_TOKEN", SECRET)
    file, path = Path(f"/tmp/{CANARY}"), f"/tmp/{CANARY}.sock"
    file.write_text(SECRET)
    file.chmod(0o644)
    Path(path).unlink(missing_ok=True)
    with (
        socket.socket() as tcp,
        socket.socket(socket.AF_UNIX) as unix,
        socket.socket(socket.AF_UNIX) as abstract,
    ):
        tcp.bind(("127.0.0.1", 0))
        unix.bind(path)
        abstract.bind(f"\0{CANARY}")
        for server in (tcp, unix, abstract):
            server.listen()
        Path(path).chmod(0o777)
        yield tcp.getsockname()[1], path
    file.unlink()
    Path(path).unlink()


def connects(kind, address):
    return python(
        f"import socket\ns = socket.socket({kind})\ns.settimeout(3)\ns.connect({address!r})"
    )


def test_it_works_in_a_copy_of_the_tree_and_nothing_of_it_stays(attempt):
    run = attempt(shell("cat a.txt; echo changed > a.txt; echo new > b.txt; pwd"))
    assert (run.code, run.ended, run.output) == (0, "exited", "hello\n/work\n")
    assert attempt(shell("cat a.txt; ls")).output.split() == ["hello", "a.txt", "link", "up"]


def test_neither_environment_nor_other_processes_tell_secrets(attempt, host):
    run = attempt(shell("env; cat /proc/*/environ /proc/*/cmdline | tr '\\0' '\\n'; ls /proc"))
    assert SECRET not in run.output
    assert str(os.getpid()) not in run.output.split()
    assert len([line for line in run.output.split() if line.isdigit()]) < 10


def test_no_file_of_the_host_is_there(attempt, host):
    places = f"/tmp/{CANARY} /mnt/* /etc/shadow /root /home /var/log /var/lib/dpkg /sys /run"
    run = attempt(
        shell(f"for one in {places}; do test -e $one && echo seen $one; done; ls /proc/1/root/")
    )
    assert "seen" not in run.output
    assert "root" not in run.output.split()


def test_links_of_the_tree_lead_nowhere(attempt):
    run = attempt(shell("cat link up; ls -l link"))
    assert sum(run.output.count(item) for item in ("No such file", "Permission denied")) == 2
    assert "/etc/shadow" in run.output


def test_what_it_sees_cannot_be_written(attempt):
    places = (
        "/usr/x",
        "/x",
        "/etc/x",
        "/dev/x",
        "/tree/x",
        "/changes/x",
        "/usr/local/bin/x",
        "/etc/passwd",
    )
    run = attempt(
        shell("".join(f"echo x 2>/dev/null > {place} && echo wrote;" for place in places))
    )
    assert "wrote" not in run.output
    assert not Path("/usr/x").exists()
    assert (
        attempt(shell("mount -o remount,rw /usr && echo wrote; umount /usr && echo gone")).code != 0
    )


def test_nothing_is_reached(attempt, host):
    port, path = host
    for kind, address in (
        ("socket.AF_INET", ("127.0.0.1", port)),
        ("socket.AF_INET", ("1.1.1.1", 443)),
        ("socket.AF_INET", ("169.254.169.254", 80)),
        ("socket.AF_UNIX", path),
        ("socket.AF_UNIX", f"\0{CANARY}"),
    ):
        run = attempt(connects(kind, address))
        assert run.code == 1, address
        assert "Error" in run.output
    assert (
        "gaierror" in attempt(python("import socket; socket.getaddrinfo('example.com', 80)")).output
    )


def test_a_server_of_its_own_on_loopback_can_be_reached(sandbox, attempt):
    if "unshare" in sandbox.confinement() and not shutil.which("ip"):
        pytest.skip("without `ip` loopback stays down")
    text = (
        "import socket\ns = socket.socket(); s.bind(('localhost', 0)); s.listen()\n"
        "socket.create_connection(s.getsockname(), 3); print('reached')"
    )
    assert "reached" in attempt(python(text)).output


def test_memory_is_bounded_for_one_and_for_all(sandbox, attempt):
    alone = attempt(python("x = bytearray(3 << 30); print('had it')", memory_mb=512))
    assert "MemoryError" in alone.output
    hold = "x = bytearray(b'x') * (400 << 20); import time; time.sleep(9)"
    many = (
        f"import subprocess, sys\nwords = [sys.executable, '-c', {hold!r}]\n"
        "ps = [subprocess.Popen(words) for _ in range(4)]\nprint([p.wait() for p in ps])"
    )
    together = attempt(python(many, memory_mb=512, seconds=60))
    assert together.ended == "used too much memory"


HELD = {  # what is held beside a process's own memory, and how many MB at most
    "tmpfs": (3 * 64, "for place in ('/tmp', '/work', '/dev/shm'):\n"
              "    with suppress(OSError), open(f'{place}/x', 'wb', 0) as file:\n"
              "        while True: held += file.write(b'x' * 65536)"),
    "System V": (256, "while call.shmget(0, 65536, 0o600) >= 0: held += 65536"),
    "pipes": (128, "with suppress(OSError):\n"
              "    while True:\n"
              "        end = os.pipe()[1]; os.set_blocking(end, False)\n"
              "        with suppress(BlockingIOError):\n"
              "            while True: held += os.write(end, b'x' * 65536)"),
    "stacks": (512, "threading.stack_size(64 << 20); stop = threading.Event()\n"
               "with suppress(RuntimeError):\n"
               "    while True:\n"
               "        threading.Thread(target=stop.wait, daemon=True).start(); held += 64 << 20"),
}  # fmt: skip


@pytest.mark.parametrize("kind", list(HELD))
def test_what_no_look_at_a_process_counts_or_owns_is_bounded(attempt, kind):
    most, text = HELD[kind]
    first = "import threading\nfrom contextlib import suppress\nheld = 0\n"
    text = f"{_CALLS}{first}{text}\nprint(held >> 20, flush=True); os._exit(0)"
    run = attempt(python(text, memory_mb=512, temporary_mb=64, work_mb=64, seconds=60))
    assert 0 < int(run.output.split()[-1]) <= most, run


def test_memory_that_nobody_owns_alone_is_counted(attempt):
    text = (
        "import mmap, os, time\nfor _ in range(20):\n    one = mmap.mmap(-1, 100 << 20)\n"
        "    if not os.fork():\n        for at in range(0, 100 << 20, 4096): one[at] = 1\n"
        "        time.sleep(9); os._exit(0)\ntime.sleep(9)"
    )
    run = attempt(python(text, memory_mb=512, seconds=60))
    assert run.ended == "used too much memory"


def test_processor_and_wall_time_are_bounded(attempt):
    busy = attempt(python("while True: pass", cpu_seconds=1))
    assert busy.ended == "exited"
    assert busy.code != 0
    assert attempt(shell("sleep 600", seconds=1)).ended == "took too long"
    silent = attempt(shell("exec >&- 2>&-; sleep 600", seconds=1))
    assert silent.ended == "took too long"


def test_who_is_kept_waiting_is_given_more_of_the_clock_than_who_is_busy(attempt):
    waits = attempt(shell("sleep 2", seconds=1))
    assert (waits.ended, waits.spent < 1) == ("exited", True), waits
    parts = "python3 -c 'sum(range(2 * 10**7))'; " * 90  # what has ended counts as well
    busy = attempt(shell(parts, seconds=1))
    assert busy.ended == "took too long", busy
    assert busy.cpu > 0.2


@pytest.mark.parametrize("runs", [1, 9])  # a run may end between two looks at it
def test_the_time_of_short_children_and_of_orphans_is_counted(attempt, runs):
    text = (
        "import os, time\nread, write = os.pipe()\n"
        "def burn(seconds):\n    while time.process_time() < seconds: pass\n    os._exit(0)\n"
        "for _ in range(3):\n    if not os.fork(): burn({0} / 5)\n    os.wait()\n"
        "if not os.fork():\n    if os.fork(): os._exit(0)\n    os.setsid(); burn({0} * 0.4)\n"
        "os.wait(); os.close(write); os.read(read, 1)"
    )

    def taken(seconds):
        return sum(attempt(python(text.format(seconds / runs))).cpu for _ in range(runs))

    assert taken(0.9) - taken(0.0) == pytest.approx(0.9, rel=0.2)


def test_what_it_leaves_running_is_killed(attempt):
    ended = attempt(shell(f"setsid nohup sleep {MARK} >/dev/null 2>&1 & echo done"))
    assert ended.output == "done\n"
    late = attempt(shell(f"setsid nohup sleep {MARK} >/dev/null 2>&1 & sleep 600", seconds=1))
    assert late.ended == "took too long"
    assert not running(f"sleep {MARK}")


def test_it_ends_with_whoever_runs_it(attempt):
    pid = os.fork()
    if not pid:
        attempt(shell(f"setsid sleep {MARK}1"))
        os._exit(0)
    program = f"^sleep {MARK}1"  # not yet those whose arguments name it
    deadline = time.monotonic() + 20
    while not running(program) and time.monotonic() < deadline:
        time.sleep(0.1)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    while running(program) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not running(program)


def test_a_fork_bomb_is_contained(attempt):
    run = attempt(
        shell(f"bomb{MARK}() {{ bomb{MARK} | bomb{MARK} & }}; bomb{MARK}; sleep 9", seconds=2)
    )
    assert run.ended in ("took too long", "exited", "printed too much output")
    assert not running(f"bomb{MARK}")
    many = "import os, time\nfor n in range(200):\n    if not os.fork(): time.sleep(9); os._exit(0)"
    assert "BlockingIOError" in attempt(python(many, processes=60, seconds=5)).output


def test_files_folders_and_output_are_bounded(attempt):
    big = attempt(shell("head -c 90000000 /dev/zero > big; stat -c %s big", file_mb=16))
    assert int(big.output.split()[-1]) <= 16 << 20
    fill = "for i in 1 2 3 4 5 6 7 8; do head -c 15000000 /dev/zero > {}/f$i || echo full; done"
    for place in ("/tmp", "/work", "/dev/shm"):
        run = attempt(shell(fill.format(place), temporary_mb=32, work_mb=32))
        assert "full" in run.output, place
    flood = attempt(shell("yes", output_kb=16))
    assert flood.ended == "printed too much output"
    assert len(flood.output) <= 16 << 10
    assert attempt(
        shell("echo first; head -c 300000 /dev/zero; echo last", output_kb=16)
    ).output.endswith("last\n")


def test_a_million_small_files_are_not_made(attempt):
    text = "import os\nfor n in range(3_000_000): os.close(os.open(f'/tmp/{n}', os.O_CREAT))"
    assert attempt(python(text, seconds=60)).ended == "used too much disk space"


@pytest.mark.parametrize(
    "text",
    [
        "os.memfd_create('x')",
        "socket.socket(socket.AF_VSOCK)",
        "socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET)",
        "socket.socket(socket.AF_PACKET)",
        "if call.shmget(0, 1 << 30, 0o600) < 0: raise OSError(ctypes.get_errno())",
        "if call.syscall(425, 8, ctypes.create_string_buffer(200)) < 0: raise OSError('io_uring')",
        "if call.perror and call.syscall(321, 0, 0, 0) < 0: raise OSError('bpf')",
    ],
)
def test_what_nobody_counts_or_reaches_out_is_not_there(attempt, text):
    run = attempt(python(f"{_CALLS}{text}\nprint('had it')"))
    assert "Error" in run.output
    assert "had it" not in run.output


def test_no_key_of_the_session_is_read(attempt):
    needs("keyctl")
    number = {"x86_64": 250, "aarch64": 219}[platform.machine()]
    assert ctypes.CDLL(None).syscall(number, 1, None) > 0  # a session of this test's own
    words = ["keyctl", "add", "user", CANARY, SECRET, "@s"]
    key = subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
    subprocess.run(["keyctl", "setperm", key, "0x3f3f3f3f"], check=True)
    text = (
        f"{_CALLS}text = ctypes.create_string_buffer(99)\n"
        f"print(call.syscall({number}, 11, {key}, text, 99), text.value)"
    )
    run = attempt(python(text))
    assert run.output.startswith("-1")
    assert SECRET not in run.output


def test_many_threads_are_no_memory(attempt):
    text = (
        "import threading\nstop = threading.Event()\n"
        "many = [threading.Thread(target=stop.wait, daemon=True) for _ in range(40)]\n"
        "[one.start() for one in many]; stop.set(); print('all started')"
    )
    assert "all started" in attempt(python(text, memory_mb=256)).output


def test_it_has_no_powers_and_gains_none(attempt):
    run = attempt(
        shell("grep -E 'CapEff|CapBnd|NoNewPrivs' /proc/self/status; unshare -Ur id; tty")
    )
    assert "CapEff:\t0000000000000000" in run.output
    assert "NoNewPrivs:\t1" in run.output
    assert "uid=0(root)" not in run.output
    assert "not a tty" in run.output


def test_the_old_root_is_not_found_by_a_second_chroot(attempt):
    text = (
        "import os\nos.mkdir('/work/c'); os.chroot('/work/c')\n"
        "[os.chdir('..') for _ in range(64)]\nos.chroot('.')\nprint(os.listdir('/'))"
    )
    assert "PermissionError" in attempt(python(text)).output


def test_bytes_that_are_no_text_are_shown_all_the_same(attempt):
    run = attempt(shell("head -c 5000 /dev/urandom"))
    assert run.went_well
    assert run.output


@pytest.mark.parametrize(
    ("program", "text", "answer"),
    [
        ("node", "node -e 'console.log(6*7)'", "42"),
        ("ruby", "ruby -e 'puts 6*7'", "42"),
        ("python3", "python3 -c 'import getpass; print(len(getpass.getuser()))'", "4"),
        ("git", "git init -q g && cd g && git -c user.email=a@b -c user.name=n commit -q "
                "--allow-empty -m first && git log --format=%s", "first"),
    ],
)  # fmt: skip
def test_tools_work(attempt, program, text, answer):
    needs(program)
    run = attempt(shell(text))
    assert run.went_well, run.output
    assert answer in run.output.split() or answer in run.output


@pytest.mark.needs("root", "sandbox")
def test_nobody_can_run_them(tmp_path):
    """The checks above again, by a user without any right."""
    python = f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}"
    needs(Path(python).name)
    root = Path(__file__).resolve().parents[2]
    place = Path(f"/tmp/nightwatch-nobody-{os.getpid()}")
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    os.chown(place, 65534, 65534)
    paths = (str(root), sysconfig.get_paths()["purelib"], str(root / "tests"))
    run = subprocess.run(
        [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--basetemp"]
        + [str(place / "t"), "-k", f"(bubblewrap or unshare) and ({QUICK})", __file__],
        cwd=root,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": os.pathsep.join(paths), "HOME": str(place)},
        user=65534, group=65534, extra_groups=[], capture_output=True, text=True,
    )  # fmt: skip
    shutil.rmtree(place, ignore_errors=True)
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-1000:]
    assert "passed" in run.stdout
