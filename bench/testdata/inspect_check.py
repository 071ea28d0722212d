"""Has the released inspect_ai read what `synod bench export --inspect` writes.

    python inspect_check.py SYNOD FOLDER

makes runs in FOLDER with the program SYNOD (simulated members, a server on
loopback, a server that is not there, runs cut off half-way), exports each in both
formats, and compares what inspect_ai reads with the JSON report of the same run.
Ends with an AssertionError at the first thing that differs.
"""

import http.server
import json
import pathlib
import signal
import subprocess
import sys
import threading
import time

import inspect_ai
from inspect_ai.log import (
    list_eval_logs,
    read_eval_log,
    read_eval_log_sample_summaries,
    read_eval_log_samples,
)
from inspect_ai.scorer import value_to_float

SYNOD = str(pathlib.Path(sys.argv[1]).resolve())
FOLDER = pathlib.Path(sys.argv[2]).resolve()
RATES = ("iaa", "faa", "bfti", "ra", "h_majority", "decision_accuracy", "agreed", "capture", "liveness")

PROTOCOLS = ("majority", "single", "weighted-majority", "self-consistency", "debate", "cp-wbft")

SIMULATED = """
council: four
protocol: {name: sac, rounds: 2}
f: 1
models:
  sure: {provider: simulated, ability: 0.6}
  lost: {provider: simulated, ability: 0.1}
seats:
  - {id: a, model: sure, count: 2, group: strong}
  - {id: w, model: lost, group: weak}
  - {id: m, model: lost, adversary: {name: replay}}
"""

SERVED = """
council: served
protocol: {name: sac, rounds: 1}
models: {m: {provider: openai, model: toy, url: "%s/v1", attempts: 1, timeout: 20s}}
seats: [{id: a, model: m, count: 3}]
"""

QUESTIONS = [
    {"id": "sum/one", "question": "What is 2 + 2?", "answer": "4"},
    {"id": "sum two", "question": "What is 2 + 3?", "answer": "5"},
    {"id": "fish", "question": "Which is a fish?", "answer": "B", "choices": ["whale", "cod"]},
]


class Toy(http.server.BaseHTTPRequestHandler):
    """A chat server that always says 4, or B where there is a cod to choose."""

    def do_POST(self):
        asked = self.rfile.read(int(self.headers["Content-Length"])).decode()
        said = {"reasoning": "<b>four</b> \u202e", "answer": "B" if "cod" in asked else "4", "score": 0.9}
        body = json.dumps({
            "id": "x", "object": "chat.completion", "model": "toy",
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": json.dumps(said)}}],
            "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
        }).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def synod(*args, code=0):
    done = subprocess.run([SYNOD, "--home", str(FOLDER / "home"), *map(str, args)], capture_output=True, text=True)
    assert done.returncode == code, f"synod {args} ended with {done.returncode}: {done.stderr}"
    return done.stdout


def cut(name, sig):
    """Starts a long run and ends it with a signal once something is finished."""
    run = FOLDER / name
    p = subprocess.Popen([SYNOD, "--home", str(FOLDER / "home"), "-q", "bench", "run", "builtin", "-c", str(FOLDER / "sim.yaml"),
                          "-n", "20000", "-o", str(run)], stderr=subprocess.DEVNULL)
    journals = run / "journals.jsonl"
    while not journals.exists() or journals.stat().st_size < 200_000:
        assert p.poll() is None, f"{name} ended before it was cut off"
        time.sleep(0.01)
    p.send_signal(sig)
    p.wait()
    return run


def near(a, b):
    return abs(a - b) < 1e-12


def members(samples, seats, last):
    """How many seats are right at first or at the end, and of how many that is known.

    An adversary is wrong, whatever it holds; a seat that has no vote and holds nothing has no part.
    """
    adversaries = {s["id"] for s in seats if s.get("adversary")}
    mute = {s["id"] for s in seats if s.get("mute")}
    right = known = 0
    for s in samples:
        held = {}
        for note in s.store.get("rounds", []):
            if last or note["round"] == 0:
                held[note["seat"]] = note.get("verdict")
        known += sum(a not in mute or a in held for a in adversaries) if held else 0
        for seat, verdict in held.items():
            known += seat not in adversaries and verdict in ("right", "wrong")
            right += seat not in adversaries and verdict == "right"
    return right, known


def compare(log, report):
    """Compares a log, read whole, with the report of the same run."""
    scored = [s.scores["decision"].value for s in log.samples if s.scores]
    assert set(scored) <= {"C", "I"}
    assert len(log.samples) == report["finished"] + report["failed"]
    assert len({(s.id, s.epoch) for s in log.samples}) == len(log.samples)
    failures = {(s.id, s.epoch - 1): s.error.message for s in log.samples if s.error}
    assert failures == {(f["question"], f["repeat"]): f["reason"] for f in report["failures"]}
    results, figures = log.results, log.results.scores[0]
    assert (results.total_samples, results.completed_samples) == (report["questions"], report["finished"])
    assert (figures.scored_samples, figures.unscored_samples) == (len(scored), len(log.samples) - len(scored))
    for name in RATES:
        rate, got = report["metrics"][name], figures.metrics.get(name)
        assert (rate is None) == (got is None), name
        assert rate is None or (near(got.value, rate["value"]) and got.metadata["n"] == rate["n"]), name
    for r in report["rounds"]:
        assert near(figures.metrics[f"round_{r['t']}"].value, r["accuracy"]["value"])
    decided = report["metrics"]["decision_accuracy"]
    assert len(scored) == (decided["n"] if decided else 0)
    assert not scored or near(sum(map(value_to_float(), scored)) / len(scored), decided["value"])
    for name, last in (("iaa", False), ("faa", True)):
        rate, (right, known) = report["metrics"][name], members(log.samples, log.eval.metadata["seats"], last)
        assert known == (rate["n"] if rate else 0) and (known == 0 or near(right / known, rate["value"])), name
    used = log.stats.model_usage.values()
    assert sum(u.input_tokens for u in used) == report["tokens"]["prompt"]
    assert sum(u.output_tokens for u in used) == report["tokens"]["completion"]
    for kind in report["members_kind"]:
        assert kind in log.eval.model, "the model's name hides the kinds of the members"
    said = [m for s in log.samples for m in s.messages if m.role == "assistant"]
    assert all(m.model.split("/")[0] in report["members_kind"] for m in said)


def keys(samples):
    return sorted((s.id, s.epoch, bool(s.error)) for s in samples)


def check(run, status):
    """Exports a run in every way, and has each log read in every way."""
    report = json.loads(synod("bench", "report", run, "--format", "json"))
    logs = FOLDER / "logs" / run.name
    logs.mkdir(parents=True)
    synod("bench", "export", run, "--inspect", "-o", f"{logs}/")
    synod("bench", "export", run, "--inspect", "-o", logs / "run.eval")
    synod("bench", "export", run, "--inspect", "-o", logs / "other name.json")
    found = list_eval_logs(str(logs))
    assert len(found) == 2, [f.name for f in found]
    assert list_eval_logs(str(logs), filter=lambda l: l.status == status and l.eval.task == report["task"]) == found
    whole = []
    for name in [f.name for f in found] + [str(logs / "other name.json")]:
        header, log = read_eval_log(name, header_only=True), read_eval_log(name)
        assert header.samples is None and header.status == status, (header.status, status)
        assert log.version == 2
        for field in ("eval", "plan", "results", "stats", "status", "error"):
            assert getattr(header, field) == getattr(log, field), field
        compare(log, report)
        assert keys(read_eval_log_sample_summaries(name)) == keys(log.samples)
        assert keys(read_eval_log_samples(name, all_samples_required=False)) == keys(log.samples)
        whole.append(sorted(s.model_dump_json() for s in log.samples))
    assert whole[0] == whole[1] == whole[2], "the two formats do not hold the same"
    figures = log.results.scores[0].metrics
    print(f"{run.name}: {status}, {len(log.samples)} samples, {log.eval.model};",
          ", ".join(f"{k} {figures[k].value:.4f}" for k in ("iaa", "faa", "decision_accuracy", "liveness") if k in figures), flush=True)
    return log


def main():
    (FOLDER / "sim.yaml").write_text(SIMULATED)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Toy)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    (FOLDER / "served.yaml").write_text(SERVED % f"http://127.0.0.1:{server.server_port}")
    (FOLDER / "gone.yaml").write_text(SERVED % "http://127.0.0.1:1")
    (FOLDER / "own.jsonl").write_text("".join(json.dumps(q) + "\n" for q in QUESTIONS))

    synod("bench", "run", "builtin", "-c", FOLDER / "sim.yaml", "-n", 40, "--repeat", 3, "-o", FOLDER / "simulated")
    log = check(FOLDER / "simulated", "success")
    assert any(not s.scores for s in log.samples), "every question was decided: nothing is known of unscored samples"

    for protocol in PROTOCOLS:
        synod("bench", "run", "builtin", "-c", FOLDER / "sim.yaml", "--set", f"protocol={{name: {protocol}}}", "-n", 20, "-o", FOLDER / protocol)
        check(FOLDER / protocol, "success")

    synod("bench", "run", FOLDER / "own.jsonl", "-c", FOLDER / "served.yaml", "-o", FOLDER / "served")
    log = check(FOLDER / "served", "success")
    samples = {s.id: s for s in log.samples}
    assert samples["sum/one"].scores["decision"].value == "C" and samples["sum two"].scores["decision"].value == "I"
    fish = samples["fish"]
    assert (fish.choices, fish.target, fish.output.completion) == (["whale", "cod"], "B", "B")
    assert json.loads(fish.messages[1].text)["reasoning"] == "<b>four</b> \u202e", "the member's words are not there"
    assert sum(u.total_tokens for u in log.stats.model_usage.values()) > 0

    synod("bench", "run", FOLDER / "own.jsonl", "-c", FOLDER / "gone.yaml", "-o", FOLDER / "gone", code=1)
    log = check(FOLDER / "gone", "error")
    assert log.error and all(s.error for s in log.samples)

    check(cut("interrupted", signal.SIGINT), "cancelled")
    check(cut("killed", signal.SIGKILL), "started")
    server.shutdown()
    golden = str(pathlib.Path(__file__).parents[2] / "report" / "inspect" / "testdata" / "log.json")
    assert read_eval_log(golden, header_only=True).error and keys(read_eval_log(golden).samples) == [("q/1", 1, False), ("q2", 1, True)]
    print(f"inspect_ai {inspect_ai.__version__} opens, lists and agrees with all of them")


main()
