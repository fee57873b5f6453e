"""The code cache of whole analyses and nights over GitHub."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from git_repositories import Change, repository
from github_world import client
from night_world import CART, FILES, PAY, TRACES, by_case, worlds
from services.github import GitHub
from twins.reading import MemoryModel
from world import World

from nightwatch_core.adapters.github.code_host import ApiHost, GitHubHost
from nightwatch_core.adapters.stores.code_cache import recorded_host
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.answer import Allowance
from nightwatch_core.models.assignment import Assignment
from nightwatch_core.models.conversation import AssistantTurn, Conversation, Reply, ToolCall
from nightwatch_core.models.errors import Case, ErrorGroup
from tasks.analysis import analyse
from tasks.records import records

pytestmark = pytest.mark.usefixtures("own_results")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[GitHub]:
    with GitHub(repository(tmp_path / "shop.git", Change("Shop", FILES), bare=True)) as server:
        yield server


def world_on(server: GitHub, model: MemoryModel | None = None) -> World:
    """The small world, its code on GitHub and not to be cloned."""
    world = worlds(model=model)
    host = recorded_host(GitHubHost(ApiHost(client(server), server.repository)), records())
    return replace(world, reading=replace(world.reading, code=host))


def reads_first(conversation: Conversation) -> object:
    """A model that reads the cart before it answers."""
    if len(conversation.turns) > 1:
        return by_case(conversation)
    call = ToolCall(id="1", name="read_file", arguments={"path": "shop/cart.py"})
    return Reply(turn=AssistantTurn(calls=(call,)), stop="tools")


def analysed(world: World, groups: tuple[ErrorGroup, ...]) -> list[Analysis]:
    """Analyses side by side, as the night runs them."""
    night = world.open(model="memory")

    def one(group: ErrorGroup) -> Analysis:
        (trace,) = TRACES[group.fingerprint]
        frame = trace.top.model_copy(update={"repo_path": "shop/cart.py"})
        link = trace.links[0].model_copy(update={"frames": (frame,)})
        case = Case(leader=group, trace=trace.model_copy(update={"links": (link,)}))
        allowance = Allowance(iterations=5, tokens=100_000, cost=1.0, seconds=600)
        commit = world.reading.code.head()
        assignment = Assignment(case=case, allowance=allowance, commit=commit, night="n")
        return analyse.fn(assignment, night)

    with ThreadPoolExecutor(len(groups)) as threads:
        futures = [threads.submit(one, group) for group in groups]
        return [future.result() for future in futures]


def code_requests(server: GitHub) -> list[str]:
    return [call for call in server.calls() if re.search(r"/git/(blobs|trees)/", call)]


def test_two_analyses_of_one_file_ask_once(server: GitHub) -> None:
    analysed(world_on(server, MemoryModel([reads_first])), (CART, PAY))
    assert [call.rpartition("/")[0] for call in code_requests(server)] == [
        "GET /git/trees",
        "GET /git/blobs",
    ]


def test_every_key_names_its_commit(server: GitHub, tmp_path: Path) -> None:
    analysed(world_on(server, MemoryModel([reads_first])), (CART,))
    sha = server.git.run("rev-parse", "main")
    files = [path for path in (tmp_path / "results/code").rglob("*") if path.is_file()]
    names = {str(path.relative_to(tmp_path / "results")) for path in files}
    # What was asked for; who wrote the failing line.
    kinds = {"paths", "read_file", "blame", "show_commit"}
    for name in names:
        assert re.fullmatch(f"code/acme__shop/{sha}/({'|'.join(kinds)})-[0-9a-f]{{24}}", name)
    assert len(names) == len(kinds)


@pytest.mark.slow
@pytest.mark.xdist_group("prefect")
@pytest.mark.usefixtures("prefect_server")
def test_a_second_night_finds_the_code_in_records_and_asks_for_none(server: GitHub) -> None:
    world_on(server).night_on_prefect(max_errors=3)
    assert len(code_requests(server)) <= 3  # the tree and two files, whoever read them
    server.requests.clear()
    # another process: nothing is in memory
    world_on(server).night_on_prefect(max_errors=3, force=True)
    assert code_requests(server) == []
