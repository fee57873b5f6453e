"""Templates that errors lead to."""

import pytest
from twins.reading import MemoryCode

from nightwatch_core.code.candidate_symbols import Lookup
from nightwatch_core.code.candidates import named_templates
from nightwatch_core.models.errors import Case, ErrorGroup, ExceptionLink, Frame, Trace
from nightwatch_core.traces.placing import PathIndex

FILES = {
    "shop/views.py": "def show(it):\n    cart = 1\n    return render(it, 'cart/show.html')\n",
    "app/Cart.php": "<?php\nfunction f() {\n  return view('cart.show');\n}\n",
    "shop/templates/cart/show.html": "<p>\n" * 50 + "{{ cart.total_net }}\n" + "</p>\n" * 50,
    "resources/views/cart/show.blade.php": "<p>\n{{ $cart->total_net }}\n",
}


def case(path: str, engine: str, message: str = "'cart' has no attribute 'total_net'") -> Case:
    frames = (
        Frame(path=engine, line=9),
        Frame(path=path, repo_path=path, line=3, in_app=True),
    )
    group = ErrorGroup(fingerprint="v1:1", source="file", error_class="E", message=message)
    return Case(leader=group, trace=Trace(links=(ExceptionLink(frames=frames),)))


def shown(one: Case) -> list[tuple[str, str]]:
    code = MemoryCode(FILES)
    known = Lookup(PathIndex(FILES), code.read_file, code.search)
    return [(preview.path, preview.because) for preview in named_templates(one, known, set())]


@pytest.mark.parametrize(
    ("path", "engine", "expected"),
    [
        ("shop/views.py", "/lib/site-packages/jinja2/environment.py",
         [("shop/templates/cart/show.html", "views.py:3 renders it")]),
        ("app/Cart.php", "/app/storage/framework/views/0a1b.php",
         [("resources/views/cart/show.blade.php", "Cart.php:3 renders it")]),
        ("shop/views.py", "/lib/site-packages/django/db/models.py", []),
    ],
)  # fmt: skip
def test_what_failing_lines_render(path: str, engine: str, expected: list[tuple[str, str]]) -> None:
    assert shown(case(path, engine)) == expected


def test_what_the_message_names() -> None:
    message = "Undefined variable (View: /srv/app/resources/views/cart/show.blade.php)"
    assert shown(case("a.py", "/app/storage/framework/views/0a1b.php", message)) == [
        ("resources/views/cart/show.blade.php", "the message names it")
    ]


def test_the_line_that_the_message_is_about_is_shown() -> None:
    code = MemoryCode(FILES)
    known = Lookup(PathIndex(FILES), code.read_file, code.search)
    (one,) = named_templates(case("shop/views.py", "/x/jinja2/a.py"), known, set())
    assert "{{ cart.total_net }}" in one.text
    assert one.kind == "flow"


def test_hostile_messages_take_no_time() -> None:
    for text in ("a/" * 50_000, "a." * 50_000, "view('" * 20_000):
        assert shown(case("shop/gone.py", "/x/jinja2/a.py", text)) == []
