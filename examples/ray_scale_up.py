"""One record sent to four Ray actors, scaled up while they run, and joined by another.

    pip install '.[ray]' && python examples/ray_scale_up.py

A local cluster starts on the loopback interface. Every actor publishes the record and reports
the widths it derives. One override at the driver scales DP2/TP4 to DP4/TP8; its changes are
broadcast. Then an actor is killed: the one that replaces it publishes the same record and
applies the same changes. Exits with 1 if the processes ever disagree.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
# Unless it is told that no other machine takes part, Ray listens on all interfaces.
os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
sys.path.append(str(Path(__file__).resolve().parent.parent))  # where nothing is installed

import ray

import registry
from namespaces import ServerArgs, get_parallel

RANKS = 4
COLUMNS = ("tp_size", "dp_size", "attn_dp_size", "attn_tp_size", "moe_tp_size")
IMPORTED_FROM = str(Path(registry.__file__).resolve().parent.parent)

Row = tuple[Any, ...]


def widths() -> Row:
    """Return the widths that this process reads from its live configuration."""
    return tuple(getattr(get_parallel(), name) for name in COLUMNS)


class Worker:
    """One process of the server.

    Args:
        record: what the operator asked for.
        changes: the changes that were made to it until now.
        rank: which worker it is.
    """

    def __init__(self, record: Any, changes: registry.Changes, rank: int) -> None:
        self.context = registry.publish(record, role=f"worker {rank}")
        self.context.apply_changes(changes)

    def follow(self, changes: registry.Changes) -> int:
        """Apply changes, and return how many were new here."""
        return self.context.apply_changes(changes)

    def report(self) -> tuple[str | None, Row, int]:
        """Return the role, the widths and the process of this worker."""
        return self.context.role, widths(), os.getpid()


Actor: Any = ray.remote(num_cpus=0)(Worker)


def agree(moment: str, workers: list[Any]) -> bool:
    """Print what every process reads, and tell whether all read what the driver does."""
    here = widths()
    reports = ray.get([worker.report.remote() for worker in workers], timeout=60)
    print(f"\n{moment}\n{'process':>16}" + "".join(f"{name:>14}" for name in COLUMNS))
    print(f"{'driver':>16}" + "".join(f"{value:>14}" for value in here))
    for role, found, _ in reports:
        mark = "" if found == here else "   differs"
        print(f"{role:>16}" + "".join(f"{value:>14}" for value in found) + mark)
    separate = len({os.getpid(), *(process for *_, process in reports)}) == len(reports) + 1
    in_place = [role for role, *_ in reports] == [f"worker {rank}" for rank in range(len(reports))]
    return separate and in_place and all(found == here for _, found, _ in reports)


def killed(worker: Any) -> bool:
    """Kill a worker, and tell whether it is gone."""
    ray.kill(worker)
    # Ray does not wait for the process to end: for a moment it may still answer.
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            ray.get(worker.report.remote(), timeout=60)
        except ray.exceptions.RayActorError:
            return True
        time.sleep(0.1)
    return False


def run() -> bool:
    """Run the story, and tell whether all processes agreed all the time."""
    record = ServerArgs("my-model", tp_size=4, dp_size=2, enable_dp_attention=True)
    context = registry.publish(record, role="driver")
    sent = ray.put(record)
    workers = [Actor.remote(sent, context.changes(), rank) for rank in range(RANKS)]
    outcomes = [agree("Published: DP2, TP4", workers)]

    context.override("scale-up", tp_size=8, dp_size=4)
    changes = ray.put(context.changes())
    applied = ray.get([worker.follow.remote(changes) for worker in workers], timeout=60)
    workers += [Actor.remote(sent, changes, rank) for rank in range(RANKS, 2 * RANKS)]
    outcomes += [applied == [1] * RANKS, agree("Scaled up: DP4, TP8, four joined", workers)]

    outcomes.append(killed(workers[1]))
    workers[1] = Actor.remote(sent, changes, 1)
    again = ray.get([worker.follow.remote(changes) for worker in workers], timeout=60)
    outcomes += [again == [0] * len(workers), agree("Worker 1 killed and replaced", workers)]
    outcomes.append(context.record == record and record.tp_size == 4)
    return all(outcomes)


def main() -> int:
    """Start a cluster, run, stop it; return the exit status."""
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="ERROR",
        object_store_memory=128 * 2**20,
        runtime_env={"env_vars": {"PYTHONPATH": IMPORTED_FROM}},
        _node_ip_address="127.0.0.1",
    )
    try:
        good = run()
    finally:
        ray.shutdown()
    print("\nall processes agree" if good else "\nthe processes disagree")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
