import pytest
from core.traces.stacktrace_shapes import errors, own, places, top

from nightwatch_core.traces.parsing import parse


def test_node_with_a_cause():
    trace = parse(
        "Error: cannot load cart\n"
        "    at loadCart (/srv/shop/src/cart.js:10:11)\n"
        "    at async Server.handle (file:///srv/shop/src/server.mjs:5:3)\n"
        "    at process.processTicksAndRejections (node:internal/process/task_queues:95:5) {\n"
        "  code: 'ECART',\n"
        "  [cause]: TypeError: Cannot read properties of undefined (reading 'id')\n"
        "      at new Row (webpack:///./src/row.js:7:1)\n"
        "      at Module._compile (internal/modules/cjs/loader.js:1:2)\n"
        "}\n"
    )
    assert errors(trace) == [
        ("Error", "cannot load cart"),
        ("TypeError", "Cannot read properties of undefined (reading 'id')"),
    ]
    assert own(trace) == ["src/row.js:7", "/srv/shop/src/cart.js:10", "/srv/shop/src/server.mjs:5"]
    assert [frame.function for frame in trace.links[0].frames][:2] == ["loadCart", "Server.handle"]


def test_firefox_and_safari():
    trace = parse(
        "TypeError: cart is undefined\n"
        "total@https://shop.example/assets/cart.js:3:5\n"
        "async*show/<@https://shop.example/@scope/web.js:9:1\n"
        "@https://shop.example/assets/web.js line 25 > eval:1:5\n"
        "[native code]\n"
    )
    assert places(trace) == [
        [
            "https://shop.example/assets/cart.js:3",
            "https://shop.example/@scope/web.js:9",
            "https://shop.example/assets/web.js:25",
        ]
    ]
    assert trace.frames[1].function == "show"


@pytest.mark.parametrize(
    ("line", "place"),
    [
        (r"    at f (C:\Program Files (x86)\cart.js:3:5)", r"C:\Program Files (x86)\cart.js:3"),
        (r"    at C:\shop\cart.js:3:5", r"C:\shop\cart.js:3"),
        ("    at eval (eval at run (/srv/rules.js:21:17), <anonymous>:1:30)", "/srv/rules.js:21"),
        ("    at P (webpack-internal:///(rsc)/./page.tsx:1:3)", "webpack-internal:///(rsc)/./page.tsx:1"),
        ("    at Cart.total [as sum] (/srv/cart.ts:3:5)", "/srv/cart.ts:3"),
        ("   at Anonymous function (http://a.example/cart.js:47:21)", "http://a.example/cart.js:47"),
        ("    at total (address at index.android.bundle:1:23)", "index.android.bundle:1"),
        ("    at async file:///srv/cart.mjs:3:5", "/srv/cart.mjs:3"),
        ("2031-05-04 10:11:12 worker at total (/srv/cart.js:3:5)", "/srv/cart.js:3"),
    ],
)  # fmt: skip
def test_single_frames(line: str, place: str):
    assert top(parse(f"Error: no\n{line}\n")) == place


def test_code_that_does_not_parse():
    trace = parse(
        "/srv/shop/cart.js:12\n  const = 1\n        ^\n\nSyntaxError: Unexpected token '='\n"
        "    at wrapSafe (node:internal/modules/cjs/loader:1378:20)\n"
    )
    assert (top(trace), trace.root.error_class) == ("/srv/shop/cart.js:12", "SyntaxError")


def test_libraries_are_not_own():
    trace = parse(
        "Error: no\n"
        "    at a (/srv/shop/node_modules/express/lib/router.js:1:1)\n"
        "    at b (webpack:///./~/react/index.js:1:1)\n"
        "    at c (https://unpkg.com/lib@1.2.3/index.js:1:1)\n"
        "    at d (events.js:200:13)\n"
        "    at e (<anonymous>)\n"
        "    at f (/srv/shop/src/events.js:2:1)\n"
    )
    assert own(trace) == ["/srv/shop/src/events.js:2"]
