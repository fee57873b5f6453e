import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightwatch_core.text.transactions import WRAPPERS, endpoint


@pytest.mark.parametrize(
    ("transaction", "kind", "module", "action"),
    [
        ("Controller/admin/orders/update", "controller", "admin/orders", "update"),
        ("Api::V1::OrdersController#show", "controller", "Api/V1/OrdersController", "show"),
        ("orders/show", "other", "orders", "show"),
        ("orders#show", "other", "orders", "show"),
        ("HomeController#index (rss)", "controller", "HomeController", "index"),
        ("Sidekiq/ImportJob", "job", "ImportJob", ""),
        ("OtherTransaction/SidekiqJob/Foo::BarJob/perform", "job", "Foo/BarJob", "perform"),
        ("jobs/ImportStock", "job", "ImportStock", ""),
        ("OtherTransaction/Celery/shop.tasks.import_stock", "job", "shop/tasks", "import_stock"),
        ("WebTransaction/Function/shop.views:detail", "other", "shop/views", "detail"),
        ("WebTransaction/Expressjs/GET//orders/:id", "route", "orders/:id", "get"),
        ("WebTransaction/SpringController/orders/{id} (GET)", "route", "orders/{id}", ""),
        ("SpringController/com.acme.OrderController", "controller", "com/acme/OrderController", ""),
        ("com.acme.OrderController.show", "controller", "com/acme/OrderController", "show"),
        ("App\\Http\\OrderController@show", "controller", "App/Http/OrderController", "show"),
        ("GET https://shop.example/orders/1?x=y", "route", "orders/1", "get"),
        ("pages/api/orders/[id]", "route", "pages/api/orders/[id]", ""),
        ("post/show", "other", "post", "show"),
        ("/", "route", "", ""),
        ("Controller", "other", "Controller", ""),
        ("", "other", "", ""),
    ],
)
def test_endpoints(transaction: str, kind: str, module: str, action: str) -> None:
    found = endpoint(transaction)
    assert (found.kind, found.module, found.action) == (kind, module, action)


@given(st.text(max_size=200))
def test_any_text_can_be_read(transaction: str) -> None:
    assert isinstance(endpoint(transaction).module, str)


def test_hostile_text_is_read_in_no_time() -> None:
    for text in ("a:" * 500_000, "/" * 1_000_000, "a" * 1_000_000 + "#", "(" * 1_000_000):
        endpoint(text)


def test_every_wrapper_is_taken_off() -> None:
    for wrapper in WRAPPERS:
        assert endpoint(f"{wrapper.title()}/Orders").names == ("Orders",)
