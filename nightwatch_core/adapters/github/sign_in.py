"""How we sign in to GitHub: with a token, or as an App that asks for tokens itself; and where."""

import re
from ipaddress import ip_address

import httpx
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from pydantic import SecretStr

from nightwatch_core.adapters.github.limits import KEY_CHARACTERS
from nightwatch_core.errors import StopTheNight
from nightwatch_core.models.value import Value

_TOKEN = re.compile(r"[\x21-\x7e]{1,1000}")
_APP_ID = re.compile(r"[A-Za-z0-9._-]{1,80}")  # its number, or its client id
_BEGIN = re.compile(r"-----BEGIN ([A-Z ]{1,40})-----")
_BREAK = re.compile(r"\\r|\\n|\s")  # as keys come through environments: "\n" in two characters


class GitHubSignIn(Value):
    """What somebody gave us to sign in with; where both are whole, the App is used."""

    token: SecretStr | None = None
    app_id: str = ""
    installation_id: str = ""  # empty: that of the repository
    private_key: SecretStr | None = None  # PEM

    def as_app(self) -> bool:
        """Tell whether to sign in as an App; raises `StopTheNight` where neither way is whole."""
        app_id, number = self.app_id.strip(), self.installation_id.strip()
        key, token = _plain(self.private_key), self.plain_token()
        if not (app_id or number or key):
            _check_token(token)
            return False
        if not app_id:
            raise StopTheNight("a GitHub App is half configured: set GITHUB_APP_ID, too")
        if not key:
            raise StopTheNight("a GitHub App is half configured: set GITHUB_APP_PRIVATE_KEY, too")
        if not _APP_ID.fullmatch(app_id):
            raise StopTheNight("GITHUB_APP_ID is no App's number or client id: see its settings")
        if number and not re.fullmatch(r"[0-9]{1,18}", number):
            raise StopTheNight(
                "GITHUB_APP_INSTALLATION_ID is no number: correct it or leave it out"
            )
        return True

    def plain_token(self) -> str:
        """Return the token itself."""
        return _plain(self.token)

    def plain_key(self) -> str:
        """Return the App's key as PEM; raises `StopTheNight` where it is none."""
        return checked_key(_plain(self.private_key))


def _plain(secret: SecretStr | None) -> str:
    return secret.get_secret_value().strip() if secret else ""


def _check_token(token: str) -> None:
    if not token:
        raise StopTheNight(
            "there is no sign-in to GitHub: set GITHUB_TOKEN, or GITHUB_APP_ID and "
            "GITHUB_APP_PRIVATE_KEY"
        )
    if not _TOKEN.fullmatch(token):
        raise StopTheNight("GITHUB_TOKEN holds blanks or odd characters: paste it again")


def checked_key(text: str) -> str:
    r"""Return an RSA key as PEM, whose line ends may have been lost, blanks, or written "\n"."""
    begin = _BEGIN.search(text[:KEY_CHARACTERS])
    kind = begin[1] if begin else ""
    body, end, _ = text[begin.end() if begin else 0 :][:KEY_CHARACTERS].partition(
        f"-----END {kind}-----"
    )
    if not begin or not end:
        raise StopTheNight(
            "GITHUB_APP_PRIVATE_KEY is no PEM text: give the content of the .pem file that GitHub "
            "made for the App, from -----BEGIN to -----END; line ends may be written \\n"
        )
    pem = "\n".join((f"-----BEGIN {kind}-----", _BREAK.sub("", body), f"-----END {kind}-----", ""))
    try:
        key = serialization.load_pem_private_key(pem.encode(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise StopTheNight(
            "GITHUB_APP_PRIVATE_KEY cannot be read: it is cut off or has a passphrase; make a new "
            "key in the App's settings"
        ) from None
    if not isinstance(key, RSAPrivateKey):
        raise StopTheNight("GITHUB_APP_PRIVATE_KEY is no RSA key: make one in the App's settings")
    return pem


def checked_address(address: str) -> str:
    """Return the address where a token may be sent to it, else raise `StopTheNight`.

    >>> checked_address("https://ghe.example/api/v3/")
    'https://ghe.example/api/v3'
    """
    try:
        url = httpx.URL(address.strip())
    except (httpx.InvalidURL, ValueError):
        url = httpx.URL("")
    if url.userinfo or url.query or url.fragment or not url.host:
        raise StopTheNight("GITHUB_API_URL is no plain address: set it to https://host/api/v3")
    if url.scheme != "https" and not (url.scheme == "http" and _is_loopback(url.host)):
        raise StopTheNight("GITHUB_API_URL would send the token in the clear: use https")
    if url.host in ("github.com", "www.github.com"):
        raise StopTheNight(
            "GITHUB_API_URL is the web site's: leave it out, or set it to a server's"
        )
    return str(url).rstrip("/")


def checked_version(version: str) -> str:
    """Return the version of the API where it can be one, else raise `StopTheNight`.

    >>> checked_version(" 2022-11-28 ")
    '2022-11-28'
    """
    version = version.strip()
    if version and not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", version):
        raise StopTheNight("GITHUB_API_VERSION is no date: set it to one like 2022-11-28")
    return version


def _is_loopback(host: str) -> bool:
    """Tell whether the host is this machine.

    >>> _is_loopback("127.0.0.1"), _is_loopback("localhost"), _is_loopback("github.com")
    (True, True, False)
    """
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
