"""Shapes that files describe: each can be told, and says what it is known by."""

from nightwatch_core.adapters.files.shapes.described import Description, shapes_of


def test_conditions_and_paths() -> None:
    described = Description.model_validate(
        {
            "when": ["log:text stream|source", "kind=log,span rows:items"],
            "fields": {"title": "title", "count": "group.{total,count}"},
            "is_logged": True,
        }
    )
    (shape,) = shapes_of({"a": described})
    assert [shape.applies(document) for document in ({"log": "", "source": "a"}, {"log": "a"})] == [
        True,
        False,
    ]
    assert shape.applies({"kind": "span", "rows": [1]})
    assert not shape.applies({"kind": "span", "rows": []})
    assert shape.needs == ("log", "kind")
    (record,) = shape.unpack({"title": "no total", "group": {"count": 3}}, lambda _: iter(()))
    assert record == {
        "exception.type": "logged error",
        "exception.message": "no total",
        "occurrences": 3,
    }
