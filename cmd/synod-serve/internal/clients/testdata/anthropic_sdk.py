"""The Anthropic SDK for Python: messages, streams, tools, images, errors, time-outs, retries."""
import json
import os
import time
import urllib.request

import anthropic

client = anthropic.Anthropic()
QUESTION = [{"role": "user", "content": "What is 17 + 25?"}]
RED = ("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==")


def count():
    with urllib.request.urlopen(os.environ["SYNOD_COUNT"]) as r:
        return json.load(r)


def ok(what):
    print("ok  ", what, flush=True)


print("anthropic", anthropic.__version__)
r = client.messages.create(model="seven", max_tokens=100, system="Be brief.", messages=QUESTION)
assert r.content[0].text == "42" and r.stop_reason == "end_turn" and r.usage.output_tokens > 0, r
ok("messages")

with client.messages.stream(model="seven", max_tokens=100, messages=QUESTION) as s:
    assert "".join(s.text_stream) == "42"
    assert s.get_final_message().stop_reason == "end_turn"
ok("messages, streamed")

TOOLS = [{"name": "weather", "description": "Tells the weather", "input_schema": {
    "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}]
messages = [{"role": "user", "content": "What is the weather in Paris?"}]
r = client.messages.create(model="seven", max_tokens=100, tools=TOOLS, messages=messages)
call = r.content[-1]
assert r.stop_reason == "tool_use" and call.name == "weather" and call.input == {"city": "Paris"}, r
messages += [{"role": "assistant", "content": r.content}, {"role": "user", "content": [
    {"type": "tool_result", "tool_use_id": call.id, "content": "sunny"}]}]
r = client.messages.create(model="seven", max_tokens=100, tools=TOOLS, messages=messages)
assert r.content[0].text == "It is sunny in Paris.", r
with client.messages.stream(model="seven", max_tokens=100, tools=TOOLS, messages=messages[:1]) as s:
    assert s.get_final_message().content[-1].input == {"city": "Paris"}
ok("tools with their results")

r = client.messages.create(model="seven", max_tokens=100, messages=[{"role": "user", "content": [
    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": RED}},
    {"type": "text", "text": "What colour is it?"}]}])
assert r.content[0].text == "red", r
ok("images")

try:
    client.messages.create(model="absent", max_tokens=1, messages=QUESTION)
    raise SystemExit("no error")
except anthropic.NotFoundError as e:
    assert e.request_id and e.body["type"] == "error", e.body
ok("errors")

before = count()["total"]
try:
    client.messages.create(model="seven", max_tokens=100, messages=[
        {"role": "user", "content": "How many models answered differently?"}])
    raise SystemExit("a decision of members that do not agree")
except anthropic.UnprocessableEntityError as e:
    made = e.response.json()["synod"]["calls"]["made"]
assert count()["total"] - before == made, (count(), before, made)
ok(f"no consensus is asked once: {made} calls at the models, as counted")

before = time.time()
try:
    client.with_options(timeout=0.5, max_retries=0).messages.create(model="seven", max_tokens=100, messages=[
        {"role": "user", "content": "Think slowly, please: what is 17 + 25?"}])
    raise SystemExit("no time-out")
except anthropic.APITimeoutError:
    assert time.time() - before < 2
while count()["open"]:
    assert time.time() - before < 10, count()
    time.sleep(0.05)
ok("a time-out ends the calls of the members")
