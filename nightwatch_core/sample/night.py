"""The sample as a night reads it: its errors, and its repository unpacked from its history."""

import hashlib
import json
import secrets
import shutil
import socket
import struct
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, cast

from nightwatch_core import sample
from nightwatch_core.adapters.files.source import ErrorFiles
from nightwatch_core.adapters.git.checkout import LOCAL, Checkout
from nightwatch_core.adapters.git.command import Git, new_repository
from nightwatch_core.adapters.stores import atomic_files
from nightwatch_core.errors import GiveUp, StopTheNight

_PATIENCE = 120.0  # seconds until another process has unpacked
_DIGEST = "nightwatch-sample.sha256"
_BRANCHES = ("main", "master")


def sample_errors(folder: Path) -> ErrorFiles:
    """Unpack the records into `folder` and read them as any other export."""
    path = folder / sample.ERRORS
    records = sample.errors()
    if not path.is_file() or path.read_bytes() != records:
        atomic_files.write(path, records)
    return ErrorFiles((path,), name="sample")


class SampleCode(Checkout):
    """A `CodeHost` over a `git fast-import` stream, unpacked to a bare repository in `folder`.

    Branches that the delivery makes stay there until the stream changes.
    """

    def __init__(self, stream: bytes, folder: Path) -> None:
        super().__init__(folder)
        self._stream = stream

    @cached_property
    def git(self) -> Git:
        """The repository; raises `StopTheNight` where it cannot be unpacked."""
        return unpacked(self._stream, self._folder)


def unpacked(stream: bytes, folder: Path) -> Git:
    """The repository in `folder`, made of `stream` unless that was done before.

    Raises `TryLater` while another process unpacks, `StopTheNight` where the stream is broken, the
    folder holds something else or cannot be written.
    """
    digest = hashlib.sha256(stream).hexdigest()
    lock = folder.with_name(f"{folder.name}.lock")
    with atomic_files.only_writer(lock, _PATIENCE, f"the sample's {folder}", StopTheNight):
        if not _is_whole(folder, digest):
            _clear(folder)
            _unpack(stream, folder, digest)
    return Git(folder.resolve())


def _is_whole(folder: Path, digest: str) -> bool:
    try:
        known = (folder / _DIGEST).read_text() == digest
    except (OSError, UnicodeDecodeError):
        return False
    return known and not Git(folder).attempt("rev-parse", "--verify", "HEAD^{tree}").code


def _clear(folder: Path) -> None:
    """Move an old or broken copy away in one step, then delete it; never anybody else's folder."""
    for left in folder.parent.glob(f".{folder.name}-????????????????"):
        shutil.rmtree(left, ignore_errors=True)  # of an unpacking that was killed
    if not folder.exists():
        return
    is_ours = (folder / _DIGEST).exists() or (folder / "objects").is_dir()
    if any(folder.iterdir()) and not is_ours:
        raise StopTheNight(f"{folder} holds something else than the sample: move it away")
    trash = _neighbour(folder)
    folder.rename(trash)
    shutil.rmtree(trash, ignore_errors=True)


def _unpack(stream: bytes, folder: Path, digest: str) -> None:
    new = _neighbour(folder)
    new.mkdir()
    try:
        git = new_repository(new, _BRANCHES[0])
        git.run("fast-import", "--quiet", stdin=stream)
        listing = git.run("for-each-ref", "--format=%(refname)", LOCAL).decode()
        branches = listing.split()
        if not branches:
            raise GiveUp("it has no branch")
        wanted = (f"{LOCAL}{name}" for name in _BRANCHES)
        main_branch = next((branch for branch in wanted if branch in branches), branches[0])
        git.run("symbolic-ref", "HEAD", main_branch)
    except GiveUp as error:
        shutil.rmtree(new, ignore_errors=True)
        raise StopTheNight(
            f"the sample's history is broken, reinstall NightWatch: {error}"
        ) from error
    (new / _DIGEST).write_text(digest)
    new.rename(folder)


def _neighbour(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}-{secrets.token_hex(8)}")


# The carrier and the payment gateway, played on the loopback interface.

MAINTENANCE = b"<html><body><h1>Back soon</h1></body></html>"
ABORT = struct.pack("ii", 1, 0)  # close without a goodbye: the other side sees a reset


class Neighbours(ThreadingHTTPServer):
    """Both neighbours behind one port; `mood` is how the carrier feels."""

    daemon_threads = True
    mood = "well"

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)

    @property
    def url(self) -> str:
        """Return the service's address."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def start(self) -> None:
        """Answer from now on, until the process ends."""
        Thread(target=self.serve_forever, daemon=True).start()

    def shutdown_request(self, request: Any) -> None:
        """Hang up, in the way the mood asks for."""
        if self.mood == "reset":
            request.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABORT)
            self.close_request(request)
        else:
            super().shutdown_request(request)


class Answer(BaseHTTPRequestHandler):
    """One call."""

    def do_GET(self) -> None:
        """The carrier: an offer, or where a parcel is."""
        mood = cast(Neighbours, self.server).mood
        if mood == "slow":
            self.rfile.read(1)  # until the caller gives up
        elif mood == "maintenance":
            self._send(MAINTENANCE, "text/html")
        elif mood == "well":
            offer = {"service": "standard", "days": 2, "price": 490}
            parcel = {"status": "on its way"}
            self._send_json(offer if self.path.startswith("/v1/offers") else parcel)

    def do_POST(self) -> None:
        """The gateway: cards of some banks need their holder to answer a challenge first."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if asked["card"].startswith("tok_3ds"):
            page = f"https://bank.example.com/challenge/{asked['order']}"
            self._send_json({"status": "challenge", "challenge_url": page})
        else:
            reference = f"A-{asked['order']}"
            answer = {"status": "ok", "authorisation": reference, "amount": asked["amount"]}
            self._send_json(answer)

    def _send_json(self, value: object) -> None:
        self._send(json.dumps(value).encode("utf-8"), "application/json")

    def _send(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""
