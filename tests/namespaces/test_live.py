"""The server's live configuration: resolvers, checks, secrets and an elastic scale-up."""

import multiprocessing
import pickle
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor

import pytest

from namespaces import ServerArgs, get_exec, get_parallel, get_serving
from registry import (
    CheckError,
    Context,
    InvalidValueError,
    NotPublishedError,
    ResolutionError,
    current,
    publish,
    reset,
)

WIDTHS = ("attn_tp_size", "attn_dp_size", "moe_tp_size", "moe_ep_size")
STEPS = ((2, 4), (3, 6), (4, 8))


@pytest.fixture(autouse=True)
def nothing_published() -> Iterator[None]:
    reset()
    yield
    reset()


def widths_after_scaling(pickled: bytes, dp_size: int, tp_size: int) -> list[int]:
    context = publish(pickle.loads(pickled))
    context.override("joiner", dp_size=dp_size, tp_size=tp_size)
    widths = [getattr(get_parallel(), name) for name in WIDTHS]
    reset()
    return widths


def test_an_accessor_reads_what_is_published() -> None:
    with pytest.raises(NotPublishedError) as caught:
        get_parallel()
    assert str(caught.value) == (
        "the namespace 'parallel' was read before a configuration was published in this "
        "process; call publish(record) first"
    )
    publish(ServerArgs("m", tp_size=8, dp_size=2, enable_dp_attention=True))
    assert get_parallel().attn_tp_size == 4
    assert get_exec().moe.moe_runner_backend == "auto"


def test_every_accessor_returns_its_bag() -> None:
    import namespaces

    context = publish(ServerArgs("m"))
    top = {path.partition(".")[0] for path in ("exec", *context.top_level())}
    assert len(top) == 12
    for name in top:
        assert getattr(namespaces, f"get_{name}")() is context.bag(name)


def test_an_elastic_scale_up_moves_every_width_and_not_the_record() -> None:
    record = ServerArgs("m", dp_size=2, tp_size=4, enable_dp_attention=True, ep_size=1)
    pickled = pickle.dumps(record)
    context = publish(record)
    parallel = get_parallel()
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        for dp_size, tp_size in STEPS:
            context.override("scale-up", dp_size=dp_size, tp_size=tp_size)
            widths = [getattr(parallel, name) for name in WIDTHS]
            assert widths == [2, dp_size, tp_size, 1]
            joined = pool.submit(widths_after_scaling, pickled, dp_size, tp_size)
            assert joined.result() == widths
    assert (record.dp_size, record.tp_size) == (2, 4)
    assert pickle.dumps(record) == pickled
    assert [change.source for change in context.log] == ["scale-up"] * 3


@pytest.mark.parametrize(
    ("given", "decided"),
    [
        ({"tp_size": 8, "moe_a2a_backend": "deepep"}, {"ep_size": 8}),
        ({"tp_size": 8, "moe_a2a_backend": "deepep", "ep_size": 4}, {"ep_size": 4}),
        ({"tp_size": 8}, {"ep_size": 1}),
        (
            {"enable_dp_attention": True, "enable_dp_lm_head": True},
            {"enable_dp_attention": False, "enable_dp_lm_head": False},
        ),
        (
            {"enable_dp_attention": True, "dp_size": 2, "tp_size": 2},
            {"enable_dp_attention": True},
        ),
        ({"device": "cpu"}, {"attention_backend": "intel_amx"}),
        ({"device": "cpu", "attention_backend": "triton"}, {"attention_backend": "triton"}),
        ({"device": "cuda"}, {"attention_backend": None}),
        ({}, {"swa_full_tokens_ratio": 0.8, "mamba_full_memory_ratio": 0.9}),
        ({"swa_full_tokens_ratio": 0.5}, {"swa_full_tokens_ratio": 0.5}),
    ],
)
def test_what_the_operator_left_open_is_decided(given: dict, decided: dict) -> None:
    record = ServerArgs("m", **given)
    resolved = Context(record).resolved()
    assert {name: resolved[name] for name in decided} == decided
    assert record == ServerArgs("m", **given)


def test_a_half_made_change_is_refused_with_the_values_and_the_rule() -> None:
    context = publish(ServerArgs("m", tp_size=4, dp_size=2, enable_dp_attention=True))
    with pytest.raises(CheckError) as caught:
        context.override("typo", dp_size=3)
    assert str(caught.value).endswith(
        ": attn_tp_size * attn_dp_size * attn_cp_size is tp_size, but attn_tp_size=1, "
        "attn_dp_size=3, attn_cp_size=1, tp_size=4"
    )
    assert get_parallel().dp_size == 2
    assert context.log == ()


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        ({"tp_size": 0}, "every parallel size is at least 1 rank, but tp_size=0"),
        ({"tp_size": 8, "ep_size": 3}, "moe_tp_size * moe_ep_size * moe_dp_size is tp_size"),
        (
            {"tp_size": 6, "dp_size": 3, "enable_dp_attention": True, "ep_size": 3},
            "with attention data parallelism, ep_size is 1 or a multiple of the ranks in a "
            "replica, attn_tp_size * attn_cp_size, but enable_dp_attention=True, ep_size=3, "
            "attn_tp_size=2, attn_cp_size=1",
        ),
    ],
)
def test_a_launch_that_breaks_a_rule_is_not_published(given: dict, rule: str) -> None:
    with pytest.raises(CheckError) as caught:
        publish(ServerArgs("m", **given))
    assert rule in str(caught.value)
    with pytest.raises(NotPublishedError):
        current()


def test_values_are_checked_at_publish_and_override() -> None:
    with pytest.raises(InvalidValueError) as caught:
        publish(ServerArgs("m", tp_size="8", sampling_backend="pytorhc"))
    assert sorted(line.partition(": ")[2] for line in str(caught.value).splitlines()) == [
        "sampling_backend must be one of ascend, flashinfer, pytorch, not 'pytorhc'. "
        "Did you mean 'pytorch'?",
        "tp_size must be int, not '8' (str)",
    ]
    context = publish(ServerArgs("m"))
    with pytest.raises(InvalidValueError):
        context.override("typo", tp_size="8")


def test_every_default_of_the_server_passes_the_value_check() -> None:
    defaults = vars(ServerArgs("m"))
    given = Context(ServerArgs(**defaults)).resolved()
    assert given.keys() == Context(ServerArgs("m")).resolved().keys()


@pytest.mark.parametrize("name", ["api_key", "admin_api_key", "ssl_keyfile_password"])
def test_keys_and_passwords_are_shown_nowhere(name: str) -> None:
    record = ServerArgs("m", **{name: "hunter2"})
    context = publish(record)
    context.override("rotation", **{name: "hunter3"})
    shown = [
        repr(record),
        repr(get_serving()),
        str(context.explain(name)),
        repr(context.explain(name)),
        repr(context.log),
        repr(context.resolved()),
    ]
    with pytest.raises(InvalidValueError) as caught:
        context.override("typo", **{name: 31337})
    shown.append(str(caught.value))
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        publish(ServerArgs("other"))
    shown.append(str(warned[0].message))
    assert not [text for text in shown if "hunter" in text or "31337" in text]
    assert getattr(pickle.loads(pickle.dumps(record)), name) == "hunter2"


def test_a_resolver_that_decides_what_it_may_not_is_named() -> None:
    from namespaces import NAMESPACES, POSITIONAL_FIELD_ORDER, Parallel
    from registry import Registry, compose, resolver

    class Rogue(Parallel, registry=Registry("rogue")):
        @resolver
        def widen(cfg):
            return {"tp_size": 2}

    record_class = compose("Rogue", [*NAMESPACES, Rogue], order=POSITIONAL_FIELD_ORDER)
    with pytest.raises(ResolutionError) as caught:
        Context(record_class("m"))
    assert "resolver widen decided 'tp_size', which is not declared Arg(resolvable=True)" in str(
        caught.value
    )
