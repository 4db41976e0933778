"""Flags of earlier versions of the server, and what to type instead."""

__all__ = ["RETIRED"]

RETIRED = {
    "--enable-deepep-moe": "--moe-a2a-backend deepep",
    "--enable-ep-moe": "--ep-size",
    "--nsa-decode-backend": "--dsa-decode-backend",
    "--nsa-prefill-backend": "--dsa-prefill-backend",
}
"""What took the place of each flag that is no more; for `ArgumentParser(retired=...)`."""
