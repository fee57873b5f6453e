"""Every step of the package against the table that says how it is treated."""

import importlib
import pkgutil
from typing import Any, get_type_hints

import pytest
from night_world import worlds
from prefect import Task
from prefect.cache_policies import NO_CACHE, CacheKeyFnPolicy
from pydantic import ValidationError

import flows
import tasks
from nightwatch_core.models.value import Value
from tasks.runner import KEPT, PATIENTLY, STEPS, Row, step
from tasks.triage import patiently

PROGRAMS = ("flows.commands",)
ALWAYS = {"show in Prefect", "prune records", "free space"}  # outside, and not retried by us


def modules() -> list[Any]:
    found = []
    for package in (tasks, flows):
        for item in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not item.name.startswith(PROGRAMS):
                found.append(importlib.import_module(item.name))
    return found


EVERY = {
    found.name: found
    for module in modules()
    for found in vars(module).values()
    if isinstance(found, Task)
}
ITEMS = [pytest.param(EVERY[name], STEPS[name], id=name) for name in STEPS if name in EVERY]


def test_the_table_has_every_step_and_nothing_else() -> None:
    assert set(EVERY) == set(STEPS)


@pytest.mark.parametrize(("task", "row"), ITEMS)
def test_a_step_is_retried_and_kept_as_the_table_says(task: Task[Any, Any], row: Row) -> None:
    if task.name == "wait for batches":  # as often as the run says
        task = patiently(worlds().open())
        assert task.retry_condition_fn is PATIENTLY["retry_condition_fn"]
        assert task.retries >= 1
    else:
        assert task.retries == (PATIENTLY["retries"] if row.retried else 0)
        assert task.retry_condition_fn is (PATIENTLY["retry_condition_fn"] if row.retried else None)
    assert bool(task.persist_result) == bool(row.kept)
    assert (task.cache_policy is not NO_CACHE) == bool(row.kept)
    if row.kept:
        assert task.cache_policy == KEPT or isinstance(task.cache_policy, CacheKeyFnPolicy)
        assert task.result_serializer == "json", "a pickled result is stale after a class changed"


@pytest.mark.parametrize("task", [EVERY[name] for name in STEPS if STEPS[name].kept])
def test_a_kept_step_returns_one_frozen_model(task: Task[Any, Any]) -> None:
    returned = get_type_hints(task.fn)["return"]
    assert issubclass(returned, Value)
    assert returned.model_config["frozen"]


def test_steps_that_only_compute_are_the_only_ones_that_are_not_retried() -> None:
    plain = {name for name, row in STEPS.items() if row.not_retried == "computes"}
    assert {name for name, row in STEPS.items() if row.not_retried} == plain | ALWAYS
    for name in plain:
        assert not {"reading", "publishing", "reader_of"} & set(EVERY[name].fn.__code__.co_names)


def test_of_the_steps_that_publish_a_retry_finds_begun_nights_alone() -> None:
    writing = {name for name in STEPS if "publishing" in EVERY[name].fn.__code__.co_names}
    assert "keep lesson" in writing
    begun = {"open the night", "open the run", "open the collection"}
    readers = {"find the error", "follow up", "recall"}  # of the nights before
    assert {name for name in writing if STEPS[name].kept} == begun | readers


def test_a_step_that_is_not_in_the_table_cannot_be_made() -> None:
    with pytest.raises(KeyError):
        step("no such step")


@pytest.mark.parametrize(
    "row",
    [
        {},
        {"retried": "asks", "not_retried": "computes", "kept": "costs"},
        {"retried": " ", "kept": "costs"},
        {"retried": "asks", "kept": "costs", "why": "so"},
    ],
)
def test_a_row_answers_both_questions_once(row: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        Row.model_validate(row)
