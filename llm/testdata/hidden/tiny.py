"""Makes a tiny model with random weights in a folder, and prints states and a likelihood that transformers itself
computes, for llm/hidden_python_test.go."""
import json, sys
import torch, transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

folder, prefix, more = sys.argv[1:]
torch.manual_seed(1)
letters = sorted(pre_tokenizers.ByteLevel.alphabet())
bytes_only = Tokenizer(models.BPE({c: i for i, c in enumerate([*letters, "<|end|>"])}, []))
bytes_only.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
bytes_only.decoder = decoders.ByteLevel()
tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=bytes_only, eos_token="<|end|>")
tokenizer.save_pretrained(folder)
model = transformers.LlamaForCausalLM(transformers.LlamaConfig(
    vocab_size=len(tokenizer), hidden_size=16, intermediate_size=32, num_hidden_layers=3, num_attention_heads=2,
    num_key_value_heads=1, max_position_embeddings=2048, initializer_range=0.5, bos_token_id=None,
    eos_token_id=tokenizer.eos_token_id)).eval()
model.save_pretrained(folder)
ids = tokenizer(prefix + more, return_tensors="pt").input_ids
n = len(more.encode())
with torch.no_grad():
    out = model(ids, output_hidden_states=True)
    each = torch.log_softmax(out.logits[0, :-1], -1).gather(1, ids[0, 1:, None])[-n:, 0]
print(json.dumps({"query": out.hidden_states[2][0, -n - 1].tolist(), "last": out.hidden_states[2][0, -1].tolist(),
                  "mean": out.hidden_states[2][0, -n:].mean(0).tolist(), "normed": out.hidden_states[3][0, -1].tolist(),
                  "sum": each.sum().item()}))
