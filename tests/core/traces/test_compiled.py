"""Java and its relatives, C#, Go."""

from core.traces.stacktrace_shapes import errors, own, places, top

from nightwatch_core.traces.parsing import parse

JAVA = """\
2031-05-04 10:11:12.345 ERROR 1 --- [nio-8080-exec-1] o.s.Servlet : threw exception
org.shop.web.OrderException: cannot place order
\tat org.shop.web.Orders.place(Orders.java:41) ~[classes!/:1.2]
\tat app//org.shop.web.Orders$Proxy.place(Unknown Source)
\tat java.base/java.lang.Thread.run(Thread.java:829) [?:?]
\tSuppressed: java.io.IOException: close
\t\tat org.shop.db.Pool.close(Pool.java:3)
\t\t... 3 more
\tCaused by: java.lang.Error: in suppressed
\t\tat org.shop.db.Pool.close(Pool.java:4)
Caused by: org.shop.db.RowMissing: no row 7
\tat org.shop.db.RowsKt$find$1.invokeSuspend(Rows.kt:17)
\t... 12 more
"""


def test_java_chain_without_what_close_threw():
    trace = parse(JAVA)
    assert trace.language == "java"
    assert errors(trace) == [
        ("org.shop.web.OrderException", "cannot place order"),
        ("org.shop.db.RowMissing", "no row 7"),
    ]
    assert own(trace) == ["Rows.kt:17", "Orders.java:41"]
    assert trace.root.frames[0].module == "org.shop.db.RowsKt$find$1"
    assert [frame.path for frame in trace.links[0].frames][1] == "<unknown>"


def test_java_without_indentation():
    assert places(parse("\n".join(line.strip() for line in JAVA.splitlines())))[0] == [
        "Orders.java:41",
        "<unknown>",
        "Thread.java:829",
    ]


def test_java_cause_whose_frames_were_cut_off():
    trace = parse(JAVA[: JAVA.index("at org.shop.db.RowsKt")])
    assert (trace.root.error_class, trace.root.frames) == ("org.shop.db.RowMissing", ())
    assert top(trace) == "Orders.java:41"


def test_java_root_cause_first():
    trace = parse(
        "org.shop.RowMissing: no row\n\tat org.shop.Rows.find(Rows.scala:17)\n"
        "Wrapped by: org.shop.OrderException: no order\n\tat org.shop.Orders.place(Orders.java:4)\n"
    )
    assert errors(trace)[-1] == ("org.shop.RowMissing", "no row")


def test_kotlin_names_with_spaces_and_clojure():
    trace = parse(
        'Exception in thread "main" java.lang.IllegalStateException\n'
        "\tat org.shop.CartTest.an empty cart costs nothing(CartTest.kt:12)\n"
        "\tat shop.core$total.invoke(core.clj:8)\n"
    )
    assert places(trace) == [["CartTest.kt:12", "core.clj:8"]]
    assert trace.root.error_class == "java.lang.IllegalStateException"


def test_message_of_several_lines_hides_no_exception():
    trace = parse(
        "org.shop.ParseException: bad\n at [Source: {}; line: 1, column: 1]\n"
        "\tat org.shop.Parser.parse(Parser.java:1)\n"
    )
    assert errors(trace) == [("org.shop.ParseException", "bad")]


CSHARP = """\
System.InvalidOperationException: cannot place order
 ---> Shop.Db.RowMissingException: no row 7
   at Shop.Db.Rows.<FindAsync>d__4.MoveNext() in C:\\shop\\Db\\Rows.cs:line 17
   --- End of inner exception stack trace ---
   at Shop.Web.Orders.Place(Order order) in /srv/shop/Web/Orders.cs:line 41
--- End of stack trace from previous location ---
   at Microsoft.AspNetCore.Mvc.Invoker.Next()
"""


def test_csharp_prints_inner_frames_first():
    trace = parse(CSHARP)
    assert errors(trace) == [
        ("System.InvalidOperationException", "cannot place order"),
        ("Shop.Db.RowMissingException", "no row 7"),
    ]
    assert own(trace) == [r"C:\shop\Db\Rows.cs:17", "/srv/shop/Web/Orders.cs:41"]
    assert (trace.root.frames[0].module, trace.root.frames[0].function) == (
        "Shop.Db.Rows",
        "FindAsync",
    )


def test_csharp_of_the_old_framework_names_all_on_one_line():
    assert errors(parse(CSHARP.replace("\n --->", " --->"))) == errors(parse(CSHARP))


def test_csharp_aggregate_lists_its_inner_exceptions_twice():
    again = "---> (Inner Exception #0) Shop.Db.RowMissingException: no row 7\n"
    assert len(parse(CSHARP + again + "   at Shop.A.B() in /srv/A.cs:line 1<---\n").links) == 2


def test_csharp_translated_and_unity():
    assert top(parse("   bei Shop.Till.Open() in C:\\shop\\Till.cs:Zeile 12.".rstrip("."))) == (
        r"C:\shop\Till.cs:12"
    )
    unity = parse(
        "NullReferenceException: not set\nShop.Till.Open () (at Assets/Till.cs:12)\n"
        "UnityEngine.Events.Call.Invoke () (at /Users/bokken/buildslave/unity/build/Call.cs:1)\n"
    )
    assert own(unity) == ["Assets/Till.cs:12"]


def test_without_any_file_the_names_decide():
    trace = parse("System.ArgumentException: no\n   at Shop.Orders.Place(Order order)\n"
                  "   at System.Threading.Thread.Run()\n")  # fmt: skip
    assert [(frame.path, frame.module) for frame in trace.in_app] == [("<unknown>", "Shop.Orders")]


GO = """\
2031/05/04 10:11:12 http: panic serving 10.0.0.1:5555: no cart [recovered]
goroutine 34 [running]:
main.recovering.func1()
\t/srv/shop/middleware.go:8 +0x1f
panic({0x6a1f40?, 0xc0000b6000?})
\t/usr/local/go/src/runtime/panic.go:920 +0x270
example.org/shop/cart.(*Cart).Total(...)
\t/srv/shop/cart/cart.go:33
main.show({0x7, 0x8}, 0xc000)
\t/srv/shop/main.go:12 +0x1d
created by net/http.(*Server).Serve in goroutine 1
\t/usr/local/go/src/net/http/server.go:3086 +0x5cb

goroutine 1 [IO wait]:
main.main()
\t/srv/shop/main.go:99 +0x1d
"""


def test_go_reads_the_goroutine_that_panicked_below_its_panic():
    trace = parse(GO)
    assert errors(trace) == [("panic", "no cart")]
    assert own(trace) == ["/srv/shop/cart/cart.go:33", "/srv/shop/main.go:12"]
    assert (trace.top.module, trace.top.function) == ("example.org/shop/cart", "(*Cart).Total")


def test_go_cuts_what_handles_the_panic():
    nil = GO.replace(
        "example.org/shop/cart.(*Cart).Total(...)",
        "runtime.panicmem(...)\n\t/usr/local/go/src/runtime/panic.go:261\n"
        "runtime.sigpanic()\n\t/usr/local/go/src/runtime/signal_unix.go:861 +0x1\n"
        "example.org/shop/cart.(*Cart).Total(...)",
    )
    for text in (GO, nil):
        assert parse(text).frames[0].place == "/srv/shop/cart/cart.go:33"
    again = GO.replace(
        "main.recovering.func1()",
        "panic({0x6a1f40?, 0xc0?})\n\t/usr/local/go/src/runtime/panic.go:920 +0x270\n"
        "main.recovering.func1()",
    )
    assert parse(again).frames[0].place == "/srv/shop/cart/cart.go:33"


def test_go_keeps_a_trace_that_ends_in_its_panic():
    cut = "panic: no\n\ngoroutine 1 [running]:\nmain.f()\n\t/srv/shop/f.go:3 +0x1\npanic({0x1})\n"
    trace = parse(cut + "\t/usr/local/go/src/runtime/panic.go:920 +0x270\n")
    assert len(trace.frames) == 2


def test_go_running_goroutine_may_be_printed_later():
    waiting = "goroutine 7 [select]:\nmain.wait()\n\t/srv/shop/wait.go:1 +0x1\n\n"
    assert top(parse(waiting + GO)) == "/srv/shop/cart/cart.go:33"


def test_go_modules_and_trimmed_paths():
    trace = parse(
        "panic: no\n\ngoroutine 1 [running]:\n"
        "net/http.HandlerFunc.ServeHTTP(0x1)\n\tnet/http/server.go:2136 +0x29\n"
        "github.com/acme/mux.(*Router).Do(0x1)\n\tgithub.com/acme/mux@v1.8.0/mux.go:210 +0x1c\n"
        "example.org/shop.Run()\n\texample.org/shop/run.go:5 +0x1\n"
    )
    assert own(trace) == ["example.org/shop/run.go:5"]
