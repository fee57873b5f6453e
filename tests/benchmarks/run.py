"""Run the benchmarks of tokens and time, and the harnesses on development data; `make bench`."""

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
LIVE = os.environ.get("NIGHTWATCH_LIVE", "")  # <case>/checkout, <case>/export.jsonl
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


MEMORY: tuple[tuple[str, ...], ...] = (  # programs that need no data
    ("-m", "tests.benchmarks.tokens.returning"),
    ("-m", "tests.benchmarks.patterns"),
    ("-m", "tests.benchmarks.scrubbing"),
    (str(HERE / "rates.py"), "200"),
    (str(HERE / "ignores.py"),),
    (str(HERE / "reading.py"), "20"),
    (str(HERE / "batches.py"), "10000"),
)


def memory() -> int:
    """Nights that meet the same errors again, patterns, spikes, ignore rules; 1 where one fails."""
    ended = []
    for arguments in MEMORY:
        print(f"\n{' '.join(arguments)}", flush=True)
        command = [sys.executable, *arguments]
        ended.append(subprocess.run(command, cwd=HERE.parents[1], check=False).returncode)
    return int(any(ended))


def messages() -> int:
    """Sizes of first messages, where the checkouts that they are made of were prepared."""
    if not LIVE:
        print("skipped: NIGHTWATCH_LIVE names no folder of prepared cases")
        return 0
    command = [sys.executable, str(HERE / "first_messages.py"), LIVE]
    return subprocess.run(command, cwd=HERE, check=False).returncode


def tokens() -> int:
    """What an analysis costs beside two older designs; 1 where ours is wrong and one of them not.

    Its invented scenarios need no data; those on real traces say that they are skipped.
    """
    command = [sys.executable, "-m", "tests.benchmarks.tokens", "--errors"]
    return subprocess.run(command, cwd=HERE.parents[1], check=False).returncode


def rules() -> int:
    """What the offline rules say of real bugs, and how much of it is true.

    NIGHTWATCH_MIRRORS names the folder of bare repositories; without it, it says that it skips.
    """
    command = [sys.executable, "-m", "tests.benchmarks.rules"]
    return subprocess.run(command, cwd=HERE.parents[1], check=False).returncode


def fifty() -> int:
    """How near a night of fifty errors comes to its critical path; 1 where it did not end well."""
    command = [sys.executable, "-m", "tests.benchmarks.fifty"]
    return subprocess.run(command, cwd=HERE.parents[1], check=False).returncode


def main() -> int:
    """Run all; exit code 1 where one fails."""
    failed = int(any((messages(), tokens(), rules(), fifty(), memory())))
    if not EVAL.is_dir():
        print(f"skipped: there is no evaluation data at {EVAL}")
        return failed
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
