"""Frozen values that the board's files are still made of (`git.settle`, `board`); elsewhere they are dataclasses."""

from __future__ import annotations

from dataclasses import fields, make_dataclass
from typing import Any, ClassVar, Self, dataclass_transform


class _DataclassFields:
    """What `dataclasses` looks for on a class, made once when it does: `replace`, `fields` and `asdict` take values too."""

    def __init__(self) -> None:
        self._made: dict[type[Value], object] = {}

    def __get__(self, instance: object, kind: type[Value]) -> object:
        if kind not in self._made:
            made = make_dataclass(kind.__name__, kind.field_names)
            self._made[kind] = {field.name: field for field in fields(made)}
        return self._made[kind]


@dataclass_transform(frozen_default=True)
class Value:
    """A value whose fields are its annotations, in their order, with class attributes as defaults."""

    field_names: ClassVar[tuple[str, ...]] = ()
    __match_args__: ClassVar[tuple[str, ...]] = ()
    __dataclass_fields__ = _DataclassFields()

    def __init_subclass__(cls) -> None:
        # A class without annotations of its own answers with those of its base.
        own = (name for name in cls.__annotations__ if name not in cls.field_names)
        cls.field_names = (*cls.field_names, *own)
        type.__setattr__(cls, "__match_args__", cls.field_names)

    def __init__(self, *given: object, **named: object) -> None:
        if len(given) > len(self.field_names):
            raise TypeError(
                f"{type(self).__name__} has {len(self.field_names)} fields, {len(given)} were given"
            )
        fields = self.__dict__
        fields.update(zip(self.field_names, given, strict=False))
        for name, value in named.items():
            if name not in self.field_names or name in fields:
                raise TypeError(f"{type(self).__name__} has no field `{name}`, or it was given twice")
            fields[name] = value
        for name in self.field_names:
            if name not in fields and not hasattr(type(self), name):
                raise TypeError(f"{type(self).__name__} needs its field `{name}`")

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"`{name}` cannot be changed: a {type(self).__name__} is a value")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"`{name}` cannot be removed: a {type(self).__name__} is a value")

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.field_names)

    def __hash__(self) -> int:
        return hash(tuple(getattr(self, name) for name in self.field_names))

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.field_names)
        return f"{type(self).__name__}({fields})"

    def changed(self, **fields: Any) -> Self:
        """Returns the value with other values for some of its fields."""
        return type(self)(**{name: getattr(self, name) for name in self.field_names} | fields)
