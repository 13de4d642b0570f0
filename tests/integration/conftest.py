"""Makes the shared bench of the demo corpora a fixture here."""

from integration_fixtures import bench

__all__ = ["bench"]
