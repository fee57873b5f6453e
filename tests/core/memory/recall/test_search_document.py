import pytest
from core.memory.recall.recall_shapes import DRIVER, TOTAL, VIEW, case, kept, link
from tables import tables_of

from nightwatch_core.memory import limits
from nightwatch_core.memory.recall import (
    SearchDocument,
    classes,
    document_of_case,
    document_of_lesson,
    frame_name,
    terms_of,
)
from nightwatch_core.models.errors import Frame

TABLES = tables_of(__file__)


@pytest.mark.parametrize(("one", "other"), TABLES["frames_of_one_name"])
def test_a_frame_keeps_its_name_when_only_its_surroundings_change(one, other):
    assert frame_name(Frame(**one)) == frame_name(Frame(**other))


def test_frames_of_the_application_count_and_the_root_cause_comes_first():
    found = document_of_case(
        case(links=(link("Wrapped", frames=(DRIVER, VIEW)), link("KeyError", frames=(TOTAL,))))
    )
    assert found.frames == ("cart/models.total", "cart/views.show")
    assert found.places == ("cart/models.total", "psycopg/cursor.execute", "cart/views.show")


def test_causes_are_the_exceptions_below_the_reported_one():
    links = (link("KeyError", "no key total"), link("OSError", "disk full"), link("", "lost"))
    assert document_of_case(case(links=links)).causes == ("OSError: disk full",)


def test_a_lesson_keeps_the_document_of_its_case():
    of = case(links=(link("KeyError", "no key total"), link("OSError", "disk full")))
    assert document_of_lesson(kept(of, "a", tags=("x",))) == document_of_case(of).model_copy(
        update={"tags": ("keyerror", "cart", "show", "x")}
    )


def test_huge_and_hostile_traces_stay_small_and_quick():
    frames = [
        Frame(path="/" * 50_000 + f"{at}", function="a" * 100_000, in_app=True) for at in range(300)
    ]
    found = document_of_case(
        case(message="x" * 1_000_000, links=(link("E" * 10_000, frames=frames),) * 9)
    )
    assert len(found.model_dump_json()) < 60_000
    assert len(found.frames) <= limits.MOST_FRAMES
    assert len(found.places) <= limits.MOST_PLACES


@pytest.mark.parametrize(("error_class", "message", "found"), TABLES["classes_in_messages"])
def test_classes_are_told_by_wrapped_messages_too(error_class, message, found):
    seen = [
        name for name in classes(SearchDocument(error_class=error_class, message=message)) if name
    ]
    assert [name for name in seen if name != "terror"] == found


def test_classes_of_causes_count():
    of = case(links=(link("A", "outer"), link("pkg.DiskFullError", "no space: left")))
    assert "DiskFullError" in list(classes(document_of_case(of)))


def test_terms_are_bounded_and_quick_to_make():
    hostile = ("A" * 2_000 + " " + "aB" * 5_000 + ".:\\$" * 2_000 + "Exception" * 500)[:8_192]
    found = terms_of(
        SearchDocument(
            error_class=hostile, message=hostile, frames=(hostile,) * 60, causes=(hostile,)
        )
    )
    assert max(found.lengths) <= limits.MOST_TERMS
