"""A call of a service breaks in mid-night: every kind at every service, at its first, middle, last.

Of each night: its outcome is typed, its report is on disk and holds what was paid and published,
the other errors' verdicts are those of a night in which nothing breaks, and the team is told. A
healthy night after it does what was left, and nothing twice. `make faults` runs the whole matrix.
"""

import pytest
from connected.fault_cells import Cell, every_cell, in_pairs
from connected.fault_matrix import Outcomes, outcomes

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("faults")]
CELLS = in_pairs()


@pytest.fixture(scope="module")
def came(tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    return outcomes(tmp_path_factory.mktemp("server"), "--pairs")


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell.name)
def test_a_broken_call_costs_what_it_was_for_and_nothing_else(cell: Cell, came: Outcomes) -> None:
    outcome = came[cell.name]
    assert not outcome["wrong"], outcome.get("output")


def test_the_choice_covers_all_pairs_of_the_matrix() -> None:
    def pairs(cells: tuple[Cell, ...]) -> set[tuple[object, ...]]:
        kinds = {cell: cell.kind.split()[0] if "429" in cell.kind else cell.kind for cell in cells}
        return {
            pair
            for cell in cells
            if cell.position in ("first", "middle", "last") and cell.kind not in ("401", "403")
            for pair in (
                (kinds[cell], cell.service),
                (kinds[cell], cell.position),
                (kinds[cell], cell.lasting),
                (cell.service, cell.position),
                (cell.service, cell.lasting),
                (cell.position, cell.lasting),
            )
        }

    assert pairs(CELLS) == pairs(every_cell())
