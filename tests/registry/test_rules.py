"""The marks for resolvers and checks, and where they may stand."""

from collections.abc import Callable
from typing import Any

import pytest

from registry import (
    Context,
    FieldDeclarationError,
    MissingPathError,
    Namespace,
    Registry,
    check,
    compose,
    derived,
    resolver,
)
from registry.rules import Check, Resolver

REGISTRY = Registry("rules")


class Sizes(Namespace, registry=REGISTRY):
    _NS_PATH = "sizes"

    width: int = 1


@pytest.mark.parametrize("decorate", [resolver, check])
def test_outside_a_class_body_nothing_would_run_it(decorate: Callable[..., Any]) -> None:
    def lost(cfg: Any) -> Any:
        """Lost."""

    line = lost.__code__.co_firstlineno + 5
    with pytest.raises(FieldDeclarationError) as caught:
        decorate(lost)
    assert str(caught.value) == (
        f"{__file__}:{line}: @{decorate.__name__} belongs in the body of the namespace class it "
        "serves; nothing would run it here"
    )
    assert isinstance(caught.value, TypeError)


@pytest.mark.parametrize("decorate", [resolver, check])
def test_only_a_function_can_be_marked(decorate: Callable[..., Any]) -> None:
    with pytest.raises(FieldDeclarationError) as caught:

        class Odd(Sizes):
            odd = decorate("width")

    line = test_only_a_function_can_be_marked.__code__.co_firstlineno + 5
    assert (
        str(caught.value)
        == f"{__file__}:{line}: @{decorate.__name__} takes a function, not 'width'"
    )
    assert "odd" not in vars(Sizes)


@pytest.mark.parametrize(
    ("decorate", "subject"), [(resolver, "@resolver"), (check, "@check"), (derived, "Derived")]
)
def test_nobody_waits_for_an_async_function(decorate: Callable[..., Any], subject: str) -> None:
    with pytest.raises(FieldDeclarationError) as caught:

        class Odd(Sizes):
            @decorate
            async def odd(cfg) -> bool:
                """never false"""
                return False

    assert f": {subject} takes a plain function, and " in str(caught.value)
    assert str(caught.value).endswith("Odd.odd is async")


def test_a_check_without_a_docstring_states_no_rule() -> None:
    def tacit(cfg: Any) -> bool:
        return True

    with pytest.raises(FieldDeclarationError) as caught:

        class Silent(Sizes):
            silent = check(tacit)

    line = tacit.__code__.co_firstlineno + 6
    assert str(caught.value) == (
        f"{__file__}:{line}: @check {tacit.__qualname__} has no docstring; it states the rule"
    )


def test_the_rule_is_the_first_paragraph_on_one_line() -> None:
    class Documented(Namespace, registry=Registry("documented")):
        _NS_PATH = "documented"

        @check
        def documented(cfg) -> bool:
            """width is
            odd

            and why is a longer story
            """
            return True

    declaration = Documented.__ns_declaration__
    assert declaration.checks["documented"].doc == "width is odd"


def test_a_rule_is_no_field_and_its_name_is_free_elsewhere() -> None:
    class Ruled(Namespace, registry=Registry("ruled")):
        _NS_PATH = "ruled"

        @resolver
        def decide(cfg) -> None:
            """Decide nothing."""

        @check
        def hold(cfg) -> bool:
            """all is well"""
            return True

    class Other(Ruled):
        _NS_PATH = "other"
        decide_later: bool = False
        hold_off: int = 1

    assert isinstance(vars(Ruled)["decide"], Resolver)
    assert isinstance(vars(Ruled)["hold"], Check)
    assert list(Ruled.__ns_registry__.input) == ["decide_later", "hold_off"]
    assert list(Ruled.__ns_registry__.derived) == []
    context = Context(compose("Args", [Ruled, Other])())
    assert vars(context.bag("ruled")) == {}
    assert context.resolved() == {"decide_later": False, "hold_off": 1}


def test_rules_need_a_path_as_fields_do() -> None:
    with pytest.raises(MissingPathError) as caught:

        class Lost(Namespace, registry=Registry("lost")):
            @check
            def hold(cfg) -> bool:
                """all is well"""
                return True

    line = test_rules_need_a_path_as_fields_do.__code__.co_firstlineno + 3
    name = f"{test_rules_need_a_path_as_fields_do.__qualname__}.<locals>.Lost"
    assert str(caught.value) == (
        f'{__file__}:{line}: {name} declares hold but has no path; add the line _NS_PATH = "lost"'
    )
