"""Names of failures hold still, and differ where failures do."""

from nightwatch_core.text.fingerprints import fingerprint, frame_signature


def test_every_part_changes_the_name():
    parts = ("shop", "KeyError", "orders#show", "no total")
    changed = [("bank", *parts[1:]), ("shop", "NameError", *parts[2:]), (*parts[:2], "x", parts[3])]
    names = {fingerprint(*p) for p in (parts, *changed, (*parts[:3], "no price"))}
    assert len(names) == 5


def test_parts_do_not_run_into_each_other():
    assert fingerprint("a", "b", "", "") != fingerprint("", "ab", "", "")
    assert fingerprint("", "K", "x", "") != fingerprint("", "K", "", "x")


def test_anonymous_classes_keep_their_name():
    assert fingerprint("", "#<Class:0x00007f1>::Empty", "", "") == fingerprint(
        "", "#<Class:0x00009b2>::Empty", "", ""
    )


def test_hostile_parts_have_a_name():
    for text in ("\x00", "\ud800", "é" * 10_000, '","class":"', "\n" * 9_000):
        assert fingerprint(text, text, text, text).startswith("v1:")
        assert frame_signature(text, text, text).startswith("f1:")


def test_a_place_is_one_whatever_surrounds_the_function():
    plain = frame_signature("KeyError", "app/order.rb", "total")
    for function in ("Order#total", "block in total", "block (2 levels) in Order#total"):
        assert frame_signature("KeyError", "app/order.rb", function) == plain
    assert frame_signature("E", "a.java", "lambda$total$3") == frame_signature(
        "E", "a.java", "lambda$total$14"
    )
    assert frame_signature("E", "a.go", "Total.func1.2") == frame_signature("E", "a.go", "Total")


def test_places_differ_by_class_path_and_function():
    places = [("A", "a.py", "f"), ("B", "a.py", "f"), ("A", "b.py", "f"), ("A", "a.py", "step1")]
    assert len({frame_signature(*place) for place in (*places, ("A", "a.py", "step2"))}) == 5


def test_names_are_those_of_every_version():
    """They stand in lessons, the ledger and issues: another spelling would forget all of them."""
    made = fingerprint("sh\u00f6p", "#<Class:0x00007f1>::Empty", "GET /orders/1", "no order 1")
    assert made == "v1:050d91a1513b0958"
    assert frame_signature("KeyError", "app/\u00f6rd\u00e9r.rb", "") == "f1:1bb74299a862498f"
    assert frame_signature("KeyError", "", "total") == "f1:0f0704ea463112a2"
