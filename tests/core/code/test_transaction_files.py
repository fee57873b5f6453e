import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightwatch_core.code.likely_files import RULES, clue_of
from nightwatch_core.text.transactions import endpoint

EXAMPLES: dict[str, tuple[tuple[str, str], ...]] = {
    "Rails controller": (
        ("Controller/admin/orders/update", "app/controllers/admin/orders_controller.rb"),
        ("Admin::OrdersController#update", "app/controllers/admin/orders_controller.rb"),
        ("GET /orders/:id", "app/controllers/orders_controller.rb"),
    ),
    "Ruby class": (
        ("OtherTransaction/SidekiqJob/Foo::BarJob/perform", "app/jobs/foo/bar_job.rb"),
        ("Sidekiq/ImportWorker", "app/workers/import_worker.rb"),
        ("Sidekiq/Import", "app/sidekiq/import.rb"),
        ("OrderMailer#welcome", "app/mailers/order_mailer.rb"),
    ),
    "Python module": (
        ("shop.views.orders:detail", "shop/views/orders.py"),
        ("WebTransaction/Function/shop.views:detail", "shop/views.py"),
        ("shop.views.OrderView.get", "shop/views.py"),
        ("OtherTransaction/Celery/shop.tasks.import_stock", "shop/tasks.py"),
    ),
    "Next.js route": (
        ("GET /api/orders/:id", "pages/api/orders/[id].ts"),
        ("GET /api/orders", "app/api/orders/route.ts"),
        ("pages/api/orders/[id]", "pages/api/orders/[id].ts"),
    ),
    "class": (
        ("SpringController/OrderController/show", "OrderController.java"),
        ("com.acme.OrderController.show", "com/acme/OrderController.kt"),
    ),
    "PHP class": (
        ("App\\Http\\Controllers\\OrderController@show", "Http/Controllers/OrderController.php"),
    ),
    "Express or Nest route": (
        ("WebTransaction/Expressjs/GET//orders/:id", "routes/orders.js"),
        ("GET /order-items", "controllers/orderItems.js"),
        ("OrdersController.findAll", "orders.controller.ts"),
    ),
    "controller by its noun": (("GET /orders/{id}", "OrderController.java"),),
    "Python view by its noun": (
        ("/orders/<int:id>", "orders/views.py"),
        ("/orders", "routers/orders.py"),
    ),
    "Go handler by its noun": (
        ("GET /orders/{id}", "handlers/orders.go"),
        ("GET /orders", "order_handler.go"),
    ),
    "Rails model": (
        ("Controller/order_statuses/index", "app/models/order_status.rb"),
        ("Controller/admin/people/index", "app/models/person.rb"),
    ),
    "model by its noun": (("GET /orders", "Models/Order.php"), ("GET /orders", "Order.java")),
    "Python models": (("shop.views:detail", "shop/models.py"),),
    "Rails view": (
        ("Controller/admin/orders/show", "app/views/admin/orders/show.html.erb"),
        ("OrderMailer#welcome", "app/views/order_mailer/welcome.text.erb"),
    ),
    "service by its noun": (("SpringController/OrderController/show", "OrderService.java"),),
    "Rails helper": (("Controller/orders/show", "app/helpers/orders_helper.rb"),),
}


def paths(what: str, transaction: str) -> tuple[str, ...]:
    clue = clue_of(endpoint(transaction))
    return tuple(
        path for guess in RULES.guesses if guess.what == what for path in guess.paths(clue)
    )


@pytest.mark.parametrize("what", EXAMPLES)
def test_every_guess_names_the_files_of_its_framework(what: str) -> None:
    for transaction, path in EXAMPLES[what]:
        assert path in paths(what, transaction), transaction


def test_the_table_has_an_example_for_every_guess_and_sound_scores() -> None:
    assert {guess.what for guess in RULES.guesses} == set(EXAMPLES)
    scores = [guess.score for guess in RULES.guesses]
    assert all(0 < score < 1 for score in scores)
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("transaction", ["", "/", "GET /:id"])
def test_nothing_is_guessed_from_nothing(transaction: str) -> None:
    named = [path for what in EXAMPLES for path in paths(what, transaction)]
    assert [path for path in named if not path.startswith(("app/[", "pages/["))] == []


def test_a_namespace_is_not_lost_for_a_controller() -> None:
    controllers = paths("Rails controller", "Controller/admin/orders/update")
    assert "app/controllers/orders_controller.rb" not in controllers


@pytest.mark.parametrize(
    ("transaction", "path", "resource", "one"),
    [
        ("Controller/order_statuses/show", ("order_statuses",), "order_statuses", "order_status"),
        ("Controller/addresses/show", ("addresses",), "addresses", "address"),
        ("Controller/people/show", ("people",), "people", "person"),
        ("Admin::OrdersController#show", ("admin", "orders_controller"), "orders", "order"),
        ("GET /api/orders/:id", ("api", "orders"), "orders", "order"),
        ("GET /orders/17", ("orders",), "orders", "order"),
        ("GET /orders/5f0c6a1e-9b1d-4c8e-a111-0123456789ab", ("orders",), "orders", "order"),
        ("GET /:id", (), "", ""),
        ("", (), "", ""),
    ],
)
def test_names_as_files_spell_them(
    transaction: str, path: tuple[str, ...], resource: str, one: str
) -> None:
    found = clue_of(endpoint(transaction))
    assert (found.path, found.resource, found.one) == (path, resource, one)


@given(st.text(max_size=100))
def test_any_transaction_gives_a_clue(transaction: str) -> None:
    found = clue_of(endpoint(transaction))
    assert len(found.nouns) <= 3
