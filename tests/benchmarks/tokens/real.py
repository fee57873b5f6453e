"""Scenarios on real traces of the evaluation data: three applications, three languages.

From the data: error class, message, frames with their lines, the trace as printed, and the file
that the developers changed to fix it. Not in the data is which line they changed, so it is drawn,
once, by the case's id, before anything was measured:

* the fault lies in the function of the fixed file that the trace names in 78 of 100 cases (the
  share of faulty methods that traces reach directly or nearly so: Pacheco, Yang and Chen,
  "Leveraging Stack Traces for Spectrum-based Fault Localization in the Absence of Failing Tests",
  arXiv 2405.00565), 8 to 25 lines from the frame; otherwise in another function of that file that
  the failing function calls. A fixed file that is not in the trace holds a function that the
  failing one calls;
* besides, one wants to see the lines before the failing one, the next caller of the trace, and in
  half of the cases a helper in another file, to rule it out;
* half of the analysts read whole files, half the lines around a known place; half of them ask for
  several things at once, half one by one (drawn, nothing is known about it);
* who has only a path without its component guesses it as printed.

The traces of the Ruby data stand in prose that tells about the fix: their frames are printed anew.
"""

import gzip
import json
import re
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.tokens.trees import neighbours, tree
from benchmarks.tokens.words import Fact, Night, Scenario, Spot

EVAL = Path(__file__).resolve().parents[4] / "shared" / "eval"
IN_THE_TRACE = 0.78
_OTHER_FUNCTION = 150  # lines between a frame and another function of its file

RAILS = ("be7f922d7d5c", "130c6750696c", "e93f416abe32", "9698c1bff7b8", "e4ad3b26d946")
HEALTHCHECKS = (
    "a6b8f4c71e32#test_shell", "02888e6db93c#test_it_handles_group_channel",
    "52a8df4dbf60#test_it_handles_last_ping_now",
    "ea89237c16c5#test_it_invites_user_with_email_as_username",
    "7f03a9e73835#test_it_handles_no_last_ping",
)  # fmt: skip
LANG = ("Lang-1#0", "Lang-12#0", "Lang-51#0", "Lang-54#0", "Lang-56#0")
NIGHTS = (
    ("rails", "ruby", "fl_rails_ruby.jsonl.gz", RAILS),
    ("healthchecks", "python", "fl_healthchecks_python.jsonl.gz", HEALTHCHECKS),
    ("commons-lang", "java", "defects4j_traces.jsonl.gz", LANG),
)
PREFIXES = {"commons-lang": "org.apache.commons.lang, org.apache.commons.lang3"}
_COMPONENTS = {
    "active_record": "activerecord", "active_support": "activesupport", "rails": "railties",
    "action_dispatch": "actionpack", "active_model": "activemodel",
}  # fmt: skip
_HELPERS = {"ruby": "{0}_{1}", "python": "{0}_{1}", "java": "{0}{2}"}
_CALLS = {
    "ruby": "{value} = {helper}({tag}, scope: :{value})",
    "python": '{value} = {helper}({tag}, scope="{value}")',
    "java": "Object {value} = {helper}({tag}, this.{value});",
}


def nights(folder: Path = EVAL) -> tuple[Night, ...]:
    """The three nights, each with a reason where it cannot be played."""
    if not (folder / "data").is_dir():
        why = f"there is no evaluation data at {folder}"
        return tuple(Night(name, lang, {}, (), skipped=why) for name, lang, *_ in NIGHTS)
    return tuple(_night(folder / "data" / file, *rest, ids) for *rest, file, ids in NIGHTS)


def _night(file: Path, name: str, language: str, ids: tuple[str, ...]) -> Night:
    with gzip.open(file, "rt", encoding="utf-8") as rows:
        found = {row["id"]: row for row in map(json.loads, rows) if row["id"] in ids}
    spots: list[Spot] = []
    scenarios = tuple(_scenario(found[item], language, spots) for item in ids)
    files = tree(language, spots, neighbours(dict.fromkeys(spot.path for spot in spots)))
    return Night(name, language, files, scenarios, app_prefixes=PREFIXES.get(name, ""))


def _scenario(row: dict[str, Any], language: str, spots: list[Spot]) -> Scenario:
    rng = Random(f"scenario {row['id']}")
    frames = _frames(row, language)
    # functions and lines as the trace prints them, code where it prints code
    spots += [Spot(path, line, name, code or "pass") for path, line, name, code in frames if code]
    facts = _facts(rng, row, language, frames, spots)
    outermost = frames[-1]
    transaction = row.get("transaction") or f"{Path(outermost[0]).stem}#{outermost[2]}"
    return Scenario(
        key=row["id"],
        language=language,
        error_class=row["error_class"],
        transaction=transaction,
        message=row["message"].strip() or "no message",
        raw=_printed(row) if language == "ruby" else row["raw"],
        facts=facts,
        cause=f"{facts[-1].symbol} hands on what {facts[0].symbol} does not expect",
        whole=rng.random() < 0.5,
        together=rng.random() < 0.5,
        source="real trace",
    )


def _facts(
    rng: Random, row: dict[str, Any], language: str, frames: list[Any], spots: list[Spot]
) -> tuple[Fact, ...]:
    top, facts = frames[0], []
    tag = f"v{rng.randrange(16**4):04x}"
    words = rng.sample(("quota", "tariff", "folder", "vendor", "segment", "notice", "ledger"), 6)
    near = _HELPERS[language].format("fetch", words[0], words[0].title())
    far = _HELPERS[language].format("guard", words[1], words[1].title())

    def call(helper: str, word: str, inner: str = "") -> str:
        given = f"{inner}({word}_{tag})" if inner else f"{word}_{tag}"
        return _CALLS[language].format(value=word, helper=helper, tag=given)

    def fact(name: str, path: str, line: int, function: str, symbol: str, said: str) -> None:
        line = _free(line, path, spots)
        spots.append(Spot(path, line, function, said, defines=function in (near, far)))
        guess = next((printed for p, printed in _as_printed(row, language) if p == path), "")
        facts.append(Fact(name, path, said, symbol, guess))

    fixed = _fixed(row, language, frames)
    within = next((frame for frame in frames if frame[0] == fixed), None)
    direct = within is not None and rng.random() < IN_THE_TRACE
    alternative = rng.random() < 0.5
    helper, inner = (far if alternative else words[5], "") if direct else (near, far)
    said = call(helper, words[2], inner if alternative else "")
    fact("failing", top[0], top[1] - rng.randrange(1, 7), top[2], top[2], said)
    caller = next(
        (f for f in frames if f[0] != top[0] or abs(f[1] - top[1]) > 30 and f[2] != top[2]), None
    )
    if caller:
        said = call(_HELPERS[language].format("keep", words[3], words[3].title()), words[3])
        fact("caller", caller[0], caller[1] + rng.randrange(1, 6), caller[2], caller[2], said)
    if alternative:
        beside = neighbours((top[0],), each=1)[0]
        fact("ruled out", beside, rng.randrange(40, 300), far, far, call("limit", words[5]))
    if within is not None and direct:
        line = within[1] + rng.choice((-1, 1)) * rng.randrange(8, 26)
        fact("fault", fixed, max(line, 6), within[2], within[2], call("settle", words[0]))
    else:
        line = within[1] + _OTHER_FUNCTION if within else 0
        fact("fault", fixed, max(line + rng.randrange(200), 30), near, near,
             call("settle", words[0]))  # fmt: skip
    return tuple(facts)


def _free(line: int, path: str, spots: list[Spot]) -> int:
    taken = {spot.line for spot in spots if spot.path == path}
    return next(n for n in range(max(line, 6), 10_000) if n not in taken)


def _frames(row: dict[str, Any], language: str) -> list[tuple[str, int, str, str]]:
    """Own frames, innermost first: path in the repository, line, function, printed code."""
    given = row["frames"] if language != "python" else list(reversed(row["frames"]))
    found = []
    for frame in given:
        path = _place(frame, row, language) if frame["in_app"] and frame["file"] else ""
        if not path or not frame.get("line") or frame.get("is_test"):
            continue
        name = re.split(r"[\s.#:]", frame["function"] or "run")[-1].strip("<>'`") or "run"
        found.append((path, frame["line"], name, _code(row, frame)))
    return found


def _code(row: dict[str, Any], frame: dict[str, Any]) -> str:
    head = re.escape(f'File "{frame["file"]}", line {frame["line"]}')
    printed = re.search(rf"{head}, in \S+\n    (\S.*)", row["raw"])
    return printed[1].strip() if printed else ""


def _place(frame: dict[str, Any], row: dict[str, Any], language: str) -> str:
    path = frame["file"]
    if language == "java":
        return f"src/main/java/{frame['module'].partition('$')[0].replace('.', '/')}.java"
    if language == "python" or "/test/" in path:
        return path if language == "python" else ""
    whole = re.search(r"(?:action|active|rail)[a-z]*/(?:lib|app)/.*", path)
    if whole:
        return whole[0]
    part = re.match(r"lib/(\w+)/", path)
    return f"{_COMPONENTS[part[1]]}/{path}" if part and part[1] in _COMPONENTS else ""


def _as_printed(row: dict[str, Any], language: str) -> list[tuple[str, str]]:
    pairs = [(_place(f, row, language), f) for f in row["frames"] if f["file"]]
    return [(path, path if language == "java" else f["file"].lstrip("/~")) for path, f in pairs]


def _fixed(row: dict[str, Any], language: str, frames: list[Any]) -> str:
    if language != "java":
        return str(row["fixed_files"][0])
    named = next((f[0] for f in frames if f[0].endswith(f"/{row['fixed_files'][0]}")), "")
    return (
        named or f"src/main/java/{row['fixed_classes'][0].partition('$')[0].replace('.', '/')}.java"
    )


def _printed(row: dict[str, Any]) -> str:
    head = f"{row['error_class']} ({row['message'].strip()})"
    frames = (f"{f['file']}:{f['line']}:in '{f['function'] or 'run'}'" for f in row["frames"])
    return "\n".join((head, *frames))
