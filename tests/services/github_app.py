"""The App half of the GitHub stand-in: signed requests, an installation, and tokens that end."""

import base64
import binascii
import json
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from services import github_shapes as shapes
from services.github_git import Refusal

LONGEST = 600  # seconds that a signed request may be valid for
DRIFT = 60  # seconds that clocks may differ
ALL = {"metadata": "read", "contents": "write", "issues": "write", "pull_requests": "write"}


@cache
def pem(name: str = "the App's") -> str:
    """A private key; the same name is the same key."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    ).decode()


class App:
    """An App that is installed on the stand-in's repository."""

    def __init__(self, app_id: str = "12345", installation_id: int = 678) -> None:
        self.app_id, self.installation_id = app_id, installation_id
        self.permissions = {**ALL, "administration": "write", "workflows": "write"}
        self.is_installed, self.is_suspended = True, False
        self.login = "nightwatch[bot]"
        self.life = 3600.0  # seconds of a token
        self.ahead = 0.0  # seconds that GitHub's clock is ahead of ours
        self.minted: list[dict[str, Any]] = []  # bodies that tokens were asked for with
        self._tokens: dict[str, tuple[float, dict[str, str]]] = {}

    def expire(self) -> None:
        """No token is taken any more."""
        self._tokens.clear()

    def may(self, token: str) -> dict[str, str] | None:
        """What a token may do; None where it is none, or has ended."""
        until, permissions = self._tokens.get(token, (0.0, {}))
        return permissions if until > self._now() else None

    def answer(
        self, method: str, path: str, header: str, repository: str, given: Any
    ) -> tuple[int, Any] | None:
        """The answer where it is for Apps to ask; None where it is not."""
        paths = {
            f"/repos/{repository}/installation": "GET",
            f"/app/installations/{self.installation_id}": "GET",
            f"/app/installations/{self.installation_id}/access_tokens": "POST",
        }
        if not path.startswith("/app/") and path not in paths:
            return None
        self._check_signature(header)
        if paths.get(path) != method or not self.is_installed:
            raise Refusal(404, "Not Found")
        if method == "GET":
            return 200, self._installation(repository)
        return 201, self._mint(repository.partition("/")[2], given)

    def _now(self) -> float:
        return time.time() + self.ahead

    def _installation(self, repository: str) -> dict[str, Any]:
        return shapes.shaped(
            "installation",
            number=self.installation_id,
            owner=repository.partition("/")[0],
            permissions=self.permissions,
            suspended_at="2026-11-01T00:00:00Z" if self.is_suspended else None,
        )

    def _mint(self, name: str, given: Mapping[str, Any]) -> dict[str, Any]:
        if self.is_suspended:
            raise Refusal(403, "This installation has been suspended")
        asked = given.get("permissions", self.permissions)
        ranks = {"read": 1, "write": 2}
        if any(
            ranks[level] > ranks.get(self.permissions.get(key, ""), 0)
            for key, level in asked.items()
        ):
            raise Refusal(422, "The permissions requested are not granted to this installation.")
        if given.get("repositories", [name]) != [name]:
            raise Refusal(
                422,
                "There is at least one repository that does not exist or is not accessible to "
                "the parent installation.",
            )
        self.minted.append(dict(given))
        token = f"ghs_minted{len(self.minted)}"
        self._tokens[token] = (self._now() + self.life, dict(asked))
        until = datetime.fromtimestamp(self._now() + self.life, UTC)
        return {
            "token": token,
            "expires_at": until.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "permissions": asked,
            "repository_selection": "selected",
        }

    def _check_signature(self, header: str) -> None:
        scheme, _, token = header.partition(" ")
        undecodable = Refusal(401, "A JSON web token could not be decoded")
        try:
            head, claims, signature = (_bytes(part) for part in token.split("."))
            told, said = json.loads(head), json.loads(claims)
        except (ValueError, binascii.Error):
            raise undecodable from None
        if scheme != "Bearer" or told != {"alg": "RS256", "typ": "JWT"}:
            raise undecodable
        if said.get("iss") != self.app_id:
            raise Refusal(404, "Integration not found")
        signed = token.rpartition(".")[0].encode()
        key = serialization.load_pem_private_key(pem().encode(), None).public_key()
        assert isinstance(key, rsa.RSAPublicKey)
        try:
            key.verify(signature, signed, padding.PKCS1v15(), hashes.SHA256())
        except InvalidSignature:
            raise undecodable from None
        _check_times(said.get("iat"), said.get("exp"), self._now())


def _check_times(issued: object, ends: object, now: float) -> None:
    if not isinstance(issued, int) or issued > now + DRIFT:
        raise Refusal(401, "'Issued at' claim ('iat') must be an Integer representing the time "
                      "that the assertion was issued")  # fmt: skip
    if not isinstance(ends, int) or ends < now:
        raise Refusal(401, "'Expiration time' claim ('exp') must be a numeric value representing "
                      "the future time at which the assertion expires")  # fmt: skip
    if ends > now + LONGEST:
        raise Refusal(401, "'Expiration time' claim ('exp') is too far in the future")


def _bytes(part: str) -> bytes:
    return base64.b64decode(part + "=" * (-len(part) % 4), altchars=b"-_", validate=True)
