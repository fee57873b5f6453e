"""Roundabout ways to a power, language by language: no fix of ordinary code needs one.

Reflection, names put together out of pieces, shells behind quotes, templates out of values, data
that leaves as the name of a host. Every pattern is linear.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from nightwatch_core.code.likely_files import TEST

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
