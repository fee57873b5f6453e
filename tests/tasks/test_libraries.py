"""Which folders the source of installed libraries is read from, as settings and options say."""

from pathlib import Path

import pytest

from nightwatch_core.models.options import NightOptions
from nightwatch_core.settings import Settings
from tasks.wiring import local


def settings(**values: str) -> Settings:
    return Settings(_env_file=None, **values)


def module(folder: Path) -> Path:
    package = folder / "node_modules/box"
    package.mkdir(parents=True)
    (package / "package.json").write_text('{"version": "1.0.0"}')
    return folder


def test_what_lies_beside_a_checkout_is_read_and_named_folders_instead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    for name in ("GEM_HOME", "BUNDLE_PATH", "GOMODCACHE", "GOPATH", "UV_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    checkout, other = module(tmp_path / "checkout"), module(tmp_path / "other")
    options = NightOptions(code="checkout", repo=str(checkout))
    beside = local.libraries(options, settings())
    assert beside is not None
    assert [item.version for item in beside.copies("javascript", "box")] == ["1.0.0"]
    named = local.libraries(options, settings(NIGHTWATCH_LIBRARIES=str(other)))
    assert named is not None
    assert len(named.copies("javascript", "box")) == 1


def test_none_and_a_repository_elsewhere_have_no_libraries(tmp_path: Path) -> None:
    options = NightOptions(code="checkout", repo=str(module(tmp_path)))
    assert local.libraries(options, settings(NIGHTWATCH_LIBRARIES="none")) is None
    remote = NightOptions(code="github")
    assert local.libraries(remote, settings()) is None
