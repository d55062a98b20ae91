from worldthread import Memory
from worldthread.adapters.entity_graph import Entity, EntityGraph, Relation

with Memory() as memory:  # in RAM; Memory("agent.worldthread") for a file
    graph = EntityGraph(memory)
    graph.create_entities([Entity("Anna", "person", ("Speaks Spanish",)), Entity("Acme", "company")])
    graph.create_relations([Relation("Anna", "Acme", "works at")])
    print([entity.name for entity in graph.search("spanish").entities])
    print(memory.ask("Where does Anna work?"))
