"""What a change would let the code do that its file did not do before.

Fixes seldom need it, and whoever smuggles something into one does: it is for people to write.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from itertools import islice
from typing import NamedTuple

from nightwatch_core.code.edit_policy import differing_lines
from nightwatch_core.code.likely_files import TEST
from nightwatch_core.code.limits import POWERS_TEXT
from nightwatch_core.models.proposals import FileChange
from nightwatch_core.privacy.key_values import MASK
from nightwatch_core.privacy.scrubber import REMOVAL
from nightwatch_core.text.plain_text import shortened

# Roundabout ways to a power, language by language: no fix of ordinary code needs one.
#
# Reflection, names put together out of pieces, shells behind quotes, templates out of values, data
# that leaves as the name of a host. Every pattern is linear.

NETWORK = "talks to the network"
PROCESS = "starts processes or runs text as code"
ENVIRONMENT = "reads the environment"
FILES = "reads secrets of the machine"


class Ways(NamedTuple):
    """Calls that give one power in files of some endings; () for all."""

    endings: tuple[str, ...]
    power: str
    calls: re.Pattern[str]


_PYTHON, _RUBY, _PHP, _GO = (".py", ".pyi"), (".rb", ".erb", ".haml"), (".php",), (".go",)
_SCRIPT = (".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte")
_JVM = (".java", ".kt", ".kts", ".scala", ".groovy")

WAYS = (
    Ways((), FILES, re.compile(
        r"/etc/(?:passwd|shadow)\b|/proc/\w+/|/run/secrets|[/~]\.(?:ssh|aws)/"
    )),
    Ways(_PYTHON, PROCESS, re.compile(
        r"\bgetattr\(\s*(?:__\w+__|builtins|os|sys|subprocess|importlib)\b"
        r"|\b__(?:builtins|import|subclasses|globals|bases|mro|code)__\b|\bimport_module\("
        r"|\bfrom os import (?!path\b)|\bimport (?:os|sys|subprocess) as\b|\bsys\.modules\b"
        r"|\bvars\((?:os|sys|builtins)|(?<![\w.])compile\(|\bcodecs\.decode\(|\bctypes\b|\bcffi\b"
        r"|\bmultiprocessing\b|\bcreate_subprocess_\w+|\bos\.posix_spawn\w*|\brunpy\b|\bshelve\b"
        r"|\b(?:pickle|dill|marshal)\.\w+|\bread_pickle\b|\bUnsafeLoader\b|\bcode\.Interactive\w+"
        r"|\b(?:attrgetter|methodcaller)\(|\bbuiltins\.\w+|\bpty\.\w+|__(?:loader|reduce|dict)__"
        r"|(?<![\w.])(?:eval|exec)\s{1,9}\(|\byaml\.(?:load_all|full_load\w*|unsafe_load\w*)|\brender_template_string\b"
        r"|\bjinja2\.Template\(|\bEnvironment\([^)\n]{0,80}\)\.from_string\("
    )),
    Ways(_PYTHON, ENVIRONMENT, re.compile(r"\bdotenv_values\b|\bload_dotenv\b")),
    Ways(_PYTHON, NETWORK, re.compile(
        r"\bgethostby\w+|\bgetaddrinfo\b|\bdns\.resolver\b|\bfrom urllib import (?!parse\b)"
        r"|\b(?:HTTP|SysLog|SMTP|Datagram|Socket)Handler\(|\bwebbrowser\b|\bboto3\b"
        r"|\bopen_connection\(|\bhttp\.server\b"
    )),
    Ways(_RUBY, PROCESS, re.compile(
        r"\b(?:public_|__)?send(?:__)?[ (]\s*"
        r"(?:[:'\"](?:sys|exec|\w*eval|spawn|fork|open)|params\b)"
        r"|\bmethod\(\s*[:'\"](?:system|exec|eval|spawn|open)|\bload params\b|^\s*syscall\b"
        r"|\bKernel(?:\.|#)(?:send|public_send|__send__|open|eval|spawn|fork|system|exec|method)\b"
        r"|\bProcess\.(?:spawn|exec|fork|daemon)\b|\bPTY\.|\bFiddle\b|\bconst_get\b|\bERB\.new\b"
        r"|\b(?:IO\.\w{1,20}|open|File\.\w{1,20})\(?\s*['\"]\||%x[^\w\s]"
        r"|(?:^|[=(,{\[]|\b(?:puts|return|do|then)\b)[ \t]{0,40}`[^`\n]{1,200}`"
        r"|^\s*(?:exec|system|spawn|eval|fork)(?:\s+[\w'\":{]|\s*$|\()|\bbinding\.\w+"
        r"|\brender\(?\s*inline:|\bYAML\.unsafe_load\w*|\bMarshal\.\w+", re.MULTILINE
    )),
    Ways(_RUBY, ENVIRONMENT, re.compile(r"\bENV\b")),
    Ways(_RUBY, NETWORK, re.compile(
        r"\bResolv\b|\bSocket\.\w+|\brequire ['\"](?:open-uri|net/\w+|socket|resolv)['\"]"
        r"|\bconst_get\(['\":]+(?:Net|Socket|TCPSocket)\b"
    )),
    Ways(_SCRIPT, PROCESS, re.compile(
        r"(?<![\w.])require\((?!\s*['\"`][^'\"`\n]{0,200}['\"`]\s*\))|(?<![\w.])import\((?!\s*['\"/])"
        r"|\beval\?\.|\bgetPrototypeOf\(\s*(?:async )?function"
        r"|\bprocess\s*\[|\bprocess\.(?:binding|mainModule|dlopen)\b|\bmodule\.constructor\b"
        r"|\b(?:globalThis|window|self|global)\s*\[|\(0,\s*eval\)|(?<![\w.])Function\(['\"`]"
        r"|\.constructor\.constructor\b|\bset(?:Timeout|Interval)\(\s*['\"`]|\bnew \w*Worker\("
        r"|\bvm\.(?:Script|run\w+|compile\w+|createContext)\b|\b(?:Bun|Deno)\.\w+"
        r"|\.(?:inner|outer)HTML\s*=|\bdangerouslySetInnerHTML\b|\bdocument\.write\b|\bcreateElement\(['\"`]script"
    )),
    Ways(_SCRIPT, ENVIRONMENT, re.compile(
        r"\bprocess\s{1,20}\.\s{0,20}env\b|\{[^{}\n]{0,80}\benv\b[^{}\n]{0,80}\}\s*=\s*process\b"
        r"|\bReflect\.\w+\(\s*process\b|=\s*process\s*(?:[;,)]|$)", re.MULTILINE
    )),
    Ways(_SCRIPT, NETWORK, re.compile(
        r"\b(?:window|globalThis|self|global)\.fetch\b|\bnew (?:Image|EventSource)\(|\bdns\.\w+\("
    )),
    Ways(_JVM, PROCESS, re.compile(
        r"\bClass\.forName\(|\.get(?:Declared)?Method\(|\b[mM]ethod\.invoke\(|\bObjectInputStream\b"
        r"|\bScriptEngine\w*|\bInitialContext\b|\"(?:ldap|rmi|jndi):|\bURLClassLoader\b"
        r"|\bdefineClass\b|\bSystem\.load(?:Library)?\(|\bparseExpression\(|\bGroovyShell\b"
        r"|\.loadClass\(|\bMethodHandles\b|\bUnsafe\b|\bnewProxyInstance\("
    )),
    Ways(_JVM, ENVIRONMENT, re.compile(
        r"\bSystem\.getPropert(?:ies\(|y\((?!\"(?:line|file|path|java|os)\.))"
    )),
    Ways(_JVM, NETWORK, re.compile(
        r"\bnew (?:Server|Datagram)?Socket\(|\bInetAddress\.get\w*ByName\(|\bHttpRequest\b"
        r"|\.open(?:Stream|Connection)\("
    )),
    Ways(_PHP, PROCESS, re.compile(
        r"`[^`\n]{1,200}`|\b(?:call_user_func\w*|pcntl_exec|ReflectionFunction)\b"
        r"|(?<![\w>:])assert\(\s*\$|\b(?:include|require)(?:_once)?[ (]+[^;'\"\n]{0,80}\$_"
        r"|\bpreg_replace\(\s*['\"]/[^/\n]{0,80}/\w{0,5}e|\$\$\w|\(\s*['\"](?:system|exec|shell_exec|passthru|popen|assert|eval)['\"]"
        r"|\bextract\(\s*\$_|\binclude(?:_once)?[ (]+\$|(?<![\w>:])ini_set\("
        r"|\bfile_put_contents\([^,\n]{0,100}\.php"
    )),
    Ways(_PHP, ENVIRONMENT, re.compile(r"(?<![\w>:$])env\(")),
    Ways(_PHP, NETWORK, re.compile(
        r"\bstream_socket_(?:client|server)|\bgethostby\w+|\bdns_\w+\(|\bcheckdnsrr\b"
    )),
    Ways(_GO, PROCESS, re.compile(
        r"\"os/exec\"|\bsyscall\.ForkExec\b|\bos\.StartProcess\b|\bplugin\.Open\b|\bexec\.Cmd\b|\bunsafe\.\w+"
        r"|\breflect\.ValueOf\([^()\n]{0,80}\)\.(?:Call|MethodByName)\b"
        r"|\btemplate\.New\([^()\n]{0,80}\)\.Parse\((?![\"`])"
    )),
    Ways(_GO, ENVIRONMENT, re.compile(r"\bos\.ExpandEnv\b")),
    Ways(_GO, NETWORK, re.compile(
        r"\bnet\.(?:Lookup|Resolve)\w+|\bhttp\.(?:NewRequest\w*|DefaultTransport)\b|\btls\.Dial\w*"
        r"|\bhttputil\.NewSingleHost\w+|\b(?:rpc|grpc)\.Dial\w*|\bsmtp\.\w+"
    )),
)  # fmt: skip
_JOINED = re.compile(r"(['\"])[ \t]{0,9}[+.][ \t]{0,9}\1")  # 'sys' + 'tem'
_PIECES = re.compile(
    r"['\"](?:os|system|exec|eval|popen|spawn|env|environ|subprocess|child_process|Kernel|Runtime"
    r"|java\.lang\.Runtime|Net|fetch|shell_exec|passthru|__import__)['\"]"
)
_COMMENT = re.compile(r"^[ \t]{0,200}(?:#|//|\*|/\*|--)[^\n]*$", re.MULTILINE)


def roundabout(path: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield powers and the calls that give them, of code in the file `path`; comments give none."""
    code, is_test = _COMMENT.sub("", text), bool(TEST.search(path))
    for ways in WAYS:
        if is_test and ways.power == NETWORK:  # tests name hosts and build requests all day
            continue
        if not ways.endings or path.lower().endswith(ways.endings):
            yield from ((ways.power, one.group()) for one in ways.calls.finditer(code))
    if len(whole := _JOINED.sub("", code)) < len(code):
        plain = {one.group() for one in _PIECES.finditer(code)}
        pieces = (one.group() for one in _PIECES.finditer(whole))
        yield from ((PROCESS, one) for one in pieces if one not in plain)


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
_COMMENT_NEW_POWERS = re.compile(r"^\s*(?:#|//|/?\*|--|;|<!--)")
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
    return "\n".join(line for line in text.splitlines() if not _COMMENT_NEW_POWERS.match(line))


def _keys(changed: _Changed) -> str:
    """What looks like a key; in tests every other password does."""
    if TEST.search(changed.path):
        return ""
    known = set(changed.before.splitlines())
    lines = "\n".join(text for text in changed.new.splitlines() if text not in known)
    kinds = {mask["kind"] for mask in MASK.finditer(REMOVAL.scrub(lines))} - _OF_PEOPLE
    return "what looks like a key or password" if kinds else ""


_FINDINGS: tuple[Callable[[_Changed], str], ...] = (_calls, _addresses, _keys)
