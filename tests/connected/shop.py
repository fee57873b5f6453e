"""The application that fails: its code, its history, and the errors it throws in production.

Everything is told relative to `now`, so that a night of today finds it. The release that runs is
`RELEASE`; the branch has moved on since, so that who reads the wrong commit reads wrong lines.
"""

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import NamedTuple

REPOSITORY, APPLICATION = "acme/shop", "shop"
RELEASE, EARLIER = "v1.9.0", "v1.8.0"

BASKET = """\
class Basket
  attr_reader :lines

  def initialize(lines)
    @lines = lines
  end

  def total
    lines.sum { |line| line.line_total }
  end
end
"""
OLD_SUM, NEW_SUM = "lines.map(&:line_total).sum", "lines.sum { |line| line.line_total }"
FIXED = {"line.line_total": "line.line_price", "curency": "currency"}

LINE = """\
class Line
  attr_reader :product, :quantity

  def initialize(product, quantity)
    @product = product
    @quantity = quantity
  end

  def {name}
    product.price * quantity
  end
end
"""
ORDER = """\
class Order
  attr_reader :number, :address

  def initialize(number, address)
    @number = number
    @address = address
  end

  def label
    "#{number} #{address.city.upcase}"
  end
end
"""
MAILER = """\
class OrderMailer < ApplicationMailer
  def confirmation(order)
    currency = order.country.currency
    @price = format("%d %s", order.price, curency)
    mail(to: order.email)
  end
end
"""
FIRST: Mapping[str, str] = {
    "README.md": "# Shop\n",
    "config/routes.rb": "Rails.application.routes.draw do\n  resources :baskets, :orders\nend\n",
    "app/controllers/baskets_controller.rb": (
        "class BasketsController < ApplicationController\n"
        "  def show\n    render json: basket.total\n  end\n\n"
        "  def update\n    basket.change(params[:id], Integer(params[:quantity]))\n  end\nend\n"
    ),
    "app/controllers/orders_controller.rb": (
        "class OrdersController < ApplicationController\n"
        "  def show\n    render json: order.label\n  end\n\n"
        "  def ship\n    render json: Shipping.cost(params[:speed])\n  end\nend\n"
    ),
    "app/models/basket.rb": BASKET.replace(NEW_SUM, OLD_SUM),
    "app/models/line.rb": LINE.replace("{name}", "line_total"),
    "app/models/order.rb": ORDER,
    "app/models/customer.rb": (
        "class Customer\n  SUFFIX = ' & Co.'.freeze\n\n"
        "  def company\n    SUFFIX << name\n  end\nend\n"
    ),
    "app/services/pricing.rb": (
        "class Pricing\n  def self.average(lines)\n"
        "    lines.sum(&:line_price) / lines.size\n  end\nend\n"
    ),
    "app/services/shipping.rb": (
        "class Shipping\n  RATES = { standard: 4, bulky: 19 }.freeze\n\n"
        "  def self.cost(speed)\n    RATES.fetch(speed.to_sym)\n  end\nend\n"
    ),
    "app/mailers/order_mailer.rb": MAILER,
    "lib/money.rb": (
        "class Money\n  attr_reader :cents\n\n"
        "  def initialize(cents)\n    @cents = cents\n  end\n\n"
        "  def plus(other)\n    Money.new(cents + other)\n  end\nend\n"
    ),
}
JOB = """\
class InvoiceJob < ApplicationJob
  def perform(order)
    message = Invoices.message_for(order)
    message.deliver_later
  end
end
"""


class Merged(NamedTuple):
    """A commit of the branch; with a title it is a pull request's."""

    ago: timedelta
    message: str
    files: Mapping[str, str]
    number: int = 0
    tag: str = ""


HISTORY = (
    Merged(timedelta(days=40), "The shop", FIRST),
    Merged(
        timedelta(days=20),
        "Tell customers where things are",
        {"README.md": "# Shop\n\nHow to run it.\n"},
        number=11,
        tag=EARLIER,
    ),
    Merged(
        timedelta(days=3),
        "Say price where a price is meant",
        {
            "app/models/line.rb": LINE.replace("{name}", "line_price"),
            "app/models/basket.rb": BASKET,
        },
        number=12,
    ),
    Merged(timedelta(days=2), "Invoices by job", {"app/jobs/invoice_job.rb": JOB}, 13, tag=RELEASE),
    Merged(
        timedelta(hours=1),
        "Explain orders",
        {"app/models/order.rb": f"# An order.\n# Paid ones\n# never change.\n{ORDER}"},
        number=14,
    ),
)
CAUSE = 12  # the pull request that broke the basket


class Failing(NamedTuple):
    """An error group: its failing line is the one that holds `line`; without it there is no trace.

    `callers` are the frames above it, outermost last.
    """

    error_class: str
    transaction: str
    message: str
    path: str = ""
    line: str = ""
    occurrences: int = 10
    callers: tuple[str, ...] = ()


BROKEN_BASKET = Failing(
    "NoMethodError", "Controller/baskets/show",
    "undefined method 'line_total' for an instance of Line",
    "app/models/basket.rb", "line.line_total", 40,
    ("app/controllers/baskets_controller.rb:3:in 'BasketsController#show'",),
)  # fmt: skip
NO_ADDRESS = Failing(
    "NoMethodError", "Controller/orders/show", "undefined method 'city' for nil",
    "app/models/order.rb", "address.city", 25,
    ("app/controllers/orders_controller.rb:3:in 'OrdersController#show'",),
)  # fmt: skip
NO_RATE = Failing(
    "KeyError", "Controller/orders/ship", "key not found: :express",
    "app/services/shipping.rb", "RATES.fetch", 12,
    ("app/controllers/orders_controller.rb:7:in 'OrdersController#ship'",),
)  # fmt: skip
TYPO = Failing(
    "NameError", "OtherTransaction/Sidekiq/OrderMailer/confirmation",
    "undefined local variable or method 'curency' for an instance of OrderMailer",
    "app/mailers/order_mailer.rb", "curency", 14,
)  # fmt: skip
UNTRACED = Failing("Warehouse::OutOfReach", "Controller/stock/show", "the warehouse is silent")
THREE = (BROKEN_BASKET, NO_ADDRESS, NO_RATE)
TEN = (
    *THREE,
    TYPO,
    UNTRACED,
    Failing(
        "ZeroDivisionError", "Controller/baskets/average", "divided by 0",
        "app/services/pricing.rb", "/ lines.size", 9,
    ),
    Failing(
        "ArgumentError", "Controller/baskets/update", 'invalid value for Integer(): "2x"',
        "app/controllers/baskets_controller.rb", "Integer(params", 8,
    ),
    Failing(
        "NoMethodError", "OtherTransaction/Sidekiq/InvoiceJob/perform",
        "undefined method 'deliver_later' for nil", "app/jobs/invoice_job.rb", "deliver_later", 7,
    ),
    Failing(
        "TypeError", "Controller/baskets/plus", "nil can't be coerced into Integer",
        "lib/money.rb", "cents + other", 6,
    ),
    Failing(
        "FrozenError", "Controller/customers/show", "can't modify frozen String: \" & Co.\"",
        "app/models/customer.rb", "SUFFIX << name", 5,
    ),
)  # fmt: skip
IGNORED = Failing("Rack::Timeout::RequestTimeoutException", "Controller/search/index", "15 s", "",
                  "", 30)  # fmt: skip
EXPECTED = Failing("ActiveRecord::RecordNotFound", "Controller/orders/show", "no order", "", "", 50)


def running() -> dict[str, str]:
    """The files of the release that runs, by path."""
    files: dict[str, str] = {}
    for merged in HISTORY:
        files |= merged.files
        if merged.tag == RELEASE:
            return files
    raise AssertionError("no such release")


def frames(error: Failing) -> list[str]:
    """The trace of an error, innermost first, as Ruby prints it."""
    lines = running()[error.path].split("\n")
    (number,) = (at for at, text in enumerate(lines, start=1) if error.line in text)
    above = [re.match(r"\s*def (?:self\.)?(\w+)", text) for text in lines[:number]]
    function = [found[1] for found in above if found][-1]
    inner = f"{error.path}:{number}:in '{function}'"
    library = "/usr/local/bundle/gems/rack-3.1.8/lib/rack/etag.rb:29:in 'Rack::ETag#call'"
    return [inner, *error.callers, library]
