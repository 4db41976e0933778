"""What real launch shapes imply, and that none of it travels."""

import copy
import dataclasses
import json
import multiprocessing
import pickle
import pickletools
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from namespaces import ServerArgs
from namespaces.report import describe, texts_in
from registry import derive, fields_set

SHAPES = json.loads(
    (Path(__file__).parent.parent / "data" / "launch_shapes.json").read_text(encoding="utf-8")
)
DERIVED = list(SHAPES[0]["derived"])

each_shape = pytest.mark.parametrize("shape", SHAPES, ids=[shape["name"] for shape in SHAPES])


def test_the_table_has_15_shapes_of_11_values() -> None:
    assert len(SHAPES) == 15
    assert {len(shape["derived"]) for shape in SHAPES} == {11}


@each_shape
def test_a_shape_implies_the_widths_of_the_table(shape: dict) -> None:
    view = derive(ServerArgs("m", **shape["args"]))
    assert {name: getattr(view, name) for name in DERIVED} == shape["derived"]


@each_shape
def test_nothing_derived_is_on_the_record_or_in_its_pickle(shape: dict) -> None:
    args = ServerArgs("m", **shape["args"])
    derive(args).attn_tp_size  # noqa: B018  reading it must leave no trace
    pickled = pickle.dumps(args)
    assert not set(DERIVED) & {field.name for field in dataclasses.fields(args)}
    assert not set(DERIVED) & dataclasses.asdict(args).keys()
    assert not [name for name in DERIVED if hasattr(args, name) or hasattr(ServerArgs, name)]
    assert not set(DERIVED) & texts_in(pickled)
    # The field names are compressed in the bytes; everything else stands there in the open.
    assert {"m", "ServerArgs"} <= texts_in(pickled)
    assert "tp_size" in texts_in(pickled)
    strings = {arg for _, arg, _ in pickletools.genops(pickled) if isinstance(arg, str)}
    assert not [text for text in strings if any(name in text for name in DERIVED)]


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_a_record_crosses_to_another_process_and_implies_the_same_there(method: str) -> None:
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(max_workers=1, mp_context=context) as pool:
        for shape in SHAPES:
            args = ServerArgs("m", **shape["args"])
            report = pool.submit(describe, pickle.dumps(args)).result()
            derived = {k: v for fields in report["derived"].values() for k, v in fields.items()}
            assert derived == shape["derived"]
            assert pool.submit(copy.copy, args).result() == args


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_record_survives_every_pickle_protocol(protocol: int) -> None:
    args = ServerArgs("m", tp_size=8, encoder_urls=["http://e"])
    there = pickle.loads(pickle.dumps(args, protocol))
    assert there == args
    assert fields_set(there) == {"model_path", "tp_size", "encoder_urls"}


def test_a_record_survives_cloudpickle_and_copies() -> None:
    cloudpickle = pytest.importorskip("cloudpickle")
    args = ServerArgs("m", encoder_urls=["http://e"])
    copies = [pickle.loads(cloudpickle.dumps(args)), copy.copy(args), copy.deepcopy(args)]
    assert copies == [args] * 3
    assert copies[2].encoder_urls is not args.encoder_urls
