"""What one field declares: the markers a namespace class is written with.

`A[type, Arg(...)]` annotates an input field, `@derived` and `Derived(...)` make a derived
one, `NS(path)` places a field of an ad-hoc dataclass. This room knows no registry and no record.
"""

from __future__ import annotations

import inspect
import keyword
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING
from typing import TYPE_CHECKING, Any, Generic, NoReturn, Protocol, TypeVar, overload
from typing import Annotated as A

from registry.errors import FieldDeclarationError, InvalidPathError, ReadOnlyError
from registry.source import call_site

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["NS", "A", "Arg", "Derived", "View", "check_path", "derived"]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

_FLAG = r"--?[^\s=-][^\s=]*"
_FUNCTION_PATH = r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*"


def check_path(path: object, where: str, subject: str) -> str:
    """Return `path` if it is a dotted path of identifiers.

    Args:
        path: what was written as `_NS_PATH` or in `NS(...)`.
        where: `file:line` for the message, may be empty.
        subject: what the path belongs to, for the message.

    Raises:
        InvalidPathError: it is not a string, or a part is empty, no identifier or a keyword
            (`get_exec().moe` must be something one can write).

    Example:
        >>> check_path("exec.moe", "", "ExecMoe")
        'exec.moe'
    """
    if isinstance(path, str) and all(
        part.isidentifier() and not keyword.iskeyword(part) for part in path.split(".")
    ):
        return path
    raise InvalidPathError(
        where,
        subject,
        f"has the path {path!r}; a path is a string of identifiers joined by dots, "
        'such as "exec.moe"',
    )


class Arg:
    """What an operator can know about an input field: its flag, its values, its text.

    A field whose annotation has no `Arg` (and no bare string, which is short for
    `Arg(help=...)`) gets no flag.

    Args:
        help: one or two sentences for the operator. Percent signs need no escape.
        choices: values the field may take. A list is kept as it is, not copied, so that a
            parser built later sees what was added to it meanwhile.
        aliases: further flags, such as `["--tensor-parallel-size"]`.
        cli_name: the flag, where it is not the field's name with dashes.
        type_parser: turns the text of the command line into the value; raises ValueError.
        nargs: as in `argparse`.
        const: as in `argparse`.
        required: whether the flag must be given; None asks for it where there is no default.
        action: as in `argparse`; the name of an action class such as "BooleanOptionalAction"
            spares the declaring module the import.
        action_kwargs: further arguments of `add_argument` for that action.
        metavar: as in `argparse`.
        no_cli: the field has no flag; programs set it.
        resolvable: a resolver may decide the value where the operator did not.
        fallback: the value that is read where nothing else gave one.
        deprecated: what to use instead; the flag still works.
        secret: the value is a key or password: it reads `***` in whatever is shown to people.
        fingerprint: whether the value counts in the `fingerprint` of a record; a port or a log
            level need not.

    Raises:
        FieldDeclarationError: an alias or `cli_name` that is no flag.

    Example:
        >>> Arg(help="Tensor-parallel width in ranks.", aliases=["--tensor-parallel-size"])
        Arg(help='Tensor-parallel width in ranks.', aliases=('--tensor-parallel-size',))
    """

    help: str
    choices: Sequence[Any] | None
    aliases: Sequence[str]
    cli_name: str | None
    type_parser: Callable[[str], Any] | None
    nargs: int | str | None
    const: Any
    required: bool | None
    action: str | type | None
    action_kwargs: Mapping[str, Any] | None
    metavar: str | tuple[str, ...] | None
    no_cli: bool
    resolvable: bool
    fallback: Any
    deprecated: str | None
    secret: bool
    fingerprint: bool

    def __init__(
        self,
        help: str = "",
        *,
        choices: Sequence[Any] | None = None,
        aliases: Sequence[str] = (),
        cli_name: str | None = None,
        type_parser: Callable[[str], Any] | None = None,
        nargs: int | str | None = None,
        const: Any = None,
        required: bool | None = None,
        action: str | type | None = None,
        action_kwargs: Mapping[str, Any] | None = None,
        metavar: str | tuple[str, ...] | None = None,
        no_cli: bool = False,
        resolvable: bool = False,
        fallback: Any = None,
        deprecated: str | None = None,
        secret: bool = False,
        fingerprint: bool = True,
    ) -> None:
        # A frozen dataclass would assign these one by one, at five times the cost.
        vars(self).update(
            help=help,
            choices=choices,
            aliases=aliases,
            cli_name=cli_name,
            type_parser=type_parser,
            nargs=nargs,
            const=const,
            required=required,
            action=action,
            action_kwargs=action_kwargs,
            metavar=metavar,
            no_cli=no_cli,
            resolvable=resolvable,
            fallback=fallback,
            deprecated=deprecated,
            secret=secret,
            fingerprint=fingerprint,
        )
        if not isinstance(help, str):
            raise FieldDeclarationError(
                call_site(), "Arg", f"takes its help as a string, not {help!r}"
            )
        if isinstance(choices, str):
            problem = f"takes choices as a list, not the string {choices!r}"
            raise FieldDeclarationError(call_site(), "Arg", problem)
        if isinstance(aliases, str):
            problem = f"takes aliases as a list: aliases=[{aliases!r}]"
            raise FieldDeclarationError(call_site(), "Arg", problem)
        if aliases or cli_name is not None:
            vars(self)["aliases"] = tuple(aliases)
            for flag in (*self.aliases, cli_name):
                if flag is not None and not re.fullmatch(_FLAG, str(flag)):
                    problem = f"has the flag {flag!r}; a flag looks like --tensor-parallel-size"
                    raise FieldDeclarationError(call_site(), "Arg", problem)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise ReadOnlyError("an Arg", name, "make another one")

    def __delattr__(self, name: str) -> NoReturn:
        raise ReadOnlyError("an Arg", name, "make another one")

    def __eq__(self, other: object) -> bool:
        return vars(self) == vars(other) if isinstance(other, Arg) else NotImplemented

    def __hash__(self) -> int:
        # Choices are often lists; two equal Args have equal help and flag, which is enough.
        return hash((self.help, self.cli_name))

    def __repr__(self) -> str:
        plain = vars(_PLAIN_ARG)
        given = (f"{key}={value!r}" for key, value in vars(self).items() if value != plain[key])
        return f"Arg({', '.join(given)})"


_PLAIN_ARG = Arg()


class NS:
    """Places one field of an ad-hoc dataclass in a namespace.

    In a `Namespace` class the class itself says so, and `NS` is not needed.

    Args:
        path: dotted path of the namespace.

    Raises:
        InvalidPathError: `path` is no dotted path of identifiers.

    Example:
        >>> from dataclasses import dataclass
        >>> from registry import A, namespace_of
        >>> @dataclass
        ... class Bench:
        ...     rounds: A[int, NS("bench")] = 3
        >>> namespace_of(Bench)
        {'rounds': 'bench'}
    """

    __slots__ = ("path",)

    def __init__(self, path: str) -> None:
        self.path = check_path(path, call_site(), "NS")

    def __repr__(self) -> str:
        return f"NS({self.path!r})"

    def __eq__(self, other: object) -> bool:
        return self.path == other.path if isinstance(other, NS) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.path)


class View(Protocol):
    """The read-only flat view of a configuration that derivations get as `cfg`.

    Any input field and any derived field of the configuration is an attribute of it,
    whatever its namespace. Annotate `cfg` with it where a derivation reads names that its
    own class does not declare; left unannotated, a type checker takes `cfg` for the class.
    """

    def __getattr__(self, name: str, /) -> Any:
        """Return the value of one field."""


class Derived(Generic[T_co]):
    """A derived field: what the configuration implies, never on a record.

    Args:
        fn: computes the value from the flat view of the configuration: a function, or its
            path `"package.module:function"`, which is imported when the value is first
            needed. Without one the field is a run-time fact, such as a rank, which a process
            learns.
        doc: what the value means, with its unit. Taken from the function's docstring if empty.
        type: its type. Taken from the function's return annotation if None.
        default: what a run-time fact reads as before it is set. Without a default, reading
            it before that is an error.

    Raises:
        FieldDeclarationError: `fn` is neither callable nor such a path, or has a default
            beside it.

    Example:
        >>> Derived(doc="Rank inside the TP group.", type=int)
        Derived(doc='Rank inside the TP group.', type=<class 'int'>)
    """

    __slots__ = ("default", "doc", "fn", "type")

    def __init__(
        self,
        fn: Callable[[Any], T_co] | str | None = None,
        *,
        doc: str = "",
        type: Any = None,
        default: Any = MISSING,
    ) -> None:
        if isinstance(fn, str) and not re.fullmatch(_FUNCTION_PATH, fn):
            raise FieldDeclarationError(
                call_site(),
                "Derived",
                f"names the function {fn!r}; write it as 'package.module:function'",
            )
        if inspect.iscoroutinefunction(fn):
            problem = f"takes a plain function, and {fn.__qualname__} is async"
            raise FieldDeclarationError(call_site(), "Derived", problem)
        if fn is not None and not isinstance(fn, str) and not callable(fn):
            raise FieldDeclarationError(
                call_site(), "Derived", f"takes a function or its path, not {fn!r}"
            )
        if fn is not None and default is not MISSING:
            raise FieldDeclarationError(
                call_site(),
                "Derived",
                "has a function and a default; a value that is computed needs none",
            )
        self.fn = fn
        self.doc = doc or _own_doc(fn)
        self.type = type
        self.default = default

    def function(self) -> Callable[[Any], T_co] | None:
        """Return the function that computes the value, imported if it was named by path.

        Returns:
            The function, or None for a run-time fact.

        Raises:
            ImportError: its module cannot be imported.
            AttributeError: the module has no such function.
        """
        if isinstance(self.fn, str):
            # Imported where it is needed, which for most programs is nowhere.
            import pkgutil

            found: Callable[[Any], T_co] = pkgutil.resolve_name(self.fn)
            return found
        return self.fn

    def __repr__(self) -> str:
        given = (
            f"{name}={value!r}"
            for name, empty in (("fn", None), ("doc", ""), ("type", None), ("default", MISSING))
            if (value := getattr(self, name)) is not empty and value != empty
        )
        return f"Derived({', '.join(given)})"

    if TYPE_CHECKING:
        # For type checkers only, which read `cfg.attn_tp_size` off the class: at run time a
        # namespace class answers with the declaration itself.
        @overload
        def __get__(self, instance: None, owner: Any) -> Self: ...
        @overload
        def __get__(self, instance: object, owner: Any) -> T_co: ...
        def __get__(self, instance: object, owner: Any) -> Any: ...


def _own_doc(fn: object) -> str:
    """Return the docstring of a function; an object such as a partial shows that of its class."""
    doc = getattr(fn, "__doc__", None)
    return doc if isinstance(doc, str) and callable(fn) and doc != type(fn).__doc__ else ""


def derived(fn: Callable[[Any], T]) -> Derived[T]:
    """Declare a derived field by the function that computes it.

    Args:
        fn: takes the flat view of the configuration and returns the value. Its docstring
            says what the value means, its return annotation what type it has.

    Returns:
        The declaration, to be bound to the field's name in a namespace class.

    Example:
        >>> from registry import Namespace, Registry, compose, derive
        >>> class Shape(Namespace, registry=Registry("example")):
        ...     _NS_PATH = "shape"
        ...     rows: int = 2
        ...     columns: int = 3
        ...     @derived
        ...     def cells(cfg) -> int:
        ...         return cfg.rows * cfg.columns
        >>> derive(compose("Table", [Shape])(rows=4)).cells
        12
    """
    return Derived(fn)
