"""Briefings for proofs over trees that are given as texts, and a scripted model."""

from twins.reading import MemoryClock, MemoryCode

from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.answer import Allowance, Usage
from nightwatch_core.models.conversation import AssistantTurn, Capabilities, Reply
from nightwatch_core.models.errors import Case, ErrorGroup
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposals import DraftPull
from nightwatch_core.proof.asking import ProofBriefing
from nightwatch_core.traces.parsing import parse
from nightwatch_core.traces.placing import PathIndex, map_frames


class Asked:
    """A model that gives these answers in turn; an exception among them is raised."""

    def __init__(self, *answers):
        self.answers, self.asked = list(answers), []

    def capabilities(self):
        return Capabilities(model="scripted", input_price=1.0, output_price=5.0)

    def reply(self, conversation, timeout):
        self.asked.append(conversation)
        answer = self.answers[len(self.asked) - 1] if len(self.asked) <= len(self.answers) else ""
        if isinstance(answer, Exception):
            raise answer
        usage = Usage(calls=1, input_tokens=1_000, output_tokens=200, cost=0.01)
        return Reply(turn=AssistantTurn(text=answer), usage=usage)


def case_of(files, trace):
    read = map_frames(parse(trace), PathIndex(files))
    root = read.root
    group = ErrorGroup(
        fingerprint="v1:a", source="file", error_class=root.error_class, message=root.message
    )
    return Case(leader=group, trace=read)


def briefing_of(files, trace, fix, sandbox, cache, model, commit, **more):
    tree = MemoryCode(files, commit)
    analysis = Analysis(
        case=case_of(files, trace), title="t", root_cause="nobody thought of it",
        confidence="high", fix=fix, read=tuple(files),
    )  # fmt: skip
    draft = DraftPull(
        key="k", fingerprint="v1:a", branch="b", base="main", title="t", body="",
        commit_message="", commit=commit.sha, changes=(),
    )  # fmt: skip
    given = {
        "options": NightOptions(),
        "allowance": Allowance(iterations=5, tokens=60_000, cost=None, seconds=60),
        "base": tree,
        "failing": tree,
        **more,
    }
    return ProofBriefing(
        draft=draft, analysis=analysis, shown=given["base"], sandbox=sandbox, cache=cache,
        clock=MemoryClock(), model=model, fence="3fa9", **given,
    )  # fmt: skip
