"""The pages that the laboratory adds to ``worldthread web``: runs, and plays."""
