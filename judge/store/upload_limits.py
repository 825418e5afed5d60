"""Limits of the uploads that a store accepts."""

from pydantic import Field

from judge.base.parsing import FrozenModel


class UploadLimits(FrozenModel):
    """Limits of an author's uploads; 0: no limit."""

    author_bytes: int = Field(default=2 << 30, ge=0)
    """Total size of an author's uploads, which are all kept."""
    uploads_per_hour: int = Field(default=12, ge=0)
    waiting_per_author: int = Field(default=3, ge=0)
    """Uploads of one author that wait for processing."""
    waiting: int = Field(default=200, ge=0)
    """Uploads of all authors that wait for processing."""
