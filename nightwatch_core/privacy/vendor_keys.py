"""Keys by the shapes that their vendors document; a shape needs no boundary behind it."""

import re

from nightwatch_core.privacy.rule import START, Rule, rule

_PREFIXED: tuple[tuple[str, str], ...] = (  # what it begins with, and what follows
    ("sk-ant-", r"[\w-]{6,200}"),
    ("sk-proj-", r"[\w-]{16,220}"),
    ("sdk-", r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    ("sk-svcacct-", r"[\w-]{16,220}"),
    ("sk-or-v1-", r"[0-9a-f]{32,80}"),
    ("github_pat_", r"\w{16,255}"),
    ("glpat-", r"[\w-]{16,200}"),
    ("gldt-", r"[\w-]{16,200}"),
    ("glrt-", r"[\w-]{16,200}"),
    ("glptt-", r"[0-9a-f]{40}"),
    ("glcbt-", r"[\w-]{16,200}"),
    ("xapp-", r"[\w-]{8,300}"),
    ("whsec_", r"[\w+/=-]{16,100}"),
    ("nrak-", r"[A-Z0-9]{16,64}"),
    ("nrii-", r"[\w-]{16,64}"),
    ("nriq-", r"[\w-]{16,64}"),
    ("nrjs-", r"[0-9a-f]{16,40}"),
    ("aiza", r"[\w-]{35}"),
    ("gocspx-", r"[\w-]{20,40}"),
    ("ya29.", r"[\w-]{20,400}"),
    ("sg.", r"[\w-]{16,32}\.[\w-]{32,64}"),
    ("npm_", r"[A-Za-z0-9]{30,60}"),
    ("pypi-", r"AgE[\w-]{40,300}"),
    ("rubygems_", r"[0-9a-f]{48}"),
    ("dop_v1_", r"[0-9a-f]{40,80}"),
    ("doo_v1_", r"[0-9a-f]{40,80}"),
    ("dor_v1_", r"[0-9a-f]{40,80}"),
    ("hrku-", r"[\w-]{30,80}"),
    ("shpat_", r"[0-9a-fA-F]{32}"),
    ("shpss_", r"[0-9a-fA-F]{32}"),
    ("shpca_", r"[0-9a-fA-F]{32}"),
    ("shppa_", r"[0-9a-fA-F]{32}"),
    ("sq0atp-", r"[\w-]{22}"),
    ("sq0csp-", r"[\w-]{43}"),
    ("dapi", r"[0-9a-f]{32}(?:-\d)?"),
    ("dp.pt.", r"[A-Za-z0-9]{40,50}"),
    ("dp.st.", r"[\w.]{30,80}"),
    ("hvs.", r"[\w-]{20,200}"),
    ("hvb.", r"[\w-]{20,300}"),
    ("lin_api_", r"[A-Za-z0-9]{32,64}"),
    ("ntn_", r"[A-Za-z0-9]{40,60}"),
    ("figd_", r"[\w-]{30,60}"),
    ("pmak-", r"[\w-]{40,80}"),
    ("glc_", r"[\w+/=-]{32,400}"),
    ("glsa_", r"\w{32,60}"),
    ("sntrys_", r"[\w+/=-]{20,300}"),
    ("sntryu_", r"[0-9a-f]{64}"),
    ("sbp_", r"[0-9a-f]{40}"),
    ("nfp_", r"[A-Za-z0-9]{36,50}"),
    ("fo1_", r"[\w-]{40,60}"),
    ("hf_", r"[A-Za-z]{34}(?![A-Za-z])"),
    ("hf_", r"(?=[A-Za-z]{0,30}\d)[A-Za-z0-9]{30,44}"),
    ("r8_", r"[A-Za-z0-9]{37}"),
    ("gsk_", r"[A-Za-z0-9]{40,60}"),
    ("xai-", r"[A-Za-z0-9]{60,100}"),
    ("pplx-", r"[A-Za-z0-9]{40,60}"),
    ("atatt3x", r"[\w=-]{40,300}"),
    ("atctt3x", r"[\w=-]{40,300}"),
    ("atbb", r"[A-Za-z0-9]{28,36}"),
    ("sl.u.", r"[\w-]{60,300}"),
    ("age-secret-key-1", r"[A-Z0-9]{58}"),
    ("pul-", r"[0-9a-f]{40}"),
    ("pnu_", r"[A-Za-z0-9]{36}"),
    ("pnb_", r"[A-Za-z0-9]{36}"),
    ("bkua_", r"[0-9a-f]{40}"),
    ("ccipat_", r"\w{40,80}"),
    ("akcp", r"[A-Za-z0-9]{60,80}"),
    ("ltai", r"[A-Za-z0-9]{16,24}"),
    ("cfpat-", r"[\w-]{43}"),
    ("dt0c01.", r"[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    ("clojars_", r"[0-9a-f]{60}"),
    ("sgp_", r"[\w]{40,90}"),
    ("aio_", r"[A-Za-z0-9]{28}"),
    ("pat-na1-", r"[0-9a-f-]{36}"),
    ("pat-eu1-", r"[0-9a-f-]{36}"),
    ("tskey-", r"[\w-]{20,80}"),
    ("xkeysib-", r"[0-9a-f]{64}-\w{16}"),
    ("rdme_", r"\w{60,80}"),
    ("pscale_", r"(?:pw|tkn|otkn|oauth)_[\w.-]{20,80}"),
    ("dckr_pat_", r"[\w-]{20,60}"),
    ("duffel_", r"(?:live|test)_[\w-]{40,60}"),
    ("eaace", r"[A-Za-z0-9]{30,300}"),
    ("oy2", r"[a-z0-9]{43}"),
    ("sk.eyj", r"[\w.-]{40,300}"),
)

_HEADS = tuple(head for head, _ in _PREFIXED)


def _any_case(head: str) -> str:
    """A head as vendors write it: `needs` are small, keys are not."""
    return "".join(f"[{c}{c.upper()}]" if c.isalpha() else re.escape(c) for c in head)


PREFIXED = tuple(rule("key", rf"{START}{_any_case(head)}{rest}", head) for head, rest in _PREFIXED)

# A vendor nobody has heard of: acme_live_…, corp_pat_…, xyz-secret-…
_ANY_VENDOR = (
    rf"{START}(?<![.-])[A-Za-z]{{1,12}}[_-](?:live|test|prod|secret|key|token|pat|api|sk|pk|at|rt|access)"
    r"[_-](?=[A-Za-z]{0,60}\d)(?=[\d_]{0,60}[A-Za-z])[A-Za-z0-9]{20,200}"
)

_KEY_BEGINS = re.compile(r"[A-Za-z0-9+/=]{20}")  # a field's placeholder has no key behind it

SHAPES: tuple[Rule, ...] = (
    rule("key", rf"{START}[srp]k[-_](?:live|test|proj)[-_][\w-]{{8,200}}", "live", "test"),
    rule("key", r"(?<![A-Za-z0-9-])sk-[A-Za-z0-9]{20,200}", "sk-"),
    rule("key", rf"{START}gh[pousr]_[A-Za-z0-9]{{16,255}}", "gh"),
    rule("key", rf"{START}xox[a-z]-[\w-]{{8,300}}", "xox"),
    rule("key", r"(?<=hooks\.slack\.com/)(?:services|workflows)/[\w/]{8,200}", "hooks.slack"),
    rule("key", r"(?<![0-9a-f])[0-9a-f]{36}(?:NRAL|FFFFNRAL)\b", "nral"),
    rule("key", rf"{START}A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{{16}}(?![a-z])", "kia", "sia", "bia", "cca"),
    rule("key", rf"{START}key-[0-9a-f]{{32}}\b", "key-"),
    rule("key", r"(?<![0-9a-f])[0-9a-f]{32}-us\d{1,2}\b", "-us"),
    rule("key", rf"{START}SK[0-9a-f]{{32}}\b", "sk"),
    rule("key", r"(?<=discord\.com/api/webhooks/)\d{15,22}/[\w-]{40,90}", "discord"),
    rule("key", r"(?<=discordapp\.com/api/webhooks/)\d{15,22}/[\w-]{40,90}", "discordapp"),
    rule("key", r"(?<![\w-])[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40}", "."),
    rule("key", r"(?<!\d)\d{8,10}:AA[\w-]{32,36}", ":aa"),
    rule("key", r"(?<=webhook\.office\.com/)\S{40,400}", "webhook.office"),
    rule("key", r"(?<![\w/])1//0[\w-]{40,120}", "1//0"),
    rule("key", r"(?<![\w.])[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,80}", ".atlasv1"),
    rule("key", rf"{START}pat[A-Za-z0-9]{{14}}\.[0-9a-f]{{64}}", "pat"),
    rule("key", r"(?<![\w~-])[\w~-]{3}8Q~[\w.~-]{31,34}", "8q~"),
    rule("key", rf"{START}access-(?:sandbox|development|production)-[0-9a-f-]{{36}}", "access-"),
    rule("key", rf"{START}EAAA[\w-]{{60}}", "eaaa"),
    rule("jwt", rf"{START}eyJ[\w-]{{8,4000}}+\.[\w-]{{8,8000}}+(?:\.[\w-]*+)?", "eyj"),
    Rule(
        "pem",
        re.compile(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?P<v>(?:[^-]|-(?!----)){8,20000})"),
        ("private key",),
        lambda match: _KEY_BEGINS.search(match["v"][:400]) is not None,
    ),
    rule("pem", r"PuTTY-User-Key-File-\d:(?P<v>(?:[^-]|-(?!----)){60,20000})", "putty-user-key"),
)  # fmt: skip

_CRYPT = r"[./A-Za-z0-9]"
HASHES: tuple[Rule, ...] = (
    rule("hash", rf"\$2[abxy]?\$\d\d\${_CRYPT}{{31,53}}", "$2"),
    rule("hash", r"\$argon2(?:id|i|d)\$[\w=,$+/.-]{20,300}", "$argon2"),
    rule("hash", r"\$(?:scrypt|pbkdf2(?:-sha\d{1,3})?|bcrypt-sha256)\$[\w=,$+/.-]{16,300}", "scrypt$", "pbkdf2", "bcrypt-"),
    rule("hash", r"\bpbkdf2[:_]sha\d{1,3}[$:]\d{1,9}\$[^\s$'\",]{1,100}\$[\w+/=]{20,128}", "pbkdf2"),
    rule("hash", r"\bscrypt:\d{1,9}:\d{1,3}:\d{1,3}\$[^\s$'\",]{1,100}\$[\w+/=]{20,256}", "scrypt:"),
    rule("hash", r"\b(?:scrypt|bcrypt(?:_sha256)?|argon2|sha1|md5)\$[\w=,$+/.-]{24,300}", "crypt", "argon2", "sha1$", "md5$"),
    rule("hash", rf"\$(?:[1567y]|apr1|sha1|gy|7)\$(?:rounds=\d{{1,9}}\$)?[^\s$'\",:]{{1,64}}\${_CRYPT}{{20,90}}", "$"),
    rule("hash", rf"\$[PH]\${_CRYPT}{{31}}", "$p$", "$h$"),
    rule("hash", r"\{S?(?:SHA|MD5|SHA256|SHA512|SSHA)\d{0,3}\}[\w+/=]{20,200}", "sha}", "md5}", "sha256}", "sha512}"),
    rule("hash", r"SCRAM-SHA-\d{1,3}\$\d{1,9}:[\w+/=]{8,100}\$[\w+/=]{20,100}:[\w+/=]{20,100}", "scram-sha"),
    rule("hash", r"(?<![0-9A-Za-z*])\*[0-9A-F]{40}\b", "*"),
    rule("hash", r"\bAQAAAA[EI]AA[\w+/]{50,120}={0,2}", "aqaaaa"),
)  # fmt: skip

ANY_VENDOR = rule(
    "key",
    _ANY_VENDOR,
    "live",
    "test",
    "prod",
    "secret",
    "key",
    "token",
    "pat",
    "api",
    "access",
    "_at",
    "_sk",
)
