"""Serve memories over an HTTP API that OpenAPI describes. Needs the extra ``serve``.

The command ``worldthread serve`` uses these parts::

    with Memories("home.worldthread") as memories:
        app = create_app(Service(memories, ClientDirectory(clients)))
"""
