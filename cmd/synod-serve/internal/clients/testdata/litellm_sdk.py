"""LiteLLM's SDK: completion, stream, tools, errors, with the cost that the gateway reports."""
import importlib.metadata
import json
import os

import litellm

BASE = {"api_base": os.environ["OPENAI_BASE_URL"], "api_key": "any", "model": "openai/seven"}
QUESTION = [{"role": "user", "content": "What is 17 + 25?"}]


def ok(what):
    print("ok  ", what, flush=True)


print("litellm", importlib.metadata.version("litellm"))
r = litellm.completion(messages=QUESTION, **BASE)
assert r.choices[0].message.content == "42" and r.usage.total_tokens > 0, r
cost = r._hidden_params["additional_headers"]["llm_provider-x-litellm-response-cost"]
assert float(cost) > 0, cost
ok("completion, with the council's cost in a header")

text = "".join(c.choices[0].delta.content or "" for c in litellm.completion(messages=QUESTION, stream=True, **BASE))
assert text == "42", text
ok("completion, streamed")

TOOLS = [{"type": "function", "function": {"name": "weather", "description": "Tells the weather", "parameters": {
    "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}]
messages = [{"role": "user", "content": "What is the weather in Paris?"}]
r = litellm.completion(messages=messages, tools=TOOLS, **BASE)
call = r.choices[0].message.tool_calls[0]
assert json.loads(call.function.arguments) == {"city": "Paris"}, call
messages += [r.choices[0].message, {"role": "tool", "tool_call_id": call.id, "content": "sunny"}]
r = litellm.completion(messages=messages, tools=TOOLS, **BASE)
assert r.choices[0].message.content == "It is sunny in Paris.", r
ok("tools with their results")

r = litellm.responses(input="What is 17 + 25?", **BASE)
assert r.output[0].content[0].text == "42", r
ok("responses")

try:
    litellm.completion(messages=[{"role": "user", "content": "How many agents answered differently?"}], **BASE)
    raise SystemExit("a decision of members that do not agree")
except litellm.exceptions.BadRequestError as e:  # LiteLLM repeats no request with this error
    assert "no consensus" in str(e), e
ok("no consensus is an error that LiteLLM does not repeat")
