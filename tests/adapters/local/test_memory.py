from datetime import timedelta

import pytest
from analysis_shapes import CART, DAY, FILES, case, group, says, trace

from nightwatch_core import ports
from nightwatch_core.adapters.local import memory
from nightwatch_core.errors import GiveUp, StopTheNight, TryLater
from nightwatch_core.models.code import Blame, Entry, Hit, MergedPull, Release
from nightwatch_core.models.conversation import Conversation

TALK = Conversation(system="", case=case())


def test_every_twin_fits_its_port():
    twins: tuple[
        ports.Clock, ports.ErrorSource, ports.CodeReader, ports.CodeHost, ports.AgentShelf,
        ports.Model, ports.Records,
    ] = (
        memory.MemoryClock(), memory.MemoryErrors(), memory.MemoryCode(), memory.MemoryHost(),
        memory.MemoryAgents(), memory.MemoryModel(), memory.MemoryRecords(),
    )  # fmt: skip
    assert len({type(twin) for twin in twins}) == 7


def test_errors_know_the_deployments_they_were_told():
    told = (Release(version="1", sha="", at=memory.DAY),)
    assert memory.MemoryErrors(deployed=told).releases() == told
    assert memory.MemoryErrors().releases() == ()


def test_the_clock_moves_when_told():
    clock = memory.MemoryClock()
    now, at = clock.now(), clock.monotonic()
    assert clock.now() == now
    clock.pass_by(90)
    assert clock.now() - now == timedelta(seconds=90)
    assert clock.monotonic() - at == 90
    assert now.tzinfo is not None


def test_errors_and_their_traces():
    source = memory.MemoryErrors((group(),), {"v1:a": (trace(),) * 5}, partial=("half",))
    window = source.window(None, DAY)
    assert window.until - window.since == timedelta(days=1)
    assert source.window(timedelta(hours=2), DAY).since == DAY - timedelta(hours=2)
    fetched = source.error_groups(window)
    assert (fetched.groups, fetched.partial, fetched.window) == ((group(),), ("half",), window)
    assert len(source.traces(group())) == 3
    assert source.traces(group("v1:z")) == ()
    assert source.probe() == "1 groups in memory"


def test_a_source_that_is_told_to_fail_fails():
    source = memory.MemoryErrors(fails=TryLater("503"))
    with pytest.raises(TryLater, match="503"):
        source.error_groups(source.window(None, DAY))


BLAME = Blame(sha="f" * 40, author="Ann", at=DAY, subject="Change", line=1, text="x")
CODE = memory.MemoryCode(
    {**FILES, "readme.md": "cart\n", "shop/api/v1.py": "cart\n"},
    blames={("shop/cart.py", 1): BLAME},
)


def test_reading_a_file_is_noted():
    code = memory.MemoryCode(FILES)
    assert code.read_file("shop/cart.py") == CART
    assert code.read_file("shop") is None
    assert code.read_file("../shop/cart.py") is None
    assert code.reads == ["shop/cart.py", "shop", "../shop/cart.py"]


def test_paths_are_sorted():
    assert CODE.paths() == ("readme.md", "shop/api/v1.py", "shop/cart.py", "shop/pay.py")


def test_searching_below_a_folder_or_in_a_file():
    assert [hit.path for hit in CODE.search("cart")] == ["readme.md", "shop/api/v1.py"]
    for path in ("shop", "shop/"):
        assert [hit.path for hit in CODE.search("cart", path)] == ["shop/api/v1.py"]
    assert CODE.search("price", "shop/cart.py") == (
        Hit(path="shop/cart.py", line=2, text=CART.splitlines()[1]),
    )
    assert CODE.search("price", "sho") == ()
    assert CODE.search("") == ()
    assert len(CODE.search("a", limit=2)) == 2


def test_listing_folders():
    assert CODE.list_directory() == (
        Entry(name="shop", kind="folder"),
        Entry(name="readme.md", kind="file", size=5),
    )
    names = [entry.name for entry in CODE.list_directory("/shop/")]
    assert names == ["api", "cart.py", "pay.py"]
    assert CODE.list_directory("nowhere") == ()
    assert CODE.list_directory("sho") == ()


def test_blame_knows_what_it_was_told():
    assert CODE.blame("shop/cart.py", 1) == BLAME
    assert CODE.blame("shop/cart.py", 2) is None


def test_a_host_of_one_tree():
    pull = MergedPull(number=1, title="T", sha="a" * 40, merged_at=DAY)
    release = Release(version="1", sha="a" * 40, at=DAY)
    host = memory.MemoryHost(CODE, (pull,), (release,))
    assert host.reader(host.head("1")) is CODE
    assert host.pulls_merged_since(DAY) == (pull,)
    assert host.pulls_merged_since(DAY + timedelta(seconds=1)) == ()
    assert host.releases() == (release,)
    assert host.probe() == "4 files in memory"


def test_agents_by_name():
    shelf = memory.MemoryAgents()
    assert shelf.agent(shelf.names()[0]).prompt
    with pytest.raises(StopTheNight, match="choose base-analyzer"):
        shelf.agent("nobody")


def test_a_model_follows_its_script_and_stays_at_its_end():
    model = memory.MemoryModel(["one", says("two"), lambda talk: talk.system + "three"])
    said = [model.reply(TALK, 1.0).turn.text for _ in range(5)]
    assert said == ["one", "two", "three", "three", "three"]
    assert model.shown == [TALK] * 5
    assert model.reply(TALK, 1.0).usage.new_tokens == 110


def test_a_model_raises_what_its_script_holds():
    model = memory.MemoryModel([TryLater("529"), lambda talk: GiveUp("no"), "fine"])
    with pytest.raises(TryLater):
        model.reply(TALK, 1.0)
    with pytest.raises(GiveUp):
        model.reply(TALK, 1.0)
    assert model.reply(TALK, 1.0).turn.text == "fine"


def test_a_model_without_a_script_says_so():
    with pytest.raises(GiveUp, match="script"):
        memory.MemoryModel().reply(TALK, 1.0)


def test_a_model_can_do_what_it_is_told():
    assert memory.MemoryModel().capabilities().local
    able = memory.MemoryModel().able.model_copy(update={"local": False})
    assert not memory.MemoryModel(able=able).capabilities().local


def test_records_are_kept_and_replaced():
    records = memory.MemoryRecords()
    assert records.get("k") is None
    records.put("k", "one")
    records.put("k", "two")
    assert records.get("k") == "two"
