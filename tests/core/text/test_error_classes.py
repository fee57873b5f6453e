from nightwatch_core.text.words import ClassTable, last_segment, segments
from nightwatch_core.text.words import words_of_name as words

TABLE = ClassTable({"Db::Error": "full", "TypeError": "name", "Oops": "one"}, {"Db": "space"})


def test_the_order_is_full_name_last_segment_namespace_suffix() -> None:
    assert TABLE.find("Db::Error") == "full"
    assert TABLE.find("Db::TypeError") == "name"
    assert TABLE.find("Db.Deep.Thing") == "space"
    assert TABLE.find("Acme::MyTypeError") == "name"


def test_separators_of_all_languages_mean_the_same() -> None:
    for name in ("Db::Error", "Db.Error", "\\Db\\Error", "Db/Error"):
        assert TABLE.find(name) == "full"


def test_never_by_substring_nor_by_half_a_word() -> None:
    for name in ("PrototypeError", "TypeErrors", "Dbx::Thing", "TypeErrorReport", "Db"):
        assert TABLE.find(name) is None


def test_names_of_one_word_are_no_suffix() -> None:
    assert TABLE.find("BigOops") is None


def test_broken_names() -> None:
    for name in ("", "::", " . ", "/", "\x00", "é" * 10_000, "A" * 100_000):
        assert TABLE.find(name) is None
        assert words(name) is not None
    assert segments("::") == ()
    assert last_segment("") == ""
