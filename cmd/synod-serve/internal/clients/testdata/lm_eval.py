"""lm-eval evaluates a council on sums, with a task of its own in a file."""
import glob
import importlib.metadata
import json
import os
import subprocess

with open("sums.jsonl", "w") as f:
    for a, b in [(17, 25), (3, 4), (91, 9), (12, 30), (8, 8)]:
        f.write(json.dumps({"question": f"What is {a} + {b}?", "answer": str(a + b)}) + "\n")
with open("sums.yaml", "w") as f:
    f.write("""task: sums
dataset_path: json
dataset_kwargs: {data_files: {test: sums.jsonl}}
test_split: test
output_type: generate_until
doc_to_text: "{{question}}"
doc_to_target: "{{answer}}"
generation_kwargs: {until: ["\\n"], max_gen_toks: 64}
metric_list: [{metric: exact_match, aggregation: mean, higher_is_better: true}]
""")
print("lm-eval", importlib.metadata.version("lm-eval"))
program = os.path.join(os.environ["SYNOD_TOOLS"], "eval", "bin", "lm_eval")
done = subprocess.run([program, "run", "--model", "local-chat-completions", "--model_args",
                       f"model=seven,base_url={os.environ['OPENAI_BASE_URL']}/chat/completions,num_concurrent=2",
                       "--tasks", "sums", "--include_path", ".", "--apply_chat_template", "--output_path", "out"],
                      capture_output=True, text=True)
assert done.returncode == 0, done.stdout + done.stderr
with open(glob.glob("out/**/results*.json", recursive=True)[0]) as f:
    result = json.load(f)["results"]["sums"]
assert result["exact_match,none"] == 1, result
print("ok   5 questions to a council: exact match", result["exact_match,none"])
