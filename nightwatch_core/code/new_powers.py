"""What a change would let the code do that its file did not do before.

Fixes seldom need it, and whoever smuggles something into one does: it is for people to write.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from itertools import islice
from typing import NamedTuple

from nightwatch_core.code.disguised_powers import ENVIRONMENT, NETWORK, PROCESS, roundabout
from nightwatch_core.code.edit_policy import differing_lines
from nightwatch_core.code.likely_files import TEST
from nightwatch_core.code.limits import POWERS_TEXT
from nightwatch_core.models.proposal import FileChange
from nightwatch_core.privacy.masks import MASK
from nightwatch_core.privacy.scrubber import REMOVAL
from nightwatch_core.text.plain_text import shortened


class Power(NamedTuple):
    """Something code can do, and the calls by which it does; every pattern is linear."""

    name: str
    calls: re.Pattern[str]


POWERS: tuple[Power, ...] = (
    Power(
        NETWORK,
        re.compile(
            r"\b(?:requests|httpx|aiohttp|urllib3)\.\w+|\burllib\.(?:request|error)\b|\burlopen\b|\bhttp\.client\b"
            r"|\bsocket\.(?:socket|create_connection)\b|\b(?:smtplib|ftplib|telnetlib|paramiko)\b"
            r"|\bNet::(?:HTTP|FTP|SMTP)\b|\b(?:Faraday|HTTParty|RestClient|Typhoeus|Excon)\b"
            r"|\b(?:TCP|UDP|UNIX)Socket\b|\bURI\.open\b"
            r"|(?<![\w.])fetch\(|\baxios\b|\bXMLHttpRequest\b|\bsendBeacon\b|\bWebSocket\("
            r"|\brequire\(['\"](?:node:)?(?:https?|net|dgram|dns|tls)['\"]\)"
            r"|\bfrom ['\"](?:node:)?(?:https?|net|dgram|dns|tls)['\"]"
            r"|\bHttpClient\b|\bWebClient\b|\bRestTemplate\b|\bHttpURLConnection\b|\bOkHttp\w*"
            r"|\bhttp\.(?:(?:Get|Post|PostForm|Head|DefaultClient)\b|Client\{)|\bnet\.Dial\w*"
            r"|\bcurl_(?:init|exec)\b|\bfsockopen\b|\bGuzzleHttp\b|(?<![\w.>:])mail\("
        ),
    ),
    Power(
        PROCESS,
        re.compile(
            r"\bsubprocess\b|\bos\.(?:system|popen|exec\w+|spawn\w+|fork)\b|\bpty\.spawn\b"
            r"|(?<![\w.])(?:eval|exec|execfile|__import__|system|popen|shell_exec|passthru"
            r"|proc_open|assert_options|create_function)\("
            r"|\b(?:__builtins__|builtins|importlib|runpy|ctypes)\b"
            r"|\b(?:instance|class|module)_eval\b|\bOpen3\b|\bIO\.popen\b|\bKernel\.(?:system|exec)"
            r"|(?<![\w.])%x[({\[]|\bchild_process\b|\bexecSync\b|\bspawnSync\b|\bnew Function\("
            r"|\bvm\.run\w+|\bRuntime\.getRuntime\b|\bProcessBuilder\b|\bScriptEngine\b"
            r"|\bexec\.Command\w*|\bsyscall\.Exec\b|\bProcess\.Start\b|\bProcessStartInfo\b"
            r"|\b(?:pickle|marshal|dill)\.loads?\b|\byaml\.(?:unsafe_)?load\(|\bMarshal\.load\b"
            r"|\bunserialize\("
        ),
    ),
    Power(
        ENVIRONMENT,
        re.compile(
            r"\bos\.(?:environb?|getenv)\b|\bENV\b(?=[\[.])|\bprocess\.env\b|\bimport\.meta\.env\b"
            r"|\bSystem\.getenv\b|\bos\.(?:Getenv|Environ|LookupEnv)\b|(?<![\w.])getenv\("
            r"|\$_(?:ENV|SERVER)\b|\bEnvironment\.GetEnvironmentVariables?\b"
            r"|/proc/(?:self|\d+)/environ\b"
        ),
    ),
)
_OF_PEOPLE = {"email", "phone", "card", "iban", "ip"}  # masks that hide no key
_HOST = re.compile(r"\b(?:https?|wss?|ftp)://([\w.-]{1,253})", re.I)
_TESTS_BESIDE = 100  # files that are read
_PROSE = (".md", ".rst", ".adoc", ".txt")
_COMMENT = re.compile(r"^\s*(?:#|//|/?\*|--|;|<!--)")
_MADE_UP = re.compile(
    r"(?i)^(?:www\.w3\.org|(?:[\w-]+\.)?localhost|127\.0\.0\.1|(?:[\w-]+\.)*example(?:\.(?:com|org|net))?"
    r"|[\w.-]+\.(?:test|invalid|local))$"
)


class _Changed(NamedTuple):
    """A file's change: its path, its whole text before, and the lines that differ."""

    path: str
    before: str
    old: str
    new: str
    held: frozenset[str] = frozenset()  # addresses that tests beside it hold


def gained(change: FileChange, before: str, held: frozenset[str] = frozenset()) -> str:
    """Say what the changed file could do and could not before; empty where that is nothing new.

    >>> gained(FileChange(path="a.py", text="requests.post(url, data=os.environ)"), "")
    'the change to a.py adds code that talks to the network (requests.post)'
    >>> gained(FileChange(path="a.py", text="requests.post(url, timeout=5)"), "requests.post(url)")
    ''
    """
    if change.text is None:
        return ""
    old, new = ("\n".join(lines) for lines in differing_lines(before, change.text))
    if len(new) > POWERS_TEXT:
        return f"the change to {change.path} is too long to tell what it adds"
    changed = _Changed(change.path, before, old, new, held)
    why = next(filter(None, (find(changed) for find in _FINDINGS)), "")
    return f"the change to {change.path} adds {why}" if why else ""


def powers_gained(
    changes: tuple[FileChange, ...],
    before: Callable[[str], str | None],
    paths: Collection[str] = (),
) -> str:
    """Say what a set of changes could do and the code could not before; empty for nothing new.

    A new test may name what tests beside it name; `paths` are the files of the tree.
    """
    for change in changes:
        old = before(change.path)
        held = _held_beside(change, before, paths) if old is None else frozenset[str]()
        if why := gained(change, old or "", held):
            return why
    return ""


def _held_beside(
    change: FileChange, before: Callable[[str], str | None], paths: Collection[str]
) -> frozenset[str]:
    """Addresses in the tests of a new test's folder."""
    folder = change.path.rpartition("/")[0]
    if not TEST.search(change.path) or not _HOST.search(change.text or ""):
        return frozenset()
    beside = (p for p in paths if p.rpartition("/")[0] == folder and TEST.search(p))
    texts = (before(path) or "" for path in islice(beside, _TESTS_BESIDE))
    return frozenset(host for text in texts for host in _HOST.findall(_without_comments(text)))


def _calls(changed: _Changed) -> str:
    """A call that stands there more often than before, another one of its kind included."""
    before, after = (Counter(_powers(changed.path, text)) for text in (changed.old, changed.new))
    added = next(iter(after - before), None)
    return f"code that {added[0]} ({shortened(added[1].strip(), 60)})" if added else ""


def _powers(path: str, text: str) -> Iterator[tuple[str, str]]:
    for power in POWERS:
        yield from ((power.name, one.group()) for one in power.calls.finditer(text))
    yield from roundabout(path, text)


def _addresses(changed: _Changed) -> str:
    if changed.path.lower().endswith(_PROSE):
        return ""
    known = changed.held | set(_HOST.findall(_without_comments(changed.before)))
    hosts = dict.fromkeys(_HOST.findall(_without_comments(changed.new)))
    unknown = (one for one in hosts if one not in known)
    is_test = bool(TEST.search(changed.path))
    host = next((one for one in unknown if not (is_test and _MADE_UP.match(one))), "")
    return f"an address that it did not hold ({shortened(host, 100)})" if host else ""


def _without_comments(text: str) -> str:
    """Lines of code alone: whoever may write a comment does not say where code may send things."""
    return "\n".join(line for line in text.splitlines() if not _COMMENT.match(line))


def _keys(changed: _Changed) -> str:
    """What looks like a key; in tests every other password does."""
    if TEST.search(changed.path):
        return ""
    known = set(changed.before.splitlines())
    lines = "\n".join(text for text in changed.new.splitlines() if text not in known)
    kinds = {mask["kind"] for mask in MASK.finditer(REMOVAL.scrub(lines))} - _OF_PEOPLE
    return "what looks like a key or password" if kinds else ""


_FINDINGS: tuple[Callable[[_Changed], str], ...] = (_calls, _addresses, _keys)
