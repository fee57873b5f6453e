"""The program that tries candidates in the sandbox, and how its report is read.

It stands at the end of a copy of a file of tests, so that classes, fixtures and helpers are there,
and is run by the project's own runner. Each candidate runs in a child of its own, after the test's
own setting up, so that none can spoil another. The application runs in the same process and may
write whatever it likes into the report: so nothing of it is believed but which candidates to look
at. A candidate counts after a run of its own, and what is published is written from our list.
"""

import ast
import json
from collections.abc import Iterator
from typing import NamedTuple

from nightwatch_core.proof.search_suites import Candidate, Goal, Link, Place, Scene, Suite
from nightwatch_core.text.plain_text import one_line

REPORT = "/tmp/nightwatch-search"
_LINE = "nightwatch-search:"
_MOST_LINE = 4_000

_DRIVER = """

import json as _nw_json, os as _nw_os, select as _nw_select, signal as _nw_signal
import sys as _nw_sys, time as _nw_time
_nw_given = _nw_json.loads({given!r})
_nw_until = _nw_time.monotonic() + _nw_given["seconds"]
_nw_own = {{}}
for _nw_name, _nw_value in list(globals().items()):
    _nw_here = getattr(_nw_value, "__module__", "") == __name__
    _nw_test = _nw_name[:4] == "test" and callable(_nw_value)
    if isinstance(_nw_value, type) and any(one[:4] == "test" for one in dir(_nw_value)):
        _nw_own[_nw_name], _nw_test = _nw_value, _nw_here
    if _nw_test:
        del globals()[_nw_name]


def _nw_masked(cls):
    for name in dir(cls):
        if name[:4] == "test" and name != "test_nightwatch":
            setattr(cls, name, None)
    return cls


def _nw_told(raised):
    links = []
    while raised is not None and len(links) < 5:
        kind, frames, step = type(raised), [], raised.__traceback__
        while step is not None:
            code = step.tb_frame.f_code
            path = _nw_os.path.relpath(_nw_os.path.abspath(code.co_filename), "/work")
            inner = code.co_name[:1] == "<" and code.co_name != "<module>"
            if path in _nw_given["files"] and not inner:
                frames.append([path, code.co_name, step.tb_lineno])
            step = step.tb_next
        try:
            text = str(raised)[:500]
        except Exception:
            text = ""
        links.append([kind.__module__ + "." + kind.__qualname__, text, frames[:-40:-1]])
        raised = raised.__cause__ or (None if raised.__suppress_context__ else raised.__context__)
    return links


def _nw_child(text, names, write):
    try:
        _nw_os.setsid()
        null = _nw_os.open(_nw_os.devnull, _nw_os.O_RDWR)
        for number in (0, 1, 2):
            _nw_os.dup2(null, number)
        space = dict(globals(), **_nw_own)
        try:
            exec(compile(text, "<candidate>", "exec"), space)
            space["candidate"](**names)
        except BaseException as raised:
            links = _nw_told(raised)
            place = _nw_given["place"]
            hit = any(frames[:1] == [place] for _, _, frames in links)
            told = [links[0][0], links if hit else []]
            _nw_os.write(write, _nw_json.dumps(told).encode()[:60000])
    finally:
        _nw_os._exit(0)


def _nw_try(text, names):
    read, write = _nw_os.pipe()
    child = _nw_os.fork()
    if not child:
        _nw_os.close(read)
        _nw_child(text, names, write)
    _nw_os.close(write)
    told, until = b"", min(_nw_until, _nw_time.monotonic() + _nw_given["each"])
    while _nw_time.monotonic() < until and len(told) < 65536:
        if _nw_select.select([read], [], [], max(0, until - _nw_time.monotonic()))[0]:
            part = _nw_os.read(read, 65536)
            told += part
            if not part:
                break
    _nw_os.close(read)
    for kill in (_nw_os.killpg, _nw_os.kill):
        try:
            kill(child, _nw_signal.SIGKILL)
        except OSError:
            pass
    _nw_os.waitpid(child, 0)
    try:
        return _nw_json.loads(told) if told else None
    except ValueError:
        return None


def _nw_search(scene, names):
    report = _nw_os.open({report!r}, _nw_os.O_WRONLY | _nw_os.O_CREAT | _nw_os.O_APPEND, 0o600)
    for number, text in _nw_given["scenes"][scene]:
        if _nw_time.monotonic() > _nw_until:
            break
        line = _nw_json.dumps([number, _nw_try(text, names)])
        if len(line) < {most}:
            _nw_os.write(report, ({line!r} + line + "\\n").encode())
    _nw_os.close(report)
"""
_IN_CLASS = """

@_nw_masked
class TestNightwatch{number}(_nw_own[{owner!r}]):
{decorators}    def test_nightwatch(self{parameters}):
        _nw_search({number}, dict(self=self{given}))
"""
_ALONE = """

{decorators}def test_nightwatch_{number}({parameters}):
    _nw_search({number}, dict({given}))
"""


class Hit(NamedTuple):
    """A candidate that is said to raise what production raised, through so many frames."""

    number: int
    reached: int


class Told(NamedTuple):
    """What a driver reports; untrusted."""

    tried: int
    hits: tuple[Hit, ...]
    others: tuple[str, ...] = ()  # classes that were raised instead, the most frequent first
    printed: str = ""  # the last line of what the runner printed


def driver(
    suite: Suite, tries: tuple[tuple[Scene, Candidate], ...], goal: Goal, seconds: float
) -> str:
    """Write the driver for one file of tests."""
    numbered: dict[tuple[str, str], list[list[object]]] = {}
    scenes: dict[tuple[str, str], Scene] = {}
    for number, (scene, candidate) in enumerate(tries):
        name = (scene.owner, scene.name)
        scenes[name] = scene
        numbered.setdefault(name, []).append([number, as_function(scene, candidate)])
    given = {
        "scenes": list(numbered.values()),
        "place": list(goal.places[0]),
        "files": sorted({one.path for one in goal.places}),
        "seconds": seconds,
        "each": 2.0,
    }
    text = _DRIVER.format(given=json.dumps(given), report=REPORT, line=_LINE, most=_MOST_LINE)
    entered = (_entered(scene, number) for number, scene in enumerate(scenes.values()))
    return suite.text + text + "".join(entered)


def as_function(scene: Scene, candidate: Candidate) -> str:
    """A candidate as a function of what its scene has at hand."""
    names = ", ".join(one.arg for one in scene.node.args.args)
    head = "".join(f"{line}\n" for line in candidate.imports)
    return f"{head}def candidate({names}):\n" + "\n".join(candidate.body) + "\n"


def _entered(scene: Scene, number: int) -> str:
    names = [one.arg for one in scene.node.args.args]
    deco = [f"@{ast.unparse(one)}\n" for one in scene.node.decorator_list]
    shared = [one for one in names if one != "self" or not scene.owner]
    given = ", ".join(f"{one}={one}" for one in shared)
    if not scene.owner:
        return _ALONE.format(decorators="".join(deco), number=number,
                             parameters=", ".join(names), given=given)  # fmt: skip
    return _IN_CLASS.format(
        number=number,
        owner=scene.owner,
        decorators="".join(f"    {one}" for one in deco),
        parameters="".join(f", {one}" for one in shared),
        given=f", {given}" if given else "",
    )


def words(runner: tuple[str, ...], seconds: float) -> tuple[str, ...]:
    """Run a driver for so long, then show the end of what its runner printed, and the report."""
    shown = 'tail -c 2000 /tmp/printed; echo; cat "$0" 2>/dev/null; true'
    script = f'timeout -k 1 {seconds:.0f} "$@" > /tmp/printed 2>&1; {shown}'
    return ("/bin/sh", "-c", script, REPORT, *runner)


def read_report(output: str, goal: Goal, most: int) -> Told:
    """Read a report, comparing it once more; numbers from 0 to below `most` are ours.

    >>> goal = Goal("KeyError", "'a'", (Place("a.py", "f", 3),), ())
    >>> line = 'nightwatch-search:[4, ["KeyError", [["KeyError", "?", [["a.py", "f", 3]]]]]]'
    >>> line = line.replace("?", "'a'")
    >>> read_report(line, goal, 5).hits, read_report(line, goal, 4).hits
    ((Hit(number=4, reached=1),), ())
    """
    hits: dict[int, Hit] = {}
    others: dict[str, int] = {}
    tried = 0
    for number, raised, links in _rows(output):
        if not 0 <= number < most:
            continue
        tried += 1
        reached = max(map(goal.reached, links), default=0)
        if reached:
            hits[number] = Hit(number, reached)
        elif raised:
            others[raised] = others.get(raised, 0) + 1
    often = sorted(others, key=lambda one: -others[one])
    printed = [line for line in output.splitlines() if line.strip() and _LINE not in line]
    last = one_line(printed[-1])[:200] if printed else "it prints nothing"
    return Told(tried, tuple(hits.values()), tuple(often[:3]), last)


def _rows(output: str) -> Iterator[tuple[int, str, tuple[Link, ...]]]:
    """Rows of the right form; everything else that was printed is passed over."""
    for line in output.splitlines():
        if not line.startswith(_LINE):
            continue
        try:
            number, told = json.loads(line.removeprefix(_LINE))
            raised, links = told or ("", ())
            read = tuple(
                Link(str(name), str(text), tuple(Place(str(a), str(b), int(c)) for a, b, c in rows))
                for name, text, rows in links[:5]
            )
            yield int(number), str(raised)[:200].removeprefix("builtins."), read
        except (ValueError, TypeError, AttributeError, RecursionError, KeyError):
            continue
