"""A stand-in for Sentry's API over HTTP, below a path prefix as self-hosted ones often are.

    with SentryService() as service:
        service.error("KeyError", "orders/show", "no 'total'", frames=[frame("app/cart.py", 7)])
        Sentry(SentryApi(TOKEN, service.url, ORGANIZATION), ("shop",), (), None, clock)

Strict about: method, path and its last slash, token, scopes, and the parameters that the public
documentation lists (`sentry.yml`), their values, times, search terms, projects and environments.
What it answers has the fields and the paging of the documentation's examples. The committers of an
event are served, too, which Sentry's own pages ask for and its documentation does not list.
"""

import json
import re
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

import yaml
from services.serving import Quiet, Served

TOKEN, ORGANIZATION, PREFIX = "sntryu_0123456789abcdef", "acme", "/tools/sentry"
NOW = datetime(2026, 11, 21, 4, 0, tzinfo=UTC)
DOCUMENTED = yaml.safe_load(Path(__file__).with_suffix(".yml").read_text("utf-8"))
COMMITTERS = "/api/0/projects/{organization}/{project}/events/{event}/committers/"
SCOPES = frozenset(("event:read", "project:read"))
HOUR = timedelta(hours=1)
STATUSES = {"is:unresolved": True, "!is:unresolved": False, "": None}


class Answer(NamedTuple):
    """A status, a body and what else is said."""

    status: int
    body: Any
    headers: Mapping[str, str] = {}


@dataclass(frozen=True)
class Request:
    """What was received."""

    token: str
    name: str
    path: str
    parameters: dict[str, list[str]]


@dataclass
class Issue:
    """An issue, and its events, the oldest first."""

    id: str
    project: str
    type: str
    value: str
    culprit: str
    events: list[dict[str, Any]] = field(default_factory=list)
    more: dict[str, Any] = field(default_factory=dict)  # of what is listed
    details: dict[str, Any] | None = field(default_factory=dict)  # of the issue alone
    committers: list[dict[str, Any]] | None = None


class Refused(Exception):
    """An answer that is none of the documentation's 200s."""

    def __init__(self, status: int, detail: str) -> None:
        self.answer = Answer(status, {"detail": detail})


def frame(path: str, line: int, function: str = "", in_app: bool = True, **more: Any) -> Any:
    """A frame of an event."""
    return {
        "filename": path,
        "absPath": f"/srv/{path}",
        "module": None,
        "function": function or None,
        "lineNo": line,
        "colNo": None,
        "inApp": in_app,
        "context": [],
        "vars": None,
        "errors": None,
        **more,
    }


def thrown(error_class: str, message: str, frames: Sequence[Any]) -> dict[str, Any]:
    """An exception of an event; `frames` outermost first, as Sentry has them."""
    return {
        "type": error_class,
        "value": message,
        "module": None,
        "mechanism": {"type": "generic", "handled": False},
        "stacktrace": {"frames": list(frames), "framesOmitted": None, "hasSystemFrames": True},
        "rawStacktrace": None,
    }


class SentryService(Served):
    """`with SentryService() as service`: `url`, `requests`, `answers`, and what it holds."""

    def __init__(self, now: datetime = NOW) -> None:
        self.now = now
        self.token, self.scopes = TOKEN, SCOPES
        self.projects = {"shop": "17"}
        self.environments = {"production", "staging"}
        self.issues: list[Issue] = []
        self.releases: list[dict[str, Any]] = []
        self.page = 100
        self.requests: list[Request] = []
        self.answers: list[Answer | None] = []  # given first, one a request; None: as it would be
        self.most_at_once = self._at_once = 0
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        """Sentry's own address."""
        return f"{self.root}{PREFIX}"

    def error(
        self,
        error_class: str,
        culprit: str = "orders/show",
        message: str = "",
        frames: Sequence[Any] = (),
        times: Sequence[timedelta] = (HOUR,),
        *,
        project: str = "shop",
        status: str = "unresolved",
        causes: Sequence[dict[str, Any]] = (),
        event: Mapping[str, Any] = {},
        **more: Any,
    ) -> Issue:
        """An issue with an event at each of `times` before now; `causes` were thrown before it."""
        issue = Issue(str(1_000 + len(self.issues)), project, error_class, message, culprit)
        issue.more = {"status": status, **more}
        for ago in sorted(times, reverse=True):
            values = [*causes, thrown(error_class, message, frames)]
            issue.events.append(self.event(issue, ago, values, **event))
        self.issues.append(issue)
        return issue

    def event(
        self, issue: Issue, ago: timedelta, values: Sequence[Any], **more: Any
    ) -> dict[str, Any]:
        """An event as the documentation shows one."""
        tags = {"environment": "production", "level": "error", "server_name": "web-1"}
        tags |= more.pop("tags", {})
        id = f"{int(issue.id):08x}{len(issue.events):024x}"
        return {
            "id": id, "eventID": id, "groupID": issue.id, "projectID": self.projects[issue.project],
            "title": f"{issue.type}: {issue.value}", "message": "", "type": "error",
            "platform": "python", "dist": None, "size": 9_001, "errors": [], "occurrence": None,
            "metadata": {"type": issue.type, "value": issue.value}, "culprit": issue.culprit,
            "location": None, "user": {"id": f"u{len(issue.events) % 5}", "email": None},
            "tags": [{"key": key, "value": value} for key, value in tags.items()],
            "dateCreated": stamp(self.now - ago), "dateReceived": stamp(self.now - ago),
            "entries": [
                {"type": "exception", "data": {"values": list(values), "excOmitted": None}},
                {"type": "request", "data": {"method": "GET", "url": "https://shop.example/o/7"}},
            ],
            "contexts": {}, "context": {}, "packages": {}, "sdk": None, "fingerprints": [],
            "release": {"version": "shop@1.9.0", "lastCommit": None, "lastDeploy": None},
            "previousEventID": None, "nextEventID": None, **more,
        }  # fmt: skip

    # What it answers.

    def answer(self, path: str, parameters: dict[str, list[str]]) -> Answer:
        """Answer a request, or raise `Refused`."""
        name, given = self._named(path)
        if name != "committers":
            self._check_parameters(name, parameters)
        needed = DOCUMENTED.get(name, DOCUMENTED["event"])["scopes"]
        if not self.scopes.intersection(needed):
            raise Refused(403, "You do not have permission to perform this action.")
        if given["organization"] != ORGANIZATION:
            raise Refused(404, "The requested resource does not exist")
        answered: Answer = getattr(self, f"_{name}")(given, parameters)
        return answered

    def _named(self, path: str) -> tuple[str, dict[str, str]]:
        paths = {name: row["path"] for name, row in DOCUMENTED.items()} | {"committers": COMMITTERS}
        for name, pattern in paths.items():
            parts = re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", pattern)
            if match := re.fullmatch(PREFIX + parts, path):
                return name, {key: unquote(value) for key, value in match.groupdict().items()}
        raise Refused(404, "Invalid path")

    def _check_parameters(self, name: str, parameters: dict[str, list[str]]) -> None:
        known = DOCUMENTED[name]["parameters"]
        for key, values in parameters.items():
            if key not in known:
                raise Refused(400, f"{key} is not a documented parameter of {name}")
            if known[key] and not set(values) <= set(known[key]):
                raise Refused(400, f"{values} are no values of {key}")
        if not set(parameters.get("environment", ())) <= self.environments:
            raise Refused(404, "The requested resource does not exist")
        if not set(parameters.get("project", ())) <= {*self.projects.values(), "-1"}:
            raise Refused(403, "You do not have permission to perform this action.")
        if not 1 <= int(parameters.get("limit", ["100"])[0]) <= 100:
            raise Refused(400, "Invalid limit. Must be between 1 and 100")

    def _project(self, given: dict[str, str], _: Any) -> Answer:
        for slug, id in self.projects.items():
            if given["project"] in (slug, id):
                organization = {"id": "1", "slug": ORGANIZATION}
                about = {"name": slug.title(), "access": sorted(self.scopes)}
                return Answer(200, {"id": id, "slug": slug, "organization": organization, **about})
        raise Refused(404, "The requested resource does not exist")

    def _issues(self, _: Any, parameters: dict[str, list[str]]) -> Answer:
        since, until = self._span(parameters)
        terms = [*parameters.get("query", ["is:unresolved"])[0].split(), ""]
        if terms[1:] not in ([""], ["issue.category:error", ""]) or terms[0] not in STATUSES:
            raise Refused(400, f"Error parsing search query: {' '.join(terms)}")
        is_open = STATUSES[terms[0]]
        projects = set(parameters.get("project", self.projects.values()))
        rows = []
        for issue in self.issues:
            events = self._within(issue, since, until, parameters)
            matches = is_open is None or (issue.more["status"] == "unresolved") == is_open
            category = issue.more.get("issueCategory", "error")
            is_error = len(terms) == 2 or category == "error"
            if events and matches and is_error and self.projects[issue.project] in projects:
                rows.append(self._listed(issue, events, since, until, parameters))
        rows.sort(key=lambda row: -int(row["count"]))
        return self._paged(rows, parameters, int(parameters.get("limit", ["100"])[0]))

    def _issue(self, given: dict[str, str], _: Any) -> Answer:
        issue = self._known(given["issue"])
        if issue.details is None:  # deleted since it was listed
            raise Refused(404, "The requested resource does not exist")
        row = self._listed(issue, issue.events, datetime.min.replace(tzinfo=UTC), self.now, {})
        return Answer(200, {**row, "activity": [], "seenBy": [], "tags": [], **issue.details})

    def _event(self, given: dict[str, str], parameters: dict[str, list[str]]) -> Answer:
        wanted = parameters.get("environment", sorted(self.environments))
        events = [e for e in self._known(given["issue"]).events if _tag(e, "environment") in wanted]
        if not events or given["event"] not in ("latest", "oldest", "recommended"):
            raise Refused(404, "No matching event")
        if given["event"] == "recommended":  # the last one that is marked so, else the latest
            events.sort(key=lambda event: bool(event.get("recommended")))
        return Answer(200, events[0 if given["event"] == "oldest" else -1])

    def _releases(self, _: Any, parameters: dict[str, list[str]]) -> Answer:
        return self._paged(self.releases, parameters, 100)

    def _committers(self, given: dict[str, str], _: Any) -> Answer:
        for issue in self.issues:
            if any(event["eventID"] == given["event"] for event in issue.events):
                if issue.committers is None:
                    raise Refused(404, "No Commits found for Release")
                return Answer(200, {"committers": issue.committers})
        raise Refused(404, "Event not found")

    def _known(self, id: str) -> Issue:
        for issue in self.issues:
            if issue.id == id:
                return issue
        raise Refused(404, "The requested resource does not exist")

    def _span(self, parameters: dict[str, list[str]]) -> tuple[datetime, datetime]:
        if period := parameters.get("statsPeriod"):
            if not (match := re.fullmatch(r"(\d+)h", period[0])):
                raise Refused(400, "Invalid statsPeriod")
            return self.now - int(match[1]) * HOUR, self.now
        if set(parameters) & {"start", "end"} != {"start", "end"}:
            raise Refused(400, "start and end are both required")
        try:
            times = [datetime.fromisoformat(parameters[name][0]) for name in ("start", "end")]
        except ValueError:
            raise Refused(400, "start and end need to be ISO-8601") from None
        since, until = (moment.replace(tzinfo=UTC) for moment in times)
        if any(moment.tzinfo for moment in times) or since >= until:
            raise Refused(400, "start must be before end, in UTC")
        return since, until

    def _within(
        self, issue: Issue, since: datetime, until: datetime, parameters: dict[str, list[str]]
    ) -> list[dict[str, Any]]:
        wanted = parameters.get("environment", sorted(self.environments))
        return [
            event
            for event in issue.events
            if since <= _at(event) < until and _tag(event, "environment") in wanted
        ]

    def _listed(
        self, issue: Issue, events: list[dict[str, Any]], since: datetime, until: datetime,
        parameters: dict[str, list[str]],
    ) -> dict[str, Any]:  # fmt: skip
        stats = self._stats(events, since, until, parameters.get("groupStatsPeriod", ["24h"])[0])
        times = len(events)
        return {
            "id": issue.id, "shortId": f"SHOP-{issue.id}", "title": f"{issue.type}: {issue.value}",
            "culprit": issue.culprit, "permalink": f"{self.url}/organizations/acme/issues/1/",
            "logger": None, "level": "error", "status": "unresolved", "statusDetails": {},
            "substatus": "ongoing", "isPublic": False, "platform": "python", "priority": "high",
            "project": {"id": self.projects[issue.project], "name": issue.project.title(),
                        "slug": issue.project, "platform": "python"},
            "type": "error", "metadata": {"type": issue.type, "value": issue.value},
            "issueType": "error", "issueCategory": "error", "assignedTo": None, "shareId": None,
            "count": str(issue.more.get("times", times)),
            "userCount": len({str(event["user"]) for event in events if event["user"]}),
            "firstSeen": events[0]["dateCreated"], "lastSeen": events[-1]["dateCreated"],
            "lifetime": {"count": "9999", "userCount": 99,
                         "firstSeen": issue.events[0]["dateCreated"],
                         "lastSeen": issue.events[-1]["dateCreated"]},
            "stats": stats, "filtered": None,
            **{key: value for key, value in issue.more.items() if key != "times"},
        }  # fmt: skip

    def _stats(
        self, events: list[dict[str, Any]], since: datetime, until: datetime, period: str
    ) -> dict[str, Any]:
        if period == "":
            return {}
        begin, end, step = since, until, int(HOUR.total_seconds())
        if period != "auto":
            begin, end = self.now - 23 * HOUR, self.now
        elif until - since < 24 * HOUR:
            step = max(1, int((until - since).total_seconds() / 29))
        elif until - since >= 29 * HOUR:
            step *= 2
        first, last = (int(moment.timestamp()) // step for moment in (begin, end))
        counted = Counter(int(_at(event).timestamp()) // step for event in events)
        return {period: [[at * step, counted[at]] for at in range(first, last + 1)]}

    def _paged(self, rows: list[Any], parameters: dict[str, list[str]], limit: int) -> Answer:
        cursor, length = parameters.get("cursor", ["0:0:0"])[0], min(limit, self.page)
        if not re.fullmatch(r"\d+:\d+:[01]", cursor):
            raise Refused(400, "Invalid cursor parameter.")
        start = int(cursor.split(":")[1])
        before, after = f"0:{max(0, start - length)}:1", f"0:{start + length}:0"
        pages = (("previous", before, start > 0), ("next", after, start + length < len(rows)))
        link = ", ".join(
            f'<https://sentry.io/api/0/elsewhere/?&cursor={at}>; rel="{rel}"; '
            f'results="{str(there).lower()}"; cursor="{at}"'
            for rel, at, there in pages
        )
        return Answer(200, rows[start : start + length], {"Link": link})

    # How it is served.

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        service = self

        class Handler(Quiet):
            def do_GET(self) -> None:
                with service._lock:
                    service._at_once += 1
                    service.most_at_once = max(service.most_at_once, service._at_once)
                try:
                    _send(self, service._respond(self))
                finally:
                    with service._lock:
                        service._at_once -= 1

            def do_POST(self) -> None:
                _send(self, Answer(405, {"detail": 'Method "POST" not allowed.'}))

            do_PUT = do_DELETE = do_POST

        return Handler

    def _respond(self, handler: BaseHTTPRequestHandler) -> Answer:
        parts = urlsplit(handler.path)
        parameters = parse_qs(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        kind, _, token = handler.headers.get("Authorization", "").partition(" ")
        with self._lock:
            given = self.answers.pop(0) if self.answers else None
        name = "refused"
        try:
            name, _ = self._named(parts.path)
            if kind != "Bearer" or token != self.token:
                raise Refused(401, "Invalid token")
            answered = given or self.answer(parts.path, parameters)
        except Refused as refused:
            answered = refused.answer
        self.requests.append(Request(token, name, parts.path, parameters))
        return answered


def stamp(at: datetime) -> str:
    """A time as Sentry writes it."""
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _at(event: Mapping[str, Any]) -> datetime:
    return datetime.fromisoformat(event["dateCreated"])


def _tag(event: Mapping[str, Any], key: str) -> str:
    return next((str(tag["value"]) for tag in event["tags"] or () if tag["key"] == key), "")


def _send(handler: BaseHTTPRequestHandler, answer: Answer) -> None:
    body = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
    handler.send_response(answer.status)
    for name, value in {
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        "X-Sentry-Rate-Limit-Limit": "40",
        "X-Sentry-Rate-Limit-Remaining": "39",
        "X-Sentry-Rate-Limit-Reset": str(int(time.time()) + 1),
        "X-Sentry-Rate-Limit-ConcurrentLimit": "25",
        "X-Sentry-Rate-Limit-ConcurrentRemaining": "24",
        **answer.headers,
    }.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body)
