from datetime import UTC, datetime, timedelta

import pytest

from nightwatch_core.intake.selection import (
    SEVERITIES,
    recency,
    score,
    severity,
    terms,
    user_facing,
)
from nightwatch_core.models.errors import ErrorGroup, Window

END = datetime(2026, 11, 3, 2, tzinfo=UTC)
DAY = Window(since=END - timedelta(hours=24), until=END)


def group(**values):
    known = {"fingerprint": "v1:1", "source": "file", "error_class": "NoMethodError"}
    return ErrorGroup.model_validate(known | values)


def test_the_score_is_the_weighted_sum_of_its_terms():
    seen = group(occurrences=50, transaction="Controller/a/b", last_seen=END - timedelta(hours=6))
    values = {"occurrences": 0.5, "severity": 0.7, "recency": 0.75, "user-facing": 1.0}
    assert terms(seen, DAY) == values
    assert score(seen, DAY) == pytest.approx(0.4 * 0.5 + 0.3 * 0.7 + 0.2 * 0.75 + 0.1 * 1.0)


def test_recency_falls_from_one_to_zero_over_the_window():
    hours = [recency(END - timedelta(hours=h), DAY) for h in (0, 12, 24, 48)]
    assert hours == [1.0, 0.5, 0.0, 0.0]
    assert recency(END + timedelta(hours=5), DAY) == 1.0


def test_recency_is_a_half_where_unknown():
    assert recency(None, DAY) == 0.5
    assert recency(END.replace(tzinfo=None), DAY) == 0.5


def test_a_window_without_length_does_not_divide_by_zero():
    assert recency(END, Window(since=END, until=END)) == 1.0


@pytest.mark.parametrize(
    ("error_class", "figure"),
    [
        *[(name, 1.0) for name in ("SystemStackError", "NoMemoryError", "SecurityError")],
        ("SignalException", 1.0),
        *[(name, 0.7) for name in ("NoMethodError", "NameError", "TypeError")],
        ("ActiveRecord::RecordNotFound", 0.7),
        ("ActiveRecord::StatementInvalid", 0.7),
        *[(name, 0.5) for name in ("ArgumentError", "KeyError", "RuntimeError", "StandardError")],
        ("Acme::NeverHeardOf", 0.5),
        ("", 0.5),
        ("Pundit::NotAuthorizedError", 0.3),
        ("CanCan::AccessDenied", 0.3),
        ("ActionController::RoutingError", 0.3),
        ("builtins.AttributeError", 0.7),
        ("java.lang.NullPointerException", 0.7),
        ("java.lang.OutOfMemoryError", 1.0),
        ("System.NullReferenceException", 0.7),
        ("runtime.boundsError", 0.7),
        ("django.core.exceptions.PermissionDenied", 0.3),
        ("Illuminate\\Auth\\Access\\AuthorizationException", 0.3),
        ("Shop::NotAuthorizedError", 0.3),
        ("Shop::CartAccessDenied", 0.3),
    ],
)
def test_figures(error_class, figure):
    assert severity(error_class) == figure


def test_no_class_has_two_figures():
    for table in (SEVERITIES.names, SEVERITIES.namespaces):
        names = [name for listed in table.values() for name in listed]
        assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("transaction", "figure"),
    [
        ("Controller/orders/show", 1.0),
        ("Controller/jobs/index", 1.0),
        ("JobsController#index", 1.0),
        ("WebTransaction/Function/shop.views:detail", 1.0),
        ("GET /jobs/17", 1.0),
        ("/orders/<id>", 1.0),
        ("orders/show", 1.0),
        ("jobs/show", 1.0),
        ("Api::V1::Orders", 1.0),
        ("shop.views.orders:detail", 1.0),
        ("OrderMailer#welcome", 0.5),
        ("OtherTransaction/SidekiqJob/OrderMailer/deliver", 0.5),
        ("UserNotifier", 0.5),
        ("OtherTransaction/Sidekiq/ImportJob/perform", 0.3),
        ("OtherTransaction/Celery/shop.tasks.import_stock", 0.3),
        ("jobs/ImportStock", 0.3),
        ("HardWorker", 0.3),
        ("shop.tasks.import_stock", 0.3),
        ("OrderService.total", 0.6),
        ("apiary", 0.6),
        ("", 0.6),
    ],
)
def test_user_facing(transaction, figure):
    assert user_facing(transaction) == figure
