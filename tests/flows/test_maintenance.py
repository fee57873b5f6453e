import os

from night_world import PREFECT

from flows.maintenance import maintenance

pytestmark = PREFECT
OLD = 1_700_000_000.0


def test_maintenance_says_what_it_freed_and_a_dry_run_frees_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("NIGHTWATCH_KNOWLEDGE_DIR", str(tmp_path / "knowledge"))
    journal = tmp_path / "state/journal/2023-11-01-ab12cd~1.jsonl.xz"
    journal.parent.mkdir(parents=True)
    journal.write_bytes(b"x" * 2**20)
    os.utime(journal, (OLD, OLD))

    assert "journals: 1 would be deleted (1.0 MiB), 0 kept (0.0 MiB)" in maintenance(dry_run=True)
    assert journal.exists()
    assert "journals: 1 deleted (1.0 MiB), 0 kept (0.0 MiB)" in maintenance()
    assert not journal.exists()
