# An assistant of editors and terminals, Claude Code: one question, without a person, over Anthropic's messages.
set -e
export HOME="$PWD" ANTHROPIC_MODEL=seven ANTHROPIC_SMALL_FAST_MODEL=seven ANTHROPIC_DEFAULT_HAIKU_MODEL=seven \
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 DISABLE_AUTOUPDATER=1 DISABLE_TELEMETRY=1 CLAUDE_CODE_MAX_OUTPUT_TOKENS=1000
claude="$SYNOD_TOOLS/editor/node_modules/.bin/claude"
echo "claude-code $("$claude" --version)"
answer=$("$claude" --print --output-format json "What is 17 + 25?" </dev/null) || true
case $answer in
*'"result":"It is sunny in Paris."'*) echo "ok   a question with the assistant's own tools, a call, its result, and words" ;;
*) echo "$answer" >&2; exit 1 ;;
esac
