"""The explorer, an agent without a model."""
