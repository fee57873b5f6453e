"""Secrets taken out of text that is kept: keys, tokens, passwords, by how they look.

The pattern's group `keep`, where there is one, stays. Every pattern is linear: what it repeats is
bounded, or read once.
"""

import re

LONGEST = 400_000  # characters that are looked at; the rest is dropped
_NAMED = (
    r"(?:pass(?:word|wd|phrase)|secret|api[_-]?key|access[_-]?key|private[_-]?key|credential"
    r"|token(?!s))"
)
_CODE = (  # what stands there in code: a type, a constant, where the secret is read from
    r"(?!(?:str|string|bool|boolean|int|number|null|nil|none|true|false|any|undefined|env|os|params"
    r"|process|self|this|settings|config)\b)"
)

SECRETS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "private key",
        re.compile(
            r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:[^-]|-(?!----)){0,20000}"
            r"(?:-----END [A-Z ]{0,40}PRIVATE KEY-----)?"
        ),
    ),
    ("Anthropic key", re.compile(r"sk-ant-[\w-]{6,200}")),
    (
        "API key",
        re.compile(r"\b[srp]k[-_](?:live|test|proj)[-_][\w-]{8,200}|\bsk-[A-Za-z0-9]{20,200}"),
    ),
    ("GitHub token", re.compile(r"\bgh[pousr]_[A-Za-z0-9]{16,255}|\bgithub_pat_\w{16,255}")),
    ("GitLab token", re.compile(r"\bglpat-[\w-]{16,200}")),
    ("Slack token", re.compile(r"\bxox[a-z]-[\w-]{8,300}|\bxapp-[\w-]{8,300}")),
    ("Slack webhook", re.compile(r"hooks\.slack\.com/services/[\w/]{8,200}")),
    (
        "New Relic key",
        re.compile(r"\bNRAK-[A-Z0-9]{16,64}|\b[0-9a-f]{36}NRAL\b|\bNRI[IQ]-[\w-]{16,64}"),
    ),
    ("AWS key", re.compile(r"\bA(?:KIA|SIA)[A-Z0-9]{16}\b")),
    ("Google key", re.compile(r"\bAIza[\w-]{35}")),
    ("JSON web token", re.compile(r"(?<![\w-])eyJ[\w-]{8,}+\.[\w-]{8,}+\.[\w-]*")),
    (
        "credentials",
        re.compile(
            r"(?P<keep>\bauthorization[\"']?\s{0,5}[:=]\s{0,5}[\"']?)[^\r\n\"']{4,2000}", re.I
        ),
    ),
    ("bearer token", re.compile(r"(?P<keep>\bbearer\s{1,5})[\w.~+/=-]{12,2000}", re.I)),
    ("password", re.compile(r"(?P<keep>://[^\s/:@]{0,100}:)[^\s/@]{1,200}(?=@)")),
    (  # password = "…", 'api_key': '…'
        "secret",
        re.compile(
            rf"(?P<keep>{_NAMED}\w{{0,20}}[\"']?\s{{0,5}}(?:=>|[:=])\s{{0,5}})"
            r"(?:\"[^\"\n]{1,500}\"|'[^'\n]{1,500}')",
            re.I,
        ),
    ),
    (  # PASSWORD=…, password: …
        "secret",
        re.compile(
            rf"(?P<keep>{_NAMED}\w{{0,20}}(?:=|:\s{{1,3}})){_CODE}[^\s\"'`(){{}}\[\]<>,;&]{{4,500}}",
            re.I,
        ),
    ),
)


def scrubbed(text: str) -> str:
    """The text without what looks like a secret.

    >>> scrubbed("curl -H 'Authorization: Bearer abcdef0123456789' https://me:pw@host/")
    "curl -H 'Authorization: [credentials removed]' https://me:[password removed]@host/"
    >>> scrubbed('password = "hunter2", token: str, total = sum(prices)')
    'password = [secret removed], token: str, total = sum(prices)'
    """
    text = text[:LONGEST]
    for name, pattern in SECRETS:
        keep = r"\g<keep>" if "keep" in pattern.groupindex else ""
        text = pattern.sub(f"{keep}[{name} removed]", text)
    return text
