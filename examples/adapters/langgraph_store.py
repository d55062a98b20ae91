from langgraph.graph import START, MessagesState, StateGraph
from langgraph.store.base import BaseStore

from worldthread import Memory
from worldthread.adapters.langgraph import LangGraphStore


def agent(state: MessagesState, *, store: BaseStore) -> dict[str, object]:
    said = str(state["messages"][-1].content)
    found = store.search(("anna",), query=said, limit=1)
    store.put(("anna",), said, {"text": said})
    return {"messages": [("ai", f"I remember: {found[0].value['text']}" if found else "Nice to meet you.")]}


with Memory() as memory:  # in RAM; Memory("agent.worldthread") for a file
    store = LangGraphStore(memory)
    graph = StateGraph(MessagesState).add_node(agent).add_edge(START, "agent").compile(store=store)
    for text in ("I like green tea.", "What do I like to drink?"):  # each call is a thread of its own
        print(graph.invoke({"messages": [("user", text)]})["messages"][-1].content)
