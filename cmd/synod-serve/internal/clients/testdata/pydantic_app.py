"""pydantic-ai: an agent with a tool and a typed result, over chat completions, responses and Anthropic's messages."""
import importlib.metadata

from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel


class Total(BaseModel):
    total: int


print("pydantic-ai", importlib.metadata.version("pydantic-ai-slim"))
for name, model in {
    "chat completions": OpenAIChatModel("seven"),
    "responses": OpenAIResponsesModel("seven"),
    "messages": AnthropicModel("seven"),
}.items():
    assert Agent(model).run_sync("What is 17 + 25?").output == "42", name
    got = Agent(model, output_type=Total).run_sync("What is 17 + 26?").output
    assert got == Total(total=43), (name, got)
    agent, called = Agent(model, instructions="Use the tool."), []

    @agent.tool_plain
    def weather(city: str) -> str:
        """Tells the weather in a city."""
        called.append(city)
        return "sunny"

    got = agent.run_sync("What is the weather in Paris?").output
    assert got == "It is sunny in Paris." and called == ["Paris"], (name, got, called)
    print("ok  ", name, "chat, a typed result, a tool and its result", flush=True)
