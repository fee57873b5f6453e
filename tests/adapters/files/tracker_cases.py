"""Files as Rollbar, Honeybadger, Bugsnag, Airbrake, Raygun and AppSignal give them; invented."""

from adapters.files.export_cases import Case

FIRST, LAST, AT = "2026-11-02T08:15:00Z", "2026-11-03T09:30:00Z", "2026-11-03T10:00:00Z"
FIRST_S, LAST_S, AT_S = 1793607300, 1793698200, 1793700000
MIA = {"id": "u-17", "username": "mia", "email": "mia@example.com"}
RAILS = (("/srv/shop/app/models/cart.rb", 7, True), ("/srv/shop/app/web.rb", 3, True))

# Rollbar: frames outermost first; the exception that was thrown last stands first.
_TRACE = {
    "exception": {"class": "NoMethodError", "message": "undefined method `total' for nil",
                  "description": None},
    "frames": [
        {"filename": "/srv/shop/app/web.rb", "lineno": 3, "method": "show"},
        {"filename": "/srv/shop/app/models/cart.rb", "lineno": 7, "method": "total",
         "code": "  price.total", "context": {"pre": ["def total"], "post": ["end"]}},
    ],
}  # fmt: skip
ROLLBAR_DATA = {
    "body": {"trace": _TRACE}, "level": "error", "environment": "production", "framework": "rails",
    "language": "ruby", "timestamp": AT_S, "code_version": "3f2a9c1", "person": MIA,
    "server": {"host": "web-1", "root": "/srv/shop", "branch": "main"},
    "request": {"url": "https://shop.example/orders/7?email=mia@example.com", "method": "GET",
                "params": {"controller": "orders", "action": "show"}, "user_ip": "203.0.113.9"},
    "notifier": {"name": "rollbar-gem", "version": "3"},
}  # fmt: skip
ROLLBAR_INSTANCE = {"id": 5, "project_id": 1, "timestamp": AT_S, "version": 2, "billable": 1,
                    "data": ROLLBAR_DATA}  # fmt: skip
ROLLBAR_ITEM = {
    "id": 272, "project_id": 1, "counter": 12, "environment": "production", "platform": "linux",
    "framework": "rails", "title": "NoMethodError: undefined method `total' for nil",
    "level": "error", "status": "active", "total_occurrences": 43, "unique_occurrences": 9,
    "first_occurrence_timestamp": FIRST_S, "last_occurrence_timestamp": LAST_S, "hash": "ab",
    "last_occurrence_id": 5, "assigned_user_id": None, "group_status": 1,
}  # fmt: skip
_CAUSE = {**_TRACE, "exception": {"class": "KeyError", "message": "price"}}
_ROLLBAR = Case(
    "occurrences of Rollbar", {"err": 0, "result": {"page": 1, "instances": [ROLLBAR_INSTANCE]}},
    "NoMethodError", "undefined method `total' for nil", "orders#show", 1, 1, AT, AT, "",
    "3f2a9c1", "web-1", RAILS, "occurrence of Rollbar",
)  # fmt: skip
_ROLLBAR_ITEM = Case(
    "items of Rollbar",
    {"err": 0, "result": {"items": [ROLLBAR_ITEM], "page": 1, "total_count": 1}},
    "NoMethodError", "undefined method `total' for nil", count=43, first=FIRST, last=LAST,
    shape="item of Rollbar",
)  # fmt: skip

# Honeybadger: frames innermost first, `number` for the line.
HONEYBADGER_FAULT = {
    "id": 2, "project_id": 1, "klass": "NoMethodError", "message": "undefined method `total'",
    "component": "orders", "action": "show", "environment": "production", "resolved": False,
    "ignored": False, "assignee": {"id": 1, "email": "dev@example.com", "name": "Dev"},
    "comments_count": 0, "created_at": "2026-11-02T08:15:00.704628Z", "notices_count": 43,
    "last_notice_at": "2026-11-03T09:30:00.991903Z", "tags": ["a"], "url": "https://h.example/2",
}  # fmt: skip
_BACKTRACE = [
    {"number": "12", "file": "/usr/lib/ruby/gems/3.3.0/gems/x-1/lib/x.rb", "method": "call"},
    {"number": "7", "file": "/srv/shop/app/models/cart.rb", "method": "total",
     "source": {"6": "def total", "7": "  price.total"}},
]  # fmt: skip
_GEM = ("/usr/lib/ruby/gems/3.3.0/gems/x-1/lib/x.rb", 12, False)
HONEYBADGER_SENT = {
    "notifier": {"name": "honeybadger-ruby", "version": "5"},
    "error": {"class": "NoMethodError", "message": "undefined method `total'", "token": "t",
              "backtrace": _BACKTRACE, "causes": []},
    "request": {"component": "orders", "action": "show", "url": "https://shop.example/orders/7",
                "context": {"user_id": 17, "user_email": "mia@example.com"}, "cgi_data": {}},
    "server": {"project_root": "/srv/shop", "environment_name": "production", "hostname": "web-1",
               "revision": "3f2a9c1", "time": AT, "pid": 5},
}  # fmt: skip
HONEYBADGER_NOTICE = {
    "id": "a-b", "fault_id": 2, "created_at": AT, "environment_name": "production",
    "message": "NoMethodError: undefined method `total'", "backtrace": _BACKTRACE,
    "application_trace": _BACKTRACE[1:], "deploy": {"revision": "3f2a9c1"}, "cookies": {},
    "request": {"component": "orders", "action": "show", "user": MIA, "params": {}},
    "environment": {"hostname": "web-1"}, "web_environment": {},
}  # fmt: skip
_HONEYBADGER = Case(
    "notice of Honeybadger as sent", HONEYBADGER_SENT, "NoMethodError", "undefined method `total'",
    "orders#show", 1, 1, AT, AT, "", "3f2a9c1", "web-1", (_GEM, RAILS[0]), "notice of Honeybadger",
)  # fmt: skip

# Bugsnag: frames innermost first, the reported exception first.
_BUGSNAG_FRAMES = [
    {"line_number": 55, "column_number": None, "file": "vendor/x/lib/y.rb", "method": "run",
     "in_project": False, "code": None},
    {"line_number": 7, "file": "lib/cart.rb", "method": "total", "in_project": True,
     "code": {"6": "def total", "7": "  price.total"}},
]  # fmt: skip
BUGSNAG_EVENT = {
    "id": "5", "error_id": "7", "received_at": AT, "is_full_report": True, "unhandled": True,
    "exceptions": [{"error_class": "Shop::Empty", "message": "no items", "type": "ruby",
                    "stacktrace": _BUGSNAG_FRAMES},
                   {"error_class": "KeyError", "message": "price", "stacktrace": []}],
    "severity": "error", "context": "orders#show", "user": MIA, "threads": None, "metaData": {},
    "app": {"id": "shop", "version": "2.1", "release_stage": "production", "type": "rails"},
    "device": {"hostname": "web-1"}, "breadcrumbs": [],
    "request": {"url": "https://shop.example/orders/7", "http_method": "GET", "client_ip": "::1"},
}  # fmt: skip
BUGSNAG_SENT = {
    "apiKey": "k", "payloadVersion": "4", "notifier": {"name": "Bugsnag Ruby"},
    "events": [{
        "exceptions": [{"errorClass": "Shop::Empty", "message": "no items", "stacktrace": [
            {"file": "lib/cart.rb", "lineNumber": 7, "method": "total", "inProject": True}]}],
        "app": {"version": "2.1"}, "device": {"hostname": "web-1", "time": AT},
        "context": "orders#show", "severity": "error", "user": {"id": "u-17"}}],
}  # fmt: skip
BUGSNAG_ERROR = {
    "id": "7", "project_id": "1", "error_class": "Shop::Empty", "message": "no items",
    "context": "orders#show", "severity": "error", "original_severity": "error", "events": 43,
    "users": 5, "first_seen": FIRST, "last_seen": LAST, "status": "open", "release_stages": ["p"],
    "events_url": "https://api.example/events", "assigned_collaborator_id": None, "url": "u",
}  # fmt: skip

# Airbrake
AIRBRAKE_ERRORS = [{"type": "Shop::Empty", "message": "no items", "backtrace": [
    {"file": "/PROJECT_ROOT/lib/cart.rb", "line": 7, "column": 0, "function": "total",
     "code": {"6": "def total", "7": "  price.total"}}]}]  # fmt: skip
_AIRBRAKE_CONTEXT = {"component": "orders", "action": "show", "version": "2.1", "hostname": "web-1",
                     "severity": "error", "environment": "production", "user": MIA}  # fmt: skip
AIRBRAKE_GROUPS = {"count": 1, "end": "", "groups": [{
    "id": "1", "projectId": 1, "errors": AIRBRAKE_ERRORS, "context": _AIRBRAKE_CONTEXT,
    "createdAt": FIRST, "lastNoticeAt": LAST, "noticeCount": 3, "noticeTotalCount": 43,
    "resolved": False, "muted": False, "lastNoticeId": "2"}]}  # fmt: skip
AIRBRAKE_NOTICES = {"count": 1, "notices": [{
    "id": "1", "projectId": 1, "groupId": "1", "createdAt": AT, "errors": AIRBRAKE_ERRORS,
    "context": _AIRBRAKE_CONTEXT, "environment": {}, "session": {}, "params": {}}]}  # fmt: skip

# Raygun: frames innermost first.
RAYGUN = {
    "occurredOn": AT, "applicationIdentifier": "a1",
    "details": {
        "machineName": "web-1", "version": "2.1.0", "client": {"name": "Raygun4Net"},
        "error": {
            "className": "System.InvalidOperationException",
            "message": "System.InvalidOperationException: no items",
            "stackTrace": [{"lineNumber": 7, "className": "Shop.Cart", "methodName": "Total()",
                            "fileName": "C:\\src\\Shop\\Cart.cs"}],
            "innerError": {"className": "System.NullReferenceException", "message": "no price",
                           "stackTrace": [{"lineNumber": 9, "className": "Shop.Price",
                                           "methodName": "Of", "fileName": "C:\\src\\Price.cs"}]}},
        "request": {"hostName": "shop.example", "url": "/orders/7", "httpMethod": "GET"},
        "user": {"identifier": "mia@example.com"}, "userCustomData": {}, "tags": []},
}  # fmt: skip

# AppSignal
APPSIGNAL = {"data": {"app": {"id": "1", "exceptionIncidents": [{
    "id": "2", "number": 7, "count": 43, "exceptionName": "Shop::Empty", "state": "OPEN",
    "exceptionMessage": "no items", "actionNames": ["OrdersController#show"], "namespace": "web",
    "lastOccurredAt": LAST, "createdAt": FIRST,
    "firstBacktraceLine": "app/models/cart.rb:7:in `total'"}]}}}  # fmt: skip

CASES = (
    _ROLLBAR,
    _ROLLBAR._replace(name="one occurrence of Rollbar", content={"err": 0,
                                                               "result": ROLLBAR_INSTANCE}),
    _ROLLBAR._replace(name="payload for Rollbar",
                      content={"access_token": "t", "data": ROLLBAR_DATA}),
    _ROLLBAR._replace(
        name="webhook of Rollbar", shape="call of Rollbar's webhook",
        content={"event_name": "new_item",
                 "data": {"item": {**ROLLBAR_ITEM, "last_occurrence": ROLLBAR_DATA}}},
    ),
    _ROLLBAR._replace(
        name="chain of Rollbar", causes=("KeyError",), frames=RAILS + RAILS,
        content={**ROLLBAR_INSTANCE,
                 "data": {**ROLLBAR_DATA, "body": {"trace_chain": [_TRACE, _CAUSE]}}},
    ),
    Case("message of Rollbar", {"timestamp": AT_S, "data": {
        "level": "error", "body": {"message": {"body": "queue is full", "extra": 1}}}},
        "logged error", "queue is full", first=AT, last=AT),
    _ROLLBAR_ITEM,
    _ROLLBAR_ITEM._replace(name="rows of RQL", content={"err": 0, "result": {"result": {
        "columns": list(ROLLBAR_ITEM), "rows": [list(ROLLBAR_ITEM.values())]}}}),
    Case("faults of Honeybadger", {"links": {"self": "x"}, "results": [HONEYBADGER_FAULT]},
         "NoMethodError", "undefined method `total'", "orders#show", 43, None, FIRST, LAST,
         shape="fault of Honeybadger"),
    _HONEYBADGER,
    _HONEYBADGER._replace(name="notices of Honeybadger",
                          content={"results": [HONEYBADGER_NOTICE], "links": {}}),
    Case("event of Bugsnag", [BUGSNAG_EVENT], "Shop::Empty", "no items", "orders#show", 1, 1, AT,
         AT, "shop", "2.1", "web-1",
         (("vendor/x/lib/y.rb", 55, False), ("lib/cart.rb", 7, True)),
         "event of Bugsnag", ("KeyError",)),
    Case("payload for Bugsnag", BUGSNAG_SENT, "Shop::Empty", "no items", "orders#show", 1, 1, AT,
         AT, "", "2.1", "web-1", (("lib/cart.rb", 7, True),), "event of Bugsnag"),
    Case("errors of Bugsnag", [BUGSNAG_ERROR], "Shop::Empty", "no items", "orders#show", 43, 5,
         FIRST, LAST, shape="error of Bugsnag"),
    Case("groups of Airbrake", AIRBRAKE_GROUPS, "Shop::Empty", "no items", "orders#show", 43, 1,
         FIRST, LAST, "", "2.1", "web-1", (("lib/cart.rb", 7, True),),
         "notice of Airbrake"),
    Case("notices of Airbrake", AIRBRAKE_NOTICES, "Shop::Empty", "no items", "orders#show", 1, 1,
         AT, AT, "", "2.1", "web-1", (("lib/cart.rb", 7, True),)),
    Case("occurrence of Raygun", RAYGUN, "System.InvalidOperationException", "no items",
         "GET /orders/<n>", 1, 1, AT, AT, "", "2.1.0", "web-1",
         (("C:\\src\\Shop\\Cart.cs", 7, True), ("C:\\src\\Price.cs", 9, True)),
         "occurrence of Raygun", ("System.NullReferenceException",)),
    Case("incidents of AppSignal", APPSIGNAL, "Shop::Empty", "no items", "OrdersController#show",
         43, None, FIRST, LAST, frames=(("app/models/cart.rb", 7, True),),
         shape="incident of AppSignal"),
    Case("webhook of AppSignal", {"exception": {
        "exception": "Shop::Empty", "message": "no items", "action": "OrdersController#show",
        "first_backtrace_line": "app/models/cart.rb:7:in `total'", "revision": "3f2a9c1",
        "user": "u-17", "time": AT}}, "Shop::Empty", "no items", "OrdersController#show", 1, 1, AT,
        AT, "", "3f2a9c1", frames=(("app/models/cart.rb", 7, True),)),
    Case("errors of GitLab", [{
        "id": 1, "title": "Shop::Empty: no items", "count": 43, "user_count": 5, "status": "x",
        "first_seen": FIRST, "last_seen": LAST, "culprit": "orders#show", "type": "error"}],
        "Shop::Empty", "no items", "orders#show", 43, 5, FIRST, LAST, shape="row with a title"),
    Case("CSV with titles", "Title,Environment,Total Occurrences,First Seen,Last Seen\n"
        f"#12 Shop::Empty: no items,production,43,{FIRST},{LAST}\n",
        "Shop::Empty", "no items", "", 43, None, FIRST, LAST),
)  # fmt: skip
