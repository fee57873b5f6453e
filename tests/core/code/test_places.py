"""The places of a case that are read ahead."""

from twins.reading import MemoryCode

from nightwatch_core.code.places import MOST_PLACES, places_of, read_places
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.code import CodePlaces, Commit
from nightwatch_core.models.errors import Case, ErrorGroup, ExceptionLink, Frame, Trace

SHOP = Commit(repository="acme/shop", sha="1" * 40)


def case(*frames):
    group = ErrorGroup(fingerprint="v1:a", source="file", error_class="KeyError")
    return Case(leader=group, trace=Trace(links=(ExceptionLink(frames=frames),)))


def frame(path, line, *, in_app=True):
    return Frame(path=f"/srv/{path}", line=line, in_app=in_app, repo_path=path)


def test_places_are_those_of_own_frames_each_once_and_the_failing_one_first():
    shown = case(
        frame("b.py", 3), frame("lib.py", 9, in_app=False), frame("a.py", None),
        frame("b.py", 3), Frame(path="/srv/elsewhere.py", line=1, in_app=True),
    )  # fmt: skip
    assert places_of(shown, SHOP).places == (("b.py", 3), ("a.py", None))


def test_a_case_without_a_trace_has_none():
    group = ErrorGroup(fingerprint="v1:a", source="file", error_class="KeyError")
    assert places_of(Case(leader=group), SHOP).places == ()


def test_a_deep_recursion_has_a_few():
    shown = case(*(frame("a.py", line) for line in range(1, 1_000)))
    assert len(places_of(shown, SHOP).places) == MOST_PLACES


class Asked(MemoryCode):
    """Remembers what it was asked, and cannot tell who wrote a line."""

    def __init__(self):
        super().__init__({"a.py": "1\n"})
        self.asked = []

    def read_file(self, path):
        self.asked.append(path)
        return super().read_file(path)

    def blame(self, path, start, end=None):
        self.asked.append((path, start, end))
        raise GiveUp("nobody knows")


def test_each_file_is_read_once_and_the_failing_line_is_blamed():
    tree = Asked()
    places = (("a.py", 2), ("b.py", 5), ("a.py", 7))
    read_places(CodePlaces(commit=SHOP, places=places), tree)
    assert tree.asked == ["a.py", "b.py", ("a.py", 2, 2)]
    tree.asked.clear()
    read_places(CodePlaces(commit=SHOP, places=(("a.py", None),)), tree)
    assert tree.asked == ["a.py"]
