"""Ratios of the 499-field record against the same fields on a standard dataclass.

    python benchmarks/speed.py            print the table
    python benchmarks/speed.py --check    exit with status 1 if a ratio is above its limit

Both sides of a row run in turn in one run, so that a machine whose speed drifts slows both, and
the ratio is that of the least time of each side. "The dataclass" is a hand-written one with the
same names, types and defaults, created by the standard decorator.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import importlib
import os
import pickle
import subprocess
import sys
import tempfile
import time
import timeit
import typing
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from namespaces import NAMESPACES, POSITIONAL_FIELD_ORDER, ServerArgs  # noqa: E402
from registry import (  # noqa: E402
    ArgumentParser,
    Context,
    Namespace,
    Registry,
    add_cli_args,
    compose,
    from_cli_args,
)

# Both sides need these; what else an import brings counts as its own cost.
SHARED_IMPORTS = "import dataclasses, typing, collections.abc"


def plain_source() -> str:
    """Return a module with the settings as one hand-written dataclass."""
    lines = [
        "import dataclasses, typing, collections.abc",
        "from typing import Any, Literal",
        "@dataclasses.dataclass",
        "class Plain:",
    ]
    for field in dataclasses.fields(ServerArgs):
        annotation = typing.get_args(field.type)[0] if typing.get_args(field.type) else field.type
        text = annotation.__name__ if isinstance(annotation, type) else str(annotation)
        text = text.replace("NoneType", "None")
        if field.default_factory is not dataclasses.MISSING:
            default = f" = dataclasses.field(default_factory={field.default_factory.__name__})"
        elif field.default is dataclasses.MISSING:
            default = ""
        else:
            default = f" = {field.default!r}"
        lines.append(f"    {field.name}: {text}{default}")
    return "\n".join(lines) + "\n"


def ratio(ours: Callable[[], float], theirs: Callable[[], float], pairs: int) -> float:
    """Return ours / theirs, each the least of what was measured in turn: noise only adds."""
    measured = [(ours(), theirs()) for _ in range(pairs)]
    return min(pair[0] for pair in measured) / min(pair[1] for pair in measured)


def per_call(function: Callable[[], object], calls: int) -> Callable[[], float]:
    """Return a measurement: the seconds that one call of `function` takes."""

    def measure() -> float:
        start = time.perf_counter()
        for _ in range(calls):
            function()
        return (time.perf_counter() - start) / calls

    return measure


def fresh_import(statement: str, path: Path) -> Callable[[], float]:
    """Return a measurement: the seconds an import takes in a new process, compiled before."""
    code = (
        f"{SHARED_IMPORTS}\nimport time\nstart = time.perf_counter()\n{statement}\n"
        "print(time.perf_counter() - start)"
    )
    # An installed package is compiled; so are both sides here, whatever the caller's setting.
    environment = {**os.environ, "PYTHONPATH": str(path), "PYTHONDONTWRITEBYTECODE": ""}

    def measure() -> float:
        command = [sys.executable, "-c", code]
        done = subprocess.run(
            command, env=environment, cwd=path, capture_output=True, text=True, check=True
        )
        return float(done.stdout)

    measure()
    return measure


def rows(pairs: int) -> list[tuple[str, float, float]]:
    """Return what is measured, its ratio and its limit."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "plain_settings.py").write_text(plain_source(), encoding="utf-8")
        sys.path.insert(0, folder)
        plain = importlib.import_module("plain_settings").Plain
        start_up = ratio(
            fresh_import("from namespaces import ServerArgs", ROOT),
            fresh_import("import plain_settings", Path(folder)),
            pairs,
        )
    specs = [(field.name, field.type, _copy_of(field)) for field in dataclasses.fields(ServerArgs)]
    given = {"model_path": "my-model", "tp_size": 8}
    ours, theirs = ServerArgs(**given), plain(**given)
    round_trip = functools.partial(_round_trip, ours)
    plain_round_trip = functools.partial(_round_trip, theirs)
    return [
        ("import namespaces and compose / dataclass created", start_up, 1.0),
        (
            "compose / make_dataclass",
            ratio(
                per_call(lambda: compose("Composed", NAMESPACES, order=POSITIONAL_FIELD_ORDER), 5),
                per_call(lambda: dataclasses.make_dataclass("Made", specs), 1),
                pairs,
            ),
            0.15,
        ),
        (
            "construct with two fields given",
            ratio(
                per_call(lambda: ServerArgs(**given), 2000),
                per_call(lambda: plain(**given), 400),
                pairs,
            ),
            0.15,
        ),
        (
            "pickle round trip",
            ratio(per_call(round_trip, 200), per_call(plain_round_trip, 100), pairs),
            0.5,
        ),
        ("pickle bytes", len(pickle.dumps(ours)) / len(pickle.dumps(theirs)), 0.4),
        ("bag read / plain attribute load of an object with as many", bag_read(ours, pairs), 1.1),
        (
            "parser built, a line parsed and read / bare argparse with the same options",
            command_line(plain, pairs),
            1.3,
        ),
        ("10 times the fields, 10 times the namespaces, composed", tenfold(pairs), 12.0),
    ]


def bag_read(record: object, pairs: int) -> float:
    """Return the cost of `bag.tp_size` by that of the same load from an object of the same size."""
    bag = Context(record).bag("parallel")
    plain = type("Plain", (), {})()
    vars(plain).update(vars(bag))
    loads = "; ".join(["each.tp_size"] * 50)

    def reading(each: object) -> Callable[[], float]:
        timer = timeit.Timer(loads, globals={"each": each})
        return lambda: timer.timeit(5000)

    return ratio(reading(bag), reading(plain), pairs)


class Options:
    """Takes the place of a parser and notes the options that it is given."""

    def __init__(self) -> None:
        self.noted: list[tuple[tuple[str, ...], dict[str, typing.Any]]] = []
        self._parser = argparse.ArgumentParser(add_help=False)

    def add_argument_group(self, title: str) -> Options:
        return self

    def add_argument(self, *flags: str, **options: typing.Any) -> argparse.Action:
        self.noted.append((flags, options))
        return self._parser.add_argument(*flags, **options)


def command_line(plain: type, pairs: int) -> float:
    """Return the cost of a command line made a record by that of one made a plain dataclass."""
    options = Options()
    add_cli_args(options, ServerArgs)
    words = ["--model-path", "m", "--tp-size", "8", "--dp-size=2", "--enable-dp-attention"]

    def ours() -> object:
        parser = ArgumentParser(prog="serve")
        add_cli_args(parser, ServerArgs)
        return from_cli_args(ServerArgs, parser.parse_args(words))

    def theirs() -> object:
        parser = argparse.ArgumentParser(prog="serve")
        for flags, keywords in options.noted:
            parser.add_argument(*flags, **keywords)
        return plain(**vars(parser.parse_args(words)))

    assert vars(ours()) == vars(theirs())
    return ratio(per_call(ours, 1), per_call(theirs, 1), 3 * pairs)


def tenfold(pairs: int) -> float:
    """Return what composing 10,000 fields of 400 namespaces costs by that of 1,000 of 40."""

    def composing(namespaces: int, calls: int) -> Callable[[], float]:
        registry = Registry(f"{namespaces} namespaces")
        for number in range(namespaces):
            names = [f"f{number}_{index}" for index in range(25)]
            body = {"_NS_PATH": f"n{number}", "__annotations__": dict.fromkeys(names, int)}
            type(Namespace)(
                f"N{number}", (Namespace,), body | dict.fromkeys(names, 1), registry=registry
            )
        return per_call(lambda: compose("Composed", registry=registry), calls)

    return ratio(composing(400, 1), composing(40, 10), pairs)


def _copy_of(field: dataclasses.Field) -> dataclasses.Field:
    """Return a field that another class can have; the decorator writes on what it is given."""
    return dataclasses.field(default=field.default, default_factory=field.default_factory)


def _round_trip(record: object) -> object:
    return pickle.loads(pickle.dumps(record))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="fail if a ratio is above its limit")
    parser.add_argument("--pairs", type=int, default=15, help="how often both sides are measured")
    args = parser.parse_args()
    measured = rows(args.pairs)
    for _ in range(3):
        # A machine that was busy with something else gets another look; each row keeps its best.
        if not args.check or all(value <= limit for _, value, limit in measured):
            break
        measured = [min(pair) for pair in zip(measured, rows(args.pairs), strict=True)]
    print(f"Python {sys.version.split()[0]}, {len(dataclasses.fields(ServerArgs))} fields")
    for what, value, limit in measured:
        print(f"{value:8.3f}  at most {limit:<5} {what}")
    above = [what for what, value, limit in measured if value > limit]
    if args.check and above:
        print(f"above the limit: {'; '.join(above)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
