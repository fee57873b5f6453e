"""Which files of the repository may hold the fault of a case, best first, with reasons."""

import re
from collections.abc import Callable, Iterable, Iterator

from inflection import underscore

from nightwatch_core.code.limits import (
    FILES_A_GUESS,
    LIKELY_FILES,
    MESSAGE,
    MESSAGE_WORDS,
    RANKED_FRAMES,
    TRANSACTIONS,
)
from nightwatch_core.code.transaction_files import GUESSES, clue_of
from nightwatch_core.models.errors import Case, Frame, Trace
from nightwatch_core.models.research import LikelyFile
from nightwatch_core.text.transactions import endpoint
from nightwatch_core.text.words import words_error_classes as words
from nightwatch_core.traces.placing import PathIndex, Placement, by_tail, plain

_DECAY = 0.75  # a frame further out counts this much of the one inside it
_AGAIN = 0.15  # share of a file's lesser frames that is added to its best one

CHECKING = {
    *("check", "assert", "validate", "verify", "require", "ensure", "expect", "must", "refuse"),
    *("raise", "throw", "fail", "reject", "report", "complain", "error", "warn"),
}
COMPLAINTS = {"exception", "exceptions", "error", "errors", "failure"}
HELPERS = {
    *("util", "utils", "helper", "helpers", "precondition", "preconditions", "common"),
    *("validate", "validator", "assert", "assertions", "reporter"),
}
PLUMBING = {
    *("call", "invoke", "dispatch", "perform", "run", "process", "execute", "main"),
    *("intercept", "apply", "proxy", "delegate", "forward"),
}
TEST = re.compile(
    r"(^|/)(tests?|specs?|__tests__)/|(^|/)test_[^/]*$|([._-](test|spec)|Tests?|TestCase)\.\w+$"
)
_ENTRY = re.compile(
    r"(^|/)(config|bin|exe|scripts?|benchmarks?|examples?)/|(^|/)(manage\.py|Rakefile|config\.ru)$"
)
_LEVELS = re.compile(r"^(?:(?:block|rescue|ensure)(?: \(\d+ levels\))? in )+")
_CALLED = re.compile(r"wrong number of arguments|(?:missing|unknown) keywords?:")

Rule = Callable[[Frame], bool]

WEIGHTS: tuple[tuple[float, str, Rule], ...] = (
    (0.05, "it belongs to a test", lambda f: bool(TEST.search(_path(f)))),
    (0.1, "it defines an exception", lambda f: bool(COMPLAINTS & {*_stem(f)[-1:]})),
    (0.3, "it checks or reports", lambda f: _reports(_words(f))),
    (0.5, "it holds common helpers", lambda f: bool(HELPERS & {*_stem(f)[-1:]})),
    (0.8, "it is a constructor", lambda f: _name(f) in {"<init>", "initialize", "__init__"}),
    (0.6, "it carries the call", lambda f: bool(PLUMBING & {*_words(f)[:1]})),
    (0.4, "it is an entry point", lambda f: bool(_ENTRY.search(_path(f)))),
)


def ranked_places(trace: Trace) -> tuple[LikelyFile, ...]:
    """List files of the trace, most likely first; score 0 to 1, relative to the best.

    In-app frames are ranked; where no frame is in-app, all are. Paths are repository paths where
    they are known.

    >>> from nightwatch_core.models.errors import ExceptionLink
    >>> frames = (Frame(path="app/checks.py", function="require_stock", in_app=True),
    ...           Frame(path="app/basket.py", function="add", in_app=True))
    >>> trace = Trace(links=(ExceptionLink(error_class="ValueError", frames=frames),))
    >>> [place.path for place in ranked_places(trace)]
    ['app/basket.py', 'app/checks.py']
    """
    scores: dict[str, float] = {}
    reasons: dict[str, tuple[str, ...]] = {}
    callee = _callee(trace)
    for depth, frame in enumerate(_distinct(trace)):
        held = [(weight, reason) for weight, reason, rule in WEIGHTS if rule(frame)]
        if frame == callee:
            held.append((0.4, "its caller passed the wrong arguments"))
        score = _DECAY**depth
        for weight, _ in held:
            score *= weight
        path = _path(frame)
        best, other = max(score, scores.get(path, 0.0)), min(score, scores.get(path, 0.0))
        scores[path] = best + _AGAIN * other
        place = f"frame {depth + 1} of the application" if frame.in_app else f"frame {depth + 1}"
        reasons.setdefault(path, (place, *(reason for _, reason in held)))
    top = max(scores.values(), default=0.0)
    return tuple(
        LikelyFile(path=path, score=round(scores[path] / top, 3), because=reasons[path])
        for path in sorted(scores, key=lambda path: -scores[path])
    )


def _distinct(trace: Trace) -> tuple[Frame, ...]:
    """Ranked frames, innermost first, each function once: recursion says nothing new."""
    known = [frame for frame in trace.frames if frame.path]
    frames = [frame for frame in known if frame.in_app] or known
    once: dict[tuple[str, str], Frame] = {}
    for frame in frames[:RANKED_FRAMES]:
        once.setdefault((_path(frame), frame.function), frame)
    return tuple(once.values())


def _callee(trace: Trace) -> Frame | None:
    """The function that was called wrongly, where the language blames it and not its caller."""
    ruby = trace.language == "ruby" and bool(_CALLED.search(trace.root.message[:MESSAGE]))
    return trace.top if ruby else None


def _path(frame: Frame) -> str:
    return frame.repo_path or frame.path


def _base(frame: Frame) -> str:
    return _path(frame).rsplit("/", 1)[-1].rsplit(".", 1)[0]


def _stem(frame: Frame) -> tuple[str, ...]:
    return tuple(word.lower() for word in words(_base(frame)))


def _name(frame: Frame) -> str:
    """The bare name of the frame's function, of `block in Order#total` for one."""
    return re.split(r"[#.:]", _LEVELS.sub("", frame.function[:300]))[-1]


def _words(frame: Frame) -> tuple[str, ...]:
    return tuple(word.lower() for word in words(_name(frame)))


def _reports(name: tuple[str, ...]) -> bool:
    return bool(CHECKING & {*name[:1]}) or bool(COMPLAINTS & {*name[-1:]})


IN_MESSAGE, NAMED_CLASS, OWN_CLASS = 0.65, 0.35, 0.2

_FILE = re.compile(
    r"[\w@~./\\-]{1,200}\."
    r"(?:rb|erb|haml|slim|rake|py|html|[jt]sx?|mjs|vue|java|kt|scala|groovy|go|php|cs)\b"
)
_CLASS = re.compile(r"\b[A-Z][A-Za-z0-9]{2,60}(?:(?:::|\.|\\)[A-Z][A-Za-z0-9]{0,60}){0,5}")
_CLASS_FILES = ("{snake}.rb", "models/{snake}.py", "{camel}.java", "{camel}.kt", "{camel}.cs")
_MORE_CLASS_FILES = ("{camel}.php", "{camel}.ts", "{camel}.tsx", "{camel}.js")

# Endings of the files a language's applications are made of; a trace's language rules others out.
ENDINGS: dict[str, tuple[str, ...]] = {
    "ruby": (".rb", ".rake", ".erb", ".haml", ".slim", ".builder", ".jbuilder"),
    "python": (".py", ".html"),
    "javascript": (".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".vue"),
    "java": (".java", ".kt", ".scala", ".groovy"),
    "go": (".go",),
    "php": (".php",),
    "csharp": (".cs",),
    "rust": (".rs",),
    "elixir": (".ex", ".exs", ".eex", ".heex", ".leex"),
}

Found = Iterator[tuple[str, float, str]]


def likely_files(case: Case, index: PathIndex, limit: int = LIKELY_FILES) -> tuple[LikelyFile, ...]:
    """Rank the files of the tree for a case; a file found twice keeps its best score.

    Asked in turn: the trace, the transaction, the message, the error class. Only files that are in
    the tree are named.
    """
    scores: dict[str, float] = {}
    reasons: dict[str, list[str]] = {}
    for source in SOURCES:
        for path, score, because in source(case, index):
            scores[path] = max(score, scores.get(path, 0.0))
            reasons.setdefault(path, [])
            if because not in reasons[path]:
                reasons[path].append(because)
    best = sorted(scores, key=lambda path: -scores[path])[: max(0, limit)]
    return tuple(
        LikelyFile(path=path, score=round(scores[path], 3), because=tuple(reasons[path]))
        for path in best
    )


def from_trace(case: Case, index: PathIndex) -> Found:
    """List files of frames, in the order that the trace alone suggests."""
    for place in ranked_places(case.trace) if case.trace else ():
        if place.path in index:
            yield place.path, place.score, "; ".join(place.because)


def from_transaction(case: Case, index: PathIndex) -> Found:
    """List files that frameworks give to a transaction of this name."""
    names = dict.fromkeys(group.transaction for group in case.groups if group.transaction)
    endings = ENDINGS.get(case.trace.language if case.trace else "", ("",))
    for transaction in tuple(names)[:TRANSACTIONS]:
        clue = clue_of(endpoint(transaction))
        for what, score, guess in GUESSES:
            guessed = (name for name in guess(clue) if name.endswith(endings))
            for path in _existing(guessed, index):
                yield path, score, f"{what} of the transaction"


def _existing(suffixes: Iterable[str], index: PathIndex) -> tuple[str, ...]:
    existing = (index.ending(suffix) for suffix in suffixes)
    return next((paths[:FILES_A_GUESS] for paths in existing if paths), ())


def from_message(case: Case, index: PathIndex) -> Found:
    """List files and classes that the message names."""
    message = case.leader.message[:MESSAGE]
    for text in _first(_FILE, message):
        frame = Frame(path=text, in_app=True)
        path = by_tail(plain(text), frame, index, Placement())
        if path:
            yield path, IN_MESSAGE, "the message names the file"
    for name in _first(_CLASS, message):
        for path in class_files(name, index):
            yield path, NAMED_CLASS, "the message names the class"


def from_error_class(case: Case, index: PathIndex) -> Found:
    """Give the file that defines an error class of the application."""
    for path in class_files(case.leader.error_class, index):
        yield path, OWN_CLASS, "defines the error class"


def _first(pattern: re.Pattern[str], text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(match[0] for match in pattern.finditer(text)))[:MESSAGE_WORDS]


def class_files(name: str, index: PathIndex) -> tuple[str, ...]:
    """List files that a class of this name would be in: those with its namespace first.

    >>> class_files("Shop::OrderItem", PathIndex(("app/models/shop/order_item.rb", "a.rb")))
    ('app/models/shop/order_item.rb',)
    """
    parts = tuple(part for part in re.split(r"::|[.\\]", name[:MESSAGE]) if part)
    if not parts:
        return ()
    forms = (*_CLASS_FILES, *_MORE_CLASS_FILES)
    whole = {"snake": "/".join(map(underscore, parts)), "camel": "/".join(parts)}
    last = {"snake": underscore(parts[-1]), "camel": parts[-1]}
    suffixes = (form.format(**words) for words in (whole, last) for form in forms)
    return _existing(suffixes, index)


# Who is asked for files, in this order: of equal scores the earlier one's file is better.
SOURCES = (from_trace, from_transaction, from_message, from_error_class)
