from langchain_core.runnables import RunnableLambda

from worldthread import Memory
from worldthread.adapters.langchain import LangChainRetriever, LangChainVectorStore

with Memory() as memory:  # in RAM; Memory("notes.worldthread") for a file
    memory.remember("Anna lives in Rome.", at="2023-05-01")
    memory.remember("Anna moved to Paris.", at="2024-03-01")
    retriever = LangChainRetriever(memory=memory, kinds=["fact"], k=1)
    chain = retriever | RunnableLambda(lambda documents: documents[0].page_content)
    print(chain.invoke("Where does Anna live?"))
    print(chain.invoke("Where did Anna live?", as_of="2023-12-31"))

    store = LangChainVectorStore(memory, collection="recipes")
    store.add_texts(["Boil the pasta.", "Bake the bread."], ids=["pasta", "bread"])
    print(store.similarity_search("bread", k=1)[0].id)
