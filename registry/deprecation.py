"""The warning that something still works and will not for ever."""

from __future__ import annotations

import warnings

__all__ = ["DeprecatedFlagWarning", "warn_deprecated"]


class DeprecatedFlagWarning(FutureWarning):
    """An operator gave a setting that has a replacement.

    A FutureWarning, which Python shows by default: it is for operators, not for developers.
    """


def warn_deprecated(subject: str, replacement: str, stacklevel: int = 2) -> None:
    """Warn that a setting was given that has a replacement.

    Args:
        subject: what was given, with its place if it has one, such as `run.yaml:3: tp`.
        replacement: what to give instead.
        stacklevel: as in `warnings.warn`, counted from the caller.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings(record=True) as caught:
        ...     warnings.simplefilter("always")
        ...     warn_deprecated("--old", "--new")
        >>> print(caught[0].message)
        --old is deprecated: use --new
    """
    message = f"{subject} is deprecated: use {replacement}"
    warnings.warn(DeprecatedFlagWarning(message), stacklevel=stacklevel + 1)
