"""A case is found by every name it has."""

from nightwatch_core.models.errors import Case, ErrorGroup


def group(name: str) -> ErrorGroup:
    return ErrorGroup(fingerprint=name, source="file", error_class="E")


def test_a_case_goes_by_the_names_of_all_its_groups_each_once() -> None:
    case = Case(leader=group("v1:a"), others=(group("v1:b"), group("v1:a")), signature="f1:s")
    assert case.aliases == ("v1:b", "f1:s")
