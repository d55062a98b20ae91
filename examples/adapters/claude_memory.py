from worldthread import Memory
from worldthread.adapters.claude import ClaudeMemoryTool
from worldthread.adapters.memory_files import MemoryFiles

with Memory() as memory:  # in RAM; Memory("claude.worldthread") for a file
    files = MemoryFiles(memory)
    tool = ClaudeMemoryTool(files)
    # With a key: client.beta.messages.tool_runner(model=..., max_tokens=..., messages=..., tools=[tool])
    # Without one, these are calls as Claude makes them.
    path = "/memories/anna.txt"
    print(tool.call({"command": "create", "path": path, "file_text": "Anna likes green tea."}))
    before = next(memory.episodes()).at
    tool.call({"command": "str_replace", "path": path, "old_str": "green tea", "new_str": "coffee"})
    print(tool.call({"command": "view", "path": path}))
    print("before:", files.read(path, as_of=before))
