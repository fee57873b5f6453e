"""Files that may hold the fault of a case, best first: from its trace, transaction and message."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from inflection import camelize, pluralize, singularize, underscore

from nightwatch_core.code.symptoms import MESSAGE
from nightwatch_core.models.errors import Case, Frame, Trace
from nightwatch_core.models.research import LikelyFile
from nightwatch_core.models.value import Value
from nightwatch_core.text.rule_files import Pattern, load_rules
from nightwatch_core.text.transactions import Endpoint, endpoint
from nightwatch_core.text.words import words_of_name as words
from nightwatch_core.traces.placing import PathIndex, by_tail, plain

LIKELY_FILES = 10  # files of a case, a guess, a suspect
FILES_A_GUESS = 2  # files of a case, a guess, a suspect
TRANSACTIONS, TRANSACTION_NAMES, MESSAGE_WORDS = 3, 12, 20  # items that are looked at
RANKED_FRAMES = 200  # frames

_MAILERS = ("_mailer", "_notifier")
_PARAMETER = re.compile(r"[:<{\[*(]|^\d+$|^[0-9a-f-]{16,}$")


class Clue(Value):
    """An endpoint in the forms that file names take.

    `names` as written without parameters, `path` in snake case, `resource` the last of it without
    its role ("orders" of OrdersController), `raw` with parameters, for file-based routers.
    """

    kind: str = "other"
    names: tuple[str, ...] = ()
    raw: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    resource: str = ""
    action: str = ""

    @property
    def one(self) -> str:
        """Return the resource in the singular: "status" of "statuses"."""
        return singularize(self.resource) if self.resource else ""

    @property
    def nouns(self) -> tuple[str, ...]:
        """Resource, singular and plural, without repetition."""
        many = pluralize(self.resource) if self.resource else ""
        return tuple(dict.fromkeys(n for n in (self.resource, self.one, many) if n))

    def values(self, text: str) -> tuple[str, ...]:
        """List what templates are filled in with, one after another."""
        if text == "module":
            parts = (*self.names, *((self.action,) if self.action else ()))
            shortest = 1 if len(self.names) > 1 else 0  # a package alone says too little
            return tuple("/".join(parts[:end]) for end in range(len(parts), shortest, -1))
        if text == "spelling":
            forms = ((n.replace("_", "-"), camelize(n, False), n) for n in self.nouns)
            return tuple(name for names in forms for name in dict.fromkeys(names))
        nouns = {
            "noun": self.nouns,
            "resource": self.nouns[:1],
            "singular": tuple(dict.fromkeys((self.one, self.resource))),
            "one": (self.one,),
        }
        return nouns.get(text, ("",))

    def fields(self) -> dict[str, str]:
        """Return the fields of templates that are the same for every value."""
        is_mailer = self.kind == "mail" or (self.path[-1:] and self.path[-1].endswith(_MAILERS))
        last = (self.action,) if self.kind == "other" and self.action else ()
        brackets = (
            f"[{part.strip(':<>{}[]').split(':')[-1]}]" if part[:1] in ":<{[" else part
            for part in (*self.raw, *(last if self.raw else ()))
        )
        return {
            "folders": "".join(f"{folder}/" for folder in self.path[:-1]),
            "path": "/".join(self.path),
            "names": "/".join(self.names),
            "name": self.names[-1] if self.names else "",
            "rest": "/".join(self.names[1:] or self.names),
            "package": self.names[0] if self.kind != "route" and len(self.names) > 1 else "",
            "route": "/".join(brackets).removeprefix("pages/").removeprefix("app/"),
            "view": (self.path or ("",))[-1] if is_mailer else self.resource,
            "action": self.action,
        }


def clue_of(endpoint: Endpoint) -> Clue:
    """Put an endpoint in the forms that file names take."""
    raw = endpoint.names[:TRANSACTION_NAMES]
    names = tuple(name for name in raw if not _PARAMETER.search(name))
    path = tuple(underscore(name) for name in names)
    resource = RULES.patterns["roles"].sub("", path[-1]) if path else ""
    action, kind = endpoint.action, endpoint.kind
    return Clue(kind=kind, names=names, raw=raw, path=path, resource=resource, action=action)


class Guess(Value):
    """Files of a transaction in one framework; see `rules/likely_files.toml`."""

    what: str
    score: float
    kinds: frozenset[str] = frozenset()
    not_kinds: frozenset[str] = frozenset()
    each: Literal["", "noun", "resource", "singular", "one", "spelling", "module"] = ""
    templates: tuple[str, ...]

    def paths(self, clue: Clue) -> Iterator[str]:
        """Fill in the templates for a transaction."""
        if clue.kind in self.not_kinds or (self.kinds and clue.kind not in self.kinds):
            return
        common = clue.fields()
        for value in clue.values(self.each):
            noun = "" if self.each == "module" else value
            fields = {**common, "noun": noun, "Noun": camelize(noun), "module": value}
            for template in self.templates:
                used = set(_FIELD.findall(template)) - {"folders"}
                if all(fields[name] for name in used):
                    yield template.format(**fields)


class LikelyFileRules(Value):
    """`rules/likely_files.toml`."""

    patterns: dict[str, Pattern]
    words: dict[str, frozenset[str]]
    endings: dict[str, tuple[str, ...]]
    guesses: tuple[Guess, ...]


_FIELD = re.compile(r"\{(\w+)\}")
RULES = load_rules("likely_files", LikelyFileRules)

_DECAY = 0.75  # a frame further out counts this much of the one inside it
_AGAIN = 0.15  # share of a file's lesser frames that is added to its best one

TEST = RULES.patterns["test"]
_LEVELS = re.compile(r"^(?:(?:block|rescue|ensure)(?: \(\d+ levels\))? in )+")


def _checks_or_reports(frame: Frame) -> bool:
    first, last = _words(frame)[:1], _words(frame)[-1:]
    return not RULES.words["checking"].isdisjoint(first) or not RULES.words[
        "complaints"
    ].isdisjoint(last)


WEIGHTS: tuple[tuple[float, str, Callable[[Frame], bool]], ...] = (
    (0.05, "it belongs to a test", lambda f: bool(TEST.search(_path(f)))),
    (0.1, "it defines an exception", lambda f: bool(RULES.words["complaints"] & {*_stem(f)[-1:]})),
    (0.3, "it checks or reports", _checks_or_reports),
    (0.5, "it holds common helpers", lambda f: bool(RULES.words["helpers"] & {*_stem(f)[-1:]})),
    (0.8, "it is a constructor", lambda f: _name(f) in {"<init>", "initialize", "__init__"}),
    (0.6, "it carries the call", lambda f: bool(RULES.words["plumbing"] & {*_words(f)[:1]})),
    (0.4, "it is an entry point", lambda f: bool(RULES.patterns["entry"].search(_path(f)))),
)


def only_carries(frame: Frame) -> bool:
    """Tell by its names whether a frame is plumbing around the code that matters, or a helper."""
    is_helper = not RULES.words["helpers"].isdisjoint(_stem(frame))
    return is_helper or not RULES.words["plumbing"].isdisjoint(_words(frame)[:1])


def ranked_places(trace: Trace) -> tuple[LikelyFile, ...]:
    """List files of the trace, most likely first; score 0 to 1, relative to the best.

    In-app frames are ranked; where no frame is in-app, all are. Paths are repository paths where
    they are known.
    """
    scores: dict[str, float] = {}
    reasons: dict[str, tuple[str, ...]] = {}
    for depth, frame in enumerate(_distinct(trace)):
        held = [(weight, reason) for weight, reason, rule in WEIGHTS if rule(frame)]
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
    with_path = [frame for frame in trace.frames if frame.path]
    frames = [frame for frame in with_path if frame.in_app] or with_path
    once: dict[tuple[str, str], Frame] = {}
    for frame in frames[:RANKED_FRAMES]:
        once.setdefault((_path(frame), frame.function), frame)
    return tuple(once.values())


def _path(frame: Frame) -> str:
    return frame.repo_path or frame.path


def _stem(frame: Frame) -> tuple[str, ...]:
    return tuple(word.lower() for word in words(_path(frame).rsplit("/", 1)[-1].rsplit(".", 1)[0]))


def _name(frame: Frame) -> str:
    return re.split(r"[#.:]", _LEVELS.sub("", frame.function[:300]))[-1]


def _words(frame: Frame) -> tuple[str, ...]:
    return tuple(word.lower() for word in words(_name(frame)))


IN_MESSAGE, NAMED_CLASS, OWN_CLASS = 0.65, 0.35, 0.2

_CLASS = re.compile(r"\b[A-Z][A-Za-z0-9]{2,60}(?:(?:::|\.|\\)[A-Z][A-Za-z0-9]{0,60}){0,5}")
_CAMEL = ("java", "kt", "cs", "php", "ts", "tsx", "js")
_CLASS_FILES = ("{snake}.rb", "models/{snake}.py", *(f"{{camel}}.{ending}" for ending in _CAMEL))

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


def _from_trace(case: Case, index: PathIndex) -> Found:
    for place in ranked_places(case.trace) if case.trace else ():
        if place.path in index:
            yield place.path, place.score, "; ".join(place.because)


def _from_transaction(case: Case, index: PathIndex) -> Found:
    """List files that frameworks give to a transaction of this name."""
    names = dict.fromkeys(group.transaction for group in case.groups if group.transaction)
    endings = RULES.endings.get(case.trace.language if case.trace else "", ("",))
    for transaction in tuple(names)[:TRANSACTIONS]:
        clue = clue_of(endpoint(transaction))
        for guess in RULES.guesses:
            guessed = (path for path in guess.paths(clue) if path.endswith(endings))
            for path in _existing(guessed, index):
                yield path, guess.score, f"{guess.what} of the transaction"


def _existing(suffixes: Iterable[str], index: PathIndex) -> tuple[str, ...]:
    existing = (index.ending(suffix) for suffix in suffixes)
    return next((paths[:FILES_A_GUESS] for paths in existing if paths), ())


def _from_message(case: Case, index: PathIndex) -> Found:
    """List files and classes that the message names."""
    message = case.leader.message[:MESSAGE]
    for text in _first(RULES.patterns["file"], message):
        path = by_tail(plain(text), is_ours=True, index=index)
        if path:
            yield path, IN_MESSAGE, "the message names the file"
    for name in _first(_CLASS, message):
        for path in class_files(name, index):
            yield path, NAMED_CLASS, "the message names the class"


def _from_error_class(case: Case, index: PathIndex) -> Found:
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
    whole = {"snake": "/".join(map(underscore, parts)), "camel": "/".join(parts)}
    last = {"snake": underscore(parts[-1]), "camel": parts[-1]}
    suffixes = (form.format(**words) for words in (whole, last) for form in _CLASS_FILES)
    return _existing(suffixes, index)


# Who is asked for files, in this order: of equal scores the earlier one's file is better.
SOURCES = (_from_trace, _from_transaction, _from_message, _from_error_class)
