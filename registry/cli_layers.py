"""What stands under a command line, noted while it is parsed: which files, which variables.

Reads none of them; `layers` does, for those who have noted any.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any, NamedTuple

from registry.errors import ComposeError

__all__ = ["Layers", "add_layers", "layers_of"]


class Layers(NamedTuple):
    """What stands under one command line.

    Attributes:
        config: the flag that names a file, None if there is none.
        env_prefix: what the names of the variables begin with, None to leave them alone.
        retired: what to type instead, by flags that there were once.
        files: the files in the order in which they were named.
    """

    config: str | None
    env_prefix: str | None
    retired: Mapping[str, str]
    files: tuple[str, ...] = ()


def layers_of(record_class: type[Any], parsed: Mapping[str, Any]) -> Layers | None:
    """Return what stands under a command line for a record, or None.

    Args:
        record_class: the record class, or a subclass of the one that was added to the parser.
        parsed: the attributes that the parser returned.
    """
    names = map(_attribute, record_class.__mro__)
    return next((parsed[name] for name in names if name in parsed), None)


def add_layers(parser: argparse.ArgumentParser, record_class: type[Any], layers: Layers) -> None:
    """Let a parser note what stands under its command lines.

    Args:
        parser: the parser.
        record_class: the record that it is for. A parser may serve several.
        layers: what there is.

    Raises:
        ComposeError: the flag is none, or the prefix is empty.
        argparse.ArgumentError: the parser has the flag already.
    """
    config, prefix = layers.config, layers.env_prefix
    record, attribute = record_class.__qualname__, _attribute(record_class)
    if config is not None and not config.startswith("--"):
        raise ComposeError(record, f'takes config as a flag, such as "--config", not {config!r}')
    if prefix == "":
        problem = 'takes an env_prefix such as "SERVER_"; without, any variable would count'
        raise ComposeError(record, problem)
    if config is None:
        parser.set_defaults(**{attribute: layers})
        return
    text = "YAML, TOML or JSON file with settings; of several, the last one that has it counts. "
    text += "The command line counts most."
    parser.add_argument(
        config, dest=attribute, action=_AddFile, metavar="FILE", default=layers, help=text
    )


def _attribute(record_class: type[Any]) -> str:
    """Return the attribute of parsed arguments that holds the layers of a record."""
    return f"_layers_of_{record_class.__module__}.{record_class.__qualname__}"


class _AddFile(argparse.Action):
    """Notes one more configuration file."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Take what one occurrence of the option gave."""
        if not values.strip():
            raise argparse.ArgumentError(self, "expected the path of a file")
        layers: Layers = getattr(namespace, self.dest)
        setattr(namespace, self.dest, layers._replace(files=(*layers.files, values)))
