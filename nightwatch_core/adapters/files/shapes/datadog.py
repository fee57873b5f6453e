"""Datadog: logs and spans of its searches and archives, RUM errors, issues of Error Tracking."""

from collections.abc import Iterator, Mapping

from nightwatch_core.adapters.files.shapes.fields import at, record_of, someone, text_at
from nightwatch_core.adapters.files.shapes.shape import Inside, Item, Record, Shape, objects_in

_KINDS = ("log", "rum", "spans", "span", "event", "error")
_ISSUES = ("issue", "error_tracking_issue", "error_tracking_search_result", "issues")


def _is_event(record: Record) -> bool:
    attributes = record.get("attributes")
    if isinstance(attributes, Mapping):
        return record.get("type") in _KINDS or "_id" in record or "attributes" in attributes
    content = record.get("content")
    return isinstance(content, Mapping) and "id" in record and "attributes" in content


def _event(record: Record, _: Inside) -> Iterator[Item]:
    """The event's own attributes count before those that Datadog gives every event."""
    outer = record.get("content") if "content" in record else record.get("attributes")
    plain = dict(outer) if isinstance(outer, Mapping) else {}
    reserved = {**record, **plain}
    custom = at(plain, "attributes", "custom")
    own = dict(custom) if isinstance(custom, Mapping) else plain
    tags = _tags(at(plain, "tags") or record.get("tags"))
    error = at(own, "error")
    kept = {n: v for n, v in own.items() if n not in ("error", "tags", "usr", "user", "attributes")}
    yield {
        **kept,
        **record_of(
            error_class=text_at(error, "kind", "type"),
            message=text_at(error, "message"),
            stack=at(error, "stack", "stack_trace") or at(own, "exception.stacktrace"),
            transaction=_transaction(own, reserved),
            app=text_at(reserved, "service") or tags.get("service"),
            release=text_at(reserved, "version") or text_at(own, "version") or tags.get("version"),
            commit=tags.get("git.commit.sha"),
            host=text_at(reserved, "host") or tags.get("host"),
            user=someone(at(own, "usr", "user")),
            time=at(reserved, "timestamp", "date", "start_timestamp"),
            level=text_at(reserved, "status"),
        ),
        **({"message": reserved["message"]} if reserved.get("message") else {}),
    }


def _transaction(own: Record, reserved: Record) -> str:
    return text_at(
        own, "transaction", "http.route", "resource_name", "http.url_details.path",
        "view.url_path_group", "view.name", "logger.method_name",
    ) or text_at(reserved, "resource_name")  # fmt: skip


def _tags(tags: object) -> dict[str, str]:
    """Tags as a list of `name:value`, or as one text."""
    listed = tags.split(",") if isinstance(tags, str) else tags if isinstance(tags, list) else []
    pairs = (one.partition(":") for one in listed if isinstance(one, str))
    return {name.strip(): value for name, _, value in pairs if value}


def _is_issues(record: Record) -> bool:
    first = at(record, "data.0", "data")
    return isinstance(first, Mapping) and first.get("type") in _ISSUES


def _issues(record: Record, _: Inside) -> Iterator[Item]:
    """Counts of a search stand beside the issues that it found."""
    by_id = {text_at(one, "id"): one for one in objects_in(record.get("included"))}
    for one in objects_in(record.get("data")) or objects_in([record.get("data")]):
        related = by_id.get(text_at(one, "relationships.issue.data.id") or text_at(one, "id"))
        yield _issue(at(related, "attributes") or {}, at(one, "attributes") or {})


def _issue(issue: object, counts: object) -> Record:
    both = {
        **(dict(counts) if isinstance(counts, Mapping) else {}),
        **(dict(issue) if isinstance(issue, Mapping) else {}),
    }
    file, function = text_at(both, "file_path"), text_at(both, "function_name")
    return record_of(
        error_class=text_at(both, "error_type"),
        message=text_at(both, "error_message"),
        stack=f"{text_at(both, 'error_type')}\n  frame: {file} in {function}"
        if file and function else "",
        app=text_at(both, "service"),
        release=text_at(both, "last_seen_version"),
        count=at(both, "total_count"),
        users=at(both, "impacted_users"),
        first_seen=at(both, "first_seen"),
        last_seen=at(both, "last_seen"),
    )  # fmt: skip


DATADOG_FORMATS = (
    Shape(
        "issue of Datadog's Error Tracking",
        _is_issues,
        _issues,
        ("data.attributes.total_count", "included.attributes.error_type"),
        ("data",),
    ),
    Shape(
        "event of Datadog",
        _is_event,
        _event,
        (
            "attributes.attributes.error.kind",
            "attributes.message",
            "attributes.timestamp",
            "attributes.service",
            "attributes.tags",
        ),
        ("attributes", "content"),
    ),
)
