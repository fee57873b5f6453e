from core.traces.stacktrace_shapes import errors, own, places, top

from nightwatch_core.traces.parsing import parse

NEXT = """\
PHP Fatal error:  Uncaught PDOException: gone away in /srv/shop/src/Db.php:17
Stack trace:
#0 /srv/shop/src/Db.php(17): PDO->query('SELECT 1')
#1 /srv/shop/src/Cart.php(40): Shop\\Db->rows()
#2 {main}

Next Shop\\CartError: no cart in /srv/shop/src/Cart.php:44
Stack trace:
#0 /srv/shop/vendor/router/src/Route.php(205): Shop\\Cart->total()
#1 [internal function]: Router\\Route->run()
#2 {main}
  thrown in /srv/shop/src/Cart.php on line 44
"""


def test_cause_is_printed_first_and_the_throwing_line_is_the_innermost_frame():
    trace = parse(NEXT)
    assert errors(trace) == [("Shop\\CartError", "no cart"), ("PDOException", "gone away")]
    assert places(trace) == [
        ["/srv/shop/src/Cart.php:44", "/srv/shop/vendor/router/src/Route.php:205"],
        ["/srv/shop/src/Db.php:17", "/srv/shop/src/Cart.php:40"],
    ]
    assert own(trace)[-1] == "/srv/shop/src/Cart.php:44"


def test_names_belong_to_the_frame_they_run_in():
    assert [(frame.module, frame.function) for frame in parse(NEXT).root.frames] == [
        ("Shop\\Db", "rows"),
        ("", "{main}"),
    ]


def test_laravel_logs_the_cause_last():
    trace = parse(
        '[2031-05-04 10:11:12] production.ERROR: no cart {"exception":"[object] '
        "(Shop\\\\CartError(code: 0): no cart at /srv/shop/app/Cart.php:44)\n[stacktrace]\n"
        "#0 /srv/shop/public/index.php(9): Shop\\\\Cart->total()\n#1 {main}\n\n"
        "[previous exception] [object] (PDOException(code: 0): gone at /srv/shop/app/Db.php:17)\n"
        '[stacktrace]\n#0 /srv/shop/app/Cart.php(40): Shop\\\\Db->rows()\n#1 {main}\n"} '
    )
    assert errors(trace) == [("Shop\\CartError", "no cart"), ("PDOException", "gone")]
    assert top(trace) == "/srv/shop/app/Db.php:17"


def test_messages_without_calls():
    trace = parse("PHP Warning:  Undefined variable $a in /srv/shop/a.php on line 12")
    assert (errors(trace), top(trace)) == (
        [("Warning", "Undefined variable $a")],
        "/srv/shop/a.php:12",
    )


def test_old_messages_and_evaluated_code():
    trace = parse(
        "exception 'Shop\\CartError' with message 'no cart' in C:\\shop\\Cart.php:44\n"
        "Stack trace:\n#0 C:\\shop\\eval.php(3) : eval()'d code(1): total()\n#1 {main}"
    )
    assert errors(trace) == [("Shop\\CartError", "no cart")]
    assert places(trace) == [["C:\\shop\\Cart.php:44", "C:\\shop\\eval.php:3"]]


def test_xdebug_prints_the_outermost_call_first():
    trace = parse(
        "PHP Fatal error:  Uncaught Error: no in /srv/shop/a.php:3\nPHP Stack trace:\n"
        "PHP   1. {main}() /srv/shop/index.php:0\nPHP   2. total($a = 1) /srv/shop/index.php:9\n"
    )
    assert places(trace)[0][:2] == ["/srv/shop/a.php:3", "/srv/shop/index.php:9"]


def test_places_of_a_json_log():
    trace = parse('{"message":"no","file":"/srv/shop/a.php:3","trace":["/srv/shop/b.php:4"]}')
    assert places(trace) == [["/srv/shop/a.php:3", "/srv/shop/b.php:4"]]
