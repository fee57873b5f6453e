"""Secrets do not stay; code and prose do."""

import pytest
from tables import tables_of

from nightwatch_core.privacy.rules import MASK, RULES
from nightwatch_core.privacy.scrubber import REMOVAL, Masks, Scrubber, holds_mask
from tests.benchmarks.scrubbing.samples import blind, development, removal

TABLES = tables_of(__file__)

WORD = "aB3" * 12
SECRET = {kind: text.replace("{WORD}", WORD) for kind, text in TABLES["secret"].items()} | {
    "New Relic": "NRAK-" + "AB12" * 7,
    "licence": "ab12" * 9 + "NRAL",
    "AWS": "AKIA" + "AB12" * 4,
    "AWS session": "ASIA" + "AB12" * 4,
    "Google": "AIza" + "x" * 35,
}
HARMLESS = TABLES["harmless"]
CODE = TABLES["code"]
STILL_SECRET = TABLES["still_secret"]


SCRUBBER = Scrubber(Masks(b"key"), ("hunter2/hunter2",))
scrub = SCRUBBER.scrub
HOSTILE = TABLES["hostile"]


@pytest.mark.parametrize("text", CODE)
def test_code_that_names_secrets_is_left(text: str) -> None:
    assert scrub(text) == text


@pytest.mark.parametrize("text", STILL_SECRET)
def test_what_code_says_out_is_masked(text: str) -> None:
    assert holds_mask(scrub(text))


@pytest.mark.parametrize("kind", SECRET)
def test_secrets_become_masks(kind):
    kept = scrub(f"before {SECRET[kind]} after")
    assert not any(piece in kept for piece in (WORD, "AB12AB12", "ab12ab12", "xxxxxxxx"))
    assert holds_mask(kept)
    assert kept.startswith("before ")


@pytest.mark.parametrize("text", [*HARMLESS, *development.harmless])
def test_code_and_prose_stay(text):
    assert scrub(text) == text


@pytest.mark.parametrize("of", [development, blind], ids=["development", "blind"])
def test_texts_with_secrets_and_people_lose_them(of):
    assert removal(of.samples(of.secrets), scrub).share >= 0.95
    assert removal(of.samples(of.personal), scrub).share >= 0.95


def test_what_is_scrubbed_stays_scrubbed():
    texts = [*SECRET.values(), *(text for _, text, _ in blind.samples(blind.secrets))]
    for once in map(scrub, texts):
        assert scrub(once) == once


def test_one_person_has_one_mask_however_the_address_is_written():
    kept = scrub(
        "to mia.holm@acme.io, MIA.Holm@acme.io, card 4111111111111111, 4111 1111 1111 1111"
    )
    masks = MASK.findall(kept)
    assert masks[0] == masks[1] != masks[2] == masks[3]
    assert scrub("from mia.holm@acme.io").endswith(f"<email-{masks[0][1]}>")
    assert Scrubber(Masks(b"other")).scrub("mia.holm@acme.io") != scrub("mia.holm@acme.io")


@pytest.mark.parametrize("text", TABLES["words_of_databases"])
def test_names_in_a_databases_words_go(text):
    scrubbed = REMOVAL.scrub(text)
    assert "mia.mueller" not in scrubbed
    assert "078-05" not in scrubbed
    assert holds_mask(scrubbed)
    assert REMOVAL.scrub('{"lastName":"Müller-Lüdenscheidt"}') == '{"lastName":"<name-000000>"}'


def test_without_a_key_values_are_not_told_apart():
    assert REMOVAL.scrub("mia.holm@acme.io") == "<email-000000>"


@pytest.mark.parametrize("form", TABLES["own_secret"])
def test_our_own_secrets_go_in_whatever_form(form):
    assert "<own-" in scrub(f"zz{form}zz")


def test_addresses_of_networks_go_where_that_is_asked():
    text = (
        "from 203.0.113.9 and 2001:db8::ff00:42:8329 at 10:20:30 to 127.0.0.1, version 1.2.3.4000"
    )
    assert scrub(text) == text
    kept = Scrubber(Masks(b"key"), addresses=True).scrub(text)
    assert [kind for kind, _ in MASK.findall(kept)] == ["ip", "ip"]


@pytest.mark.parametrize("piece", HOSTILE)
@pytest.mark.slow
def test_hostile_text_takes_no_longer(piece):
    """A pattern that is not linear would not come back from 100,000 characters."""
    scrub((piece * (100_000 // len(piece) + 1))[:100_000])


def test_rules_are_data():
    kinds = {rule.kind for rule in RULES}
    assert all(MASK.fullmatch(f"<{kind}-000000>") for kind in kinds)
    assert all(need == need.lower() for rule in RULES for need in rule.needs)
