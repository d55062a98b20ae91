"""Benchmarks: data sets, question answering, retrieval, published logs, and reports of sweeps."""
