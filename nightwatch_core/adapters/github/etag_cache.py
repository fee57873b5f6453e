"""Answers of GitHub kept with their ETags: asking again costs no allowance while nothing changed.

githubkit's own cache (hishel's) keeps request headers, the token among them, on disk, shows one
token what another one saw, and fails where its file is damaged. This one keeps answers only, below
names that the sign-in takes part in.
"""

import base64
import hashlib
from pathlib import Path
from typing import Any

import httpx
from pydantic import ValidationError

from nightwatch_core.adapters.github.limits import KEPT_ANSWER_BYTES, KEPT_ANSWERS
from nightwatch_core.adapters.stores import atomic_files
from nightwatch_core.models.value import Value

_KEPT = ("content-type", "link")  # headers
_JUST_NOW = ("x-ratelimit", "x-oauth-scopes", "x-accepted-")
_ASKED = ("accept", "x-github-api-version")


class Answer(Value):
    """An answer as it is kept; the body in base64."""

    etag: str
    headers: dict[str, str]
    body: str


class AnswerStore:
    """A folder of answers, one file each; damage counts as absence."""

    def __init__(self, folder: Path, owner: str) -> None:
        """Write nothing before the first `keep`; no owner is shown what another one saw."""
        self._folder = folder
        self._owner = hashlib.sha256(owner.encode()).hexdigest()

    def file(self, request: httpx.Request) -> Path:
        """Return where the answer to that request, asked under that sign-in, is kept."""
        asked = (request.headers.get(name, "") for name in _ASKED)
        parts = "\n".join((self._owner, str(request.url), *asked))
        return self._folder / f"{hashlib.sha256(parts.encode()).hexdigest()}.json"

    def find(self, file: Path) -> Answer | None:
        """Return what is kept there; None where that is nothing, or damaged."""
        try:
            return Answer.model_validate_json(file.read_bytes())
        except (OSError, ValidationError):
            return None

    def keep(self, file: Path, response: httpx.Response) -> None:
        """Keep an answer that has an ETag; a full disk is no reason to fail."""
        etag, body = response.headers.get("etag", ""), response.content
        if response.status_code != 200 or not etag or len(body) > KEPT_ANSWER_BYTES:
            return
        headers = {name: response.headers[name] for name in _KEPT if name in response.headers}
        answer = Answer(etag=etag, headers=headers, body=base64.b64encode(body).decode())
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            atomic_files.write(file, answer.model_dump_json().encode())
            self._forget_oldest()
        except OSError:
            return

    def forget(self) -> None:
        """Keep none of them any longer: one proved to be damaged, and who sent it may have more."""
        for file in self._folder.glob("*.json"):
            file.unlink(missing_ok=True)

    def _forget_oldest(self) -> None:
        files = list(self._folder.glob("*.json"))
        if len(files) <= KEPT_ANSWERS:
            return
        files.sort(key=lambda file: file.stat().st_mtime)
        for file in files[: KEPT_ANSWERS // 10]:
            file.unlink(missing_ok=True)


class CachingClient(httpx.Client):
    """An HTTP client that asks GitHub whether what it keeps is still true."""

    def __init__(self, answers: AnswerStore | None, **options: Any) -> None:
        """Keep answers in `answers`, without it nothing."""
        super().__init__(**options)
        self._answers = answers

    def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        """Send; a 304 becomes the answer that is kept."""
        if self._answers is None or request.method != "GET":
            return super().send(request, **options)
        file = self._answers.file(request)  # what sends a request adds to its headers
        kept = self._answers.find(file)
        if kept:
            request.headers["If-None-Match"] = kept.etag
        response = super().send(request, **options)
        if response.status_code == 304 and kept:
            return _restored(kept, response)
        self._answers.keep(file, response)
        return response


def _restored(kept: Answer, response: httpx.Response) -> httpx.Response:
    """The kept answer, with what GitHub said about limits and permissions just now."""
    limits = {k: v for k, v in response.headers.items() if k.startswith(_JUST_NOW)}
    return httpx.Response(
        200,
        headers={**limits, **kept.headers},
        content=base64.b64decode(kept.body),
        request=response.request,
    )
