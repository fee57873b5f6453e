"""What is known besides earlier cases: notes of people and agents, and patterns."""

from nightwatch_core.memory.notes.researcher import learnings_for_case
from nightwatch_core.models.assignment import UnexplainedCase
from nightwatch_core.models.learning import TaskFile
from nightwatch_core.models.pattern import Pattern
from nightwatch_core.models.value import Value
from nightwatch_core.patterns import patterns_for


class Lore(Value):
    """Everything a night may tell its analysts of."""

    tasks: tuple[TaskFile, ...] = ()
    patterns: tuple[Pattern, ...] = ()
    complaints: tuple[str, ...] = ()

    def added(self, unknown: UnexplainedCase) -> UnexplainedCase:
        """A case with what there is about it, but for what its earlier cases tell already."""
        told = {prior.lesson.fingerprint for prior in unknown.priors}
        tasks = (one for one in self.tasks if one.id not in told)
        lore = {
            "learnings": learnings_for_case(unknown.case, tasks),
            "patterns": patterns_for(unknown.case, self.patterns),
        }
        return unknown.model_copy(update=lore)
