"""How we sign in to GitHub: with a token, or as a GitHub App that asks for tokens itself."""

import base64
import json
import re

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from pydantic import SecretStr

from nightwatch_core.errors import StopTheNight
from nightwatch_core.models.value import Value

_TOKEN = re.compile(r"[\x21-\x7e]{1,1000}")
_APP_ID = re.compile(r"[A-Za-z0-9._-]{1,80}")  # its number, or its client id
_LONGEST_KEY = 20_000  # characters
_BEGIN = re.compile(r"-----BEGIN ([A-Z ]{1,40})-----")
_BREAK = re.compile(r"\\r|\\n|\s")  # as keys come through environments: "\n" in two characters
_CLOCKS_DIFFER, _LASTS = 60, 540  # seconds; GitHub takes nothing that lasts over ten minutes


class GitHubSignIn(Value):
    """What somebody gave us to sign in with; where both are whole, the App is used."""

    token: SecretStr | None = None
    app_id: str = ""
    installation_id: str = ""  # empty: that of the repository
    private_key: SecretStr | None = None  # PEM

    def as_app(self) -> bool:
        """Whether to sign in as an App; raises `StopTheNight` where neither way is whole."""
        if self._app and not self.app_id.strip():
            raise StopTheNight("a GitHub App is half configured: set GITHUB_APP_ID, too")
        if self._app and not _said(self.private_key):
            raise StopTheNight("a GitHub App is half configured: set GITHUB_APP_PRIVATE_KEY, too")
        if self._app:
            self._check_app()
        elif not _said(self.token):
            raise StopTheNight(
                "there is no sign-in to GitHub: set GITHUB_TOKEN, or GITHUB_APP_ID and "
                "GITHUB_APP_PRIVATE_KEY"
            )
        elif not _TOKEN.fullmatch(_said(self.token)):
            raise StopTheNight("GITHUB_TOKEN holds blanks or odd characters: paste it again")
        return self._app

    def plain_token(self) -> str:
        """The token itself."""
        return _said(self.token)

    def key(self) -> RSAPrivateKey:
        """The App's key; raises `StopTheNight` where it is none."""
        return rsa_key(_said(self.private_key))

    @property
    def _app(self) -> bool:
        parts = (self.app_id, self.installation_id, _said(self.private_key))
        return any(part.strip() for part in parts)

    def _check_app(self) -> None:
        if not _APP_ID.fullmatch(self.app_id.strip()):
            raise StopTheNight("GITHUB_APP_ID is no App's number or client id: see its settings")
        number = self.installation_id.strip()
        if number and not re.fullmatch(r"[0-9]{1,18}", number):
            raise StopTheNight(
                "GITHUB_APP_INSTALLATION_ID is no number: correct it or leave it out"
            )


def _said(secret: SecretStr | None) -> str:
    return secret.get_secret_value().strip() if secret else ""


def rsa_key(text: str) -> RSAPrivateKey:
    r"""The key in a PEM text, whose line ends may be lost, blanks, or written "\n"."""
    begin = _BEGIN.search(text[:_LONGEST_KEY])
    kind = begin[1] if begin else ""
    body, end, _ = text[begin.end() if begin else 0 :][:_LONGEST_KEY].partition(
        f"-----END {kind}-----"
    )
    if not begin or not end:
        raise StopTheNight(
            "GITHUB_APP_PRIVATE_KEY is no PEM text: give the content of the .pem file that GitHub "
            "made for the App, from -----BEGIN to -----END; line ends may be written \\n"
        )
    lines = (f"-----BEGIN {kind}-----", _BREAK.sub("", body), f"-----END {kind}-----", "")
    try:
        key = serialization.load_pem_private_key("\n".join(lines).encode(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise StopTheNight(
            "GITHUB_APP_PRIVATE_KEY cannot be read: it is cut off or has a passphrase; make a new "
            "key in the App's settings"
        ) from None
    if not isinstance(key, RSAPrivateKey):
        raise StopTheNight("GITHUB_APP_PRIVATE_KEY is no RSA key: make one in the App's settings")
    return key


def app_token(app_id: str, key: RSAPrivateKey, now: int) -> str:
    """A JSON web token that says for nine minutes from `now` (epoch seconds) that we are the App.

    It is dated a minute back, as GitHub advises where clocks differ.
    """
    claims = {"iat": now - _CLOCKS_DIFFER, "exp": now + _LASTS, "iss": app_id}
    signed = b".".join(_web(json.dumps(part).encode()) for part in (_HEADER, claims))
    signature = key.sign(signed, padding.PKCS1v15(), hashes.SHA256())
    return b".".join((signed, _web(signature))).decode()


_HEADER = {"alg": "RS256", "typ": "JWT"}


def _web(content: bytes) -> bytes:
    return base64.urlsafe_b64encode(content).rstrip(b"=")
