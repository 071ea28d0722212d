"""OpenAI's framework for agents: a loop with a tool, over chat completions and over responses."""
import importlib.metadata
import sys

sys.path.pop(0)  # this script is not the package
from agents import Agent, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, function_tool  # noqa: E402
from openai import AsyncOpenAI  # noqa: E402

called = []


@function_tool
def weather(city: str) -> str:
    """Tells the weather in a city."""
    called.append(city)
    return "sunny"


print("openai-agents", importlib.metadata.version("openai-agents"))
for kind in (OpenAIChatCompletionsModel, OpenAIResponsesModel):
    agent = Agent(name="guide", instructions="Use the tool.", tools=[weather], model=kind("seven", AsyncOpenAI()))
    result = Runner.run_sync(agent, "What is the weather in Paris?", max_turns=4)
    assert result.final_output == "It is sunny in Paris." and called == ["Paris"], (result, called)
    called.clear()
    print("ok  ", kind.__name__, "calls the tool once and ends with words", flush=True)
