"""What plugins meet beside the declarations: the defaults they change, the flags that are taken."""

from typing import Any

from registry import Defaults, default_registry

__all__ = ["DEFAULTS", "PROGRAM_FLAGS", "set_default"]

PROGRAM_FLAGS = ("-h", "--help", "--config", "--explain", "--json", "--print-completion")
"""The flags of `python -m namespaces` that are no setting."""

default_registry.reserve_flags(*PROGRAM_FLAGS)

DEFAULTS = Defaults(default_registry, "ServerArgs", package="namespaces")


def set_default(name: str, value: Any) -> None:
    """Change the default of a field of `ServerArgs`, in the module of a plugin.

    Args:
        name: the field.
        value: its new default. One that is new to a list of choices is added to that first.

    Raises:
        UnknownFieldError: nobody declares the field.
        MutableDefaultError: all records would share the value.
        InvalidValueError: it does not fit the field's type or choices.
        ComposeError: another plugin has set it, or `ServerArgs` is composed already.
    """
    DEFAULTS.set(name, value)
