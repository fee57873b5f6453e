"""How code of several languages looks away, answers, logs and reports: data."""

import re

NOTHING = r"(?:None|nil|null|undefined|NULL|Nothing|default|false|False|true|True)"
_NUMBER = r"[-+]?\d[\d_.]*[a-zA-Z]?"
_TEXT = r"""[rbuf$@]?(?:""|''|``|"[^"]*"|'[^']*'|`[^`]*`)"""
_EMPTY = (
    r"(?:\[\]|\{\}|\(\)|dict\(\)|list\(\)|set\(\)|tuple\(\)|\{\s*\}|array\(\)"
    r"|new \w+(?:<[^>]*>)?\(\)"
    r"|(?:Collections|List|Map|Set|Optional|Array|Enumerable|string|String|Guid)\.[Ee]mpty\w*"
    r"(?:<[^>]*>)?(?:\(\))?|(?:List|Map|Set)\.of\(\)|Array\.new|Hash\.new|\w+\.none"
    r"|Decimal\([^()]*\)"
    r"|BigDecimal\.ZERO|(?:Hash|Map|Set|List|Promise)\.(?:new|resolve)\([^()]*\)|\[\]\w+\{\}"
    r"|map\[\w+\]\w+\{\}|:\w+)"
)
# A value that is the same whatever was asked for.
_CONSTANT = r"(?:[A-Z]\w*\.)*[A-Z][A-Z0-9_]+\b(?![(\w])"
LITERAL = re.compile(rf"(?:{NOTHING}|{_NUMBER}|{_TEXT}|{_EMPTY}|{_CONSTANT})")
LITERALS = re.compile(rf"(?:{LITERAL.pattern})(?:\s*,\s*(?:{LITERAL.pattern}))*")

# A statement of a handler that does nothing about what happened.
LOGS = re.compile(
    r"(?i)^(?:await\s+)?(?:@|\$|[a-z_]\w*(?:\.|->|::))*"
    r"(?:_?log(?:ger|ging)?|console|rails\.logger|print(?:ln|f)?|puts|warn|p|pp|error_log|echo|fmt"
    r"|system\.(?:out|err)|slog|trace|debug|syslog|winston|pino)\b"
    r"(?:(?:\.|->|::)\w+)*\s*[\s(!]|^\w+\.printStackTrace\("
)
LOOKS_AWAY = re.compile(
    rf"^(?:pass|\.\.\.|continue|break|next|;|nil|null|"
    rf"(?:return|next|break)(?:\s+(?:{LITERALS.pattern}))?|(?:{LITERALS.pattern})"
    rf"|(?:(?:var|let|const|final)\s+)?[\w.$@>-]+(?::\s*\w+)?\s*:?=\s*(?:{LITERALS.pattern})"
    rf"|(?:return\s+)?(?:{LITERALS.pattern}))\s*;?$"
)
# What tells somebody that it did not work: the caller, a client, a form.
ANSWERS = re.compile(
    r"(?i)\b(?:raise|throw|rethrow|panic|abort|reject|fail|fatalf?|errorf|errors\.new|halt)\b"
    r"|\b(?:[45]\d\d)\b|\bstatus(?:_?code)?\b|http\.?error|http404|notfound|not_found|badrequest"
    r"|bad_request|unprocessable|forbidden|unauthorized|conflict\b|errors?\.add|add_error|addError"
    r"|\binvalid\w*\(|\bfailure\(|\bErr\(|\{:error\b|\bhead\s+:|redirect|flash|next\(e\w*\)"
    r"|validation\w*error|\breturn\s+(?:[^;]*,\s*)?(?:err|error|e)\b|\bProblem\(|\bResult\."
)
# What is raised where something may rightly be missing: a documented way to say so.
ABSENCE = re.compile(
    r"(?i)not_?found|does_?not_?exist|no_?such|notexist|missing|importerror|stopiteration"
    r"|empty$|queue\.empty|enoent|brokenpipe|epipe|connectionreset|econnreset|cancell?ed|interrupt"
    r"|unicodedecode|notunique|uniqueconstraint|duplicatekey|integrityerror|alreadyexists"
    r"|fileexists"
)
BROAD = re.compile(
    r"^\W*(?:(?:[\w\\:]+(?:\.|\\|::))?(?:Exception|BaseException|StandardError|ScriptError"
    r"|Throwable"
    r"|Error|RuntimeException|RuntimeError|SystemException|object|any|unknown))?(?:\s+\$?\w+)?\W*$"
)
REPORTS = re.compile(
    r"(?i)\b(?:sentry\w*|raven|honeybadger|bugsnag|rollbar|airbrake|newrelic|appsignal|raygun)\b"
    r"|capture_?(?:exception|message|error)|notice_?error|report_?(?:error|exception)"
    r"|rails\.error\.(?:report|record)|notify_?(?:error|exception|team|admins)|mail_admins"
    r"|trackexception|recordexception|record_exception|send_alert|pagerduty"
)
LEVELS = ("trace", "debug", "info", "notice", "warning", "error", "critical")
LEVEL = re.compile(
    r"(?i)(?:(?<=[.>:\"'_ (])|(?<=Log))(trace|debug|info(?:rmation)?|notice|warn(?:ing)?"
    r"|error|exception|critical|fatal|emerg|alert)(?=[\s(\"',)\]:;]|$|f\(|w\()"
)
PATIENCE = re.compile(
    r"(?i)time_?out|deadline|max_?wait|wait_?time|read_?time|ttl\b|delay|interval|tolerance"
    r"|epsilon|threshold|keep_?alive|backoff|sleep|grace"
)
AGAIN = re.compile(r"(?i)retr(?:y|ies)|attempts?\b|max_?tries|\btries\b|redeliver")
IGNORING = re.compile(
    r"(?i)ignor|exclu|skip|suppress|silenc|deny_?list|blocklist|blacklist|before_?send"
    r"|filter_?errors"
    r"|allowed_?(?:errors|failures)|except_?list|rescue_?responses|drop"
)
WARNINGS_OFF = re.compile(
    r"(?i)#\s*noqa|#\s*type:\s*ignore|#\s*pyright:\s*ignore|pylint:\s*disable|eslint-disable"
    r"|@ts-(?:ignore|expect-error|nocheck)|rubocop:disable|#pragma warning disable"
    r"|@SuppressWarnings|//\s*nolint|phpcs:ignore|@phpstan-ignore|@psalm-suppress"
    r"|\[SuppressMessage|warnings\.(?:filterwarnings|simplefilter)\(\s*['\"]ignore"
    r"|error_reporting\(\s*0|\$VERBOSE\s*=\s*nil|#nullable disable|process\.noDeprecation"
    r"|noinspection|\bignore_(?:errors|missing_imports)\s*=\s*true|:\s*\[?['\"]off['\"]"
    r"|^Enabled:\s*false|<NoWarn>|<TreatWarningsAsErrors>false"
)
ASSERTS = re.compile(
    r"\bassert\w*\b|\bexpect\s*[({]|\bexpect\(|\.should\b|\bshould_|\brefute\w*|\bmust_\w+"
    r"|\bt\.(?:Error|Fatal|Fail)\w*\(|\brequire\.\w+\(|\bself\.fail\w*\(|\bverify\(|\bAssert\.\w+"
    r"|->assert\w+\(|::assert\w+\(|\braises\(|\braise_error\b|\.toThrow"
)
SKIPS = re.compile(
    r"(?i)@?(?:pytest\.mark\.)?(?:skip|xfail|unittest\.skip|skipif\(True)\b|\bpytest\.(?:skip|xfail)\("
    r"|\bskipTest\(|\b(?:it|test|describe|context|specify)\.(?:skip|todo|failing)\b"
    r"|^(?:xit|xdescribe|xtest|xcontext|xspecify|pending)\b|^skip\b|@(?:Disabled|Ignore)\b"
    r"|\[(?:Ignore|Skip)|Skip\s*=\s*\"|\bt\.Skip(?:f|Now)?\(|markTestSkipped|markTestIncomplete"
    r"|,\s*skip:|,\s*pending:|\.only\("
)
TESTS = re.compile(
    r"^(?:async\s+)?def\s+test_?\w*|^x?(?:it|test|specify|scenario|describe|context)(?:\.\w+)?\s*[(\s]\s*['\"`]"
    r"|^func\s+Test\w+|^public\s+function\s+test\w+|^@Test\b|^\[(?:Fact|Test|TestMethod|Theory)\b"
    r"|^def\s+test\w*"
)
CHECKS = re.compile(
    r"^validates?\b|^validate\s|\bvalidates_\w+|^raise\b|^(?:if\b.*\)\s*\{?\s*)?throw\b|^assert\b|^panic\(|\bZod\b"
    r"|\babort_if\(|\bArgumentError\b|\bValidationError\(|^(?:Objects\.)?requireNonNull\("
    r"|@(?:NotNull|NotBlank|NotEmpty|Size|Min|Max|Valid|Pattern)\b|\[(?:Required|Range"
    r"|StringLength)"
)
RELAXED = re.compile(
    r"(?i)\b(?:required|strict|validate|verify|check|presence|null:\s*false|raise_on_error"
    r"|raise_exception|safe)\b"
)
COMMENT = re.compile(r"^\s*(?:#(?!!)|//|/\*|\*(?!\w)|--\s|<!--|\{#|;)\s?")
IMPORT = re.compile(
    r"^(?:import|from|require(?:_relative|_once)?|use|using|package|include|export \{)\b"
    r"|^(?:const|let|var)\s[\w{},\s]+=\s*require\("
)
CLOSING = re.compile(
    r"^(?>\)\s*\{|\}?\s*else\s*[{:]?|try\s*\{|try:?|[\])}>;,]|end|then|do|begin|fi)++$"
)
