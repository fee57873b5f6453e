"""Run the benchmarks that need no data, and the harnesses on development data; `make bench`."""

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
HARNESS = ROOT.parent / "shared" / "eval" / "harness"
LIVE = os.environ.get("NIGHTWATCH_LIVE", "")  # folder of <case>/checkout, <case>/export.jsonl
BENCHMARKS = """
-m tests.benchmarks.rules
-m tests.benchmarks.fifty
-m tests.benchmarks.patterns
-m tests.benchmarks.scrubbing
tests/benchmarks/rates.py 200
tests/benchmarks/ignores.py
tests/benchmarks/reading.py 20
tests/benchmarks/batches.py 10000
"""
HARNESSES = """
eval_parse.py --adapter adapters:parse
eval_parse.py --adapter adapters:parse --no-hint
eval_localise.py --adapter adapters:localise
eval_grouping.py --adapter adapters:key
eval_grouping.py --adapter adapters:name
eval_suspect.py --adapter adapters:suspect --windows 30,365
eval_retrieval.py --adapter adapters:Retriever --data dev_retrieval_jira.jsonl.gz --mode prior
eval_retrieval.py --adapter adapters:Retriever --data dev_retrieval_jira.jsonl.gz --mode loo
eval_retrieval.py --adapter adapters:Retriever --data dev_retrieval_defects4j.jsonl.gz --mode loo
"""


def main() -> int:
    """Run all; returns 1 where one fails."""
    commands = [line.split() for line in BENCHMARKS.strip().splitlines()]
    if LIVE:
        commands.append(["tests/benchmarks/first_messages.py", LIVE])
    else:
        print("skipped: NIGHTWATCH_LIVE names no folder of prepared cases")
    failed = [command for command in commands if not _succeeds(command, ROOT, {})]
    if not HARNESS.is_dir():
        print(f"skipped: there is no evaluation data at {HARNESS.parent}")
        return int(bool(failed))
    for line in HARNESSES.strip().splitlines():
        script, *arguments = line.split()
        command = [str(HARNESS / script), *arguments]
        if not _succeeds(command, HERE, {"PYTHONPATH": str(HERE)}):
            failed.append(command)
    return int(bool(failed))


def _succeeds(command: list[str], folder: Path, environment: dict[str, str]) -> bool:
    print(f"\n{' '.join(command)}", flush=True)
    variables = {**os.environ, **environment}
    ended = subprocess.run([sys.executable, *command], env=variables, cwd=folder, check=False)
    return ended.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
