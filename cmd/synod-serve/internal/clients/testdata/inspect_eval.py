"""inspect_ai evaluates a council on sums."""
import importlib.metadata
import os

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import get_model
from inspect_ai.scorer import match
from inspect_ai.solver import generate

print("inspect_ai", importlib.metadata.version("inspect_ai"))
sums = [Sample(input=f"What is {a} + {b}?", target=str(a + b)) for a, b in [(17, 25), (3, 4), (91, 9), (12, 30), (8, 8)]]
task = Task(dataset=sums, solver=generate(), scorer=match(location="end", numeric=True))
log = eval(task, model=get_model("openai/seven", base_url=os.environ["OPENAI_BASE_URL"], api_key="any"),
           display="none", log_dir="logs")[0]
assert log.status == "success", log.error
accuracy = log.results.scores[0].metrics["accuracy"].value
usage = log.stats.model_usage["openai/seven"]
assert accuracy == 1 and usage.total_tokens > 0, (accuracy, usage)
print(f"ok   {len(sums)} questions to a council: accuracy {accuracy}, {usage.total_tokens} tokens of all its members")
