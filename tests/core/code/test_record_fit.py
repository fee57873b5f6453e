"""What a record says and the code at its line excludes, and what only seems to."""

import pytest
from analysis_shapes import COMMIT, case, tree

from nightwatch_core.code.record_fit import MISFIT, misfit, objection
from nightwatch_core.models.answer import Evidence
from nightwatch_core.models.errors import ExceptionLink, Frame, Trace

PYTHON = '''\
"""A cart."""

from shop.money import price


class Cart:
    # what is in it
    def __init__(self, lines):
        self.lines = lines

    def total(self, customer):
        factor = customer.discount.factor
        if not customer:
            return 0
        return sum(price(one) for one in self.lines) * customer.factor

    def count(self):
        return len(self.lines)


def load(key):
    return Cart(key)
'''
RUBY = """\
class Cart < ApplicationRecord
  def total
    sum = 0
    owner = account.owner
    owner.touch
    owner.charge(sum)
  end

  def self.build
    new.tally
  end

  def tally
    lines.sum
  end
end
"""
ERB = """\
<h1>Hello</h1>
<div id="hide-alert">
  <%= @user.name %>
  <% if
       @user.alert %>
</div>
"""
JS = """\
export const price = (line) => line.product.price;

export function total(order) {
  const lines = order.lines;
  return lines.map(price);
}
"""
GO = """\
package shop

func (c *Cart) Total() int {
	return c.lines.sum()
}

func Load() *Cart {
	return nil
}
"""
PHP = """\
<div class="cart">
<?php
class Cart
{
    public function total($customer)
    {
        return $customer->factor();
    }
}
"""
FILES = {
    "a.py": PYTHON, "cart.rb": RUBY, "show.html.erb": ERB, "cart.js": JS, "cart.go": GO,
    "cart.php": PHP,
}  # fmt: skip
LANGUAGES = {"py": "python", "rb": "ruby", "erb": "ruby", "js": "javascript", "go": "go",
             "php": "php"}  # fmt: skip


def failing(path, line, function="", said=("E", "it broke"), fit="unknown", code="", **more):
    frame = Frame(
        path=f"/srv/{path}", repo_path=path, line=line, function=function, in_app=True, fit=fit,
        code=code, **more,
    )  # fmt: skip
    link = ExceptionLink(error_class=said[0], message=said[1], frames=(frame,))
    return traced((frame,), link)


def traced(frames, link=None):
    link = link or ExceptionLink(error_class="E", message="it broke", frames=frames)
    language = LANGUAGES[frames[0].path.rpartition(".")[2]]
    named = COMMIT.model_copy(update={"is_named": True})
    update = {"trace": Trace(language=language, links=(link,)), "commit": named}
    return case().model_copy(update=update)


def why(one, files=FILES):
    code = tree(files)
    return misfit(one, code.read_file, code.search)


@pytest.mark.parametrize(
    ("one", "fits"),
    [
        (failing("a.py", 10), True),  # blank, and code stands near it
        (failing("a.py", 18, "total"), True),
        (failing("a.py", 300), False),
        (failing("a.py", 18, fit="differs", code="return self.size  +  1"), False),
        (failing("cart.js", 5, "total", ("ReferenceError", "price is not defined")), False),
    ],
)
def test_of_a_commit_known_by_a_time_alone_lines_may_have_moved(one, fits):
    assert why(one)
    by_time = one.model_copy(update={"commit": COMMIT})
    assert (why(by_time) == "") is fits


NO_FACTOR = ("AttributeError", "'NoneType' object has no attribute 'factor'")


@pytest.mark.parametrize(
    ("one", "reason"),
    [
        (failing("a.py", 300), "a.py has 22 lines, and the record fails in line 300"),
        (failing("a.py", 10), "a.py:10 is blank"),
        (failing("a.py", 7), "a.py:7 is a comment"),
        (failing("show.html.erb", 2), "show.html.erb:2 holds markup and no code"),
        (failing("cart.php", 1), "cart.php:1 holds markup and no code"),
        (failing("cart.js", 1, column=23_456),
         "cart.js:1 has 50 characters, and the record fails at 23456"),
        (failing("a.py", 18, "total"), "a.py:18 is not in total, which a.py defines in line 11"),
        (failing("a.py", 18, "pay"), "a.py defines no pay, in which the record fails"),
        (failing("cart.rb", 14, "block in total"), "cart.rb:14 is not in total"),
        (failing("cart.go", 8, "(*Cart).Total.func1"), "cart.go:8 is not in Total"),
        (failing("a.py", 18, "count", ("AttributeError", "'Cart' object has no attribute 'total'")),
         "the record says that Cart has no total, and a.py:11 defines it"),
        (failing("cart.rb", 3, "total",
                 ("NoMethodError", "undefined method 'tally' for an instance of Cart")),
         "the record says that Cart has no tally, and cart.rb:13 defines it"),
        (failing("cart.php", 7, "total",
                 ("Error", "Call to undefined method Shop\\Cart::total()")),
         "the record says that Cart has no total, and cart.php:5 defines it"),
        (failing("a.py", 15, "total", ("NameError", "name 'price' is not defined")),
         "the record says that price is not defined, and a.py:3 defines it"),
        (failing("cart.js", 5, "total", ("ReferenceError", "price is not defined")),
         "the record says that price is not defined, and cart.js:1 defines it"),
        (failing("cart.rb", 6, "total", ("NoMethodError", "undefined method 'charge' for nil")),
         "the record says that owner is nil in cart.rb:6, and line 5 has just used it"),
        (failing("a.py", 18, "count", ("AttributeError", "'X' object has no attribute 'refund'")),
         "the record asks for refund, which stands nowhere near a.py:18"),
        (failing("a.py", 18, fit="differs", code="return self.size  +  1"),
         "a.py:18 and the file around it do not hold the line of the record (return self.size"),
    ],
)  # fmt: skip
def test_what_speaks_against_the_commit_is_said(one, reason):
    assert why(one).startswith(f"{MISFIT}{reason}")


@pytest.mark.parametrize(
    "one",
    [
        failing("a.py", 12, "total", NO_FACTOR),
        failing("a.py", 18, "count"),
        failing("a.py", 18, "<lambda>"),
        failing("a.py", 18, "Cart.count"),
        failing("a.py", 6, "Cart"),
        failing("cart.rb", 1, "tally"),  # made for the class, like Java's bridges
        failing("a.py", 10, fit="same", code=""),  # its own line is believed
        failing("show.html.erb", 3), failing("show.html.erb", 5),
        failing("cart.rb", 4, "block (2 levels) in total"),
        failing("cart.rb", 10, "Cart.build"),
        failing("cart.rb", 14, "method_missing"),
        failing("cart.js", 1, "price", column=40),
        failing("cart.js", 1, "total"),  # V8 may print the name it was called by
        failing("cart.go", 4, "(*Cart).Total"), failing("cart.go", 8, "glob..func1"),
        failing("gone.py", 400),
        # an attribute, a method of the class itself, one made by name, an unknown class
        failing("a.py", 18, "count", ("AttributeError", "'Cart' object has no attribute 'lines'")),
        failing("cart.rb", 10, "build",
                ("NoMethodError", "undefined method 'total' for class Cart")),
        failing("cart.rb", 3, "total",
                ("NoMethodError", "undefined method 'build' for an instance of Cart")),
        failing("a.py", 18, "count", ("AttributeError", "'Other' object has no attribute 'count'")),
        # what is nothing was not used before, or something else was
        failing("a.py", 15, "total", NO_FACTOR),
        failing("cart.rb", 5, "total", ("NoMethodError", "undefined method 'touch' for nil")),
        failing("cart.rb", 4, "total", ("NoMethodError", "undefined method 'owner' for nil")),
        failing("cart.js", 5, "total",
                ("TypeError", "Cannot read properties of undefined (reading 'map')")),
        failing("a.py", 18, "count", ("NameError", "name 'lines' is not defined")),
        failing("cart.rb", 14, "tally", ("NoMethodError", "undefined method 'to_str' for nil")),
        case(traced=False),
    ],
)  # fmt: skip
def test_what_may_be_so_is_no_contradiction(one):
    assert why(one) == ""


@pytest.mark.parametrize(
    "above",
    [
        "owner.touch if owner", "owner&.touch", "owner.nil?", "owner.to_s", "owner = find",
        "owner.touch unless gone", "log(owner)", "  owner.touch", "owner = owner.touch",
    ],
)  # fmt: skip
def test_a_use_that_proves_nothing_is_none(above):
    text = RUBY.replace("    owner.touch\n", f"    {above}\n")
    said = ("NoMethodError", "undefined method 'charge' for nil")
    assert why(failing("cart.rb", 6, "total", said), {"cart.rb": text}) == ""


@pytest.mark.parametrize(
    "text",
    [
        PYTHON.replace("    def total", "    @property\n    def total"),
        PYTHON.replace("class Cart:", "class Cart:\n    def __getattr__(self, name): pass"),
        PYTHON.replace("    def total", "    if fast:\n        def total"),
        PYTHON.replace("    def total", "    class Line:\n        def total"),
    ],
)
def test_a_method_that_may_be_missing_is_believed_to_be(text):
    said = ("AttributeError", "'Cart' object has no attribute 'total'")
    assert why(failing("a.py", 9, "__init__", said), {"a.py": text}) == ""


def test_a_class_that_several_files_open_counts_where_all_define_it():
    said = ("NoMethodError", "undefined method 'tally' for an instance of Cart")
    one = failing("cart.rb", 3, "total", said)
    assert why(one, {"cart.rb": RUBY, "more.rb": "class Cart\n  def other; end\nend\n"}) == ""
    assert why(one, {"cart.rb": RUBY, "more.rb": "class Cart\n  def tally; end\nend\n"})


def test_what_was_raised_deeper_says_nothing_about_our_line():
    own = failing("cart.rb", 14, "tally").trace.frames[0]
    library = Frame(path="/usr/lib/ruby/set.rb", line=9, function="add")
    said = {"error_class": "NoMethodError", "message": "undefined method 'refund' for nil"}
    link = ExceptionLink(frames=(library, own), **said)
    assert why(traced((own,), link)) == ""


def test_a_native_function_is_printed_at_the_line_that_calls_it():
    native, outer = (
        failing("cart.rb", 14, function).trace.frames[0] for function in ("total", "tally")
    )
    assert why(traced((native, outer))) == ""
    assert why(traced((native,)))


def test_names_are_not_missing_while_their_file_is_loaded():
    said = {"error_class": "NameError", "message": "name 'load' is not defined"}
    frames = failing("a.py", 18, "count").trace.frames
    loading = Frame(path="/srv/a.py", repo_path="a.py", line=3, function="<module>", in_app=True)
    assert why(traced(frames, ExceptionLink(frames=frames, **said)))
    assert why(traced(frames, ExceptionLink(frames=(*frames, loading), **said))) == ""


def frames_of(*fits):
    rows = enumerate(fits)
    return tuple(
        Frame(path="/srv/a.py", repo_path="a.py", line=8 + n, in_app=True, code="x()", fit=fit)
        for n, fit in rows
    )


@pytest.mark.parametrize(
    ("fits", "is_misfit"),
    [
        (("same", "differs", "differs"), False),
        (("moved", "differs", "differs"), False),
        (("differs", "same", "same"), True),
        (("unknown", "differs"), False),
        (("unknown", "differs", "differs"), True),
    ],
)
def test_the_innermost_own_frame_decides_before_the_others(fits, is_misfit):
    lines = "\n".join(f"call_{n}()" for n in range(20))
    assert bool(why(traced(frames_of(*fits)), {"a.py": lines})) is is_misfit


def test_a_quote_of_a_line_that_cannot_have_failed_is_objected_to():
    one = failing("show.html.erb", 2)
    code = tree(FILES)
    quote = Evidence(path="show.html.erb", line=2, quote='<div id="hide-alert">')
    assert "markup" in objection(quote, one, code.read_file, code.search)
    other = quote.model_copy(update={"line": 3})
    assert objection(other, one, code.read_file, code.search) == ""
