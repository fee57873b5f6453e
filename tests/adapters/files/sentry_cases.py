"""Files as Sentry, and what speaks its language, gives them; all invented."""

import json

from adapters.files.export_cases import Case

FIRST, LAST, AT = "2026-11-02T08:15:00Z", "2026-11-03T09:30:00Z", "2026-11-03T10:00:00Z"


def frame(path: str, line: int, function: str, in_app: bool, **more: object) -> dict[str, object]:
    return {"filename": path, "lineno": line, "function": function, "in_app": in_app, **more}


def api_frame(path: str, line: int, function: str, in_app: bool) -> dict[str, object]:
    return {
        "absPath": f"/srv/{path}", "filename": path, "lineNo": line, "colNo": None,
        "function": function, "inApp": in_app, "module": "shop.cart", "errors": None,
        "context": [[line - 1, "def x():"], [line, f"    {function}()"]], "vars": {"cart": "'c1'"},
    }  # fmt: skip


API_EVENT = {
    "id": "9999aaaa", "groupID": "77", "eventID": "9999aaaa", "projectID": "3", "size": 9001,
    "title": "KeyError: 'total'", "message": "", "platform": "python", "type": "error",
    "metadata": {"type": "KeyError", "value": "'total'", "filename": "shop/cart.py"},
    "dateCreated": "2026-11-03T11:00:00.123+01:00", "dateReceived": "2026-11-03T10:00:09Z",
    "culprit": "shop.web in show", "errors": [], "occurrence": None,
    "user": {"id": "u-17", "email": "mia@example.com", "ip_address": "203.0.113.9"},
    "release": {"version": "shop@3.1", "shortVersion": "3.1"},
    "tags": [{"key": "level", "value": "error"}, {"key": "server_name", "value": "web-1"},
             {"key": "transaction", "value": "/orders/{id}"}, {"key": "environment", "value": "p"}],
    "contexts": {"runtime": {"name": "CPython", "type": "runtime"}},
    "entries": [
        {"type": "exception", "data": {"hasSystemFrames": True, "values": [
            {"type": "ValueError", "value": "no price", "module": "builtins",
             "stacktrace": {"frames": [api_frame("shop/prices.py", 3, "price", True)]}},
            {"type": "KeyError", "value": "'total'", "stacktrace": {"frames": [
                api_frame("django/handlers.py", 55, "inner", False),
                api_frame("shop/cart.py", 7, "total", True)]}}]}},
        {"type": "breadcrumbs", "data": {"values": [{"message": "SELECT 1", "type": "query"}]}},
        {"type": "request", "data": {"method": "GET", "url": "https://shop.example/orders/7"}},
    ],
}  # fmt: skip

STORE_EVENT = {
    "event_id": "c0ffee00", "platform": "javascript", "level": "error", "timestamp": 1793700000.5,
    "release": "web@9", "environment": "production", "server_name": "edge-2",
    "transaction": "/checkout", "user": {"email": "mia@example.com"}, "tags": [["a", "b"]],
    "exception": {"values": [{
        "type": "Error", "value": "bad cart",
        "stacktrace": {"frames": [
            frame("app:///node_modules/lib/a.js", 1, "run", False, colno=9),
            frame("/static/app.min.js", 1, "t", True, colno=48213,
                  abs_path="https://shop.example/static/app.min.js")]},
        "mechanism": {"type": "onerror", "handled": False}}]},
    "breadcrumbs": {"values": []}, "contexts": {"browser": {"name": "Firefox"}},
}  # fmt: skip

NATIVE_EVENT = {
    "event_id": "c0ffee01", "platform": "native", "timestamp": "2026-11-03T10:00:00Z",
    "exception": [{"type": "panic", "value": "index out of bounds", "stacktrace": {"frames": [
        frame("library/std/src/rt.rs", 1, "std::rt::lang_start", False),
        frame("src/cart.rs", 41, "shop::cart::total", True, abs_path="/build/src/cart.rs"),
        {"function": "abort", "in_app": False, "package": "/lib/libc.so"}]}}],
}  # fmt: skip

ISSUE = {
    "id": "77", "shareId": None, "shortId": "SHOP-2K", "title": "KeyError: 'total'",
    "culprit": "shop.web in show", "permalink": "https://sentry.example/issues/77/", "logger": None,
    "level": "error", "status": "unresolved", "type": "error", "issueCategory": "error",
    "platform": "python", "project": {"id": "3", "name": "Shop", "slug": "shop"},
    "metadata": {"type": "KeyError", "value": "'total'", "filename": "shop/cart.py",
                 "function": "total"},
    "numComments": 0, "assignedTo": {"email": "dev@example.com", "type": "user"},
    "isUnhandled": True, "count": "43", "userCount": 5, "firstSeen": "2026-11-02T08:15:00.1Z",
    "lastSeen": "2026-11-03T10:30:00+01:00", "stats": {"24h": [[1793700000, 3]]},
}  # fmt: skip

ROW = {
    "title": "KeyError: 'total'", "error.type": ["ValueError", "KeyError"],
    "error.value": ["no price", "'total'"], "count()": 43, "count_unique(user)": 5,
    "first_seen()": FIRST, "last_seen()": LAST, "project.name": "shop", "issue.id": 77,
    "transaction": "/orders/{id}", "release": "shop@3.1",
}  # fmt: skip
ROW_CSV = (
    'title,error.type,count(),count_unique(user),first_seen(),last_seen(),project.name\n'
    f'"KeyError: \'total\'","[\'ValueError\', \'KeyError\']",43,5,{FIRST},{LAST},shop\n'
)  # fmt: skip
_LINES = [
    {"event_id": "c0ffee00", "sent_at": "2026-11-03T10:00:05Z", "dsn": "https://k@s.example/3",
     "sdk": {"name": "sentry.javascript.browser", "version": "8"}},
    {"type": "event", "length": 900, "content_type": "application/json"}, STORE_EVENT,
    {"type": "session"}, {"sid": "1", "init": True, "started": AT, "status": "crashed"},
    {"type": "client_report"}, {"timestamp": AT, "discarded_events": []},
]  # fmt: skip
ENVELOPE = "\n".join(json.dumps(one) for one in _LINES)
_EVENT = Case(
    "event of the API", API_EVENT, "KeyError", "'total'", "/orders/{id}", 1, 1, AT, AT, "",
    "shop@3.1", "web-1",
    (("/srv/shop/cart.py", 7, True), ("/srv/django/handlers.py", 55, False),
     ("/srv/shop/prices.py", 3, True)), "event of Sentry", ("ValueError",),
)  # fmt: skip
_STORED = Case(
    "event as stored", STORE_EVENT, "Error", "bad cart", "/checkout", 1, 1, AT, AT, "", "web@9",
    "edge-2", (("https://shop.example/static/app.min.js", 1, True),
               ("app:///node_modules/lib/a.js", 1, False)), "event of Sentry",
)  # fmt: skip
_ISSUE = Case(
    "list of issues", [ISSUE], "KeyError", "'total'", "shop.web in show", 43, 5, FIRST, LAST,
    "shop", frames=(("shop/cart.py", None, True),), shape="issue of Sentry",
)  # fmt: skip
_ROW = Case(
    "answer of Discover", {"data": [ROW], "meta": {"fields": {"count()": "integer"}}}, "KeyError",
    "'total'", "/orders/{id}", 43, 5, FIRST, LAST, "shop", "shop@3.1",
    shape="row of Sentry's Discover",
)  # fmt: skip
CASES = (
    _EVENT,
    _EVENT._replace(name="events with entries", content=[API_EVENT]),
    _STORED,
    _STORED._replace(name="envelope", content=ENVELOPE),
    _STORED._replace(
        name="webhook with an event", shape="call of Sentry's webhook",
        content={"action": "triggered", "data": {"event": STORE_EVENT, "triggered_rule": "r"},
                 "installation": {"uuid": "1"}},
    ),
    Case("panic of Rust", NATIVE_EVENT, "panic", "index out of bounds", last=AT, first=AT,
         frames=(("<unknown>", None, False), ("/build/src/cart.rs", 41, True),
                 ("library/std/src/rt.rs", 1, False))),
    Case("message", {"event_id": "1", "platform": "php", "level": "error", "timestamp": AT,
                     "logentry": {"formatted": "cart 7 is lost", "message": "cart %s is lost"}},
         "logged error", "cart 7 is lost", first=AT, last=AT),
    Case("issue that is a message",
         {**ISSUE, "type": "default", "title": "Sync: no answer", "metadata": {"title": "Sync"}},
         "logged error", "Sync: no answer", "shop.web in show", 43, 5, FIRST, LAST, "shop"),
    Case("errors of an AggregateError", {"event_id": "1", "platform": "javascript", "exception": {
        "values": [
            {"type": "TypeError", "value": "a", "mechanism": {
                "type": "chained", "source": "errors[0]", "exception_id": 1, "parent_id": 0}},
            {"type": "AggregateError", "value": "all failed", "stacktrace": {"frames": [
                frame("/srv/a.js", 3, "all", True)]}}]}},
         "AggregateError", "all failed", frames=(("/srv/a.js", 3, True),)),
    _ISSUE,
    _ISSUE._replace(name="one issue", content=ISSUE),
    _ISSUE._replace(
        name="webhook with an issue", shape="call of Sentry's webhook",
        content={"action": "created", "data": {"issue": ISSUE}, "actor": {"type": "application"}},
    ),
    _ROW,
    _ROW._replace(name="table of Discover", content=ROW_CSV, message="'total'", transaction="",
                  release=""),
)  # fmt: skip
