"""Words for what left the machine: every request, and how much went to whom."""

from datetime import datetime

from nightwatch_core.models.value import Value


class SentRequest(Value):
    """One request as it was about to leave; headers, which hold tokens, are never noted."""

    at: datetime
    service: str
    method: str  # of HTTP, or "git fetch"
    to: str  # the address, with its query
    bytes: int  # of the body
    sha256: str = ""  # of the body; empty where there was none
    masked: bool = False  # the text that is kept has masks where the body had none


class Destination(Value):
    """How much a night sent to one host."""

    service: str
    host: str
    requests: int = 0
    bytes: int = 0  # of their bodies
    listed: bool = True  # False: of what goes there nobody keeps a list
