"""Files that hold nothing but secrets: they are named, and their content is never shown."""

import re
import unicodedata

_SAMPLE = re.compile(
    r"(?:^|[._-])(?:example|sample|template|tmpl|dist|defaults?|schema|skel)(?:[._-]|$)"
)
_NAMES = re.compile(
    r"\.env(?:rc|\..{1,80})?|.{1,80}\.env|\.?secrets?\.env.{0,80}"
    r"|\.(?:npmrc|netrc|pypirc|pgpass|my\.cnf|mylogin\.cnf|htpasswd|htdigest|dockercfg|dockerconfigjson"
    r"|git-credentials|boto|s3cfg|vault-token|yarnrc\.yml|gem_credentials|credentials|terraformrc)"
    r"|_netrc|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?|ssh_host_\w{1,20}_key|shadow|master\.key|kubeconfig"
    r"|(?:client[_-]?secrets?|service[_-]?account|gcp[_-]?key|firebase[_-]?adminsdk).{0,80}\.json"
    r"|.{0,80}(?:service[_-]?account|credentials?|secrets?)(?:[._-][\w-]{1,40})?"
    r"\.(?:ya?ml|json|toml|ini|cfg|conf|properties|xml|plist|csv|txt|enc|gpg|age|env|sops)(?:\.enc|\.gpg|\.age)?"
    r"|credentials?|secrets?|terraform\.tfstate(?:\.backup)?|.{1,80}\.tfvars(?:\.json)?"
    r"|.{1,200}\.(?:pem|key|p12|pfx|jks|keystore|bks|ppk|kdbx?|pkcs12|p8|asc|gpg|ovpn|keytab|mobileprovision)"
)
_PLACES = re.compile(
    r"(?:^|/)(?:config/(?:secrets|credentials)(?:[./].*)?|\.(?:aws|gcloud|kube|docker)/(?:config\w*(?:\.json)?|credentials)"
    r"|\.ssh/(?!.*\.pub$)(?!known_hosts$).+|\.bundle/config|\.cargo/credentials(?:\.toml)?|\.composer/auth\.json"
    r"|\.gem/credentials|\.config/gh/hosts\.yml)$"
)


def is_secret_file(path: str) -> bool:
    """Return whether a file holds secrets, judged by its path on any operating system.

    >>> [is_secret_file(path) for path in (".env", "web/.ENV.local", "config/secrets.yml", "a/b.pem")]
    [True, True, True, True]
    >>> [is_secret_file(path) for path in (".env.example", "app/secrets.py", "src/key.go", "id_rsa.pub")]
    [False, False, False, False]
    """
    plain = unicodedata.normalize("NFKC", path[:4_096]).replace("\\", "/").casefold()
    parts = [part.strip(" ") for part in plain.split("/")]
    kept = [part for part in parts if part not in ("", ".")]
    if not kept:
        return False
    name = kept[-1].rstrip(".")
    if _PLACES.search("/".join(kept)):
        return True
    return _NAMES.fullmatch(name) is not None and not _SAMPLE.search(name.removeprefix(".env"))


def refusal(path: str) -> str:
    """Return why a secret file is not shown.

    >>> refusal(".env")
    '.env holds secrets, judging by its name: it is neither shown nor searched'
    """
    return f"{path} holds secrets, judging by its name: it is neither shown nor searched"
