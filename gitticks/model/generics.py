"""Stands for `typing.Generic` where a class with a type parameter is loaded before a reading command answers.

Type checkers are shown the real one; at run time the parameter means nothing, and loading `typing` takes long.
"""

from __future__ import annotations


class Generic:
    """A base that may be written with a parameter, `Generic[T]`, and is the same without it."""

    __slots__ = ()

    def __class_getitem__(cls, parameter: object) -> type:
        return cls


T = T_co = None
"""The parameters; only their names are needed."""
