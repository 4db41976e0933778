"""What a user can get wrong, one class each.

Every class derives from `RegistryError` and from the builtin that a caller would catch
anyway. The parts of a message stay available as attributes and cross process boundaries:
each `__init__` hands all its arguments to `super().__init__`, and `__str__` builds the text.
Those of pickling, of command lines and of configuration files stand beside the code that raises
them, which most programs never load.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = [
    "AnnotationError",
    "CallError",
    "CheckError",
    "ClosedViewError",
    "ComposeError",
    "DeclarationError",
    "DerivationCycleError",
    "DerivationError",
    "DroppedOverridesWarning",
    "DuplicateFieldError",
    "FactNotSetError",
    "FieldDeclarationError",
    "InvalidPathError",
    "InvalidValueError",
    "MissingPathError",
    "MutableDefaultError",
    "NotPicklableError",
    "NotPublishedError",
    "OverrideError",
    "PathConflictError",
    "ReadOnlyError",
    "RegistryError",
    "ResolutionError",
    "UnknownAttributeError",
    "UnknownFieldError",
    "UnknownNamespaceError",
    "UnresolvedNameError",
    "did_you_mean",
]


def did_you_mean(name: str, candidates: Iterable[str]) -> str:
    """Return a sentence that offers the nearest candidate, or an empty string.

    Args:
        name: what was written.
        candidates: what could have been meant.

    Returns:
        `" Did you mean 'tp_size'?"`, with its leading space, or `""` if nothing is near.

    Example:
        >>> did_you_mean("tp_sise", ["tp_size", "dp_size"])
        " Did you mean 'tp_size'?"
    """
    # Imported where it is needed: nobody needs it until something is wrong.
    import difflib

    near = difflib.get_close_matches(name, candidates, n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


class RegistryError(Exception):
    """Base of all errors of this package.

    Example:
        >>> from registry import Namespace
        >>> try:
        ...     class Lost(Namespace):
        ...         width: int = 1
        ... except RegistryError as error:
        ...     print(type(error).__name__)
        MissingPathError
    """


class DeclarationError(RegistryError, TypeError):
    """A class statement or a marker in it that cannot be a declaration.

    Attributes:
        where: `file:line` of the declaration, empty where it is not known.
        subject: what was declared, such as `Parallel.tp_size`.
        problem: what is wrong and what to write instead.
    """

    def __init__(self, where: str, subject: str, problem: str) -> None:
        super().__init__(where, subject, problem)
        self.where = where
        self.subject = subject
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.where + ': ' if self.where else ''}{self.subject} {self.problem}"


class MissingPathError(DeclarationError):
    """A class declares fields but neither has nor inherits `_NS_PATH`."""


class FieldDeclarationError(DeclarationError):
    """One name of a namespace is declared in a way that cannot be a field."""


class MutableDefaultError(FieldDeclarationError, ValueError):
    """A default that all records would share, such as a list."""


class InvalidPathError(DeclarationError, ValueError):
    """`_NS_PATH` or `NS(...)` is not a dotted path of identifiers."""


class DuplicateFieldError(RegistryError, ValueError):
    """A name that another namespace class of the registry has declared.

    Attributes:
        field: the name.
        first: the earlier declaration, as `module.Class (file:line)`.
        second: the refused one, as `module.Class`.
        where: `file:line` of the refused one.
    """

    def __init__(self, field: str, first: str, second: str, where: str) -> None:
        super().__init__(field, first, second, where)
        self.field = field
        self.first = first
        self.second = second
        self.where = where

    def __str__(self) -> str:
        return (
            f"{self.where}: {self.second}.{self.field} is already declared by {self.first}; "
            "a field belongs to exactly one namespace of a registry. Rename one, or give one "
            'family a registry of its own: class Base(Namespace, registry=Registry("name"))'
        )


class PathConflictError(RegistryError, ValueError):
    """A namespace path that is also the name of a field of its parent.

    Attributes:
        path: the path, such as `exec.moe`.
        namespace: the class that opens it, as `module.Class (file:line)`.
        field: the field with the same name, as `module.Class.name (file:line)`.
        where: `file:line` of the declaration that was refused.
    """

    def __init__(self, path: str, namespace: str, field: str, where: str) -> None:
        super().__init__(path, namespace, field, where)
        self.path = path
        self.namespace = namespace
        self.field = field
        self.where = where

    def __str__(self) -> str:
        return (
            f"{self.where}: {self.path!r} would be both a namespace ({self.namespace}) and a "
            f"field ({self.field}); one attribute cannot answer for both. Rename one of them"
        )


class AnnotationError(RegistryError, TypeError):
    """An annotation that does not evaluate to a type.

    Attributes:
        where: `file:line` of the field.
        subject: the field, such as `Parallel.tp_size`.
        annotation: the annotation as written.
        problem: what went wrong.
    """

    def __init__(self, where: str, subject: str, annotation: str, problem: str) -> None:
        super().__init__(where, subject, annotation, problem)
        self.where = where
        self.subject = subject
        self.annotation = annotation
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.where}: the annotation of {self.subject}, {self.annotation}, {self.problem}"


class UnresolvedNameError(AnnotationError, NameError):
    """An annotation uses a name that its own module and class body do not have."""


class ComposeError(RegistryError, TypeError):
    """`compose()` or `collect_input_fields()` was asked for something it cannot build.

    Attributes:
        record: the name of the record class.
        problem: what is wrong and what to pass instead.
    """

    def __init__(self, record: str, problem: str) -> None:
        super().__init__(record, problem)
        self.record = record
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.record}: {self.problem}"


class CallError(RegistryError, TypeError):
    """A record was built with arguments that do not fit its fields.

    Attributes:
        record: qualified name of the record class.
        problem: the rest of the sentence, as Python itself would say it.
    """

    def __init__(self, record: str, problem: str) -> None:
        super().__init__(record, problem)
        self.record = record
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.record}.__init__() {self.problem}"


class UnknownFieldError(RegistryError, KeyError):
    """A field or namespace was looked up that is not there.

    Attributes:
        owner: where it was looked for, such as `ServerArgs`.
        field: the name that was asked for.
        hint: what could have been meant, a sentence with a leading space, or empty.
    """

    def __init__(self, owner: str, field: str, hint: str = "") -> None:
        super().__init__(owner, field, hint)
        self.owner = owner
        self.field = field
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.owner} has no field {self.field!r}.{self.hint}"


class UnknownNamespaceError(UnknownFieldError):
    """A namespace was looked up that is not there."""

    def __str__(self) -> str:
        return f"{self.owner} has no namespace {self.field!r}.{self.hint}"


class UnknownAttributeError(RegistryError, AttributeError):
    """A public name was assigned to a record, or read from a view, that is no field of it.

    Attributes:
        owner: the class of the object.
        field: the name.
        hint: what could have been meant, a sentence with a leading space, or empty.
    """

    def __init__(self, owner: str, field: str, hint: str = "") -> None:
        super().__init__(owner, field, hint)
        self.owner = owner
        self.field = field
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.owner!r} object has no field {self.field!r}.{self.hint}"


class ReadOnlyError(RegistryError, AttributeError):
    """A name of a read-only object was assigned or deleted.

    Attributes:
        owner: what is read-only.
        field: the name.
        advice: what to do instead.
    """

    def __init__(self, owner: str, field: str, advice: str) -> None:
        super().__init__(owner, field, advice)
        self.owner = owner
        self.field = field
        self.advice = advice

    def __str__(self) -> str:
        return f"{self.owner} is read-only, {self.field!r} cannot be changed here; {self.advice}"


class ClosedViewError(RegistryError, RuntimeError):
    """A view was read after the derivation, resolver or check that it was given to returned.

    Attributes:
        owner: what it is a view of.
        field: the name.
    """

    def __init__(self, owner: str, field: str) -> None:
        super().__init__(owner, field)
        self.owner = owner
        self.field = field

    def __str__(self) -> str:
        return (
            f"{self.field!r} was read through a view of {self.owner} after the function that it "
            "was given to had returned; nothing would follow it, so read it before"
        )


class DerivationError(RegistryError, ValueError):
    """A derivation failed.

    Attributes:
        field: the derived field.
        where: `file:line` of its declaration.
        reads: the fields it had read, each as `name=value`.
        cause: the error it raised, as text (the exception itself is `__cause__`).
    """

    def __init__(self, field: str, where: str, reads: Sequence[str], cause: str) -> None:
        super().__init__(field, where, reads, cause)
        self.field = field
        self.where = where
        self.reads = tuple(reads)
        self.cause = cause

    def __str__(self) -> str:
        read = f" after reading {', '.join(self.reads)}" if self.reads else ""
        return f"{self.where}: deriving {self.field} failed{read}: {self.cause}"


class DerivationCycleError(DerivationError):
    """Derived fields that need each other.

    Attributes:
        cycle: the names in the order in which they read each other; first and last are equal.
    """

    def __init__(self, cycle: Sequence[str], where: str) -> None:
        super().__init__(cycle[0], where, (), "")
        self.args = (tuple(cycle), where)
        self.cycle = tuple(cycle)

    def __str__(self) -> str:
        return f"{self.where}: derived fields need each other: {' -> '.join(self.cycle)}"


class FactNotSetError(RegistryError, AttributeError):
    """A run-time fact was read before anything set it.

    Attributes:
        field: the fact.
        where: `file:line` of its declaration.
        advice: how it gets a value.
    """

    def __init__(self, field: str, where: str, advice: str) -> None:
        super().__init__(field, where, advice)
        self.field = field
        self.where = where
        self.advice = advice

    def __str__(self) -> str:
        return f"{self.where}: {self.field} is a run-time fact without a value yet; {self.advice}"


class InvalidValueError(RegistryError, TypeError, ValueError):
    """Values that do not fit the declared type or choices of their fields.

    Attributes:
        problems: a sentence for each.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__(tuple(problems))
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return "\n".join(self.problems)


class NotPublishedError(RegistryError, RuntimeError):
    """The configuration was read before this process published any.

    Attributes:
        wanted: what was read.
    """

    def __init__(self, wanted: str) -> None:
        super().__init__(wanted)
        self.wanted = wanted

    def __str__(self) -> str:
        return (
            f"{self.wanted} was read before a configuration was published in this process; "
            "call publish(record) first"
        )


class NotPicklableError(RegistryError, TypeError):
    """Something that belongs to one process was about to leave it.

    Attributes:
        what: what it is.
    """

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what

    def __str__(self) -> str:
        return (
            f"{self.what} stays in its process, derived values would arrive stale; "
            "send the record and publish or derive it there"
        )


class CheckError(RegistryError, ValueError):
    """A configuration that one of its checks does not allow.

    Attributes:
        where: `file:line` of the check.
        rule: what it demands.
        values: the fields it read, each as `name=value`.
    """

    def __init__(self, where: str, rule: str, values: Sequence[str]) -> None:
        super().__init__(where, rule, tuple(values))
        self.where = where
        self.rule = rule
        self.values = tuple(values)

    def __str__(self) -> str:
        return f"{self.where}: {self.rule}, but {', '.join(self.values)}"


class ResolutionError(RegistryError, ValueError):
    """A resolver failed, or decided what it may not decide.

    Attributes:
        where: `file:line` of the resolver.
        resolver: its name.
        problem: what is wrong.
    """

    def __init__(self, where: str, resolver: str, problem: str) -> None:
        super().__init__(where, resolver, problem)
        self.where = where
        self.resolver = resolver
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.where}: resolver {self.resolver} {self.problem}"


class OverrideError(RegistryError, ValueError):
    """An override, release or scope that names something it cannot change.

    Attributes:
        field: the name that was given.
        problem: why it cannot be changed and what to write instead.
    """

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(field, problem)
        self.field = field
        self.problem = problem

    def __str__(self) -> str:
        return f"cannot change {self.field!r}: {self.problem}"


class DroppedOverridesWarning(UserWarning):
    """Another record was published, and what had been overridden is gone."""
