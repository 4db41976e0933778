"""Warnings about settings that still work but have been replaced by others."""

from __future__ import annotations

import warnings

__all__ = ["DeprecatedFlagWarning", "warn_deprecated"]


class DeprecatedFlagWarning(FutureWarning):
    """An operator set something that is declared `Arg(deprecated=...)`.

    A `FutureWarning`, the kind that Python shows to those who run a program.
    """


def warn_deprecated(name: str, replacement: str, stacklevel: int = 1) -> None:
    """Warn of a setting that something else has replaced.

    Args:
        name: the setting as the operator wrote it: a flag, or a key of a file.
        replacement: what to write instead.
        stacklevel: whom to blame, as in `warnings.warn`: 1 is the caller.

    Example:
        >>> with warnings.catch_warnings(record=True) as caught:
        ...     warnings.simplefilter("always")
        ...     warn_deprecated("--width", "--tp-size")
        >>> print(caught[0].message)
        --width is deprecated; use --tp-size instead
    """
    message = f"{name} is deprecated; use {replacement} instead"
    warnings.warn(message, DeprecatedFlagWarning, stacklevel=stacklevel + 1)
