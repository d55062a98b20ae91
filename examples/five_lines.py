from worldthread import Memory

with Memory("notes.worldthread") as memory:
    memory.remember("Anna lives in Rome.", at="2023-05-01")
    memory.remember("Anna moved to Paris. She works for Acme.", at="2024-03-01")
    print(memory.recall("Where does Anna live?").text)
    print(memory.ask("Where did Anna live?", as_of="2023-12-31"))
