"""Tests of installed libraries: real folders of each kind, and none that leads out of a package."""

import json
import os

import pytest

from nightwatch_core.adapters.local.libraries import InstalledLibraries, beside, standard_library
from nightwatch_core.models.code import Library


def put(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def environment(folder, version="2.31.0", record=""):
    """A virtual environment with one package, whose distribution is called otherwise."""
    about = f"PyRequests-{version}.dist-info"
    listed = f"requests/__init__.py,,\nrequests/sessions.py,,\n{about}/RECORD,,\n{record}"
    site = folder / "lib/python3.11/site-packages"
    put(
        site,
        {
            "requests/__init__.py": "",
            "requests/sessions.py": "class Session:\n    pass\n",
            "requests/left.py": "not listed",
            f"{about}/RECORD": listed,
            f"{about}/METADATA": "secret",
        },
    )
    return folder


def test_python_packages_are_known_by_distribution_and_by_module(tmp_path):
    known = InstalledLibraries((environment(tmp_path / "venv"),))
    wanted = Library(ecosystem="python", package="PyRequests", version="2.31.0")
    assert known.copies("python", "requests") == (wanted,)
    assert known.copies("python", "pyrequests") == (wanted,)
    assert known.copies("python", "flask") == ()
    assert known.paths(wanted) == ("requests/__init__.py", "requests/sessions.py")
    assert known.read_file(wanted, "requests/sessions.py").startswith("class Session")
    assert known.read_file(wanted, "requests/left.py") is None


def test_gems_modules_and_vendored_packages(tmp_path):
    put(
        tmp_path,
        {
            "vendor/bundle/ruby/3.2.0/gems/rack-2.2.8/lib/rack.rb": "module Rack\nend\n",
            "vendor/bundle/ruby/3.2.0/gems/rack-test-1.0/lib/t.rb": "",
            "node_modules/@scope/box/package.json": json.dumps({"version": "3.1.0"}),
            "node_modules/@scope/box/lib/index.js": "module.exports = 1\n",
            "node_modules/@scope/box/node_modules/inner/x.js": "",
            "go/pkg/mod/github.com/!burnt!sushi/toml@v1.3.2/decode.go": "package toml\n",
            "vendor/composer/installed.json": json.dumps(
                {"packages": [{"name": "laravel/framework", "version": "v10.1.0"}]}
            ),
            "vendor/laravel/framework/src/App.php": "<?php\n",
        },
    )
    known = InstalledLibraries((tmp_path, tmp_path / "go"))
    read = {}
    for ecosystem, package in (
        ("ruby", "rack"),
        ("javascript", "@scope/box"),
        ("go", "github.com/BurntSushi/toml"),
        ("php", "laravel/framework"),
    ):
        (copy,) = known.copies(ecosystem, package)
        read[copy.version] = {path: known.read_file(copy, path) for path in known.paths(copy)}
    assert read["2.2.8"] == {"lib/rack.rb": "module Rack\nend\n"}
    assert set(read["3.1.0"]) == {"lib/index.js", "package.json"}
    assert read["v1.3.2"] == {"decode.go": "package toml\n"}
    assert read["v10.1.0"] == {"src/App.php": "<?php\n"}


def test_a_store_that_links_its_packages_is_read(tmp_path):
    store = tmp_path / "node_modules/.pnpm/box@1.2.0/node_modules/box"
    put(store, {"package.json": '{"version": "1.2.0"}', "a.js": "a"})
    (tmp_path / "node_modules/box").symlink_to(store)
    known = InstalledLibraries((tmp_path,))
    (copy,) = known.copies("javascript", "box")
    assert known.read_file(copy, "a.js") == "a"


@pytest.fixture
def secret(tmp_path):
    return put(tmp_path / "home", {"secret.py": "password"}) / "secret.py"


def test_links_that_leave_the_package_are_not_followed(tmp_path, secret):
    record = "requests/link.py,,\n../../../../../home/secret.py,,\n/etc/passwd,,\n"
    venv = environment(tmp_path / "venv", record=record)
    site = venv / "lib/python3.11/site-packages"
    (site / "requests/link.py").symlink_to(secret)
    known = InstalledLibraries((venv,))
    (copy,) = known.copies("python", "requests")
    assert known.paths(copy)[1:] == ("requests/link.py", "requests/sessions.py")
    for path in ("requests/link.py", "../../../../../home/secret.py", "/etc/passwd", str(secret)):
        assert known.read_file(copy, path) is None


def test_a_package_or_a_shelf_that_is_a_link_to_elsewhere_is_none(tmp_path, secret):
    put(secret.parent, {"package.json": '{"version": "1"}'})
    modules = tmp_path / "app/node_modules"
    modules.mkdir(parents=True)
    (modules / "evil").symlink_to(secret.parent)
    (tmp_path / "app/gems").symlink_to(secret.parent)
    known = InstalledLibraries((tmp_path / "app",))
    assert known.copies("javascript", "evil") == ()
    for package in ("..", "../..", "a/../../home", "", ".", "/etc"):
        for ecosystem in ("python", "ruby", "javascript", "go", "php"):
            assert known.copies(ecosystem, package) == ()


def test_what_is_no_regular_text_is_not_read(tmp_path):
    folder = put(tmp_path / "node_modules/box", {"package.json": '{"version": "1"}'})
    (folder / "data.js").write_bytes(b"a\0b")
    (folder / "large.js").write_text("x" * (3 * 1024 * 1024))
    os.mkfifo(folder / "pipe.js")
    known = InstalledLibraries((tmp_path,))
    (copy,) = known.copies("javascript", "box")
    for path in ("data.js", "large.js", "pipe.js"):
        assert known.read_file(copy, path) is None


def test_damaged_descriptions_are_no_packages(tmp_path):
    for number, text in enumerate(("{", "[1]", '{"version": 3}', "[" * 100_000)):
        put(tmp_path / f"node_modules/p{number}", {"package.json": text})
        assert InstalledLibraries((tmp_path,)).copies("javascript", f"p{number}") == ()


def test_what_lies_beside_a_checkout_is_found_and_links_are_not(tmp_path, secret):
    checkout = tmp_path / "work/checkout"
    put(checkout, {"web/node_modules/box/package.json": "{}", ".venv/x": "", "app/a.py": ""})
    put(tmp_path / "work", {"venv/x": ""})
    (checkout / "vendor").symlink_to(secret.parent)
    put(tmp_path / "gems", {"x": ""})
    told = {"HOME": str(tmp_path / "nobody"), "GEM_HOME": str(tmp_path / "gems")}
    assert beside(checkout, told) == (
        checkout / ".venv",
        tmp_path / "work/venv",
        checkout / "web/node_modules",
        tmp_path / "gems",
    )


def test_the_standard_library_stands_behind_python_packages(tmp_path):
    known = InstalledLibraries((environment(tmp_path / "venv"),), standard_library())
    (http,) = known.copies("python", "http")
    assert http.is_standard
    assert "http/cookiejar.py" in known.paths(http)
    assert all(one.startswith("http/") for one in known.paths(http))
    assert "class CookieJar" in known.read_file(http, "http/cookiejar.py")
    (socket,) = known.copies("python", "socket")
    assert known.paths(socket) == ("socket.py",)
    for path in ("socket.py", "../../../../etc/passwd", "http/../socket.py", "/etc/passwd"):
        assert known.read_file(http, path) is None
    assert known.copies("python", "requests")[0].is_standard is False


def test_only_modules_with_a_source_are_of_the_standard_library(tmp_path, secret):
    put(tmp_path / "std", {"json.py": "x", "site-packages/a.py": "", "mine.py": ""})
    (tmp_path / "std/socket.py").symlink_to(secret)
    known = InstalledLibraries((), tmp_path / "std")
    (copy,) = known.copies("python", "json")
    assert known.read_file(copy, "json.py") == "x"
    for module in ("site-packages", "mine", "sys", "..", "", "json.py", "http/../json"):
        assert known.copies("python", module) == ()
    (linked,) = known.copies("python", "socket")
    assert known.read_file(linked, "socket.py") is None
    assert known.copies("ruby", "json") == ()
    assert InstalledLibraries(()).copies("python", "json") == ()
