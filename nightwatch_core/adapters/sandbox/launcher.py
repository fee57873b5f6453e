"""Start a program with fewer rights: limits, another user, an empty keyring, fewer system calls.

It runs as a process of its own (`python -I -S launcher.py USER NAME=LIMIT … -- words`), because a
process that is forked from threads may call little before it becomes another program.
"""

import ctypes
import errno
import os
import resource
import signal
import sys

ALLOW, ERRNO = 0x7FFF0000, 0x00050000  # of seccomp.h, as are the comparisons
EQUAL, AT_LEAST = 4, 5
SEGMENT_BYTES = 65_536  # of System V memory, which no look at a process counts
# What tests do not need, and what reaches beyond the namespaces or holds memory that nobody counts.
FORBIDDEN = (
    *("keyctl", "add_key", "request_key", "memfd_create", "memfd_secret"),
    *("io_uring_setup", "bpf", "perf_event_open", "userfaultfd"),
)
# Local, IPv4, IPv6 and the kernel's own names (1, 2, 10, 16); VSOCK would reach the host.
_FAMILIES = (*((EQUAL, number) for number in (*range(3, 10), *range(11, 16))), (AT_LEAST, 17))
_JOIN_SESSION_KEYRING, _DIE_WITH_PARENT = 1, 1


class _Comparison(ctypes.Structure):
    _fields_ = (
        ("argument", ctypes.c_uint),
        ("operator", ctypes.c_int),
        ("first", ctypes.c_uint64),
        ("second", ctypes.c_uint64),
    )


def _launch(user: int, limits: list[str], words: list[str]) -> None:
    for limit in limits:
        name, _, most = limit.partition("=")
        kind = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(kind)[1]  # whoever set it lower meant it
        bound = int(most) if hard == resource.RLIM_INFINITY else min(int(most), hard)
        resource.setrlimit(kind, (bound, bound))
    seccomp = ctypes.CDLL("libseccomp.so.2", use_errno=True)
    seccomp.seccomp_init.restype = ctypes.c_void_p
    rules = ctypes.c_void_p(seccomp.seccomp_init(ALLOW))

    def number(name: str) -> int:
        return int(seccomp.seccomp_syscall_resolve_name(name.encode()))

    def forbid(name: str, why: int, *compared: tuple[int, int, int]) -> None:
        array = (_Comparison * len(compared))(*(_Comparison(*item, 0) for item in compared))
        action = ctypes.c_uint32(ERRNO | why)
        if seccomp.seccomp_rule_add_array(rules, action, number(name), len(compared), array):
            raise OSError(f"{name} cannot be forbidden")

    for name in FORBIDDEN:
        forbid(name, errno.ENOSYS)
    for operator, family in _FAMILIES:
        forbid("socket", errno.EAFNOSUPPORT, (0, operator, family))
    forbid("shmget", errno.EINVAL, (1, AT_LEAST, SEGMENT_BYTES + 1))
    if user != os.geteuid():
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    # a kernel without keyrings has nothing to hide
    ctypes.CDLL(None).syscall(number("keyctl"), _JOIN_SESSION_KEYRING, None)
    if seccomp.seccomp_load(rules):
        raise OSError("the filter of system calls is not accepted")
    os.execve(words[0], words, {})


if __name__ == "__main__":
    end = sys.argv.index("--")
    try:
        _launch(int(sys.argv[1]), sys.argv[2:end], sys.argv[end + 1 :])
    except OSError as error:
        sys.exit(f"nothing can be run in a sandbox: {error} (libseccomp2 is needed)")
