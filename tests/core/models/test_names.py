"""An error and its case are found by every name they have or had."""

from nightwatch_core.models.errors import Case, ErrorGroup


def group(name: str, *formerly: str) -> ErrorGroup:
    return ErrorGroup(fingerprint=name, source="file", error_class="E", formerly=formerly)


def test_a_case_goes_by_the_names_of_all_its_groups_each_once() -> None:
    case = Case(
        leader=group("v1:a", "v1:old"),
        others=(group("v1:b", "v1:older", "v1:old", "v1:a"),),
        signature="f1:s",
    )
    assert case.aliases == ("v1:old", "v1:older", "v1:b", "f1:s")


def test_groups_of_earlier_versions_have_one_name() -> None:
    kept = ErrorGroup.model_validate({"fingerprint": "v1:a", "source": "f", "error_class": "E"})
    assert kept.names == ("v1:a",)
