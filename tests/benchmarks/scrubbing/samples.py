"""Texts with invented secrets and people in them, and the share of them that a scrubber removes.

The secrets have documented shapes; nothing here was ever anybody's.
"""

import base64
import random
import re
import string
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import yaml
from pydantic import BaseModel, ConfigDict

ALNUM = string.ascii_letters + string.digits
LOWER = string.ascii_lowercase + string.digits
LETTERS = {
    "alnum": ALNUM,
    "lower": LOWER,
    "upper": string.ascii_uppercase + string.digits,
    "hex": "0123456789abcdef",
}
_FIRST = "Ines marek Oluwaseun li.wei Priya jonas Fatima Grzegorz Ana tomas"
_LAST = "Holm kowalski Adeyemi Zhang raman Virtanen Haddad Nowak Sousa Berg"
_WORDS = "harbor velvet Copper lantern Quartz meadow falcon Ginger orbit"
FIRST, LAST, WORDS = _FIRST.split(), _LAST.split(), _WORDS.split()
MAILS = ("gmail.com", "posteo.de", "firma-nord.se", "correo.es", "mail.acme-corp.io", "qq.com")

Template = tuple[str, str, str]  # kind, text with @@ for the hidden value, pattern of that value


class Texts(BaseModel):
    """One set of texts; `blind` judges the rules, `development` is there to write them by."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seed: int
    times: int
    secrets: tuple[Template, ...]
    personal: tuple[Template, ...]
    harmless: tuple[str, ...] = ()

    def samples(self, templates: Iterable[Template]) -> Iterator[tuple[str, str, str]]:
        """Yield kind, text and the value that has to go from it."""
        values = Values(self.seed)
        for kind, text, pattern in templates:
            for _ in range(self.times):
                secret = values.made(pattern)
                yield kind, text.replace("@@", secret), secret


class Rate(NamedTuple):
    """Texts, and those from which the hidden value went."""

    texts: int
    removed: int
    missed: tuple[str, ...]  # kinds, each once

    @property
    def share(self) -> float:
        return self.removed / self.texts


def removal(samples: Iterable[tuple[str, str, str]], scrub: Callable[[str], str]) -> Rate:
    """Count the samples (kind, text, hidden value) whose value is gone."""
    ends = [(kind, hidden not in scrub(text)) for kind, text, hidden in samples]
    missed = dict.fromkeys(kind for kind, is_gone in ends if not is_gone)
    return Rate(len(ends), sum(is_gone for _, is_gone in ends), tuple(missed))


class Values:
    """A stream of values, the same for every seed."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def made(self, pattern: str) -> str:
        """Return a value of a pattern like `sk_live_{alnum:24}` or `{quoted email}`."""
        return re.sub(r"\{(quoted )?([^{}:]+)(?::(\d+))?\}", self._part, pattern)

    def _part(self, found: re.Match[str]) -> str:
        is_quoted, name, size = found.groups()
        letters, _, more = name.partition(" and ")
        if name.startswith("one of "):
            value = self.one(*name.removeprefix("one of ").split(","))
        elif hasattr(self, name):
            value = getattr(self, name)(*([int(size)] if size else []))
        else:
            value = self.of(LETTERS.get(letters, letters) + more, int(size))
        return quote(value, safe="") if is_quoted else value

    def of(self, letters: str, length: int) -> str:
        return "".join(self.chance.choices(letters, k=length))

    def one(self, *choices: str) -> str:
        return self.chance.choice(choices)

    def word(self) -> str:
        return self.one(*WORDS)

    def digits(self, length: int) -> str:
        return self.one(*"123456789") + self.of(string.digits, length - 1)

    def base64(self, length: int) -> str:
        return base64.b64encode(self.chance.randbytes(length)).decode()

    def password(self) -> str:
        """As people make them: words with digits and signs, or what a manager makes."""
        return self.one(
            f"{self.word()}{self.digits(3)}{self.one(*'!#?')}",
            f"{self.word()}-{self.word().lower()}-{self.digits(2)}",
            self.of(ALNUM, 14) + self.one(*"!#?*") + self.of(ALNUM, 4),
            self.of(LOWER, 12),
            f"{self.word().capitalize()}{self.word().capitalize()}{self.digits(2)}",
        )

    def jwt(self) -> str:
        head = base64.urlsafe_b64encode(b'{"alg":"HS256","typ":"JWT"}').decode().rstrip("=")
        body = base64.urlsafe_b64encode(f'{{"sub":"{self.digits(8)}"}}'.encode()).decode()
        return f"{head}.{body.rstrip('=')}.{self.of(ALNUM + '-_', 43)}"

    def bcrypt(self) -> str:
        return f"$2{self.one('a', 'b', 'y')}${self.one('10', '12')}${self.of(ALNUM + './', 53)}"

    def email(self) -> str:
        name = f"{self.one(*FIRST)}{self.one('.', '_', '')}{self.one(*LAST)}"
        name += self.one("", self.digits(2))
        return f"{name.lower().replace('..', '.')}@{self.one(*MAILS)}"

    def phone(self) -> str:
        return self.one(
            f"+49 {self.digits(3)} {self.digits(7)}",
            f"+1-{self.one('212', '415', '617')}-{self.one('555', '867')}-{self.digits(4)}",
            f"({self.one('312', '206')}) 555-{self.digits(4)}",
            f"+44 7{self.of(string.digits, 3)} {self.of(string.digits, 6)}",
            f"+33{self.one('6', '7')}{self.of(string.digits, 8)}",
        )

    def card(self) -> str:
        start = self.one("4", "52", "37", "6011")
        length = 15 if start == "37" else 16
        body = start + self.of(string.digits, length - len(start) - 1)
        total = sum(
            (d := int(c) * (2 - at % 2)) - 9 * (d > 9) for at, c in enumerate(reversed(body))
        )
        number = body + str(-total % 10)
        if length == 15:
            return number
        return self.one(number, *(s.join(number[i : i + 4] for i in (0, 4, 8, 12)) for s in " -"))

    def iban(self) -> str:
        land, length = self.one("DE 18", "FR 23", "NL 14", "ES 20", "GB 18").split()
        bank = self.of(string.ascii_uppercase, 4) if land in ("NL", "GB") else ""
        body = bank + self.of(string.digits, int(length) - len(bank))
        number = "".join(str(int(c, 36)) for c in f"{body}{land}00")
        whole = f"{land}{98 - int(number) % 97:02d}{body}"
        return self.one(whole, " ".join(whole[i : i + 4] for i in range(0, len(whole), 4)))


def _texts(name: str) -> Texts:
    text = Path(__file__).with_name(name).read_text("utf-8")
    return Texts.model_validate(yaml.safe_load(text))


blind, development = _texts("blind.yml"), _texts("development.yml")
