"""Where names are defined and used: by trees of eight languages, by lines where there is none."""

import pytest

from nightwatch_core.code.definitions import definitions_in, uses_in

SOURCES = {
    "a.py": (
        "LIMIT = 1\n@cached\nclass Cart(Base):\n    size: int\n    async def total(self):\n"
        "        net = sums.net(self.lines)\n        self.sum = round_up(net).cents\n",
        "LIMIT:value:1-1 Cart:class:3-7 size:value:4-4 total:function:5-7 sum:value:7-7",
        "net lines round_up cents",
    ),
    "a.rb": (
        "class Shop::Cart < Base\n  attr_reader :size, :name\n  RATE = 2\n  def self.total?(x)\n"
        "    net = sums.net x\n    cart&.lines(net)\n  end\n  def sum=(v); end\nend\n",
        "Cart:class:1-9 name:value:2-2 size:value:2-2 RATE:value:3-3 total?:function:4-7 "
        "sum=:function:8-8",
        "x sums net cart lines",
    ),
    "a.js": (
        "export const RATE = 1;\nclass Cart extends Base {\n  async total(x) {\n    const y = 1;\n"
        "    this.sum = round(x.net(y)).cents;\n    return new Sum(y);\n  }\n}\n"
        "module.exports.show = function () {};\nexports.size = 1;\nconst f = async (x) => x;\n",
        "RATE:value:1-1 Cart:class:2-8 total:function:3-7 sum:value:5-5 show:function:9-9 "
        "size:value:10-10 f:function:11-11",
        "round net cents Sum",
    ),
    "a.tsx": (
        "export abstract class Cart<T> {\n  private size: number = 1;\n  abstract sum(): void;\n"
        "  total<T>(x: T): T {\n    return net(x)?.cents;\n  }\n}\ninterface Line { m(): void }\n"
        "type Row = string;\nexport const View = (p: Row) => <b>{p.name}</b>;\n",
        "Cart:class:1-7 size:value:2-2 sum:function:3-3 total:function:4-6 Line:class:8-8 "
        "m:function:8-8 Row:class:9-9 View:function:10-10",
        "net cents",
    ),
    "A.java": (
        "class Cart {\n  int size = 1;\n  @Override\n  public int total(int x) {\n"
        "    int y = sums.net(x);\n    return new Sum(y).cents;\n  }\n  record Row(int a) {}\n}\n",
        "Cart:class:1-9 size:value:2-2 total:function:4-7 Row:class:8-8",
        "net Sum cents",
    ),
    "a.go": (
        "package a\n\ntype Cart struct{}\n\nconst Rate = 1\n\n"
        "func (c *Cart) Total(x int) int {\n\ty := sums.Net(x)\n\tvar z int\n"
        "\treturn round(y).cents\n}\n",
        "Cart:class:3-3 Rate:value:5-5 Total:function:7-11",
        "Net round cents",
    ),
    "a.php": (
        "<?php\nfinal class Cart {\n  const RATE = 1;\n  private ?int $size = 2;\n"
        "  public function total($x) {\n    $y = Sums::net($x);\n"
        "    return round_up($this->rest($y))->cents;\n  }\n}\nfunction show() {}\n",
        "Cart:class:2-9 RATE:value:3-3 size:value:4-4 total:function:5-8 show:function:10-10",
        "net round_up rest cents",
    ),
    "A.cs": (
        "public class Cart<T> {\n  public int Size { get; set; }\n  record Row(int A);\n"
        "  public async Task<int> Total(int x) {\n    var y = sums.Net(x);\n"
        "    return Round(new Sum(y))?.Cents;\n  }\n}\n",
        "Cart:class:1-8 Size:value:2-2 Row:class:3-3 Total:function:4-7",
        "Net Round Sum Cents",
    ),
    "a.kt": (
        "data class Cart(val id: Int) {\n  suspend fun total(x: Int): Int {\n    return net(x)\n"
        "  }\n}\n",
        "Cart:class:1-5 total:function:2-4",
        "",
    ),
    "a.rs": ("pub fn total(x: u8) {\n    net(x)\n}\n", "total:function:1-3", ""),
}


@pytest.mark.parametrize("path", SOURCES)
def test_definitions_and_uses_of_every_language(path):
    text, defined, used = SOURCES[path]
    found = [f"{one.name}:{one.kind}:{one.line}-{one.end}" for one in definitions_in(path, text)]
    assert " ".join(found) == defined
    total = next(
        one for one in definitions_in(path, text) if one.name.startswith(("total", "Total"))
    )
    names = dict.fromkeys(one.name for one in uses_in(path, text, total.line, total.end))
    assert " ".join(names) == used


def test_strings_comments_and_calls_with_blocks_define_nothing():
    assert definitions_in("a.py", '"""\nclass A:\n    def b(): ...\n"""\n# def c():\n') == ()
    assert definitions_in("a.rb", "# def a\nget('/') { 1 }\nx = 'class B'\n") == ()
    assert definitions_in("a.js", "if (x) {\n}\nit('a', function () {\n  const y = 1;\n});\n") == ()
