"""LangChain: chat, stream, structured output and a loop with a tool, over OpenAI's and Anthropic's APIs."""
import importlib.metadata

from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import BaseModel


class Total(BaseModel):
    total: int


@tool
def weather(city: str) -> str:
    """Tells the weather in a city."""
    return "sunny"


print("langchain-openai", importlib.metadata.version("langchain-openai"))
print("langchain-anthropic", importlib.metadata.version("langchain-anthropic"))
for name, model in {
    "chat completions": ChatOpenAI(model="seven", max_retries=0),
    "responses": ChatOpenAI(model="seven", max_retries=0, use_responses_api=True),
    "messages": ChatAnthropic(model="seven", max_retries=0, max_tokens=200),
}.items():
    assert model.invoke("What is 17 + 25?").text == "42", name
    assert "".join(c.text for c in model.stream("What is 17 + 26?")) == "43", name
    got = model.with_structured_output(Total).invoke("What is 17 + 27?")
    assert got == Total(total=44), (name, got)
    said = [HumanMessage("What is the weather in Paris?")]
    calling = model.bind_tools([weather])
    first = calling.invoke(said)
    assert [c["args"] for c in first.tool_calls] == [{"city": "Paris"}], (name, first)
    said += [first, ToolMessage(weather.invoke(first.tool_calls[0]["args"]), tool_call_id=first.tool_calls[0]["id"])]
    last = calling.invoke(said)
    assert last.text == "It is sunny in Paris.", (name, last)
    print("ok  ", name, "chat, stream, structured output, a tool and its result", flush=True)
