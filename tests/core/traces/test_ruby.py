from core.traces.stacktrace_shapes import errors, own, places, top

from nightwatch_core.traces.parsing import parse

LOG = """\
[9f3ab2] NoMethodError (undefined method `price' for nil:NilClass):
[9f3ab2]
[9f3ab2] app/models/cart.rb:7:in `block in total'
[9f3ab2] /usr/local/bundle/gems/activerecord-7.0.1/lib/relation.rb:1:in `each'
[9f3ab2] app/views/carts/show.html.erb:3:in `_app_views_carts_show'
[9f3ab2]
[9f3ab2] Caused by: KeyError (key not found: :eur)
[9f3ab2]
[9f3ab2] app/models/rate.rb:3:in 'Rate.find'
"""


def test_rails_log_with_request_ids_and_a_cause():
    trace = parse(LOG)
    assert trace.language == "ruby"
    assert errors(trace) == [
        ("NoMethodError", "undefined method `price' for nil:NilClass"),
        ("KeyError", "key not found: :eur"),
    ]
    assert top(trace) == "app/models/rate.rb:3"
    assert own(trace)[1:] == ["app/models/cart.rb:7", "app/views/carts/show.html.erb:3"]


def test_names_of_ruby_3_4_split_into_class_and_method():
    frame = parse("lib/cart.rb:5:in 'block (2 levels) in Shop::Cart#total'").frames[0]
    assert (frame.module, frame.function) == ("Shop::Cart", "block (2 levels) in total")


def test_full_message_prints_the_cause_last():
    trace = parse(
        "bin/job:3:in 'Shop::Job#run': job failed (Shop::JobError)\n"
        "\tfrom bin/job:9:in '<main>'\n"
        "lib/shop/cart.rb:5:in 'Shop::Cart#total': no items (Shop::Empty)\n"
        "\tfrom bin/job:2:in 'Shop::Job#run'\n"
    )
    assert errors(trace) == [("Shop::JobError", "job failed"), ("Shop::Empty", "no items")]
    assert places(trace)[1] == ["lib/shop/cart.rb:5", "bin/job:2"]


NUMBERED = """\
Traceback (most recent call last):
\t2: from bin/job:9:in `<main>'
\t1: from lib/shop/job.rb:4:in `run'
lib/shop/cart.rb:5:in `total': no items (Shop::Empty)
"""


def test_numbered_frames_are_printed_outermost_first():
    assert places(parse(NUMBERED)) == [["lib/shop/cart.rb:5", "lib/shop/job.rb:4", "bin/job:9"]]


def test_numbered_frames_whose_end_was_cut_off():
    assert places(parse(NUMBERED[: NUMBERED.index("lib/shop/cart")])) == [
        ["lib/shop/job.rb:4", "bin/job:9"]
    ]


def test_numbered_frames_print_the_cause_first():
    trace = parse(
        NUMBERED
        + "\t1: from bin/job:9:in `<main>'\n"
        + "lib/shop/job.rb:6:in `rescue in run': job failed (Shop::JobError)\n"
    )
    assert [name for name, _ in errors(trace)] == ["Shop::JobError", "Shop::Empty"]


def test_rspec_with_its_cause():
    trace = parse(
        "  1) Cart totals\n"
        "     Failure/Error: rate.fetch(:eur)\n\n"
        "     Shop::CartError:\n"
        "       no rate\n"
        "     # ./lib/shop/cart.rb:12:in `total'\n"
        "     # ------------------\n"
        "     # --- Caused by: ---\n"
        "     # KeyError:\n"
        "     #   key not found: :eur\n"
        "     #   ./lib/shop/rate.rb:3:in `fetch'\n"
    )
    assert errors(trace) == [("Shop::CartError", "no rate"), ("KeyError", "key not found: :eur")]
    assert top(trace) == "./lib/shop/rate.rb:3"


def test_rake_names_the_cause_on_a_line_of_its_own():
    trace = parse(
        "rake aborted!\nShop::Down: no database\n/srv/shop/a.rake:3:in `block in <main>'\n"
        "\nCaused by:\nIOError: closed\n/srv/shop/lib/db.rb:9:in `open'\nTasks: TOP => cart\n"
    )
    assert errors(trace) == [("Shop::Down", "no database"), ("IOError", "closed")]


def test_two_unrelated_traces_give_the_first_with_own_code():
    trace = parse(
        "Error:\nNoMethodError: one\n  /x/gems/rack-3.0/lib/a.rb:1:in `a'\n\n"
        "Error:\nNoMethodError: two\n  app/cart.rb:2:in `b'\n\n"
        "Error:\nNoMethodError: three\n  app/cart.rb:3:in `c'\n"
    )
    assert errors(trace) == [("NoMethodError", "two")]


def test_inspected_backtrace_inside_a_log_line():
    trace = parse(
        "E, [2031-05-04T10:11:12.345 #7] ERROR -- : KeyError: no rate "
        '["/srv/shop/lib/cart.rb:5:in `total\'", "/srv/shop/bin/job:9:in `<main>\'"]'
    )
    assert errors(trace) == [("KeyError", "no rate")]
    assert places(trace) == [["/srv/shop/lib/cart.rb:5", "/srv/shop/bin/job:9"]]


def test_prose_lists_and_windows_paths():
    trace = parse(
        "See lib/readme.rb:3 for more.\n"
        "1. C:/Program Files/Shop/app/cart.rb:13:in `total'\n"
        "2. .../lib/shop/job.rb:4:in `run'\n"
        "- config.ru:7:in `<main>'\n"
        "lib/old.rb:5: warning: method redefined\n"
    )
    assert places(trace) == [
        ["C:/Program Files/Shop/app/cart.rb:13", ".../lib/shop/job.rb:4", "config.ru:7"]
    ]


def test_libraries_launchers_and_the_interpreter_are_not_own():
    trace = parse(
        "<internal:kernel>:187:in `loop'\n"
        "/home/a/.rbenv/versions/3.3.0/lib/ruby/3.3.0/set.rb:1:in `add'\n"
        "org/jruby/RubyRange.java:485:in `each'\n"
        "(eval):1:in `x'\n"
        "(eval at /srv/shop/lib/rule.rb:10):1:in `y'\n"
        "bin/rails:4:in `<main>'\n"
    )
    assert own(trace) == ["/srv/shop/lib/rule.rb:10"]


def test_jruby_prints_frames_like_java():
    trace = parse(
        "rubyjit.Net.read(uri:classloader:/META-INF/jruby.home/lib/ruby/net.rb:158)\n"
        "bin.cart.block in total(bin/shop/cart.rb:21)\n"
    )
    assert own(trace) == ["bin/shop/cart.rb:21"]


def test_syntax_error_stands_in_the_file_that_does_not_parse():
    trace = parse("/srv/shop/cart.rb:12: syntax error, unexpected end-of-input (SyntaxError)")
    assert (top(trace), trace.root.error_class) == ("/srv/shop/cart.rb:12", "SyntaxError")
