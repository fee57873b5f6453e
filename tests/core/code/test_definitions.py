"""Where functions and classes begin and end, in the languages we meet."""

import pytest

from nightwatch_core.code.definitions import TYPES, definition, end_of


@pytest.mark.parametrize(
    "begin",
    [
        "  def show",
        "    async def show(self):",
        "def self.show",
        "export default async function show(req) {",
        "const show = async () => {",
        "func (h *Handler) show(w http.ResponseWriter) {",
        "  public static List<Order> show(int id) {",
        "    public function show($id)",
        "  fun show(id: Int)",
        "  async show(id) {",
    ],
)
def test_definitions_of_all_languages(begin: str) -> None:
    assert definition("show", f"show(1)\nx.show\nshown()\n{begin}\n") == 4


def test_no_definition_of_odd_names() -> None:
    assert definition(".*", "def .*") == 0
    assert definition("", "def ") == 0
    assert definition("a" * 500, "def " + "a" * 500) == 0


@pytest.mark.parametrize(
    "begin",
    [
        "class Cart",
        "class Shop::Cart < Base",
        "  module Cart",
        "export default class Cart extends Base {",
        "public final class Cart {",
        "internal sealed record Cart(int Id);",
        "interface Cart {",
        "type Cart struct {",
        "data class Cart(val id: Int)",
    ],
)
def test_types_of_all_languages(begin: str) -> None:
    assert definition("Cart", f"Cart.new\nclass Carts\nx = Cart\n{begin}\n", TYPES) == 4


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("def a(x)\n  x\n\n  x\nend\n\ndef b\n  1\nend\n", 1, 5),
        ("def a(x):\n    return x\n\n\ndef b():\n    pass\n", 1, 2),
        ("def a(\n    x,\n):\n    return x\n\nb = 1\n", 1, 4),
        ("  function a(x) {\n    return x;\n  }\n  a(1);\n", 1, 3),
        ("int A()\n{\n  return 1;\n}\nint B;\n", 1, 4),
        ("x\ndef a; 1; end\ndef b; 2; end\n", 2, 2),
        ("def a(x)", 1, 1),
    ],
)
def test_definitions_end_with_their_body(text: str, start: int, end: int) -> None:
    assert end_of(text, start, 40) == end


def test_long_definitions_are_cut() -> None:
    text = "def a\n" + "  x\n" * 50 + "end\n"
    assert end_of(text, 1, 17) == 17
    assert end_of(text, 1, 52) == 52
