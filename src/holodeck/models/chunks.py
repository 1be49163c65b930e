"""What chunks may be like, whichever engine makes them."""

from __future__ import annotations

__all__ = ["refuse_overlap"]


def refuse_overlap(size: int, overlap: int) -> None:
    """Refuse an overlap that leaves nothing new in a chunk."""
    if overlap >= size:
        raise ValueError(
            f"chunk_overlap ({overlap}) must be smaller than chunk_size ({size}): "
            "each chunk would repeat the one before; lower the overlap or raise the size"
        )
    if 2 * overlap > size and size - overlap < 10:
        raise ValueError(
            f"chunk_overlap ({overlap}) leaves {size - overlap} new token(s) in each chunk "
            f"of chunk_size ({size}), so every text would be paid for "
            f"{size // (size - overlap)} times; leave at least 10"
        )
