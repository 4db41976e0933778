"""The registry: which class declared which field, input and derived halves apart.

`Registry.register` checks everything before it changes anything. What readers get are
read-only snapshots, so reading needs no lock. Knows nothing of how classes are made.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING
from types import MappingProxyType
from typing import Any, TypeVar

from registry.annotations import arg_of, resolve_annotations, resolve_return
from registry.declaration import Arg, Derived
from registry.errors import DuplicateFieldError, PathConflictError, UnknownFieldError, did_you_mean
from registry.forks import start_anew_after_fork
from registry.journal import note_undo
from registry.lazy import lazy
from registry.rules import Check, Resolver
from registry.source import Origin

__all__ = ["Declaration", "DerivedField", "InputField", "Registry"]

E = TypeVar("E", "InputField", "DerivedField")


class _Evaluation:
    """The lock under which annotations are evaluated.

    Evaluating them lets go of the function around a class; two threads must not do so at once.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        start_anew_after_fork(self)

    def __start_anew__(self) -> None:
        self.lock = threading.RLock()


_evaluation = _Evaluation()


class _Entry:
    """What both halves tell about a field.

    Attributes:
        name: the field's name.
        declaration: the class statement it stands in.
    """

    __slots__ = ("declaration", "name")

    def __init__(self, name: str, declaration: Declaration) -> None:
        self.name = name
        self.declaration = declaration

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.namespace}.{self.name}>"

    @property
    def namespace(self) -> str:
        """Dotted path of the namespace."""
        return self.declaration.path

    @property
    def cls(self) -> builtins.type:
        """The class that declares the field."""
        return self.declaration.cls

    @property
    def file(self) -> str:
        """The file of the class statement."""
        return self.declaration.origin.file

    @property
    def line(self) -> int:
        """The line of the field, or of its class where the source cannot be read."""
        return self.declaration.line_of(self.name)


class InputField(_Entry):
    """One input field as the registry lists it.

    Attributes:
        default: its default, or `dataclasses.MISSING`.
        default_factory: makes its default for each record, or `dataclasses.MISSING`.
        options: what else was given to `dataclasses.field()`, such as `repr` or `metadata`.

    Example:
        >>> from registry import A, Namespace, Registry
        >>> class Parallel(Namespace, registry=Registry("example")):
        ...     _NS_PATH = "parallel"
        ...     tp_size: A[int, "Tensor-parallel width in ranks."] = 1
        >>> entry = Parallel.__ns_registry__.input["tp_size"]
        >>> entry.namespace, entry.default, entry.doc
        ('parallel', 1, 'Tensor-parallel width in ranks.')
    """

    __slots__ = ("default", "default_factory", "options")

    def __init__(
        self,
        name: str,
        declaration: Declaration,
        default: Any,
        default_factory: Any,
        options: Mapping[str, Any],
    ) -> None:
        self.name = name
        self.declaration = declaration
        self.default = default
        self.default_factory = default_factory
        self.options = options

    @property
    def type(self) -> Any:
        """The evaluated annotation, metadata included; may raise AnnotationError."""
        return self.declaration.types[self.name]

    @property
    def arg(self) -> Arg | None:
        """What the operator is told, or None for a field without a flag."""
        return arg_of(self.type)

    @property
    def doc(self) -> str:
        """The help text, empty if there is none."""
        return self.arg.help if self.arg else ""

    @property
    def required(self) -> bool:
        """Whether the field has no default."""
        return self.default is MISSING and self.default_factory is MISSING


class DerivedField(_Entry):
    """One derived field as the registry lists it.

    Attributes:
        derived: what its name is bound to in the class.

    Example:
        >>> from registry import Namespace, Registry, derived
        >>> class Parallel(Namespace, registry=Registry("example")):
        ...     _NS_PATH = "parallel"
        ...     @derived
        ...     def world_size(cfg) -> int:
        ...         "Ranks in all."
        ...         return cfg.tp_size * cfg.pp_size
        >>> entry = Parallel.__ns_registry__.derived["world_size"]
        >>> entry.type, entry.doc
        (<class 'int'>, 'Ranks in all.')
    """

    __slots__ = ("derived",)

    def __init__(self, name: str, declaration: Declaration, derived: Derived[Any]) -> None:
        super().__init__(name, declaration)
        self.derived = derived

    @property
    def type(self) -> Any:
        """The declared type, or what the function is annotated to return, or None.

        A function named by path is imported to find out; may raise AnnotationError.
        """
        if self.derived.type is not None:
            return self.derived.type
        function = self.derived.function()
        if function is None:
            return None
        fields = self.declaration.inputs
        return resolve_return(function, self.name, self.cls, self.declaration.origin, fields)

    @property
    def is_fact(self) -> bool:
        """Whether it is a run-time fact: nothing derives it, a process sets it."""
        return self.derived.fn is None

    @property
    def default(self) -> Any:
        """What a run-time fact reads as before it is set, or `dataclasses.MISSING`."""
        return self.derived.default

    @property
    def doc(self) -> str:
        """What the value means, empty if nothing says so."""
        return inspect.cleandoc(self.derived.doc)


class Declaration:
    """What one class statement declares.

    Args:
        cls: the class.
        path: dotted path of its namespace.
        origin: where the statement stands.

    Attributes:
        inputs: the input fields of this class alone, by name.
        derived: the derived fields of this class alone, by name.
        resolvers: the resolvers of this class alone, by name.
        checks: the checks of this class alone, by name.
        plugin: the plugin it came from with its distribution and version, empty for none.
    """

    def __init__(self, cls: type, path: str, origin: Origin) -> None:
        self.cls = cls
        self.path = path
        self.origin = origin
        self.inputs: dict[str, InputField] = {}
        self.derived: dict[str, DerivedField] = {}
        self.resolvers: dict[str, Resolver] = {}
        self.checks: dict[str, Check] = {}
        self.plugin = ""
        self._types: Mapping[str, Any] | None = None

    def __str__(self) -> str:
        return f"{self.cls.__module__}.{self.cls.__qualname__}"

    @property
    def types(self) -> Mapping[str, Any]:
        """The evaluated annotations of the input fields; may raise AnnotationError."""
        with _evaluation.lock:
            if self._types is None:
                self._types = resolve_annotations(self.cls, self.origin, self.inputs)
            return self._types

    @lazy
    def lines(self) -> dict[str, int]:
        """The lines of the names in the class body, as far as they are known."""
        return self.origin.lines()

    def line_of(self, name: str) -> int:
        """Return the line of a field, or of the class where that is all that is known."""
        return self.lines.get(name, self.origin.line)

    def where(self, name: str | None = None) -> str:
        """Return `file:line` of the class, or of one of its fields."""
        line = self.origin.line if name is None else self.line_of(name)
        return f"{self.origin.file}:{line}"

    def fields(self) -> Iterator[InputField | DerivedField]:
        """Yield the fields of both halves."""
        yield from self.inputs.values()
        yield from self.derived.values()

    def is_rerun_of(self, other: Declaration) -> bool:
        """Tell whether both come from the same class statement, executed twice.

        That is so for a reloaded module and a notebook cell (same module and name), and for
        a file that runs as the main program and is imported as well (same file and name).
        """
        if self.cls.__qualname__ != other.cls.__qualname__:
            return False
        modules = {self.cls.__module__, other.cls.__module__}
        return len(modules) == 1 or (
            bool(modules & {"__main__", "__mp_main__"})
            and os.path.realpath(self.origin.file) == os.path.realpath(other.origin.file)
        )


class _Index(dict[str, E]):
    """A mapping whose missing keys are explained."""

    def __init__(self, owner: str) -> None:
        super().__init__()
        self.owner = owner

    def __missing__(self, name: str) -> E:
        raise UnknownFieldError(self.owner, name, did_you_mean(str(name), self))


class _Snapshot:
    """One consistent state of a registry, never changed once it can be seen."""

    def __init__(self, owner: str) -> None:
        self.owner = owner
        self.declarations: tuple[Declaration, ...] = ()
        self.input = _Index[InputField](f"the input half of {owner}")
        self.derived = _Index[DerivedField](f"the derived half of {owner}")
        self.namespaces: dict[str, type] = {}
        # Who first opened each path, the paths above it included.
        self.openers: dict[str, Declaration] = {}

    def plus(self, new: Declaration) -> _Snapshot:
        """Return a copy with one more declaration, which must have been checked."""
        after = _Snapshot(self.owner)
        after.declarations = (*self.declarations, new)
        after.openers = {**_openers(new), **self.openers}
        after.input.update(self.input)
        after.input.update(new.inputs)
        after.derived.update(self.derived)
        after.derived.update(new.derived)
        after.namespaces = {**self.namespaces}
        after.namespaces.setdefault(new.path, new.cls)
        return after


class Registry:
    """The index of all declarations of one family of namespaces.

    Args:
        name: tells registries apart in messages.

    Example:
        >>> from registry import Namespace
        >>> train = Registry("train")
        >>> class Optimizer(Namespace, registry=train):
        ...     _NS_PATH = "optimizer"
        ...     learning_rate: float = 3e-4
        >>> list(train.input), list(train.derived), list(train.namespaces)
        (['learning_rate'], [], ['optimizer'])
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._lock = threading.RLock()
        self._snapshot = _Snapshot(repr(self))
        self._reserved: frozenset[str] = frozenset()
        start_anew_after_fork(self)

    def __start_anew__(self) -> None:
        self._lock = threading.RLock()

    def __repr__(self) -> str:
        return f"Registry({self.name!r})"

    @property
    def input(self) -> Mapping[str, InputField]:
        """The input half: entries by field name, in declaration order, read-only."""
        return MappingProxyType(self._snapshot.input)

    @property
    def derived(self) -> Mapping[str, DerivedField]:
        """The derived half: entries by field name, in declaration order, read-only."""
        return MappingProxyType(self._snapshot.derived)

    @property
    def namespaces(self) -> Mapping[str, type]:
        """The class that first opened each path, in declaration order, read-only."""
        return MappingProxyType(self._snapshot.namespaces)

    @property
    def declarations(self) -> tuple[Declaration, ...]:
        """All class statements, those that extend another's namespace included, in order."""
        return self._snapshot.declarations

    @property
    def reserved_flags(self) -> frozenset[str]:
        """The flags that the program has beside those of its fields."""
        return self._reserved

    def reserve_flags(self, *flags: str) -> None:
        """Say which flags the program has beside those of its fields.

        A plugin with a field that takes one is refused when it is loaded.

        Args:
            *flags: the flags, such as "--config"; those of an earlier call stay.

        Example:
            >>> mine = Registry("mine")
            >>> mine.reserve_flags("--config", "-c")
            >>> sorted(mine.reserved_flags)
            ['--config', '-c']
        """
        with self._lock:
            self._reserved |= frozenset(flags)

    def register(self, new: Declaration) -> None:
        """Add a class statement, or put it in the place of its earlier run.

        Args:
            new: the declaration. `NamespaceMeta` calls this; nobody else needs to.

        Raises:
            DuplicateFieldError: one of its names is declared by another class.
            PathConflictError: its path is a field, or one of its fields is a path.
        """
        with self._lock:
            state = self._snapshot
            earlier = next(filter(new.is_rerun_of, state.declarations), None)
            if earlier is not None:
                rest = (each for each in state.declarations if each is not earlier)
                _check_against(self._built_from(rest), new)
                new.plugin = earlier.plugin
                self._snapshot = self._built_from(
                    new if each is earlier else each for each in state.declarations
                )
            else:
                _check_against(state, new)
                self._snapshot = state.plus(new)
        note_undo(functools.partial(self.take_back, new, earlier), new, new.cls.__module__)

    def take_back(self, new: Declaration, earlier: Declaration | None = None) -> None:
        """Undo `register`, whatever has been registered since; what is not there is passed over.

        Args:
            new: the declaration that was added.
            earlier: what it had taken the place of.
        """
        with self._lock:
            before = (earlier if each is new else each for each in self._snapshot.declarations)
            self._snapshot = self._built_from(each for each in before if each is not None)

    def _built_from(self, declarations: Iterable[Declaration]) -> _Snapshot:
        return functools.reduce(_Snapshot.plus, declarations, _Snapshot(repr(self)))


def _check_against(state: _Snapshot, new: Declaration) -> None:
    for name in (*new.inputs, *new.derived):
        if name in state.input or name in state.derived:
            first = _place(state.input.get(name) or state.derived[name])
            raise DuplicateFieldError(name, first, str(new), new.where(name))
    opened = _openers(new)
    paths = {**state.openers, **opened}
    for name in (*new.inputs, *new.derived):
        path = f"{new.path}.{name}"
        if path in paths:
            second = _place(new.inputs.get(name) or new.derived[name])
            raise PathConflictError(path, _place(paths[path]), second, new.where(name))
    for path in opened:
        parent, _, name = path.rpartition(".")
        field = state.input.get(name) or state.derived.get(name)
        if field is not None and field.namespace == parent:
            raise PathConflictError(path, _place(new), _place(field), new.where())


def _openers(declaration: Declaration) -> dict[str, Declaration]:
    """Return the path that a declaration opens and those above it, each with the declaration."""
    parts = declaration.path.split(".")
    return {".".join(parts[:end]): declaration for end in range(1, len(parts) + 1)}


def _place(what: Declaration | InputField | DerivedField) -> str:
    if isinstance(what, Declaration):
        return f"{what} ({what.where()})"
    return f"{what.declaration}.{what.name} ({what.file}:{what.line})"
