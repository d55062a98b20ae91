"""Pages on which people see a memory, look through runs, and watch or play games. Needs the extra ``web``.

The command ``worldthread web`` is made of these parts::

    access = Access.of("127.0.0.1", 8766)
    with listening_socket(access.host, access.port) as listening, Desk(Path("home.worldthread")) as desk:
        serve(create_app(desk, read_assets(), access), listening)

What a browser gets is built from the sources in ``frontend`` by ``make web``, and is part of every wheel.
"""

from __future__ import annotations
