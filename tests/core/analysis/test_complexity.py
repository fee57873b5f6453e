from small_repo import case, frame

from nightwatch_core.analysis.budget import TIERS, tier_of
from nightwatch_core.models.errors import ExceptionLink


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
