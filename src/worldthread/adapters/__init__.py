"""Adapters: a memory in the seat that an agent framework has for one.

Each module is for one framework, needs the extra of that name, and imports the framework when it is imported itself:

======================================  ====================================================================
:mod:`worldthread.adapters.langgraph`   ``LangGraphStore``, a ``BaseStore``
:mod:`worldthread.adapters.langchain`   ``LangChainRetriever``, ``LangChainVectorStore``, ``LangChainHistory``
:mod:`worldthread.adapters.claude`      ``ClaudeMemoryTool``, on the files of :mod:`worldthread.adapters.memory_files`
:mod:`worldthread.adapters.agents_sdk`  ``AgentsSession``, a ``Session`` of the OpenAI Agents SDK
:mod:`worldthread.adapters.llamaindex`  ``LlamaIndexMemoryBlock``, a ``BaseMemoryBlock``
:mod:`worldthread.adapters.pydanticai`  ``memory_toolset``, tools for Pydantic AI
======================================  ====================================================================
"""
