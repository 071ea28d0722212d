"""instructor: objects of a class by tools and by a JSON schema, over OpenAI's and Anthropic's APIs."""
import importlib.metadata

import instructor
from anthropic import Anthropic
from openai import OpenAI
from pydantic import BaseModel


class Total(BaseModel):
    total: int


print("instructor", importlib.metadata.version("instructor"))
ask = [{"role": "user", "content": "What is 17 + 25?"}]
for mode in (instructor.Mode.TOOLS, instructor.Mode.JSON_SCHEMA):
    client = instructor.from_openai(OpenAI(), mode=mode)
    got = client.chat.completions.create(model="seven", messages=ask, response_model=Total, max_retries=1)
    assert got.total == 42, (mode, got)
    print("ok  ", mode.name, "an object of a class", flush=True)
client = instructor.from_anthropic(Anthropic())
got = client.chat.completions.create(model="seven", messages=ask, response_model=Total, max_retries=1, max_tokens=200)
assert got.total == 42, got
print("ok  ", "Anthropic's tools, an object of a class", flush=True)
