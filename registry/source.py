"""Where a class statement stands: its file, its lines and the names it could see.

Error messages point at lines and annotations are evaluated among the names around them;
both need what only the moment of the class statement knows. Knows nothing of fields or registries.
"""

from __future__ import annotations

import ast
import inspect
import linecache
from collections.abc import Iterator, Mapping
from types import FrameType
from typing import Any

__all__ = ["Origin", "call_site", "calling_frame"]


def call_site() -> str:
    """Return `file:line` of the code that called into this package."""
    frame = calling_frame()
    return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame is not None else ""


def calling_frame(package: str = "registry") -> FrameType | None:
    """Return the frame of the code that called into this package.

    Args:
        package: another package that the call may have come through.
    """
    frame = inspect.currentframe()
    while frame is not None:
        name = frame.f_globals.get("__name__", "").partition(".")[0]
        if name not in ("registry", "contextlib", package):
            return frame
        frame = frame.f_back
    return None


class Origin:
    """The place of one class statement.

    Args:
        frame: the frame that executes the statement.
        module: the class's `__module__`.
        qualname: the class's `__qualname__`.

    Attributes:
        file: the file as the code object names it.
        line: line of the statement.
        globals: the namespace of the module.
    """

    __slots__ = ("_frame", "file", "globals", "line", "module", "qualname")

    def __init__(self, frame: FrameType, module: str, qualname: str) -> None:
        self.file = frame.f_code.co_filename
        self.line = frame.f_lineno
        self.globals = frame.f_globals
        self.module = module
        self.qualname = qualname
        self._frame = _enclosing_function(frame) if "<locals>" in qualname else None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"

    def where(self, name: str) -> str:
        """Return `file:line` of one name that the class body binds.

        Args:
            name: the name. One whose line is not known is placed at the class statement.
        """
        return f"{self.file}:{self.lines().get(name, self.line)}"

    def locals(self) -> Mapping[str, Any]:
        """Return the local names of the function around the class, as they are by now."""
        return self._frame.f_locals if self._frame is not None else {}

    def forget_locals(self) -> None:
        """Let go of the function around the class, which is kept alive until this call."""
        self._frame = None

    def lines(self) -> dict[str, int]:
        """Return the line of every name that the class body binds.

        Returns:
            Empty where the source cannot be read, such as in an interactive interpreter, or
            no longer has the class.
        """
        body = self._class_node()
        if body is None:
            return {}
        return {name: node.lineno for node in body.body for name in _bound_names(node)}

    def imports_for_type_checking(self) -> set[str]:
        """Return the names that the module imports only under `if TYPE_CHECKING:`."""
        return {
            (alias.asname or alias.name).partition(".")[0]
            for node in ast.walk(self._tree())
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
            for statement in node.body
            for child in ast.walk(statement)
            if isinstance(child, ast.Import | ast.ImportFrom)
            for alias in child.names
        }

    def _tree(self) -> ast.Module:
        linecache.checkcache(self.file)
        lines = linecache.getlines(self.file, self.globals)
        try:
            return ast.parse("".join(lines))
        except (SyntaxError, ValueError):
            return ast.Module(body=[], type_ignores=[])

    def _class_node(self) -> ast.ClassDef | None:
        name = self.qualname.rpartition(".")[2]
        found = [
            node
            for node in ast.walk(self._tree())
            if isinstance(node, ast.ClassDef) and node.name == name
        ]
        # Which line a frame reports for a decorated or wrapped class statement differs
        # between versions of Python, so the nearest class of the name is taken.
        return min(found, key=lambda node: abs(node.lineno - self.line), default=None)


def _enclosing_function(frame: FrameType | None) -> FrameType | None:
    while frame is not None and (
        not frame.f_code.co_flags & inspect.CO_OPTIMIZED
        # Python 3.12 puts a class with type parameters in a function of its own.
        or frame.f_code.co_name.startswith("<generic parameters of ")
    ):
        frame = frame.f_back
    return frame


def _bound_names(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        yield node.target.id
    elif isinstance(node, ast.Assign):
        yield from (target.id for target in node.targets if isinstance(target, ast.Name))
    elif isinstance(node, ast.FunctionDef):
        yield node.name
