"""Question answering with a memory, and its evaluation."""
