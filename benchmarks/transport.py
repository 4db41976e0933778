"""Bytes and seconds per record and transport, against a plain dataclass of the same fields.

    python benchmarks/transport.py              print the table
    python benchmarks/transport.py --records N  send N records by each transport (1,000)

Both sides of a row send as many objects, in turn, to a worker that has imported the class and
returns one field of each; the least time of each side counts. A transport that is not installed
is left out, and said to be. "The dataclass" is that of `benchmarks/speed.py`.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import functools
import importlib
import importlib.util
import multiprocessing
import os
import pickle
import sys
import tempfile
import time
import typing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

import speed  # noqa: E402

from namespaces import ServerArgs  # noqa: E402
from registry import Context  # noqa: E402

Records = list[typing.Any]
Send = Callable[[Records], list[int]]


def read(record: typing.Any) -> int:
    """What a worker does with what it got."""
    return record.tp_size


def by_pickle(records: Records) -> list[int]:
    return [read(pickle.loads(pickle.dumps(record))) for record in records]


def by_cloudpickle(records: Records) -> list[int]:
    import cloudpickle

    return [read(pickle.loads(cloudpickle.dumps(record))) for record in records]


@contextmanager
def in_process(send: Send) -> Iterator[Send]:
    yield send


@contextmanager
def spawn_pool() -> Iterator[Send]:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        # One record a message: by default a pool pickles many together, which share what is same.
        yield lambda records: pool.map(read, records, chunksize=1)


@contextmanager
def process_pool_executor() -> Iterator[Send]:
    context = multiprocessing.get_context("forkserver")
    with concurrent.futures.ProcessPoolExecutor(1, context) as pool:
        yield lambda records: list(pool.map(read, records))


@contextmanager
def loky() -> Iterator[Send]:
    import joblib

    with joblib.Parallel(n_jobs=2, backend="loky", batch_size=1) as pool:
        yield lambda records: pool(joblib.delayed(read)(record) for record in records)


@contextmanager
def ray_store() -> Iterator[Send]:
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # so it listens on loopback alone
    import ray

    ray.init(
        num_cpus=1,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="ERROR",
        object_store_memory=256 * 2**20,
        runtime_env={"env_vars": {"PYTHONPATH": os.pathsep.join(sys.path)}},
        _node_ip_address="127.0.0.1",
    )

    @ray.remote
    class Reader:
        def read(self, references: list[typing.Any]) -> list[int]:
            return [record.tp_size for record in ray.get(references)]

    reader = Reader.remote()

    def send(records: Records) -> list[int]:
        references = [ray.put(record) for record in records]
        return ray.get(reader.read.remote(references))

    try:
        yield send
    finally:
        ray.shutdown()


TRANSPORTS: dict[str, tuple[str, Callable[[], typing.ContextManager[Send]]]] = {
    "pickle, same process": ("pickle", functools.partial(in_process, by_pickle)),
    "cloudpickle, same process": ("cloudpickle", functools.partial(in_process, by_cloudpickle)),
    "multiprocessing spawn pool": ("multiprocessing", spawn_pool),
    "ProcessPoolExecutor, forkserver": ("concurrent.futures", process_pool_executor),
    "joblib loky": ("joblib", loky),
    "Ray object store": ("ray", ray_store),
}


def seconds(send: Send, records: Records) -> float:
    """Return how long it takes to send records, and check that they arrived."""
    start = time.perf_counter()
    found = send(records)
    taken = time.perf_counter() - start
    assert found == [record.tp_size for record in records]
    return taken


def sizes(records: Records) -> dict[str, float]:
    """Return the bytes of a record alone, by pickler, and of one among all in a single pickle."""
    found = {
        "pickle": float(len(pickle.dumps(records[0]))),
        "one of a list in one pickle": len(pickle.dumps(records)) / len(records),
    }
    if importlib.util.find_spec("cloudpickle"):
        found["cloudpickle"] = float(len(importlib.import_module("cloudpickle").dumps(records[0])))
    if importlib.util.find_spec("ray"):
        found["Ray's pickler"] = float(
            len(importlib.import_module("ray.cloudpickle").dumps(records[0]))
        )
    return found


def table(title: str, unit: str, rows: list[tuple[str, float, float]]) -> None:
    print(f"\n{title:<34}{'record':>12}{'dataclass':>12}{'ratio':>8}")
    for what, ours, theirs in rows:
        print(f"{what:<34}{ours:>12.1f}{theirs:>12.1f}{ours / theirs:>8.2f}  {unit}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--records", type=int, default=1000, help="how many are sent at a time")
    parser.add_argument("--pairs", type=int, default=7, help="how often both sides are measured")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "plain_settings.py").write_text(speed.plain_source(), encoding="utf-8")
        sys.path.insert(0, folder)
        plain = importlib.import_module("plain_settings").Plain
        sides: list[Records] = [
            [cls("my-model", tp_size=number, dp_size=2) for number in range(args.records)]
            for cls in (ServerArgs, plain)
        ]
        measured = []
        for title, (module, transport) in TRANSPORTS.items():
            if importlib.util.find_spec(module) is None:
                print(f"{title}: left out, {module} is not installed")
                continue
            with transport() as send:
                for records in sides:
                    send(records[: args.records // 10 + 1])  # the worker imports the class
                taken = [[seconds(send, each) for each in sides] for _ in range(args.pairs)]
            least = [min(side) / args.records * 1e6 for side in zip(*taken, strict=True)]
            measured.append((title, least[0], least[1]))
    ours, theirs = map(sizes, sides)
    fields = len(vars(sides[0][0]))
    print(f"Python {sys.version.split()[0]}, {args.records} records of {fields} fields")
    table("bytes a record", "bytes", [(what, ours[what], theirs[what]) for what in ours])
    table("time a record", "us", measured)
    context = Context(ServerArgs("my-model", tp_size=4, dp_size=2, enable_dp_attention=True))
    context.override("scale-up", tp_size=8, dp_size=4)
    print(f"\nits changes, one override: {len(pickle.dumps(context.changes()))} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
