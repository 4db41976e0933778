"""The marks for what a namespace decides and demands: `@resolver` and `@check` functions.

They stand in the class body beside the fields they speak of; the metaclass registers them with
the class. Running them is the business of `resolution`.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from registry.declaration import View
from registry.errors import FieldDeclarationError
from registry.source import call_site

__all__ = ["Check", "Resolver", "ResolverView", "Rule", "check", "resolver"]


class ResolverView(View, Protocol):
    """The read-only flat view that resolvers get as `cfg`."""

    def is_set(self, name: str, /) -> bool:
        """Tell whether the operator set a field, as opposed to leaving its default."""


class Rule:
    """A function in a namespace class that is no field of it.

    Args:
        fn: takes the flat view of the configuration.

    Raises:
        FieldDeclarationError: `fn` is no function.
    """

    __slots__ = ("fn",)

    def __init__(self, fn: Callable[[Any], Any]) -> None:
        subject = f"@{type(self).__name__.lower()}"
        if not callable(fn):
            raise FieldDeclarationError(call_site(), subject, f"takes a function, not {fn!r}")
        if inspect.iscoroutinefunction(fn):
            # What it returns is never false, and nobody would wait for it.
            problem = f"takes a plain function, and {fn.__qualname__} is async"
            raise FieldDeclarationError(call_site(), subject, problem)
        self.fn = fn

    @property
    def doc(self) -> str:
        """What it does or demands: the first paragraph of its docstring, on one line.

        Where there is none, as under `python -OO`, its name in words.
        """
        text = inspect.cleandoc(self.fn.__doc__ or "").partition("\n\n")[0]
        return " ".join(text.split()) or getattr(self.fn, "__name__", "").replace("_", " ")


class Resolver(Rule):
    """What `@resolver` makes of a function."""

    __slots__ = ()


class Check(Rule):
    """What `@check` makes of a function."""

    __slots__ = ()


def resolver(fn: Callable[[Any], Mapping[str, Any] | None]) -> Resolver:
    """Declare a function that decides what the operator left open.

    Resolvers run when a record is published, in registration order; each sees the decisions
    before it. They never change the record.

    Args:
        fn: takes a view (`ResolverView`) and returns its decisions by field name, or None.
            It may decide fields declared `Arg(resolvable=True)` only, and asks
            `cfg.is_set(name)` where the operator's word should stand.

    Returns:
        The mark, to stand in the body of a namespace class.

    Raises:
        FieldDeclarationError: it is used outside a class body, where nothing would run it.

    Example:
        >>> from registry import A, Arg, Context, Namespace, Registry, compose
        >>> class Kernel(Namespace, registry=Registry("example")):
        ...     _NS_PATH = "kernel"
        ...     device: str = "cuda"
        ...     backend: A[str, Arg(resolvable=True)] = "auto"
        ...     @resolver
        ...     def backend_follows_device(cfg):
        ...         if cfg.device == "cpu" and not cfg.is_set("backend"):
        ...             return {"backend": "amx"}
        >>> Context(compose("Args", [Kernel])(device="cpu")).bag("kernel").backend
        'amx'
    """
    _expect_class_body("@resolver")
    return Resolver(fn)


def check(fn: Callable[[Any], bool]) -> Check:
    """Declare what must be true of a configuration as a whole.

    Checks run on the finished state of publish, override and scope, before any of it can be
    seen. One that does not hold refuses the change with its docstring and what it read.

    Args:
        fn: takes the flat view and returns whether the rule holds. Its docstring is the rule.

    Returns:
        The mark, to stand in the body of a namespace class.

    Raises:
        FieldDeclarationError: it is used outside a class body, where nothing would run it, or
            has no docstring, which the refusal needs.

    Example:
        >>> from registry import Context, Namespace, Registry, compose
        >>> class Parallel(Namespace, registry=Registry("example")):
        ...     _NS_PATH = "parallel"
        ...     tp_size: int = 1
        ...     @check
        ...     def tp_size_is_positive(cfg):
        ...         "tp_size is at least 1 rank"
        ...         return cfg.tp_size >= 1
        >>> Context(compose("Args", [Parallel])(tp_size=0))  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        registry.errors.CheckError: ...: tp_size is at least 1 rank, but tp_size=0
    """
    _expect_class_body("@check")
    marked = Check(fn)
    # Without docstrings there are none to ask for.
    if not (fn.__doc__ or "").strip() and sys.flags.optimize < 2:
        name = getattr(fn, "__qualname__", repr(fn))
        problem = "has no docstring; it states the rule"
        raise FieldDeclarationError(call_site(), f"@check {name}", problem)
    return marked


def _expect_class_body(decorator: str) -> None:
    frame = inspect.currentframe()
    user = frame.f_back.f_back if frame is not None and frame.f_back is not None else None
    if user is not None and "__qualname__" not in user.f_locals:
        problem = "belongs in the body of the namespace class it serves; nothing would run it here"
        raise FieldDeclarationError(call_site(), decorator, problem)
