import pytest

from nightwatch_core.complexity import (
    EFFORTS,
    ITERATIONS,
    NAMESPACE_TIERS,
    TIERS,
    Tier,
    effort,
    is_known,
    iterations,
    tier,
)


@pytest.mark.parametrize(
    ("error_class", "expected"),
    [
        *[(f"{name}Error", "simple") for name in ("NoMethod", "Name", "Argument", "Type", "Key")],
        ("AttributeError", "simple"),
        ("java.lang.NullPointerException", "simple"),
        ("Pundit::NotAuthorizedError", "auth"),
        ("ActionController::InvalidAuthenticityToken", "auth"),
        ("ActiveRecord::RecordNotUnique", "database"),
        ("PG::ConnectionBad", "database"),
        ("django.db.utils.OperationalError", "database"),
        ("Acme::DeadlockError", "database"),
        ("SystemStackError", "complex"),
        ("MemoryError", "complex"),
        ("Net::ReadTimeout", "complex"),
        ("Timeout::Error", "complex"),
        ("Errno::ECONNREFUSED", "complex"),
        ("requests.exceptions.ConnectionError", "complex"),
        ("Acme::Oops", "other"),
        ("", "other"),
    ],
)
def test_tiers(error_class: str, expected: Tier) -> None:
    assert tier(error_class) == expected
    assert is_known(error_class) == (expected != "other")


def test_figures_that_stay() -> None:
    assert ITERATIONS == {"auth": 5, "simple": 7, "database": 10, "complex": 15, "other": 10}
    assert [iterations(c, 99) for c in ("AccessDenied", "KeyError", "Oops")] == [5, 7, 10]
    assert iterations("NoMemoryError", 12) == 12
    assert iterations("NoMemoryError", 0) == 1


def test_effort_follows_the_tier() -> None:
    assert set(EFFORTS) == set(ITERATIONS)
    classes = ("KeyError", "AccessDenied", "PG::Error", "Oops", "NoMemoryError")
    assert [effort(c) for c in classes] == ["low", "medium", "medium", "medium", "high"]


def test_no_class_has_two_tiers() -> None:
    for table in (TIERS, NAMESPACE_TIERS):
        names = [name for listed in table.values() for name in listed]
        assert len(names) == len(set(names))
