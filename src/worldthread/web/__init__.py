"""Web pages that show a memory and recorded runs, and on which people watch or play games. Needs the extra ``web``.

The command ``worldthread web`` uses these parts::

    access = Access.for_web("127.0.0.1", 8766)
    with (
        listening_socket(access.host, access.port) as listening,
        AppState(Path("home.worldthread")) as app_state,
    ):
        serve(create_app(app_state, read_assets(), access), listening)

The files for browsers are built by ``make web`` from the sources in ``frontend``, and are part of every wheel.
"""

from __future__ import annotations
