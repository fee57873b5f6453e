"""A stand-in for NerdGraph over HTTP: executes our queries, and can be told to fail.

    with NerdGraphService() as service:
        service.error("KeyError", "orders/show", "no 'total'")
        service.traffic(40_000)
        NewRelic(NerdGraph("NRAK-TEST", service.url), 1, "shop", None, clock)

Strict about: method, path, key, content type, GraphQL against the public schema, NRQL only as a
variable, its escapes, structure, length and times, the account, entity ids, at most 25 requests at
once, 120 equal queries.
"""

import json
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

from graphql import (
    DocumentNode,
    GraphQLError,
    GraphQLSchema,
    StringValueNode,
    Visitor,
    build_schema,
    execute_sync,
    parse,
    validate,
    visit,
)
from services.nrql_table import STANDS_FOR, BadNrql, Parser, answer
from services.serving import Quiet, Served

KEY = "NRAK-TEST"
ACCOUNT = 1
NOW = datetime(2026, 11, 21, 4, 0, tzinfo=UTC)
SCHEMA = (Path(__file__).parent / "nr_subset.graphql").read_text()
IDENTICAL = 120
AT_ONCE = 25


@dataclass(frozen=True)
class Request:
    """What was received."""

    key: str
    operation: str
    query: str
    variables: dict[str, Any]

    @property
    def nrql(self) -> tuple[str, ...]:
        texts = self.variables.values()
        return tuple(text for text in texts if isinstance(text, str) and text.startswith("SELECT"))


@dataclass
class Trace:
    """What `exception(occurrenceId)` knows."""

    frames: list[dict[str, Any]]
    message: str = ""


@dataclass
class _Failure:
    how: str
    match: str
    times: int
    given: dict[str, Any]


class NerdGraphService(Served):
    """`with NerdGraphService() as service`: `url`, `requests`, `fail(…)`, and what it holds."""

    def __init__(self, now: datetime = NOW) -> None:
        self.now, self.key = now, KEY
        self._failures: list[_Failure] = []
        self._lock = threading.Lock()
        self.requests: list[Request] = []
        self.received: list[bytes] = []  # every body, as it came
        self.events: list[dict[str, Any]] = []
        self.entities = [_entity("GUID-shop", "shop", "ruby")]
        self.exceptions: dict[str, Trace] = {}
        self.inbox: list[dict[str, Any]] = []
        self.deployments: list[dict[str, Any]] = []
        self.accounts = [{"id": ACCOUNT, "name": "main"}]
        self.most_at_once = 0
        self._at_once = 0

    @property
    def url(self) -> str:
        return f"{self.root}/graphql"

    def error(
        self,
        error_class: str,
        transaction: str | None = "orders/show",
        message: str | None = "",
        ago: timedelta = timedelta(hours=1),
        frames: list[dict[str, Any]] | None = None,
        guid: str = "GUID-shop",
        **more: Any,
    ) -> None:
        """One error, `ago` before `now`; with `frames` New Relic kept its trace."""
        common = {
            "timestamp": round((self.now - ago).timestamp() * 1_000),
            "entityGuid": guid,
            "error.class": error_class,
            "transactionName": transaction,
            "error.message": message,
            **more,
        }
        known = {name: value for name, value in common.items() if value is not None}
        self.events.append({"eventType": "TransactionError", **known})
        if frames is not None:
            occurrence = f"occurrence-{len(self.events):08d}"
            self.events.append({"eventType": "ErrorTrace", "id": occurrence, **known})
            self.exceptions[occurrence] = Trace(frames, message or "")

    def traffic(
        self, many: int, ago: timedelta = timedelta(hours=1), guid: str = "GUID-shop"
    ) -> None:
        """That many transactions `ago` before `now`, of which the agent kept one."""
        at = round((self.now - ago).timestamp() * 1_000)
        kept = {"eventType": "Transaction", "timestamp": at, "entityGuid": guid}
        self.events.append({**kept, STANDS_FOR: many})

    def serve(self, body: dict[str, Any]) -> dict[str, Any]:
        """Execute one document."""
        parsed, violation = _checked(body["query"])
        if parsed is None:
            return _errors("INVALID_INPUT", violation)
        result = execute_sync(
            _schema(), parsed, self._root(), variable_values=body.get("variables")
        )
        document: dict[str, Any] = {"data": result.data}
        if result.errors:
            document["errors"] = [_formatted(error) for error in result.errors]
        return document

    def fail(self, how: str, match: str = "", times: int = 1, **given: Any) -> None:
        """Fail the next `times` requests whose body holds `match`; `how` is a method `_fail_…`."""
        self._failures.append(_Failure(how, match, times, given))

    def _failure(self, raw: str) -> _Failure | None:
        for failure in self._failures:
            if failure.times > 0 and failure.match in raw:
                failure.times -= 1
                return failure
        return None

    def _fail_errors(
        self,
        _handler: Any,
        body: dict[str, Any],
        code: str = "SERVER_ERROR",
        name: str = "errorClass",
        path: list[str] | None = None,
        message: str = "",
    ) -> dict[str, Any]:
        """An error inside a 200: of everything, or of what stands at `path`."""
        error: dict[str, Any] = {"message": message or code, "extensions": {name: code}}
        if path is None:
            return {"data": None, "errors": [error]}
        document = self.serve(body)
        found = document["data"]
        for step in path[:-1]:
            found = found[step]
        found[path[-1]] = None
        return {**document, "errors": [{**error, "path": path}]}

    def _fail_answer(self, _handler: Any, _body: Any, document: Any) -> Any:
        return document

    def _fail_status(self, handler: BaseHTTPRequestHandler, _body: Any, status: int) -> None:
        send(handler, status, b"<html>no</html>")

    def _fail_429(
        self, handler: BaseHTTPRequestHandler, _body: Any, retry_after: str = "1"
    ) -> None:
        send(handler, 429, b"{}", {"Retry-After": retry_after})

    def _fail_cut(self, handler: BaseHTTPRequestHandler, _body: Any) -> None:
        """The connection ends in the middle of the body."""
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        handler.wfile.write(b'{"data": {"act')
        handler.close_connection = True

    def _fail_truncated(self, handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        """A complete answer of half a document."""
        whole = json.dumps(self.serve(body)).encode()
        send(handler, 200, whole[: len(whole) // 2])

    def _fail_slow(
        self, handler: BaseHTTPRequestHandler, body: dict[str, Any], seconds: float
    ) -> None:
        time.sleep(seconds)
        send(handler, 200, json.dumps(self.serve(body)).encode())

    def _fail_drip(
        self, handler: BaseHTTPRequestHandler, _body: Any, seconds: float, pause: float = 0.02
    ) -> None:
        """A byte now and then, which no read timeout notices."""
        handler.send_response(200)
        handler.send_header("Content-Length", "1000000")
        handler.end_headers()
        try:
            for _ in range(int(seconds / pause)):
                handler.wfile.write(b" ")
                time.sleep(pause)
        except OSError:
            pass
        handler.close_connection = True

    def _fail_huge(self, handler: BaseHTTPRequestHandler, _body: Any, size: int) -> None:
        try:
            send(handler, 200, b" " * size)
        except OSError:
            handler.close_connection = True

    def _root(self) -> dict[str, Any]:
        return {
            "actor": {
                "user": {"id": 7, "email": "bot@example.org", "name": "bot"},
                "accounts": lambda *_, **__: self.accounts,
                "account": self._account,
                "entity": self._entity,
                "entitySearch": self._entity_search,
                "errorsInbox": {"errorGroups": self._error_groups},
            }
        }

    def _account(self, _info: Any, id: int) -> dict[str, Any]:
        if id not in [account["id"] for account in self.accounts]:
            raise _typed("ACCESS_DENIED", "Access denied.")
        return {"nrql": self._nrql}

    def _nrql(self, _info: Any, query: str, timeout: int = 5, **_: Any) -> dict[str, Any]:
        if not 5 <= timeout <= 60:
            raise _typed("INVALID_INPUT", "timeout must be between 5 and 60 seconds")
        if sum(query in request.nrql for request in self.requests) > IDENTICAL:
            raise _typed("TOO_MANY_REQUESTS", "You have reached the limit of identical queries")
        try:
            return answer(Parser(query).parse(), self.events)
        except BadNrql as error:
            raise _typed("INVALID_INPUT", str(error)) from None

    def _entity(self, _info: Any, guid: str) -> dict[str, Any] | None:
        found = next((each for each in self.entities if each["guid"] == guid), None)
        if found is None:
            return None
        return {
            **found,
            "__typename": "ApmApplicationEntity",
            "exception": self._exception,
            "deploymentSearch": self._deployment_search,
        }

    def _exception(self, _info: Any, occurrenceId: str) -> dict[str, Any] | None:  # noqa: N803
        trace = self.exceptions.get(occurrenceId)
        if trace is None:
            return None
        return {"message": trace.message, "stackTrace": {"frames": trace.frames}}

    def _deployment_search(self, _info: Any, filter: dict[str, Any]) -> dict[str, Any]:
        times = filter["timeWindow"]
        return {
            "results": [
                each
                for each in self.deployments
                if times["startTime"] <= each["timestamp"] <= times["endTime"]
            ]
        }

    def _entity_search(self, _info: Any, query: str, **_: Any) -> dict[str, Any]:
        # The search's language has NRQL's literals and conditions.
        parser = Parser(f"SELECT name FROM TransactionError WHERE {query} SINCE 1 UNTIL 2")
        try:
            where = parser.parse().where
        except BadNrql as error:
            raise _typed("INVALID_INPUT", str(error)) from None
        shown = {"domain": "APM", "type": "APPLICATION"}
        found = [each for each in self.entities if where({**each, **shown})]
        return {
            "count": len(found),
            "results": lambda _info, cursor=None: _page(found, cursor, "entities"),
        }

    def _error_groups(self, _info: Any, cursor: str | None = None, **given: Any) -> dict[str, Any]:
        states = given["filter"]["states"]
        found = [
            each
            for each in self.inbox
            if each["state"] in states and each["entityGuid"] in given["entityGuids"]
        ]
        return {"totalCount": len(found), **_page(found, cursor, "results")}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        service = self

        class Handler(Quiet):
            def do_POST(self) -> None:
                with service._lock:
                    service._at_once += 1
                    service.most_at_once = max(service.most_at_once, service._at_once)
                try:
                    service._respond(self)
                finally:
                    with service._lock:
                        service._at_once -= 1

            def do_GET(self) -> None:
                send(self, 405, b"")

        return Handler

    def _respond(self, handler: BaseHTTPRequestHandler) -> None:
        raw = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        self.received.append(raw)
        if handler.path != "/graphql":
            return send(handler, 404, b"")
        if handler.headers.get("Content-Type") != "application/json":
            return send(handler, 400, b'{"errors":[{"message":"send application/json"}]}')
        try:
            body = json.loads(raw)
            query, variables = body["query"], body.get("variables") or {}
        except (ValueError, KeyError, TypeError):
            return send(handler, 400, b'{"errors":[{"message":"no GraphQL"}]}')
        key = handler.headers.get("Api-Key", "")
        operation = query.split("(")[0].split("{")[0].removeprefix("query ").strip()
        with self._lock:
            self.requests.append(Request(key, operation, query, variables))
            failure = self._failure(raw.decode())
            crowded = self._at_once > AT_ONCE
        if failure is not None:
            outcome = getattr(self, f"_fail_{failure.how}")(handler, body, **failure.given)
            if outcome is None:
                return None
            return send(handler, 200, json.dumps(outcome).encode())
        if crowded:
            return self._fail_429(handler, body)
        if key != self.key:
            bad = {"message": "Invalid API key", "extensions": {"error_code": "BAD_API_KEY"}}
            return send(handler, 401, json.dumps({"errors": [bad]}).encode())
        return send(handler, 200, json.dumps(self.serve(body)).encode())


def send(
    handler: BaseHTTPRequestHandler, status: int, body: bytes, headers: dict[str, str] | None = None
) -> None:
    handler.send_response(status)
    for name, value in (headers or {}).items():
        handler.send_header(name, value)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def inbox_group(name: str, message: str, state: str, **more: Any) -> dict[str, Any]:
    """A group of the Errors Inbox."""
    return {
        "id": f"inbox-{name}",
        "name": name,
        "message": message,
        "state": state,
        "source": "TRANSACTION_ERROR",
        "entityGuid": "GUID-shop",
        **more,
    }


def frame(formatted: str, **more: Any) -> dict[str, Any]:
    """A frame; most agents send only `formatted`."""
    return {"formatted": formatted, "filepath": None, "line": None, "name": None, **more}


def _entity(guid: str, name: str, language: str, account: int = ACCOUNT) -> dict[str, Any]:
    return {
        "__typename": "ApmApplicationEntityOutline",
        "guid": guid,
        "name": name,
        "accountId": account,
        "language": language,
        "reporting": True,
    }


entity = _entity


@lru_cache
def _schema() -> GraphQLSchema:
    schema = build_schema(SCHEMA)
    for name in ("Entity", "EntityOutline", "ErrorsInboxResource"):
        kind: Any = schema.type_map[name]
        kind.resolve_type = lambda value, *_: value["__typename"]
    return schema


def _page(found: list[Any], cursor: str | None, key: str, length: int = 3) -> dict[str, Any]:
    start = int(cursor or 0)
    more = str(start + length) if start + length < len(found) else None
    return {key: found[start : start + length], "nextCursor": more}


def _typed(code: str, message: str) -> GraphQLError:
    return GraphQLError(message, extensions={"errorClass": code})


def _formatted(error: GraphQLError) -> dict[str, Any]:
    formatted: dict[str, Any] = dict(error.formatted)
    formatted.setdefault("extensions", {"errorClass": "INVALID_INPUT"})
    return formatted


def _errors(code: str, message: str) -> dict[str, Any]:
    return {"data": None, "errors": [{"message": message, "extensions": {"errorClass": code}}]}


@lru_cache(maxsize=200)
def _checked(text: str) -> tuple[DocumentNode | None, str]:
    """A valid document, or what is wrong with it; values in its text are wrong."""
    try:
        parsed = parse(text)
    except GraphQLError as error:
        return None, f"GraphQL syntax error: {error.message}"
    wrong = validate(_schema(), parsed)
    if wrong:
        return None, f"Validation error: {wrong[0].message}"
    strings = _Strings()
    visit(parsed, strings)
    return (None, strings.found) if strings.found else (parsed, "")


class _Strings(Visitor):
    found = ""

    def enter_string_value(self, node: StringValueNode, *_: Any) -> None:
        self.found = f"{node.value!r} stands in the document: send it as a variable"
