"""Entries of systemd's journal as `journalctl -o json` prints them."""

from collections.abc import Iterator

from nightwatch_core.adapters.files.limits import MESSAGE_LIMIT
from nightwatch_core.adapters.files.shapes.around import first_text
from nightwatch_core.adapters.files.shapes.container_names import service_of
from nightwatch_core.adapters.files.shapes.shape import Inside, Item, LogLine, Record, Shape

# Syslog's priorities.
LEVELS = ("emergency", "alert", "critical", "error", "warning", "notice", "info", "debug")


def _is_entry(document: Record) -> bool:
    return "MESSAGE" in document and ("__REALTIME_TIMESTAMP" in document or "_PID" in document)


def _entry(document: Record, _: Inside) -> Iterator[Item]:
    unit = first_text(document, "_SYSTEMD_UNIT", "UNIT", "_SYSTEMD_USER_UNIT", "USER_UNIT")
    container = first_text(document, "CONTAINER_NAME")
    name = service_of(container or unit)
    time = document.get("_SOURCE_REALTIME_TIMESTAMP") or document.get("__REALTIME_TIMESTAMP")
    priority = str(document.get("PRIORITY", ""))
    around = {
        "time": time,
        "app": name or first_text(document, "SYSLOG_IDENTIFIER", "_COMM"),
        "host": first_text(document, "_HOSTNAME"),
        "level": LEVELS[int(priority)] if priority in tuple("01234567") else "",
    }
    process = first_text(document, "CONTAINER_ID_FULL", "CONTAINER_ID", "_PID", "SYSLOG_PID")
    stream = f"{around['host']} {unit} {process}"
    trace = first_text(document, "EXCEPTION_TEXT")  # of Python's handler
    text = _message(document["MESSAGE"])
    yield LogLine(f"{text}\n{trace}" if trace else text, stream, around)


def _message(message: object) -> str:
    """Text that is not printable comes as a list of its bytes, or as several texts."""
    if isinstance(message, list):
        numbers = [one for one in message if isinstance(one, int) and 0 <= one < 256]
        if len(numbers) == len(message):
            return bytes(numbers[: 4 * MESSAGE_LIMIT]).decode("utf-8", "replace")
        return "\n".join(one for one in message if isinstance(one, str))
    return message if isinstance(message, str) else ""


JOURNALD_FORMATS = (
    Shape(
        "journal of systemd",
        _is_entry,
        _entry,
        ("MESSAGE", "__REALTIME_TIMESTAMP", "_PID"),
        ("MESSAGE",),
    ),
)
