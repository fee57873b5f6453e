import pytest

from nightwatch_core.models.errors import Frame
from nightwatch_core.traces.in_app import belongs, is_own
from nightwatch_core.traces.parsing import parse

JAVA = (
    "java.lang.Error: no\n\tat org.apache.shop.Cart.total(Cart.java:1)\n\tat io.dep.X.y(X.java:2)\n"
)


@pytest.mark.parametrize(
    ("path", "prefix", "expected"),
    [
        ("/srv/shop/app/cart.rb", "/srv/shop", True),
        ("/srv/shop/app/cart.rb", "app/", True),
        ("./app/cart.rb", "app/", True),
        (r"C:\shop\Cart.cs", "C:/shop", True),
        ("/srv/shop/vendor/bundle/gems/dep-1.2/app/x.rb", "app/", False),
        ("/srv/shop/vendor/x.php", "/srv/shop", False),
        ("/usr/lib/python3.11/site-packages/shop/cart.py", "shop", True),
        ("/usr/lib/python3.11/site-packages/dep/shop.py", "shop", False),
        ("/srv/node_modules/@acme/cart/index.js", "@acme/cart", True),
        ("/srv/happ/cart.rb", "app/", False),
    ],
)
def test_prefixes(path: str, prefix: str, expected: bool):
    assert belongs(Frame(path=path), (prefix,)) is expected


def test_prefixes_win_over_the_tables():
    assert parse(JAVA).top.module == "io.dep.X"
    trace = parse(JAVA, app_prefixes=("org.apache.shop",))
    assert [frame.module for frame in trace.in_app] == ["org.apache.shop.Cart"]


def test_prefixes_that_fit_nothing_are_no_prefixes():
    assert parse(JAVA, app_prefixes=("src/main", "")).top.module == "io.dep.X"


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("<frozen importlib._bootstrap>", "python"),
        (r"C:\Python39\lib\json\decoder.py", "python"),
        ("/usr/local/bundle/gems/rack-3.0.1/lib/rack.rb", "ruby"),
        ("/usr/local/lib/ruby/3.3.0/set.rb", "ruby"),
        ("/srv/vendor/laravel/Route.php", "php"),
        ("node:internal/modules/cjs/loader", "javascript"),
        ("/root/go/pkg/mod/example.org/dep@v1.2.3/a.go", "go"),
    ],
)
def test_libraries(path: str, language: str):
    assert not is_own(Frame(path=path), language)


@pytest.mark.parametrize("path", ["/srv/rubygems/app/a.rb", "lib/shop/vendor.rb", "gems/own/a.rb"])
def test_folders_that_only_sound_like_libraries(path: str):
    assert is_own(Frame(path=path), "ruby")
