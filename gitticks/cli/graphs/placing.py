"""Where the boxes of a drawn graph stand: layers from left to right, ordered so that few lines cross."""

from __future__ import annotations

from gitticks.model.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gitticks.model.ids import TaskId

BOX_WIDTH, BOX_HEIGHT = 232, 48
_GAP_BETWEEN_LAYERS, _GAP_IN_A_LAYER, _MARGIN = 72, 16, 16
_SWEEPS = 4


class Places(Value):
    """The upper left corner of each task's box, and the size of the whole; in pixels."""

    corners: dict[TaskId, tuple[int, int]]
    width: int
    height: int


def place(layers: Sequence[Sequence[TaskId]], links: Iterable[tuple[TaskId, TaskId]]) -> Places:
    """Returns where tasks stand that are linked so (from, to)."""
    before: dict[TaskId, list[TaskId]] = {}
    after: dict[TaskId, list[TaskId]] = {}
    for source, target in links:
        before.setdefault(target, []).append(source)
        after.setdefault(source, []).append(target)
    ordered = [list(layer) for layer in layers]
    for sweep in range(_SWEEPS):
        is_forward = sweep % 2 == 0
        places = _middles(ordered)
        for layer in ordered if is_forward else reversed(ordered):
            _order(layer, before if is_forward else after, places)
    tallest = max(map(len, ordered), default=0)
    height = tallest * (BOX_HEIGHT + _GAP_IN_A_LAYER) - _GAP_IN_A_LAYER
    corners: dict[TaskId, tuple[int, int]] = {}
    for number, layer in enumerate(ordered):
        top = (tallest - len(layer)) * (BOX_HEIGHT + _GAP_IN_A_LAYER) // 2
        for row, task_id in enumerate(layer):
            corners[task_id] = (
                _MARGIN + number * (BOX_WIDTH + _GAP_BETWEEN_LAYERS),
                _MARGIN + top + row * (BOX_HEIGHT + _GAP_IN_A_LAYER),
            )
    width = len(ordered) * (BOX_WIDTH + _GAP_BETWEEN_LAYERS) - _GAP_BETWEEN_LAYERS
    return Places(corners, max(0, width) + 2 * _MARGIN, max(0, height) + 2 * _MARGIN)


def _middles(layers: Iterable[Sequence[TaskId]]) -> dict[TaskId, float]:
    """Returns how far each task is from the middle of its layer, which all layers share."""
    return {task_id: row - len(layer) / 2 for layer in layers for row, task_id in enumerate(layer)}


def _order(
    layer: list[TaskId], neighbours: Mapping[TaskId, Sequence[TaskId]], places: dict[TaskId, float]
) -> None:
    """Sorts a layer by where its neighbours stand on average, and remembers where its tasks stand then."""

    def average(task_id: TaskId) -> float:
        found = neighbours.get(task_id)
        return sum(places[one] for one in found) / len(found) if found else places[task_id]

    layer.sort(key=average)
    places.update(_middles([layer]))
