import pytest
from tables import tables_of

from nightwatch_core.publish.ci import ci_of_branches, starting_events

TABLES = tables_of(__file__)

EVERY = ("push", "pull_request", "pull_request_target", "create")


@pytest.mark.parametrize(("workflow", "events"), [*TABLES["workflows"], ("[" * 5_000, EVERY)])
def test_what_a_workflow_runs_for_a_branch_of_ours(workflow: str, events: tuple[str, ...]) -> None:
    assert starting_events(workflow, "main") == tuple(events)


def test_each_ci_is_named_with_how_to_withhold_its_secrets() -> None:
    files = {
        ".github/workflows/ci.yml": "on: [push, pull_request]",
        ".github/workflows/release.yaml": "on:\n  push: {tags: ['v*']}",
        ".gitlab-ci.yml": "",
        "Jenkinsfile": "",
        "app.py": "",
    }
    told = ci_of_branches(files, files.get, "main", pushed=True)
    assert told.startswith(
        "Warning: ci.yml (push, pull_request), .gitlab-ci.yml, Jenkinsfile may run a draft when it "
        "is pushed, with access to secrets and before review: "
    )
    assert "branches-ignore: ['nightwatch/**']" in told
    assert "NIGHTWATCH_PUBLISH=patches" in told
    assert "when somebody pushes it" in ci_of_branches(files, files.get, "main", pushed=False)
    quiet = ci_of_branches(("app.py",), files.get, "main", pushed=True)
    assert quiet == "no CI workflow runs on branches of NightWatch"
