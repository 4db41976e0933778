"""What `ServerArgs` promises is written down, and a change of it is seen."""

import json
import subprocess
import sys
from pathlib import Path

from namespaces import POSITIONAL_FIELD_ORDER, ServerArgs
from namespaces.field_order import RETIRED_FIELDS
from registry import assert_contract, explain_fingerprint, fingerprint

ROOT = Path(__file__).parent.parent.parent
CONTRACT = ROOT / "namespaces" / "contract.json"


def test_the_contract_is_kept() -> None:
    assert_contract(ServerArgs, CONTRACT)


def test_the_contract_has_all_of_it() -> None:
    contract = json.loads(CONTRACT.read_text(encoding="utf-8"))
    assert contract["positional"] == list(POSITIONAL_FIELD_ORDER)
    assert (len(contract["fields"]), len(contract["derived"])) == (499, 11)
    assert contract["retired"] == RETIRED_FIELDS


def test_it_is_proved_against_the_launch_shapes() -> None:
    shapes = ["--shapes", "tests/data/launch_shapes.json"]
    done = subprocess.run(
        [sys.executable, "-m", "registry", "prove", CONTRACT, "namespaces:ServerArgs", *shapes],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "input fields: 499 / 499, 0 differences\n" in done.stdout
    assert done.stdout.endswith("derived values: 165 / 165, 0 differences\n")


def test_where_a_server_listens_does_not_count_and_what_it_computes_does() -> None:
    here = ServerArgs("m", port=1, host="a", log_level="debug", nccl_port=3, served_model_name="x")
    assert fingerprint(here) == fingerprint(ServerArgs("m"))
    assert fingerprint(ServerArgs("m", api_key="a")) == fingerprint(ServerArgs("m"))
    (found,) = explain_fingerprint(ServerArgs("m"), ServerArgs("m", dtype="bfloat16"))
    assert str(found) == "dtype: 'auto' and 'bfloat16'"
