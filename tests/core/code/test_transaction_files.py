import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightwatch_core.code.likely_files import GUESSES, clue_of
from nightwatch_core.text.transactions import endpoint

EXAMPLES: dict[str, tuple[tuple[str, str], ...]] = {
    "rails_controllers": (
        ("Controller/admin/orders/update", "app/controllers/admin/orders_controller.rb"),
        ("Admin::OrdersController#update", "app/controllers/admin/orders_controller.rb"),
        ("GET /orders/:id", "app/controllers/orders_controller.rb"),
    ),
    "ruby_constants": (
        ("OtherTransaction/SidekiqJob/Foo::BarJob/perform", "app/jobs/foo/bar_job.rb"),
        ("Sidekiq/ImportWorker", "app/workers/import_worker.rb"),
        ("Sidekiq/Import", "app/sidekiq/import.rb"),
        ("OrderMailer#welcome", "app/mailers/order_mailer.rb"),
    ),
    "python_modules": (
        ("shop.views.orders:detail", "shop/views/orders.py"),
        ("WebTransaction/Function/shop.views:detail", "shop/views.py"),
        ("shop.views.OrderView.get", "shop/views.py"),
        ("OtherTransaction/Celery/shop.tasks.import_stock", "shop/tasks.py"),
    ),
    "next_routes": (
        ("GET /api/orders/:id", "pages/api/orders/[id].ts"),
        ("GET /api/orders", "app/api/orders/route.ts"),
        ("pages/api/orders/[id]", "pages/api/orders/[id].ts"),
    ),
    "jvm_classes": (
        ("SpringController/OrderController/show", "OrderController.java"),
        ("com.acme.OrderController.show", "com/acme/OrderController.kt"),
    ),
    "php_classes": (
        ("App\\Http\\Controllers\\OrderController@show", "Http/Controllers/OrderController.php"),
    ),
    "script_routes": (
        ("WebTransaction/Expressjs/GET//orders/:id", "routes/orders.js"),
        ("GET /order-items", "controllers/orderItems.js"),
        ("OrdersController.findAll", "orders.controller.ts"),
    ),
    "class_routes": (("GET /orders/{id}", "OrderController.java"),),
    "python_routes": (("/orders/<int:id>", "orders/views.py"), ("/orders", "routers/orders.py")),
    "go_routes": (("GET /orders/{id}", "handlers/orders.go"), ("GET /orders", "order_handler.go")),
    "rails_models": (
        ("Controller/order_statuses/index", "app/models/order_status.rb"),
        ("Controller/admin/people/index", "app/models/person.rb"),
    ),
    "class_models": (("GET /orders", "Models/Order.php"), ("GET /orders", "Order.java")),
    "python_neighbours": (("shop.views:detail", "shop/models.py"),),
    "rails_views": (
        ("Controller/admin/orders/show", "app/views/admin/orders/show.html.erb"),
        ("OrderMailer#welcome", "app/views/order_mailer/welcome.text.erb"),
    ),
    "class_services": (("SpringController/OrderController/show", "OrderService.java"),),
    "rails_helpers": (("Controller/orders/show", "app/helpers/orders_helper.rb"),),
}


@pytest.mark.parametrize("guess", [guess for _, _, guess in GUESSES])
def test_every_guess_names_the_files_of_its_framework(guess: object) -> None:
    assert callable(guess)
    for transaction, path in EXAMPLES[guess.__name__]:
        assert path in tuple(guess(clue_of(endpoint(transaction)))), transaction


def test_the_table_has_an_example_for_every_guess_and_sound_scores() -> None:
    assert {guess.__name__ for _, _, guess in GUESSES} == set(EXAMPLES)
    assert all(0 < score < 1 for _, score, _ in GUESSES)
    scores = [score for _, score, _ in GUESSES]
    assert scores == sorted(scores, reverse=True)


def test_nothing_is_guessed_from_nothing() -> None:
    for transaction in ("", "/", "GET /:id"):
        told = clue_of(endpoint(transaction))
        named = [path for _, _, guess in GUESSES for path in guess(told)]
        assert [path for path in named if not path.startswith(("app/[", "pages/["))] == []


def test_a_namespace_is_not_lost_for_a_controller() -> None:
    told = clue_of(endpoint("Controller/admin/orders/update"))
    (controllers,) = (guess for _, _, guess in GUESSES if guess.__name__ == "rails_controllers")
    assert "app/controllers/orders_controller.rb" not in tuple(controllers(told))


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
