"""The application of the fifty: a class a file, and errors that say where it fails."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from git_repositories import Change, repository

CLASSES = ("NoMethodError", "KeyError", "TypeError", "ZeroDivisionError", "ArgumentError")
FAMILIES = 2  # files in which all classes fail: a leader and its siblings


def named(unit: int) -> str:
    """Two letters: numbers would be taken for ids, and such errors for one."""
    return "".join(chr(ord("a") + digit) for digit in divmod(unit, 26))


def model_path(unit: int) -> str:
    return f"app/models/unit_{named(unit)}.rb"


def caller_path(unit: int) -> str:
    return f"app/controllers/unit_{named(unit)}_controller.rb"


def source(unit: int) -> tuple[str, int]:
    """A file of 2 to 30 KB, and the line that fails in it."""
    rows = [f"class Unit{named(unit).upper()}"]
    for number in range(20 + 15 * (unit % 20)):
        rows += [f"  def step_{number}(given)", f"    given.fetch({number}) + {unit}", "  end", ""]
    at = len(rows) // 2 // 4 * 4 + 3  # a body in the middle
    rows[at - 1] = f"    given.rate_{named(unit)}.round"
    return "\n".join([*rows, "end", ""]), at


def application(folder: Path, units: int) -> Path:
    files = {model_path(unit): source(unit)[0] for unit in range(units)}
    files |= {
        caller_path(
            unit
        ): f"class Unit{named(unit).upper()}Controller < ApplicationController\n  def show\n"
        f"    render json: Unit{named(unit).upper()}.new.step_1(params)\n  end\nend\n"
        for unit in range(units)
    }
    return repository(folder, Change("The application", files))


def records(errors: int) -> Iterator[dict[str, Any]]:
    """Every class in the first files, then one class a file."""
    places = [(unit, name) for unit in range(FAMILIES) for name in CLASSES]
    places += [(unit, CLASSES[unit % len(CLASSES)]) for unit in range(FAMILIES, errors)]
    for number, (unit, name) in enumerate(places[:errors]):
        text, line = source(unit)
        above = [row for row in text.split("\n")[:line] if "def " in row][-1]
        function = above.split("def ")[1].partition("(")[0]
        yield {
            "timestamp": f"2026-11-20T0{number % 8}:{number % 60:02}:00Z",
            "error.class": name,
            "error.message": f"rate_{named(unit)} cannot be had",
            "transaction": f"Controller/unit_{named(unit)}/{name.lower()}",
            "service.name": "shop",
            "backtrace": [
                f"{model_path(unit)}:{line}:in '{function}'",
                f"{caller_path(unit)}:3:in 'Unit{named(unit).upper()}Controller#show'",
            ],
        }
