"""Text worlds."""
