#!/usr/bin/env bash
# Measures what a council of the models is worth whose keys are in the environment, on built-in questions, for at most
# 1 USD. Without a key it is skipped. Replies and tables stay in the folder, and the same command goes on there.
#
#   packaging/live.sh SYNOD FOLDER [--prices FILE]
set -euo pipefail
synod=$1
folder=$2
keys="OPENAI ANTHROPIC GEMINI OPENROUTER GROQ MISTRAL TOGETHER DEEPSEEK XAI"
found=
for name in $keys; do
	key=${name}_API_KEY
	if [ -n "${!key:-}" ]; then
		found="$found $key"
	fi
done
if [ -z "$found" ]; then
	echo "SKIPPED: no key is in the environment: ${keys// /_API_KEY, }_API_KEY"
	exit 0
fi
echo "keys:$found"
mkdir -p "$folder"
models=$folder/models.yaml
if [ ! -e "$models" ]; then
	"$synod" "${@:3}" init --yes --server= -o "$models"
fi
# When the budget is used no further question begins; the two that run then cost some cents.
"$synod" "${@:3}" bench run worth-it --members "$models" --task builtin -n 60 --parallel 2 --budget-usd 0.8 -o "$folder/run"
