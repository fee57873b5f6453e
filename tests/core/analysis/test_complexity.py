import pytest
from small_repo import case, frame

from nightwatch_core.analysis.budget import TIERS, TierName, tier_of, unplaced
from nightwatch_core.models.errors import ExceptionLink


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
        ("Redis::CannotConnectError", "complex"),
        ("java.util.ConcurrentModificationException", "complex"),
        ("System.Threading.Tasks.TaskCanceledException", "complex"),
        ("json.decoder.JSONDecodeError", "simple"),
        ("DivisionByZeroError", "simple"),
        ("Acme::Oops", "other"),
        ("RedisCluster::Oops", "other"),
        ("", "other"),
    ],
)
def test_tiers(error_class: str, expected: TierName) -> None:
    assert tier_of(case(error_class, "m")) == expected


def test_turns_and_effort_of_the_tiers() -> None:
    assert {name: (tier.turns, tier.effort) for name, tier in TIERS.items()} == {
        "simple": (12, "low"),
        "auth": (12, "medium"),
        "database": (15, "medium"),
        "complex": (20, "high"),
        "other": (15, "medium"),
    }


def test_no_class_has_two_tiers() -> None:
    for field in ("classes", "namespaces"):
        names = [name for tier in TIERS.values() for name in getattr(tier, field)]
        assert len(names) == len(set(names))


def test_a_case_is_as_hard_as_its_class_or_else_as_what_caused_it() -> None:
    causes = (ExceptionLink(error_class="PG::Error"), ExceptionLink(error_class="KeyError"))
    wrapped = case("ActionView::Template::Error", "m", frame("a.rb", 1), causes=causes)
    assert tier_of(wrapped) == "simple"
    assert tier_of(case("PG::Error", "m", causes=causes)) == "database"
    assert tier_of(case("Oops", "m")) == "other"


def test_classes_that_no_table_places_are_listed_once() -> None:
    known = case("Wrapper", "m", causes=(ExceptionLink(error_class="KeyError"),))
    cases = [case(name, "m") for name in ("Oops", "KeyError", "Acme::Bad", "Oops")]
    assert unplaced((*cases, known)) == ("Oops", "Acme::Bad")
    assert unplaced(()) == ()
