#!/usr/bin/env python3
"""Serves text and hidden states of one open model over HTTP, for members with provider: hidden.

    pip install -r requirements.txt
    python server.py MODEL        # a hub id, a folder, or a GGUF file

GET /v1/model says which model is served. POST /v1/generate and /v1/weigh take and return what package llm/engine
describes as Request, Result, LogProb and States; in place of a grammar a request has a pattern, a regular expression
that the whole text matches. The state at a token is the output of a layer when the model reads that token, before the
final norm, also in the last layer; layers count from 0, the first after the embedding.
"""
import argparse, base64, copy, hashlib, hmac, inspect, json, math, os, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import regex
import torch
import transformers

MAX_BODY, MAX_WAITING, MAX_LIST, MAX_REPLY = 4 << 20, 64, 256, 12 << 20
TOKEN = "SYNOD_HIDDEN_TOKEN"


class Refused(Exception):
    """A request that cannot be answered, with its HTTP status."""

    def __init__(self, text, status=400):
        super().__init__(text)
        self.status = status


class Model:
    def __init__(self, source, name, revision, dtype, device):
        gguf, folder, commit = {}, source, None
        if os.path.isfile(source):
            folder, gguf = os.path.dirname(source) or ".", {"gguf_file": os.path.basename(source)}
        elif not os.path.isdir(source):
            from huggingface_hub import snapshot_download
            folder = snapshot_download(source, revision=revision, ignore_patterns=["*/*", "consolidated*"],
                                       allow_patterns=["*.json", "*.safetensors", "*.model", "*.txt", "*.jinja"])
            commit = os.path.basename(folder)
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **gguf)
        self.model = transformers.AutoModelForCausalLM.from_pretrained(
            folder, dtype=getattr(torch, dtype), **gguf).to(device).eval()
        text = self.model.config.get_text_config()
        self.context, self.states, self.wanted = getattr(text, "max_position_embeddings", 4096), {}, ()
        layers = next((m for m in self.model.modules()
                       if isinstance(m, torch.nn.ModuleList) and len(m) == text.num_hidden_layers), None)
        if layers is None:
            raise SystemExit(f"{source}: no list of {text.num_hidden_layers} layers is found in this kind of model")
        for i, layer in enumerate(layers):
            layer.register_forward_hook(lambda _, __, out, i=i: self.keep(i, out))
        digest = file_digest(source) if gguf else folder_digest(folder)
        self.info = {"model": name or (source if commit else os.path.basename(os.path.abspath(source))),
                     "revision": commit or digest[:12], "sha256": digest, "layers": len(layers),
                     "width": text.hidden_size, "context": self.context,
                     "engine": f"transformers {transformers.__version__} {dtype}"}
        ends = self.model.generation_config.eos_token_id
        self.ends = {*(ends if isinstance(ends, list) else [ends]), self.tokenizer.eos_token_id} - {None}
        controls = {i: t.content for i, t in self.tokenizer.added_tokens_decoder.items() if t.special}
        self.controls = sorted(filter(None, controls.values()), key=len, reverse=True)
        self.unwritten = sorted(set(controls) - self.ends)  # control tokens that no answer contains
        some = "logits_to_keep" in inspect.signature(self.model.forward).parameters
        self.few = (lambda n: {"logits_to_keep": n}) if some else (lambda n: {})

    def keep(self, layer, out):
        if layer in self.wanted:
            self.states[layer] = (out[0] if isinstance(out, tuple) else out)[0].float()

    def plain(self, text):
        """Breaks control tokens in the text of others, which must not end a message."""
        for control in self.controls:
            text = text.replace(control, control[0] + " " + control[1:])
        return text

    def chat(self, messages):
        messages = [{"role": m["role"], "content": self.plain(m["content"])} for m in messages if m["content"]]
        if not self.tokenizer.chat_template:
            roles = {"system": "", "user": "User: ", "assistant": "Assistant: "}
            text = "".join(roles[m["role"]] + m["content"] + "\n\n" for m in messages) + "Assistant:"
            return self.tokenizer(text).input_ids, ["\nUser:"]
        render = lambda m: self.tokenizer.apply_chat_template(m, tokenize=False, add_generation_prompt=True)
        try:
            text = render(messages)
        except Exception:  # templates without a system message: it goes before the first question
            if len(messages) < 2 or messages[0]["role"] != "system":
                raise
            text = render([{"role": "user", "content": messages[0]["content"] + "\n\n" + messages[1]["content"]},
                           *messages[2:]])
        return self.tokenizer(text, add_special_tokens=False).input_ids, []

    def read(self, ids, cache, logits=1):
        """Reads tokens after those of the cache; returns the last logits, the states by layer, and the cache."""
        self.states = {}
        out = self.model(input_ids=torch.tensor([ids], device=self.model.device), past_key_values=cache,
                         use_cache=True, **self.few(logits))
        return out.logits[0, -logits:].float(), [self.states[i] for i in self.wanted], out.past_key_values

    def prefix(self, ids, more):
        if not 0 < len(ids) < self.context - more:
            raise Refused(f"the prompt has {len(ids)} tokens, and the model reads {self.context} in all")
        return self.read(ids, None)

    def generate(self, q):
        temperature, top_p = number(q, "temperature", 0, 10), number(q, "top_p", 0, 1) or 1
        pattern = regex.compile(q["pattern"]) if q.get("pattern") else None
        if q.get("messages"):
            ids, stops = self.chat(q["messages"])
        else:
            ids, stops = self.tokenizer(self.plain(q["prompt"])).input_ids, []
        stops = [s for s in [*q.get("stop", []), *stops] if s]
        most = min(int(number(q, "max_tokens", 0, 1 << 20)) or 256, self.context - len(ids) - 1)
        chance = torch.Generator().manual_seed(int(q.get("seed") or 0) % (1 << 63))
        logits, states, cache = self.prefix(ids, 1)
        tail = ids[-4:]  # decoded with the answer: some tokenizers drop the space before a first word
        before = len(self.tokenizer.decode(tail, skip_special_tokens=True))
        decode = lambda new: self.tokenizer.decode(tail + new, skip_special_tokens=True)[before:]
        query, rows, starts, out, logprobs, text, finish = [s[-1] for s in states], [], [], [], [], "", "length"
        while finish == "length" and len(out) < most:
            logits[0, self.unwritten] = -math.inf
            for t in preferred(logits[0].cpu(), temperature, top_p, chance):
                now = text if t in self.ends else decode(out + [t])
                if fits(pattern, now, t in self.ends):
                    break
            else:
                raise Refused("no token of the model continues the text as the pattern wants", 422)
            if t in self.ends:
                finish = "stop"
                break
            starts.append(len(text))
            out.append(t)
            text = now
            logprobs.append(torch.log_softmax(logits[0], -1)[t].item())
            logits, states, cache = self.read([t], cache)
            rows.append([s[0] for s in states])
            cut = min((at for at in (text.find(s) for s in stops) if at >= 0), default=None)
            if cut is not None:
                text, finish = text[:cut], "stop"
                rows = [r for r, at in zip(rows, starts) if at < cut]
            elif pattern and pattern.fullmatch(text):
                finish = "stop"
        return {"text": text, "finish": finish, "prompt_tokens": len(ids), "completion_tokens": len(out), "shared": 0,
                "logprobs": logprobs, "states": pooled(q.get("capture"), query, rows, self.info["width"])}

    def weigh(self, q):
        before, texts, scores, states = self.plain(q["prefix"]), q["continuations"], [], []
        head = self.tokenizer(before).input_ids
        after, query, cache = self.prefix(head, 1)
        tokens = 0
        for text in map(self.plain, texts):
            whole = self.tokenizer(before + text).input_ids
            ids = whole[len(head):] if whole[:len(head)] == head and len(whole) > len(head) else \
                self.tokenizer(text, add_special_tokens=False).input_ids
            if not 0 < len(ids) <= self.context - len(head):
                raise Refused(f"a continuation has {len(ids)} tokens")
            logits, rows, _ = self.read(ids, copy.deepcopy(cache), len(ids))
            each = torch.log_softmax(torch.cat([after, logits[:-1]]), -1)[range(len(ids)), ids]
            total = min(each.sum().item(), 0)
            tokens += len(ids)
            scores.append({"sum": total, "mean": total / len(ids), "tokens": len(ids)})
            states.append(pooled(q.get("capture"), [s[-1] for s in query], list(zip(*rows)), self.info["width"]))
        usage = {"prompt_tokens": len(head) + tokens, "completion_tokens": 0, "shared": 0}
        return {"scores": scores, "states": states, "usage": usage}

    def answer(self, path, q):
        want = q.get("capture") or {"layers": [], "positions": []}
        n = len(q["continuations"]) if path == "/v1/weigh" else 1
        if not 0 < n <= MAX_LIST:
            raise Refused(f"{n} continuations; want 1 to {MAX_LIST}")
        if any(l not in range(self.info["layers"]) for l in want["layers"]) or \
                any(p not in ("query", "last", "mean") for p in want["positions"]):
            raise Refused(f"hidden states: want layers 0 to {self.info['layers'] - 1}, and query, last or mean")
        if 16 * n * len(want["layers"]) * len(want["positions"]) * self.info["width"] > 3 * MAX_REPLY:
            raise Refused("the hidden states would be too long; ask for fewer layers, positions or continuations")
        self.wanted = tuple(want["layers"])
        with torch.inference_mode():
            out = self.weigh(q) if path == "/v1/weigh" else self.generate(q)
        return {**out, "sha256": self.info["sha256"]}


def number(q, key, least, most):
    value = q.get(key) or 0
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value <= most:
        raise Refused(f"{key}: want a number from {least} to {most}")
    return value


def preferred(logits, temperature, top_p, chance):
    """Yields tokens, the one to take first first: Gumbel's noise orders them as repeated sampling would."""
    if temperature > 0:
        logits = logits / temperature
        p, order = torch.softmax(logits, -1).sort(descending=True)
        rare = order[p.cumsum(-1) - p >= top_p]
        logits = logits - torch.empty_like(logits).exponential_(generator=chance).log()
        logits[rare] -= 1e9
    yield from logits.topk(min(16, len(logits))).indices.tolist()
    yield from logits.argsort(descending=True)[16:].tolist()


def fits(pattern, text, ends):
    if text.endswith("\ufffd"):
        text = text[:-1] + "é"  # a character of which only the first bytes are there
    return pattern is None or pattern.fullmatch(text, partial=not ends) is not None


def pooled(want, query, rows, width):
    """Pools the states of an answer, one row a token, to llm/engine's States."""
    if not want:
        return None
    none = [torch.zeros(width)] * len(want["layers"])
    by = {"query": query, "last": rows[-1] if rows else none,
          "mean": [torch.stack(r).double().mean(0).float() for r in zip(*rows)] if rows else none}
    data = torch.cat([s.cpu() for p in want["positions"] for s in by[p]]).numpy().astype("<f4").tobytes()
    return {**want, "width": width, "tokens": len(rows), "data": base64.b64encode(data).decode()}


def file_digest(path):
    with open(path, "rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()


def folder_digest(folder):
    names = sorted(n for n in os.listdir(folder) if os.path.isfile(os.path.join(folder, n)) and not n.startswith("."))
    return hashlib.sha256("".join(f"{file_digest(os.path.join(folder, n))} {n}\n" for n in names).encode()).hexdigest()


class Handler(BaseHTTPRequestHandler):
    protocol_version, timeout = "HTTP/1.1", 300
    model, token, one, room = None, "", threading.Lock(), threading.Semaphore(MAX_WAITING)

    def do_GET(self):
        self.reply(lambda: self.model.info)

    def do_POST(self):
        self.reply(self.answer)

    def answer(self):
        if self.headers.get_content_type() != "application/json":  # a browser asks before it sends this elsewhere
            raise Refused("want Content-Type: application/json", 415)
        size = self.headers.get("Content-Length") or ""
        if not size.isdecimal() or int(size) > MAX_BODY:
            raise Refused(f"want a body with a Content-Length of at most {MAX_BODY} bytes", 413)
        if not self.room.acquire(blocking=False):
            raise Refused(f"{MAX_WAITING} requests are waiting", 503)
        try:
            q = json.loads(self.rfile.read(int(size)))
            with self.one:
                return self.model.answer(self.path, q)
        finally:
            self.room.release()

    def reply(self, work):
        status = 200
        try:
            if self.token and not hmac.compare_digest(self.headers.get("Authorization", "").encode(),
                                                      f"Bearer {self.token}".encode()):
                raise Refused("want Authorization: Bearer and the token of the server", 401)
            if self.path not in (("/v1/model",) if self.command == "GET" else ("/v1/generate", "/v1/weigh")):
                raise Refused("no such path", 404)
            out = work()
        except Refused as e:
            status, out = e.status, {"error": str(e)}
        except (KeyError, TypeError, ValueError, AttributeError, regex.error) as e:
            status, out = 400, {"error": f"the request cannot be read: {type(e).__name__}: {e}"}
        except Exception as e:  # of torch, such as too little memory
            status, out = 500, {"error": f"{type(e).__name__}: {e}"}
        body = json.dumps(out).encode()
        self.send_response(status)
        if status != 200:
            self.send_header("Connection", "close")  # the body may not have been read
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("model", help="hub id, folder or GGUF file")
    p.add_argument("--name", help="name that council files give the model (default: the id, or the name of the file)")
    p.add_argument("--revision", help="commit, branch or tag of a hub id")
    p.add_argument("--dtype", default="float32", choices=["float32", "bfloat16", "float16"])
    p.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    p.add_argument("--host", default="127.0.0.1", help=f"another than loopback needs the variable {TOKEN}")
    p.add_argument("--port", type=int, default=8350, help="0: any; the first line printed says which")
    a = p.parse_args()
    Handler.token = os.environ.get(TOKEN, "")
    if not Handler.token and a.host != "localhost" and not a.host.startswith("127."):
        p.error(f"--host {a.host} is not loopback: set {TOKEN}, which callers must then send")
    Handler.model = Model(a.model, a.name, a.revision, a.dtype, a.device)
    server = ThreadingHTTPServer((a.host, a.port), Handler)
    print(f"serving {json.dumps(Handler.model.info)} at http://{a.host}:{server.server_address[1]}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
