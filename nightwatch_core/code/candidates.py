"""Merged changes an analyst may want to look at: files that changed against files that fail.

Whoever touched the same file need not have broken it, so these are candidates and no suspects.
Words of titles and messages are left out on purpose: they find nothing that the files do not.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable

from nightwatch_core.code.candidate_symbols import SHORTEST_NAME
from nightwatch_core.code.languages import COMMON
from nightwatch_core.code.likely_files import likely_files
from nightwatch_core.code.releases import fading, onset
from nightwatch_core.code.symptoms import MESSAGE, symptom_of
from nightwatch_core.models.code import MergedPull
from nightwatch_core.models.errors import Case
from nightwatch_core.models.research import LikelyFile
from nightwatch_core.traces.placing import PathIndex

NAMED_SEARCHES = 3  # names of a message that are followed
COMPARED_FILES = 10  # files of a case, a guess, a suspect
FIRST_FILES = 30  # that are read together for a case, before anything else
CANDIDATES = 5  # items

MIN_SCORE = 0.25  # below it nothing is a candidate
_LIKELY_SHARE = 0.5  # a likely file counts this much of a frame's
_USUAL_SIZE = 5  # files; larger pull requests are damped


def candidates(
    case: Case, likely: tuple[LikelyFile, ...], pulls: Iterable[MergedPull], limit: int = CANDIDATES
) -> tuple[MergedPull, ...]:
    """List pull requests that changed files of a case before it began, the likeliest first."""
    began = onset(case)
    merged = [pull for pull in pulls if began is None or pull.merged_at <= began.at]
    weights = _weights(case, likely)
    commonness = Counter(path for pull in merged for path in set(pull.files))
    ranked = []
    for pull in merged:
        missed = 1.0
        for path in weights.keys() & set(pull.files):
            rarity = 1 - 0.3 * math.log(commonness[path]) / math.log(max(2, len(merged)))
            missed *= 1 - 0.9 * weights[path] * rarity
        size = max(1.0, len(pull.files) / _USUAL_SIZE)
        score = (1 - missed) / (1 + 0.5 * math.log10(size))
        score *= fading(began.at - pull.merged_at) if began else 1.0
        if score >= MIN_SCORE:
            ranked.append((round(score, 3), pull.merged_at, pull))
    ranked.sort(key=lambda item: (item[0], item[1], item[2].sha), reverse=True)
    return tuple(pull for _, _, pull in ranked[:limit])


def _weights(case: Case, likely: tuple[LikelyFile, ...]) -> dict[str, float]:
    """Weigh the files of a case: frames by their rank, then likely files by their score."""
    frames = case.trace.in_app if case.trace else ()
    paths = dict.fromkeys(frame.repo_path for frame in frames if frame.repo_path)
    ranked = enumerate(tuple(paths)[:COMPARED_FILES], start=1)
    weights = {path: rank**-0.5 for rank, path in ranked}
    share = _LIKELY_SHARE if weights else 1.0
    for file in likely[:COMPARED_FILES]:
        weights.setdefault(file.path, share * min(1.0, file.score))
    return weights


# Which files are read for a case before anything else is known of it.


def first_files(case: Case, index: PathIndex) -> tuple[str, ...]:
    """List the files that research begins with: those of own frames, then the likely ones."""
    frames = case.trace.in_app if case.trace else ()
    named = (frame.repo_path for frame in frames if frame.repo_path)
    likely = (file.path for file in likely_files(case, index))
    return tuple(dict.fromkeys((*named, *likely)))[:FIRST_FILES]


# What a message names: members, columns, constraints, keys and classes, at their definitions.

_QUOTED = re.compile(r"['\"`‘“](?:\w{1,60}(?:\.|::|#))*:?(?P<name>[A-Za-z_]\w{2,60})['\"`’”]")
_SEVERAL_WORDS = re.compile(r"\b(?:[a-z]+(?:_[a-z0-9]+)+|[a-z]+[A-Z][A-Za-z0-9]+)\b")


def names_in_message(case: Case) -> tuple[str, ...]:
    """List the names that the message says, what its wording singles out before others.

    A member that nothing has is no name to look for: its receiver is what is wrong.
    """
    message = case.leader.message[:MESSAGE]
    symptom = symptom_of(case.leader.error_class, message)
    relation = re.split(r"[\s,]+", symptom.relation)
    missing = {item.rpartition(".")[0] for item in relation}  # tables
    missing |= {symptom.name} if symptom.kind == "none receiver" else set()
    said = (symptom.key, symptom.keyword, *(item.rpartition(".")[2] for item in relation))
    quoted = (match["name"] for match in _QUOTED.finditer(message))
    names = dict.fromkeys((*said, symptom.name, *quoted, *_SEVERAL_WORDS.findall(message)))
    return tuple(
        name
        for name in names
        if re.fullmatch(r"\w+", name)
        and len(name) > SHORTEST_NAME
        and name not in COMMON
        and name not in missing
    )[:NAMED_SEARCHES]
