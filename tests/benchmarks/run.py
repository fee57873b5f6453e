"""Run every evaluation harness on the development data; `make bench`."""

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
EVAL = HERE.parents[2] / "shared" / "eval"
RUNS: tuple[tuple[str, ...], ...] = (
    ("eval_parse.py", "--adapter", "adapters:parse"),
    ("eval_parse.py", "--adapter", "adapters:parse", "--no-hint"),
    ("eval_localise.py", "--adapter", "adapters:localise"),
    ("eval_grouping.py", "--adapter", "adapters:key"),
    ("eval_grouping.py", "--adapter", "adapters:name"),
    ("eval_suspect.py", "--adapter", "adapters:suspect", "--windows", "30,365"),
    *(
        ("eval_retrieval.py", "--adapter", "adapters:Retriever", "--data", data, "--mode", mode)
        for data, mode in (
            ("dev_retrieval_jira.jsonl.gz", "prior"),
            ("dev_retrieval_defects4j.jsonl.gz", "loo"),
        )
    ),
)


def main() -> int:
    """Run all; exit code 1 where one fails."""
    if not EVAL.is_dir():
        print(f"skipped: there is no evaluation data at {EVAL}")
        return 0
    failed = 0
    for script, *arguments in RUNS:
        print(f"\n{script} {' '.join(arguments)}", flush=True)
        command = [sys.executable, str(EVAL / "harness" / script), *arguments]
        environment = {**os.environ, "PYTHONPATH": str(HERE)}
        failed += bool(subprocess.run(command, env=environment, cwd=HERE, check=False).returncode)
    recall = subprocess.run([sys.executable, str(HERE / "recall.py")], cwd=HERE, check=False)
    failed += bool(recall.returncode)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
