"""Files as Datadog, Application Insights, Elastic APM and Google give them; all invented."""

import json

from adapters.files.export_cases import Case

FIRST, LAST, AT = "2026-11-02T08:15:00Z", "2026-11-03T09:30:00Z", "2026-11-03T10:00:00Z"
AT_MS = 1793700000000
PYTHON = (
    'Traceback (most recent call last):\n  File "/srv/shop/cart.py", line 7, in total\n'
    "    return prices[name]\nKeyError: 'total'\n"
)
JAVA = (
    "java.lang.IllegalStateException: no items\n\tat com.shop.Cart.total(Cart.java:7)\n"
    "\tat java.base/java.lang.Thread.run(Thread.java:840)\n"
)
_CART = ("/srv/shop/cart.py", 7, True)

DATADOG_LOG = {
    "id": "AAAA", "type": "log",
    "attributes": {
        "timestamp": "2026-11-03T10:00:00.000Z", "service": "shop", "host": "web-1",
        "status": "error", "message": "request failed", "source": "python",
        "tags": ["env:production", "version:1.2", "service:shop"],
        "attributes": {"error": {"kind": "KeyError", "message": "'total'", "stack": PYTHON},
                       "http": {"method": "GET", "url": "https://shop.example/o?email=m@e.com"},
                       "resource_name": "orders.show", "usr": {"id": "u-17", "email": "m@e.com"},
                       "logger": {"name": "shop"}}},
}  # fmt: skip
_DATADOG = Case(
    "logs of Datadog", {"data": [DATADOG_LOG], "meta": {"page": {"after": "x"}}, "links": {}},
    "KeyError", "'total'", "orders.show", 1, 1, AT, AT, "shop", "1.2", "web-1", (_CART,),
    "event of Datadog",
)  # fmt: skip
_DATADOG_PARTS: dict[str, object] = dict(DATADOG_LOG["attributes"])  # type: ignore[call-overload]
DATADOG_ARCHIVE = {"_id": "AAAA", "date": AT, **{
    name: _DATADOG_PARTS[name] for name in ("service", "host", "status", "tags", "message")},
    "attributes": _DATADOG_PARTS["attributes"]}  # fmt: skip
DATADOG_ISSUES = {
    "data": [{"id": "i1", "type": "error_tracking_search_result",
              "attributes": {"total_count": 43, "impacted_users": 5, "impacted_sessions": 6},
              "relationships": {"issue": {"data": {"id": "i1", "type": "issue"}}}}],
    "included": [{"id": "i1", "type": "issue", "attributes": {
        "error_type": "KeyError", "error_message": "'total'", "file_path": "shop/cart.py",
        "function_name": "total", "service": "shop", "state": "OPEN", "is_crash": False,
        "first_seen": 1793607300000, "last_seen": 1793698200000, "last_seen_version": "1.2",
        "languages": ["PYTHON"], "platform": "BACKEND"}}],
}  # fmt: skip
DATADOG_CSV = (
    'Date,Host,Service,Message,@error.kind,@error.message,@error.stack\n'
    "2026-11-03T10:00:00.000Z,web-1,shop,request failed,KeyError,'total',"
    + '"' + PYTHON.replace('"', '""') + '"\n'
)  # fmt: skip

_STACK = [
    {"level": 0, "method": "Shop.Cart.Total", "assembly": "Shop, Version=1.0", "line": 7,
     "fileName": "C:\\src\\Shop\\Cart.cs"},
    {"level": 1, "method": "System.Linq.Enumerable.First", "assembly": "System.Linq", "line": 0},
]  # fmt: skip
_DETAILS = [{"id": "1", "outerId": "0", "type": "System.InvalidOperationException",
             "message": "no items", "severityLevel": "Error", "parsedStack": _STACK}]  # fmt: skip
INSIGHTS_ROW = {
    "timestamp": "2026-11-03T10:00:00.1234567Z", "problemId": "System.X at Shop.Cart.Total",
    "type": "System.InvalidOperationException", "outerType": "System.InvalidOperationException",
    "outerMessage": "no items", "innermostMessage": "no items", "details": json.dumps(_DETAILS),
    "itemType": "exception", "itemCount": 3, "operation_Name": "GET Orders/Show", "client_IP": "0",
    "cloud_RoleName": "shop-web", "cloud_RoleInstance": "web-1", "application_Version": "1.2",
    "user_Id": "u17", "user_AuthenticatedId": "", "severityLevel": 3, "sdkVersion": "dotnet:2",
}  # fmt: skip
_NET = (("C:\\src\\Shop\\Cart.cs", 7, True), ("<unknown>", None, False))
_INSIGHTS = Case(
    "table of Application Insights",
    {"tables": [{"name": "PrimaryResult",
                 "columns": [{"name": name, "type": "string"} for name in INSIGHTS_ROW],
                 "rows": [list(INSIGHTS_ROW.values())]}]},
    "System.InvalidOperationException", "no items", "GET Orders/Show", 3, 1, AT, AT, "shop-web",
    "1.2", "web-1", _NET, "exception of Application Insights",
)  # fmt: skip
WORKSPACE_CSV = (
    "TimeGenerated [UTC],ProblemId,ExceptionType,OuterType,OuterMessage,OperationName,AppRoleName,"
    "ItemCount,UserId,AppVersion,AppRoleInstance\n"
    '"11/3/2026, 10:00:00.123 AM",X at Y,System.X,System.InvalidOperationException,no items,'
    "GET Orders/Show,shop-web,3,u17,1.2,web-1\n"
)
TELEMETRY = {
    "name": "Microsoft.ApplicationInsights.Exception", "time": AT, "iKey": "0", "sampleRate": 100,
    "tags": {"ai.cloud.role": "shop-web", "ai.operation.name": "GET Orders/Show",
             "ai.user.id": "u17", "ai.application.ver": "1.2", "ai.cloud.roleInstance": "web-1"},
    "data": {"baseType": "ExceptionData", "baseData": {"ver": 2, "severityLevel": "Error",
             "exceptions": [{"id": 1, "outerId": 0, "hasFullStack": True, "message": "no items",
                             "typeName": "System.InvalidOperationException",
                             "parsedStack": _STACK}]}},
}  # fmt: skip

ELASTIC = {
    "@timestamp": AT, "processor": {"event": "error", "name": "error"}, "agent": {"name": "java"},
    "service": {"name": "shop", "version": "1.2"}, "host": {"hostname": "web-1"},
    "transaction": {"id": "1", "name": "OrderController#show"}, "user": {"email": "m@e.com"},
    "error": {"id": "1", "grouping_key": "g", "culprit": "com.shop.Cart.total", "exception": [
        {"type": "java.lang.IllegalStateException", "message": "no items", "stacktrace": [
            {"abs_path": "", "filename": "Preconditions.java", "function": "check",
             "classname": "com.acme.Preconditions", "line": {"number": 9}, "library_frame": True},
            {"filename": "Cart.java", "classname": "com.shop.Cart", "function": "total",
             "line": {"number": 7, "context": "return sum();"}, "library_frame": False}]}]},
}  # fmt: skip
_ELASTIC = Case(
    "errors of Elastic APM", {"hits": {"hits": [{"_index": "apm", "_source": ELASTIC}]}},
    "java.lang.IllegalStateException", "no items", "OrderController#show", 1, 1, AT, AT, "shop",
    "1.2", "web-1", (("Preconditions.java", 9, False), ("Cart.java", 7, True)),
)  # fmt: skip

GOOGLE = {"errorGroupStats": [{
    "group": {"name": "projects/p/groups/g", "groupId": "g", "resolutionStatus": "OPEN"},
    "count": "43", "affectedUsersCount": "5", "firstSeenTime": FIRST, "lastSeenTime": LAST,
    "affectedServices": [{"service": "shop", "version": "1.2"}], "numAffectedServices": 1,
    "timedCounts": [{"count": "3", "startTime": AT, "endTime": LAST}],
    "representative": {"eventTime": AT, "message": JAVA,
                       "serviceContext": {"service": "shop", "version": "1.2"},
                       "context": {"httpRequest": {"method": "GET", "url": "https://e.com/orders"},
                                   "user": "mia@example.com"}}}]}  # fmt: skip
_JAVA = (("Cart.java", 7, True), ("Thread.java", 840, False))
CRASH = {
    "platform": "ANDROID", "bundle_identifier": "com.shop", "event_id": "1", "is_fatal": True,
    "error_type": "FATAL", "issue_id": "9", "issue_title": "Cart.java line 7",
    "issue_subtitle": "com.shop.Cart.total", "event_timestamp": "2026-11-03 10:00:00 UTC",
    "application": {"build_version": "12", "display_version": "1.2"}, "user": {"id": "u-17"},
    "exceptions": [{"type": "java.lang.IllegalStateException", "exception_message": "no items",
                    "nested": False, "blamed": True, "frames": [
        {"line": 9, "file": "Preconditions.java", "symbol": "com.acme.Preconditions.check",
         "owner": "VENDOR"},
        {"line": 7, "file": "Cart.java", "symbol": "com.shop.Cart.total", "owner": "DEVELOPER"}]}],
}  # fmt: skip

CASES = (
    _DATADOG,
    _DATADOG._replace(name="archive of Datadog", content=json.dumps(DATADOG_ARCHIVE)),
    _DATADOG._replace(name="table of Datadog", content=DATADOG_CSV, transaction="", users=None,
                      release="", shape=""),
    Case("issues of Datadog", DATADOG_ISSUES, "KeyError", "'total'", "", 43, 5, FIRST, LAST, "shop",
         "1.2", frames=(("shop/cart.py", None, True),),
         shape="issue of Datadog's Error Tracking"),
    _INSIGHTS,
    _INSIGHTS._replace(name="rows of Application Insights", content=[INSIGHTS_ROW]),
    _INSIGHTS._replace(name="CSV of a workspace", content=WORKSPACE_CSV, frames=()),
    _INSIGHTS._replace(name="telemetry of Application Insights", content=TELEMETRY, count=1,
                       shape="telemetry of Application Insights"),
    Case("exception copied out of the portal",
         [*_DETAILS, {**_DETAILS[0], "id": "2", "outerId": "1", "type": "System.Inner"}],
         "System.InvalidOperationException", "no items", frames=_NET,
         shape="details of an exception of Application Insights"),
    Case("log that an agent of Elastic APM sends as an error",
         {"error": {"id": "1", "timestamp": 1793700000000000, "log": {
             "message": "no items", "level": "loud", "stacktrace": [
                 {"filename": "Cart.java", "classname": "com.shop.Cart", "function": "total",
                  "lineno": 7, "library_frame": False}]}}},
         "logged error", "no items", first=AT, last=AT, frames=(("Cart.java", 7, True),),
         shape="error of Elastic APM"),
    _ELASTIC,
    _ELASTIC._replace(name="error of Elastic APM", content=ELASTIC, shape="error of Elastic APM"),
    Case("groups of Error Reporting", GOOGLE, "java.lang.IllegalStateException", "no items",
         "GET /orders", 43, 5, FIRST, LAST, "shop", "1.2", frames=_JAVA,
         shape="error group of Google's Error Reporting"),
    Case("crash of Crashlytics", CRASH, "java.lang.IllegalStateException", "no items",
         "", 1, 1, AT, AT, "com.shop", "1.2",
         frames=(("Preconditions.java", 9, False), ("Cart.java", 7, True)),
         shape="crash of Crashlytics"),
    Case("CSV of Kibana", "@timestamp,service.name,error.exception.type,error.exception.message\n"
         f"{AT},shop,java.lang.IllegalStateException,no items\n",
         "java.lang.IllegalStateException", "no items", first=AT, last=AT, app="shop"),
)  # fmt: skip
