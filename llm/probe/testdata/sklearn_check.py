"""Fits the probes of a folder of "synod research probe train" again with scikit-learn, from the same states and by the
same split, and fails if an AUC differs: make probe-check DIR=runs/arc. It needs numpy and scikit-learn."""
import json, os, sys
import numpy as np
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

read = lambda name: open(os.path.join(sys.argv[1], name), encoding="utf-8")
head, report, probe = (json.load(read(n)) for n in ("probing.json", "report.json", "probe.json"))
lines = [json.loads(line) for line in read("answers.jsonl")]
states = np.fromfile(os.path.join(sys.argv[1], "states.f32"), "<f4").reshape(
    len(lines), len(head["positions"]), len(head["layers"]), head["subject"]["width"])


def part(question):
    """The part that SplitOf draws: FNV-1a seeds Go's PCG."""
    h, m = 0xCBF29CE484222325, 2**64 - 1
    for b in question.encode():
        h = (h ^ b) * 0x100000001B3 & m
    s = (h << 64 | report["seed"]) * (2549297995355413924 << 64 | 4865540595714422341)
    s = (s + (6364136223846793005 << 64 | 1442695040888963407)) % 2**128
    hi, lo = s >> 64, s & m
    hi = (hi ^ hi >> 32) * 0xDA942042E4DD58B5 & m
    u = ((hi ^ hi >> 48) * (lo | 1) & m) % 2**53 / 2**53
    return "test" if u < 0.2 else "validation" if u < 0.4 else "training"


used = [i for i, line in enumerate(lines) if line["verdict"] != "unreadable" and line["tokens"]]
states, lines = states[used].astype(float), [lines[i] for i in used]
parts, right = np.array([part(l["question"]) for l in lines]), np.array([l["verdict"] == "right" for l in lines])


def aucs(at, fitted, measured):
    x = states[:, head["positions"].index(at["position"]), head["layers"].index(at["layer"])]
    model = make_pipeline(PCA(at["components"], svd_solver="full"), StandardScaler(), LogisticRegression(
        C=report["c"], class_weight="balanced", solver="liblinear", tol=1e-10, max_iter=100000))
    model.fit(x[np.isin(parts, fitted)], right[np.isin(parts, fitted)])
    # AUCs are those of the confidences that members state: where two round to 1, they are equal.
    return [roc_auc_score(right[parts == p], model.predict_proba(x[parts == p])[:, 1]) for p in measured]


worst = 0.0
for cell in report["sweep"]:
    ours = cell["train_auc"], cell["auc"]
    worst = max(worst, *np.abs(np.subtract(ours, aucs(cell, ["training"], ["training", "validation"]))))
test, = aucs(probe, ["training", "validation"], ["test"])
print(f"{len(report['sweep'])} probes: AUCs differ by at most {worst:.1e}; "
      f"on test questions {probe['test']['auc']['value']:.6f} here, {test:.6f} by scikit-learn")
sys.exit(worst > 1e-9 or abs(test - probe["test"]["auc"]["value"]) > 1e-9)
