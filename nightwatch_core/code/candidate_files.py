"""Which files of a trace may hold the fault, when nothing but the trace is known.

The innermost in-app frame is the usual suspect. It is not where it only says that something is
wrong (checks, exception classes, reporters) or only carries the call (plumbing, entry points).
"""

import re
from collections.abc import Callable

from nightwatch_core.code.limits import MESSAGE, RANKED_FRAMES
from nightwatch_core.models.error import Frame, Trace
from nightwatch_core.models.research import LikelyFile
from nightwatch_core.text.error_classes import words

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
    """Files of the trace, most likely first; score 0 to 1, relative to the best.

    In-app frames are ranked; where no frame is in-app, all are. Paths are repository paths where
    they are known.

    >>> from nightwatch_core.models.error import ExceptionLink
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
