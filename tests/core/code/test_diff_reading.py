import pytest

from nightwatch_core.code.diffs import dependency_changes, is_manifest, renamed_to
from nightwatch_core.models.code import ChangedFile

RENAME = """@@ -1,6 +1,6 @@
 class Cart:
-    def total(self, lines):
-        return self.total_of(lines)
+    def sum_of(self, lines):
+        return self.total_of(lines)

     def other(self):
"""


@pytest.mark.parametrize(
    ("name", "diff", "new"),
    [
        ("total", RENAME, "sum_of"),
        ("total_of", RENAME, ""),
        ("gone", RENAME, ""),
        ("price", "@@ -1 +1 @@\n-    price: int\n+    cost: int", "cost"),
        ("price", '@@ -1 +1 @@\n-  "price": 1,\n+  "cost": 1,', "cost"),
        ("price", "@@ -1 +1 @@\n-price = 1\n+price = 2", ""),
        ("price", "@@ -1 +1 @@\n-price = 1\n+cost = 2", ""),
        ("price", "@@ -1 +1 @@\n-price\n", ""),
        ("pri.e", "@@ -1 +1 @@\n-price\n+cost", ""),
        ("a", "@@ -1,2 +1,2 @@\n-a\n context\n+b", ""),
    ],
)
def test_a_name_that_was_replaced_is_recognised(name: str, diff: str, new: str) -> None:
    assert renamed_to(name, diff) == new


POETRY = """@@ -10,7 +10,7 @@
 [[package]]
 name = "flask"
-version = "2.1.0"
+version = "3.0.0"
 description = "A framework"
@@ -90,4 +90,0 @@
-[[package]]
-name = "gone"
-version = "1.4.1"
"""
NPM = """@@ -5,7 +5,7 @@
     "node_modules/@scope/left-pad": {
-      "version": "1.0.0",
-      "resolved": "https://registry.example/left-pad-1.0.0.tgz",
+      "version": "1.1.0",
+      "resolved": "https://registry.example/left-pad-1.1.0.tgz",
"""
MAVEN = """@@ -3,4 +3,4 @@
   <artifactId>jackson-core</artifactId>
-  <version>2.14.0</version>
+  <version>2.15.2</version>
"""


LINES = {
    "requirements.txt": ("Flask>=2.1.0", "Flask>=3.0.0", ("Flask", "2.1.0", "3.0.0")),
    "package.json": ('"vue": "^2.7.0",', '"vue": "^3.4.0",', ("vue", "2.7.0", "3.4.0")),
    "Gemfile.lock": ("    rails (7.0.1)", "    rails (7.1.0)", ("rails", "7.0.1", "7.1.0")),
    "go.mod": ("\tx.org/x/y v1.2.0", "\tx.org/x/y v1.3.0", ("x.org/x/y", "v1.2.0", "v1.3.0")),
}
CASES = [
    *((path, f"@@ -1 +1 @@\n-{old}\n+{new}", [told]) for path, (old, new, told) in LINES.items()),
    ("poetry.lock", POETRY, [("flask", "2.1.0", "3.0.0"), ("gone", "1.4.1", "")]),
    ("package-lock.json", NPM, [("@scope/left-pad", "1.0.0", "1.1.0")]),
    ("pom.xml", MAVEN, [("jackson-core", "2.14.0", "2.15.2")]),
    ("requirements.txt", "@@ -1 +1 @@\n-# a 1.2\n+# b", []),
    ("requirements.txt", "", []),
]


@pytest.mark.parametrize(("path", "diff", "changes"), CASES)
def test_versions_that_changed_are_listed(path: str, diff: str, changes: list[object]) -> None:
    assert is_manifest(path)
    told = dependency_changes(ChangedFile(path=path, diff=diff))
    assert [(one.name, one.old, one.new) for one in told] == changes


@pytest.mark.parametrize("path", ["a.py", "requirements.py", "docs/package.md", ""])
def test_other_files_are_no_manifests(path: str) -> None:
    assert not is_manifest(path)
    assert is_manifest("api/requirements-dev.txt")
