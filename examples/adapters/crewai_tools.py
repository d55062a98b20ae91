from crewai import Agent, BaseLLM, Crew, Task

from worldthread import Memory
from worldthread.adapters.crewai import memory_tools


class Scripted(BaseLLM):  # with a key: LLM("gpt-5-mini")
    def call(self, messages, *args, **options):
        if "Paris" in str(messages):
            return "Thought: I know now.\nFinal Answer: She lives in Paris."
        return 'Thought: I ask.\nAction: recall\nAction Input: {"question": "Where does Anna live?"}'


with Memory() as memory:  # in RAM; Memory("crew.worldthread") for a file
    memory.remember("Anna moved to Paris.", at="2024-03-01")
    helper = Agent(role="helper", goal="help", backstory="-", llm=Scripted(model="none"), tools=memory_tools(memory))
    task = Task(description="Where does Anna live?", expected_output="a sentence", agent=helper)
    print(Crew(agents=[helper], tasks=[task]).kickoff())
