"""Extracts statements from English with a dependency parser: what people say, and ordinary prose."""
