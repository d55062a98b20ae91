"""What users hold: it remembers, recalls and answers, and what stands behind that."""
