"""Go-Explore without a model."""
