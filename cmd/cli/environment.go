package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod/core/table"
)

// variable is an environment variable that the program reads.
type variable struct{ name, meaning string }

// variables lists the environment variables that users may set. TestEnvironment compares it with the code.
var variables = []variable{
	{"SYNOD_HOME", "folder for config, models, cache and journals; --home replaces it"},
	{"SYNOD_COUNCIL", "council file; -c replaces it"},
	{"SYNOD_PRICES", "price file; --prices replaces it"},
	{"SYNOD_PASSPHRASE", "passphrase of the key of a node or caller (nodes also ask on a terminal)"},
	{"SYNOD_MODELS", "folder of the embedded models (default: synod/models in the data folder)"},
	{"XDG_CONFIG_HOME", "holds synod/config.yaml and synod/prices.yaml (default: ~/.config)"},
	{"XDG_DATA_HOME", "holds synod/models and synod/tasks (default: ~/.local/share)"},
	{"XDG_CACHE_HOME", "holds synod, the cache of replies (default: ~/.cache)"},
	{"XDG_STATE_HOME", "holds synod, the journals and servers.json (default: ~/.local/state)"},
	{"OPENAI_API_KEY", "key of provider openai where the model has neither url nor key_env"},
	{"OPENAI_BASE_URL", "address of provider openai where the model has no url (default: https://api.openai.com/v1)"},
	{"OPENROUTER_API_KEY", "key of provider openrouter where the model has neither url nor key_env"},
	{"ANTHROPIC_API_KEY", "key of provider anthropic where the model has neither url nor key_env"},
	{"GEMINI_API_KEY", "key of provider gemini where the model has neither url nor key_env"},
	{"GROQ_API_KEY", "key that synod init looks for, as for MISTRAL_API_KEY, TOGETHER_API_KEY, DEEPSEEK_API_KEY and " +
		"XAI_API_KEY"},
	{"OLLAMA_HOST", "address of provider ollama where the model has no url (default: 127.0.0.1:11434)"},
	{"SYNOD_QUERY_MODEL", "query of the url of model MODEL, for a resumed run: records keep no query, and the " +
		"message names the variable"},
	{"SYNOD_API_KEY", "API key of synod serve whose limits hold for synod mcp; default: none hold"},
	{"SYNOD_SERVE_LISTEN", "address that synod serve listens on; SYNOD_SERVE_COUNCILS, SYNOD_SERVE_STORE and " +
		"SYNOD_SERVE_METRICS likewise stand for its flags"},
	{"COLUMNS", "width of tables and text where the output is no terminal (default: tables as wide as they are)"},
	{"NO_COLOR", "any value: no colours on a terminal, as with TERM=dumb"},
	{"HTTPS_PROXY", "proxy for https; HTTP_PROXY for http; NO_PROXY lists hosts without one"},
	{"GOGC", "when the garbage collector runs, as of all Go programs; synod bench waits longer where it is not set"},
	{"OTEL_SDK_DISABLED", "true: nodes send no traces, whatever OTEL_EXPORTER_OTLP_ENDPOINT says"},
	{"LD_LIBRARY_PATH", "more folders with libraries that the embedded engine needs; on macOS DYLD_LIBRARY_PATH"},
}

func environmentTopic() *cobra.Command {
	var b strings.Builder
	b.WriteString("Environment variables, besides those that key_env of a council file names:\n\n")
	t := table.Table{Indent: "  "}
	for _, v := range variables {
		t.Add(v.name, v.meaning)
	}
	_ = t.Write(&b, "text") // to memory
	return &cobra.Command{
		Use:   "environment",
		Short: "List the environment variables",
		Long:  strings.TrimRight(b.String(), "\n"),
	}
}
