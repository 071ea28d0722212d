"""The OpenAI SDK for Python: chat, streams, responses, structured output, tools, images, errors, time-outs, retries."""
import json
import os
import time
import urllib.request

import openai
from pydantic import BaseModel

client = openai.OpenAI()
QUESTION = [{"role": "user", "content": "What is 17 + 25?"}]
RED = ("data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5E"
       "rkJggg==")


def count():
    with urllib.request.urlopen(os.environ["SYNOD_COUNT"]) as r:
        return json.load(r)


def ok(what):
    print("ok  ", what, flush=True)


print("openai", openai.__version__)
r = client.chat.completions.create(model="seven", messages=QUESTION, seed=1)
assert r.choices[0].message.content == "42" and r.usage.total_tokens > 0 and r.model == "seven", r
assert r.model_extra["synod"]["status"] == "agreed", r.model_extra
ok("chat")

chunks = list(client.chat.completions.create(model="seven", messages=QUESTION, stream=True,
                                             stream_options={"include_usage": True}))
text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
assert text == "42" and chunks[-1].usage.total_tokens > 0 and not chunks[-1].choices, chunks
assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] == "stop"
with client.chat.completions.stream(model="seven", messages=QUESTION) as s:
    assert s.get_final_completion().choices[0].message.content == "42"
ok("chat, streamed")

r = client.responses.create(model="seven", input="What is 17 + 25?", instructions="Be brief.")
assert r.output_text == "42" and r.status == "completed", r
again = client.responses.create(model="seven", input="And what is 18 + 25?", previous_response_id=r.id)
assert again.output_text == "43", again
with client.responses.stream(model="seven", input="What is 17 + 25?") as s:
    kinds = [e.type for e in s]
    assert s.get_final_response().output_text == "42" and kinds[-1] == "response.completed", kinds
ok("responses, whole, continued and streamed")


class Sum(BaseModel):
    result: int
    certain: bool


r = client.chat.completions.parse(model="seven", messages=QUESTION, response_format=Sum)
assert r.choices[0].message.parsed == Sum(result=42, certain=True), r
r = client.responses.parse(model="seven", input="What is 17 + 25?", text_format=Sum)
assert r.output_parsed == Sum(result=42, certain=True), r
ok("structured output")

TOOLS = [{"type": "function", "function": {"name": "weather", "description": "Tells the weather", "parameters": {
    "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False}}}]
messages = [{"role": "user", "content": "What is the weather in Paris?"}]
r = client.chat.completions.create(model="seven", messages=messages, tools=TOOLS)
call = r.choices[0].message.tool_calls[0]
assert r.choices[0].finish_reason == "tool_calls" and call.function.name == "weather", r
assert json.loads(call.function.arguments) == {"city": "Paris"}, call
messages += [r.choices[0].message, {"role": "tool", "tool_call_id": call.id, "content": "sunny"}]
r = client.chat.completions.create(model="seven", messages=messages, tools=TOOLS)
assert r.choices[0].message.content == "It is sunny in Paris.", r
with client.chat.completions.stream(model="seven", messages=messages[:1], tools=TOOLS) as s:
    assert s.get_final_completion().choices[0].message.tool_calls[0].function.name == "weather"
TOOL = {"type": "function", **TOOLS[0]["function"], "strict": True}
r = client.responses.create(model="seven", input="What is the weather in Paris?", tools=[TOOL])
call = r.output[0]
assert call.type == "function_call" and json.loads(call.arguments) == {"city": "Paris"}, r
r = client.responses.create(model="seven", previous_response_id=r.id, tools=[TOOL], input=[
    {"type": "function_call_output", "call_id": call.call_id, "output": "sunny"}])
assert r.output_text == "It is sunny in Paris.", r
ok("tools with their results, in chat, streams and responses")

r = client.chat.completions.create(model="seven", messages=[{"role": "user", "content": [
    {"type": "text", "text": "What colour is it?"}, {"type": "image_url", "image_url": {"url": RED}}]}])
assert r.choices[0].message.content == "red", r
r = client.responses.create(model="seven", input=[{"role": "user", "content": [
    {"type": "input_text", "text": "What colour is it?"}, {"type": "input_image", "image_url": RED}]}])
assert r.output_text == "red", r
ok("images")

assert {"seven", "broken-python"} <= {m.id for m in client.models.list()}
for wrong, kind, code in [({"model": "absent"}, openai.NotFoundError, "model_not_found"),
                          ({"n": 2}, openai.BadRequestError, "unsupported_parameter"),
                          ({"logprobs": True}, openai.BadRequestError, "unsupported_parameter")]:
    try:
        client.chat.completions.create(**{"model": "seven", "messages": QUESTION, **wrong})
        raise SystemExit(f"no error for {wrong}")
    except kind as e:
        assert e.code == code and e.request_id, e
ok("models and errors")

before = count()["total"]
try:
    client.chat.completions.create(model="seven", messages=[{"role": "user", "content": "How many people answered differently?"}])
    raise SystemExit("a decision of members that do not agree")
except openai.UnprocessableEntityError as e:
    assert e.code == "no_consensus", e
    made = e.response.json()["synod"]["calls"]["made"]
assert count()["total"] - before == made, (count(), before, made)
ok(f"no consensus is asked once: {made} calls at the models, as counted")

before = count()["total"]
try:
    client.chat.completions.create(model="solo:bad-python", messages=QUESTION)
    raise SystemExit("an answer of a broken model")
except openai.APIStatusError as e:
    assert e.status_code in (500, 502), e
assert count()["total"] - before == 3, count()["total"] - before
ok("a broken model is asked by the SDK's three attempts, three times and not more")

before = time.time()
slow = [{"role": "user", "content": "Think slowly: what is 17 + 25?"}]
try:
    client.with_options(timeout=0.5, max_retries=0).chat.completions.create(model="seven", messages=slow)
    raise SystemExit("no time-out")
except openai.APITimeoutError:
    assert time.time() - before < 2
while count()["open"]:
    assert time.time() - before < 10, count()
    time.sleep(0.05)
ok("a time-out ends the calls of the members")
