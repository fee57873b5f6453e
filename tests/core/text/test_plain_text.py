from nightwatch_core.text.plain_text import digest, text_lines


def test_lines_are_counted_like_interpreters_count():
    assert text_lines("") == ()
    assert text_lines("a\u2028b\x0cc\nd") == ("a\u2028b\x0cc", "d")


def test_digests_tell_texts_apart():
    assert digest("a") == digest("a") != digest("b")
    assert digest("") != digest(None) == ""
    assert len(digest("\ud800")) == 12
