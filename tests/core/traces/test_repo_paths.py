import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import tables_of

from nightwatch_core.models.errors import ExceptionLink, Frame, Trace
from nightwatch_core.traces.in_app import is_own
from nightwatch_core.traces.placing import PathIndex, map_frames

TABLES = tables_of(__file__)

TREE = tuple(TABLES["tree"])

# Repositories of libraries, and of applications that name a folder as one.
OF_LIBRARIES = (
    "core/src/main/java/org/apache/shop/Cart.java",
    "core/src/main/java/rx/Util.java",
    "celery/app/base.py",
    "app/redis/client.py",
)


def place(path, language="", module="", app_root="", in_app=True):
    frame = Frame(path=path, line=3, module=module, in_app=in_app)
    trace = Trace(language=language, links=(ExceptionLink(frames=(frame,)),))
    return map_frames(trace, PathIndex(TREE), app_root).frames[0].repo_path


def test_printed_paths_are_found():
    for repo, printed in TABLES["found"].items():
        assert {place(path) for path in printed} == {repo}


@pytest.mark.parametrize("printed", ["", *TABLES["guesses"]])
def test_nothing_is_guessed(printed):
    assert place(printed) == ""


def mapped(printed, language="", module=""):
    """The frame before and after, in a tree with folders named as libraries."""
    frame = Frame(path=printed, line=1, module=module)
    trace = Trace(language=language, links=(ExceptionLink(frames=(frame,)),))
    return frame, map_frames(trace, PathIndex((*TREE, *OF_LIBRARIES))).frames[0]


@pytest.mark.parametrize(
    ("printed", "language", "module", "repo"),
    [
        ("~/shop/app/models/order.rb", "ruby", "", "app/models/order.rb"),
        ("celery/app/base.py", "python", "", "celery/app/base.py"),
        ("Cart.java", "java", "org.apache.shop.Cart", OF_LIBRARIES[0]),
        ("Cart.java", "java", "org.apache.shop.Cart$Line", OF_LIBRARIES[0]),
    ],
)
def test_the_tree_knows_better_than_a_table_of_libraries(printed, language, module, repo):
    frame, found = mapped(printed, language, module)
    assert not is_own(frame, language)
    assert (found.repo_path, found.in_app) == (repo, True)


@pytest.mark.parametrize(
    ("language", "printed"), [*(("", path) for path in TABLES["libraries"]), *TABLES["namesakes"]]
)
def test_a_file_of_the_same_name_is_no_proof(language, printed):
    path, _, module = printed.partition(" ")
    before, after = mapped(path, language, module)
    assert after == before


def test_a_frame_that_is_found_is_in_app():
    frames = (Frame(path="/x/shop/views.py"), Frame(path="/x/other/thing.py"))
    found = map_frames(Trace(links=(ExceptionLink(frames=frames),)), PathIndex(TREE))
    assert [frame.in_app for frame in found.frames] == [True, False]


def test_a_file_name_alone_does_not_make_a_doubtful_frame_ours():
    assert place("/opt/tool/main.py", in_app=False) == ""


def test_the_app_root_settles_what_is_ambiguous():
    tree = ("one/app/x.rb", "two/app/x.rb")
    for printed in ("app/x.rb", "/srv/app/x.rb", "x.rb"):
        trace = Trace(links=(ExceptionLink(frames=(Frame(path=printed, in_app=True),)),))
        assert map_frames(trace, PathIndex(tree)).frames[0].repo_path == ""
        assert map_frames(trace, PathIndex(tree), "two/").frames[0].repo_path == "two/app/x.rb"


@pytest.mark.parametrize(
    ("module", "repo"),
    [
        ("com.acme.Cart", "core/src/main/java/com/acme/Cart.java"),
        ("com.acme.Cart$Line", "core/src/main/java/com/acme/Cart.java"),
        ("com.acme.web", "web/src/main/java/com/acme/web/Cart.java"),
        *((name, "") for name in ("org.springframework.acme.Cart", "net.other.Cart", "")),
    ],
)
def test_files_of_the_jvm_are_found_by_package(module, repo):
    assert place("Cart.java", "java", module) == repo
    kotlin = place("Basket.kt", "java", "com.acme.web.Basket")  # may leave out common packages
    assert kotlin == "web/src/main/kotlin/web/Basket.kt"


@given(st.text(max_size=60))
def test_only_files_of_the_tree_are_answered(printed):
    assert place(printed) in {*TREE, ""}
