"""Tells nobody but says where the report can be read: the news without an account anywhere."""

from pathlib import Path

from nightwatch_core.errors import GiveUp
from nightwatch_core.models.report import RunReport


class LocalNotifier:
    """The Notifier port without a network; writes nothing."""

    def publish(self, report: RunReport) -> str:
        """The path of the night's report.html; raises `GiveUp` where it has not been kept."""
        page = Path(report.night.folder) / "report.html"
        if not report.night.folder or not page.is_file():
            raise GiveUp(f"there is no {page}: the night's report has not been written")
        return str(page.resolve())

    def probe(self) -> str:
        """Say where the news is."""
        return "nobody is told: the report is a page on this machine"
