"""Stack traces in plain logs."""

from pathlib import Path

import pytest
from error_records import FULL, NOW, PYTHON, fetched, groups_of, json_lines, only, written

from nightwatch_core.adapters.files.source import ErrorFiles

LOG = f"""2026-11-03 10:00:00,123 INFO started
2026-11-03 10:00:01,000 ERROR Exception on /orders [GET]
{PYTHON}
2026-11-03 10:00:02,000 INFO going on
E, [2026-11-03T10:00:03.000000 #12] ERROR -- : NoMethodError (undefined method `total' for nil):
  
app/models/order.rb:12:in `total'
app/controllers/orders_controller.rb:5:in `show'
I, [2026-11-03T10:00:04.000000 #12]  INFO -- : done
2026-11-03 10:00:05 ERROR org.shop.Web - failed
org.shop.EmptyCart: none
\tat org.shop.Cart.total(Cart.java:8)
Caused by: java.io.IOException: closed
\tat org.shop.Db.read(Db.java:3)
\t... 1 more
2026-11-03T10:00:06Z error
TypeError: Cannot read properties of undefined (reading 'price')
    at total (/srv/shop/cart.js:3:5)
2026/11/03 10:00:07 http: panic serving 10.0.0.1:5: runtime error: index out of range
goroutine 12 [running]:
main.(*Cart).Total(0xc000)
\t/srv/shop/cart.go:12 +0x1d
2026/11/03 10:00:08 fine
[03-Nov-2026 10:00:09 UTC] PHP Fatal error:  Uncaught Shop\\Gone: gone in /srv/shop/a.php:12
Stack trace:
#0 /srv/shop/b.php(3): f()
#1 {{main}}
  thrown in /srv/shop/a.php on line 12
[2026-11-03 10:00:10] fail: Shop[13]
      System.InvalidOperationException: bad
         at Shop.Cart.Total() in /src/Cart.cs:line 12
2026-11-03 10:00:11 INFO the end
"""


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_logs_with_traces_of_every_language(tmp_path: Path, newline: str) -> None:
    files = ErrorFiles((written(tmp_path, LOG.replace("\n", newline), "app.log"),))
    groups = groups_of(files, None, NOW).groups
    found = {group.error_class: group for group in groups}
    assert {name: group.last_seen.second for name, group in found.items() if group.last_seen} == {
        "KeyError": 1,
        "NoMethodError": 3,
        "org.shop.EmptyCart": 5,
        "TypeError": 6,
        "panic": 7,
        "Shop\\Gone": 9,
        "System.InvalidOperationException": 10,
    }
    assert found["KeyError"].message == "'total'"
    (java,) = files.traces(found["org.shop.EmptyCart"])
    assert java.root.error_class == "java.io.IOException"
    assert "INFO" not in "".join(trace.raw for group in groups for trace in files.traces(group))


def test_the_same_trace_twice_in_a_log_is_one_group(tmp_path: Path) -> None:
    assert only(written(tmp_path, f"begin\n{PYTHON}\nbetween\n{PYTHON}\nend\n")).occurrences == 2


def test_chained_traces_are_one_occurrence(tmp_path: Path) -> None:
    between = "\n\nDuring handling of the above exception, another exception occurred:\n\n"
    text = f"begin\n{PYTHON}{between}{PYTHON.replace('KeyError', 'ShopError')}\nend\n"
    group = only(written(tmp_path, text))
    assert (group.error_class, group.occurrences) == ("ShopError", 1)


def test_json_records_inside_a_log(tmp_path: Path) -> None:
    text = "starting up\n" + json_lines([FULL, {"message": "ok"}]) + "{not json\n"
    assert only(written(tmp_path, text)).error_class == "Shop::Empty"


def test_a_log_without_traces_says_so(tmp_path: Path) -> None:
    answer = fetched(written(tmp_path, "started\nat work\n   from home\nstopped\n", "app.log"))
    assert answer.groups == ()
    assert answer.partial == ("app.log: 4 lines and no stack trace in them",)
