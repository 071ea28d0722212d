// The OpenAI SDK for JavaScript: chat, streams, responses, structured output, tools, images, errors, time-outs, retries.
import assert from "node:assert/strict";
import OpenAI from "openai";
import { VERSION } from "openai/version";

const client = new OpenAI();
const messages = [{ role: "user", content: "What is 17 + 25?" }];
const ok = (what) => console.log("ok  ", what);
const count = async () => (await fetch(process.env.SYNOD_COUNT)).json();
const RED = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJ" +
  "RU5ErkJggg==";

console.log("openai", VERSION);
let r = await client.chat.completions.create({ model: "seven", messages });
assert.equal(r.choices[0].message.content, "42");
assert.equal(r.synod.status, "agreed");
ok("chat");

let text = "", usage = null;
for await (const c of await client.chat.completions.create({ model: "seven", messages, stream: true,
  stream_options: { include_usage: true } })) {
  text += c.choices[0]?.delta?.content ?? "";
  usage = c.usage ?? usage;
}
assert.equal(text, "42");
assert.ok(usage.total_tokens > 0);
const runner = client.chat.completions.stream({ model: "seven", messages });
assert.equal(await runner.finalContent(), "42");
ok("chat, streamed");

r = await client.responses.create({ model: "seven", input: "What is 17 + 25?" });
assert.equal(r.output_text, "42");
const kinds = [];
for await (const e of client.responses.stream({ model: "seven", input: "What is 17 + 25?" })) kinds.push(e.type);
assert.equal(kinds.at(-1), "response.completed");
ok("responses, whole and streamed");

r = await client.chat.completions.parse({ model: "seven", messages, response_format: { type: "json_schema", json_schema: {
  name: "sum", strict: true, schema: { type: "object", properties: { result: { type: "integer" } }, required: ["result"],
    additionalProperties: false } } } });
assert.deepEqual(JSON.parse(r.choices[0].message.content), { result: 42 });
ok("structured output");

const called = [];
const tools = client.chat.completions.runTools({ model: "seven",
  messages: [{ role: "user", content: "What is the weather in Paris?" }],
  tools: [{ type: "function", function: { name: "weather", description: "Tells the weather", parse: JSON.parse,
    function: ({ city }) => { called.push(city); return "sunny"; },
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] } } }] });
assert.equal(await tools.finalContent(), "It is sunny in Paris.");
assert.deepEqual(called, ["Paris"]);
ok("a loop with a tool");

r = await client.chat.completions.create({ model: "seven", messages: [{ role: "user", content: [
  { type: "text", text: "What colour is it?" }, { type: "image_url", image_url: { url: RED } }] }] });
assert.equal(r.choices[0].message.content, "red");
ok("images");

await assert.rejects(client.chat.completions.create({ model: "absent", messages }), (e) =>
  e instanceof OpenAI.NotFoundError && e.code === "model_not_found" && e.requestID !== undefined);
let before = (await count()).total, made = 0;
await assert.rejects(client.chat.completions.create({ model: "seven",
  messages: [{ role: "user", content: "How many members answered differently?" }] }), (e) => {
  made = Number(e.headers.get("x-synod-calls"));
  return e instanceof OpenAI.UnprocessableEntityError && e.code === "no_consensus";
});
assert.equal((await count()).total - before, made);
ok(`errors; no consensus is asked once: ${made} calls at the models, as counted`);

before = (await count()).total;
await assert.rejects(client.chat.completions.create({ model: "solo:bad-javascript", messages }), OpenAI.APIError);
assert.equal((await count()).total - before, 3);
ok("a broken model is asked by the SDK's three attempts, three times and not more");

const begun = Date.now();
await assert.rejects(client.chat.completions.create({ model: "seven",
  messages: [{ role: "user", content: "Think slowly again: what is 17 + 25?" }] }, { timeout: 500, maxRetries: 0 }),
  OpenAI.APIConnectionTimeoutError);
while ((await count()).open > 0) {
  assert.ok(Date.now() - begun < 10000);
  await new Promise((done) => setTimeout(done, 50));
}
ok("a time-out ends the calls of the members");
