"""Tests of values that are nil, null or undefined, language by language."""

import pytest
from marked_code import answered

RUBY = "undefined method `name' for nil:NilClass"
PHP = "Call to a member function name() on null"
JS = "Cannot read properties of undefined (reading 'name')"
NET = "Object reference not set to an instance of an object."


@pytest.mark.parametrize(
    ("language", "path", "message", "code", "told"),
    [
        ("ruby", "a.rb", RUBY, "def f(xs)\n  xs.map(&:name) «f»\nend\n", "what is nil in a.rb:2"),
        ("ruby", "a.rb", RUBY, "def f(a)\n  a.name + @b.name «f»\nend\n", "what is nil in a.rb:2"),
        (
            "ruby", "a.rb", RUBY,
            "class X\n  def f(h)\n    u = user(h)\n    u.name «f»\n  end\n\n  def user(id)\n"
            "    return if id.blank?\n    User.find(id)\n  end\nend\n",
            "a.rb:8 returns nil where `id.blank?`",
        ),
        ("ruby", "a.rb", RUBY, "def f(h)\n  @usr.name «f»\nend\n", "Nothing in the code sets `@us"),
        (
            "ruby", "a.rb", "undefined method `[]' for nil:NilClass",
            "def f(h)\n  x = h.dig(:a)\n  x[:c] «f»\nend\n", "what `h.dig(:a)` gave in a.rb:2",
        ),
        (
            "javascript", "a.js", JS,
            "const load = (id) => {\n  fetch(id);\n};\nfunction f(a) {\n  const u = load(a);\n"
            "  return u.name; «f»\n}\n",
            "it ends in a.js:2 without giving anything",
        ),
        (
            "javascript", "a.js", JS.replace("undefined", "null"),
            "function f(a) {\n  const u = a.find(x => x.id === 1);\n  return u.name; «f»\n}\n",
            "`u` is null in a.js:3. It is what `a.find(x => x.id === 1)` gave in a.js:2",
        ),
        (
            "javascript", "a.js", JS, "function f(a) {\n  const { name } = a.opts; «f»\n}\n",
            "Not known: why `a.opts` is undefined",
        ),
        (
            "java", "A.java",
            'Cannot invoke "a.Order.total()" because the return value of "a.A.find(int)" is null',
            "class A {\n  Order find(int x) {\n    if (x > 1) {\n      return null;\n    }\n"
            "    return new Order();\n  }\n  int f() {\n    return find(1).total(); «f»\n  }\n}\n",
            "A.java:4 returns null where `x > 1`",
        ),
        (
            "csharp", "A.cs", NET,
            "class A {\n  int F(B b) {\n    var o = b.Find(1);\n    L.W(o.Total); «f»\n  }\n}\n",
            "Not known: what is null in A.cs:4.",
        ),
        (
            "php", "a.php", PHP,
            "<?php\nclass X {\n  function f($id) {\n    $u = $this->load($id);\n"
            "    return $u->name(); «f»\n  }\n  private function load($id) {\n    if (!$id) {\n"
            "      return null;\n    }\n    return new U();\n  }\n}\n",
            "a.php:9 returns null where `!$id`",
        ),
    ],
)  # fmt: skip
def test_other_languages(language, path, message, code, told):
    error = {"ruby": "NoMethodError", "java": "java.lang.NullPointerException"}
    error |= {"csharp": "System.NullReferenceException", "php": "Error"}
    frames = ((path, "f", "f"),)
    answer = answered(
        error.get(language, "TypeError"), message, {path: code}, *frames, language=language
    )
    assert told in answer.root_cause
