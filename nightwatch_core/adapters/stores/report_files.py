"""A night's report as files: written whole, read with patience."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import overload

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from nightwatch_core.adapters.html.page import as_html
from nightwatch_core.adapters.stores import atomic_files
from nightwatch_core.errors import StopTheNight
from nightwatch_core.models.report import RunReport
from nightwatch_core.report.markdown import as_markdown


def write(folder: Path, report: RunReport) -> None:
    """Write report.json, .md, .html and, where there are any, rejects.jsonl; each one whole.

    The JSON, which the others are made from, comes first. Raises `StopTheNight` where the disk is
    full or the folder cannot be written.
    """
    report = _encodable(report)
    rejects = "".join(f"{each.model_dump_json()}\n" for each in report.rejects)
    with on_disk(folder):
        atomic_files.write(folder / "report.json", report.model_dump_json(indent=1).encode())
        atomic_files.write(folder / "report.md", as_markdown(report).encode())
        atomic_files.write(folder / "report.html", as_html(report).encode())
        if rejects:
            atomic_files.write(folder / "rejects.jsonl", rejects.encode())
        else:
            (folder / "rejects.jsonl").unlink(missing_ok=True)


def read(file: Path) -> RunReport | None:
    """The report in a report.json; None where there is none that can be read."""
    try:
        return RunReport.model_validate_json(file.read_bytes())
    except (OSError, ValidationError):
        return None


class Reports(Sequence[RunReport]):
    """Report files, read when asked for; those that cannot be read are passed over."""

    def __init__(self, files: tuple[Path, ...]) -> None:
        """Take paths of report.json files, in the order wanted."""
        self._files = files

    def __iter__(self) -> Iterator[RunReport]:
        """One file at a time."""
        return (report for report in map(read, self._files) if report is not None)

    def __len__(self) -> int:
        """How many can be read; reads them all."""
        return sum(1 for _ in self)

    @overload
    def __getitem__(self, at: int) -> RunReport: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[RunReport, ...]: ...
    def __getitem__(self, at: int | slice) -> RunReport | tuple[RunReport, ...]:
        """Reads no further than needed."""
        if isinstance(at, slice):
            bounds = (at.start, at.stop, at.step)
            ahead = all(bound is None or bound >= 0 for bound in bounds)
            return tuple(islice(self, *bounds)) if ahead else tuple(self)[at]
        if at < 0:
            return tuple(self)[at]
        for report in islice(self, at, None):
            return report
        raise IndexError(at)


@contextmanager
def on_disk(folder: Path) -> Iterator[None]:
    """Tell what the file system complains about as what to do."""
    try:
        yield
    except OSError as error:
        raise StopTheNight(
            f"{folder} cannot be used ({error.strerror or error}): free some space, check who may "
            "write there, or name another state folder with NIGHTWATCH_STATE"
        ) from error


def _encodable(report: RunReport) -> RunReport:
    """The report without half characters, which a broken export may hold and no file can."""
    try:
        report.model_dump_json()
    except (PydanticSerializationError, UnicodeEncodeError):
        return RunReport.model_validate(_whole(report.model_dump()))
    return report


def _whole(value: object) -> object:
    if isinstance(value, dict):
        return {key: _whole(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return tuple(_whole(each) for each in value)
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
