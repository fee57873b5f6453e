"""One world for tests: ports that are handed in, and nights over them, with or without Prefect."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from prefect import Flow, flow
from twins.reading import MemoryRecords

from flows.act import publish_kept
from flows.learn import learn_from
from flows.nightly import whole_night
from flows.one_error import error_again
from flows.triage import collect_night, submit_all
from nightwatch_core import ports
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import LearningResult, RunReport
from nightwatch_core.settings import Settings, night_options, settings
from tasks.night import held, single_choices
from tasks.parameters import takes_options
from tasks.ports import Adapters, PublishingPorts, ReadingPorts
from tasks.triage import choices_collecting
from tasks.wiring.opening import OpenNight
from tasks.workers import NightRunner


@dataclass
class World:
    """Everything a night reads and writes, and ways to run one."""

    reading: ReadingPorts
    publishing: PublishingPorts
    model_of: Callable[[str], ports.Model] | None = None  # by its name; None: `reading.model`
    records: ports.Records = field(default_factory=MemoryRecords)
    is_recorded: bool = True
    state: Path | None = None  # None: the state folder of the test's environment

    @property
    def settings(self) -> Settings:
        """The settings of the test's environment, over this world's state folder."""
        at = settings()
        return at.model_copy(update={"state_dir": self.state}) if self.state else at

    def adapters(self, model: str = "") -> Adapters:
        """What stands behind the ports of its nights; `model` is the one that leads."""

        def reading() -> ReadingPorts:
            named = self.model_of(model) if self.model_of else self.reading.model
            return replace(self.reading, model=named)

        return Adapters(
            reading=reading,
            publishing=lambda: self.publishing,
            bare_code=lambda: self.reading.code,
            few_files=lambda: self.reading.code,
            model_named=self.model_of or (lambda name: self.reading.model),
            batches_named=lambda name: self.reading.batches,
            records=lambda: self.records,
            pause=lambda seconds: None,
            is_recorded=self.is_recorded,
        )

    def over(self, options: NightOptions, **choices: Any) -> OpenNight:
        """A night with just these options; `choices` are those that its run was given."""
        return OpenNight(options, self.settings, self.adapters(options.model), choices=choices)

    def open(self, **choices: Any) -> OpenNight:
        """A night over this world, its options over the settings of the test's environment."""
        options = night_options(choices)
        options = options.model_copy(update={"max_errors": options.max_errors or 5})
        return OpenNight(options, self.settings, self.adapters(options.model), choices=choices)

    def night(self, **choices: Any) -> RunReport:
        """One night without Prefect."""
        with held(self.open(**choices)) as night:
            return submit_all(night) if night.options.batch_mode else whole_night(night)

    def night_on_prefect(self, **choices: Any) -> RunReport:
        """One night as a flow's run, on a server that the test has started."""
        report: RunReport = self.flow()(**choices)
        return report

    def flow(self) -> Flow[Any, RunReport]:
        """Nights of this world as a flow, for runs that are made and retried by Prefect."""

        def nightly(**choices: Any) -> RunReport:
            return self.night(**choices)

        return as_flow("nightly", takes_options(nightly))

    def one_error(self, error: str = "", on_prefect: bool = False, **choices: Any) -> RunReport:
        """One error analysed again."""
        which = {name: choices.pop(name, "") for name in ("error_class", "transaction")}

        given = {"error": error, **which, **choices}
        report: RunReport = (self.single_flow() if on_prefect else self._again)(**given)
        return report

    def single_flow(self) -> Flow[Any, RunReport]:
        """Runs of one error of this world as a flow."""

        def one_error(
            error: str = "", error_class: str = "", transaction: str = "", **given: Any
        ) -> RunReport:
            return self._again(error, error_class, transaction, **given)

        return as_flow("one-error", takes_options(one_error))

    def _again(
        self, error: str = "", error_class: str = "", transaction: str = "", **choices: Any
    ) -> RunReport:
        chosen = single_choices(error, choices, self.publishing.nights)
        with held(self.open(**chosen)) as night:
            return error_again(night, error, error_class, transaction)

    def collect(self, name: str = "", **choices: Any) -> RunReport:
        """A batch collected, without Prefect."""
        store, nights = self.publishing.batch_store, self.publishing.nights
        assert store is not None
        opened = self.open(**choices_collecting(name, choices, store, nights))
        opened.choices = choices
        with held(opened) as night:
            return collect_night(night, name)

    def learn(self, night: str) -> LearningResult:
        """What a kept night teaches, again."""
        opened, report = self._kept(night)
        with held(opened):
            return learn_from(opened, report)

    def act(self, night: str, **choices: Any) -> RunReport:
        """What a kept night found, published."""
        opened, report = self._kept(night, **choices)
        with held(opened):
            return publish_kept(opened, report)

    def _kept(self, name: str, **choices: Any) -> tuple[OpenNight, RunReport]:
        report = self.publishing.nights.report(name)
        assert report is not None
        opened = self.open(**{**report.options.model_dump(exclude_none=True), **choices})
        opened.begin(report.night)
        return opened, report.model_copy(update={"options": opened.options})


def as_flow(name: str, function: Callable[..., RunReport]) -> Flow[Any, RunReport]:
    """A flow as the product's are: its tasks run as the night's options say."""
    made: Flow[Any, RunReport] = flow(name=name, task_runner=NightRunner())(function)
    return made
