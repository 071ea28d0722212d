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
	{"SYNOD_HOME", "folder of configuration, models, cache and journals; the flag --home comes first"},
	{"SYNOD_COUNCIL", "council file; the flag -c comes first"},
	{"SYNOD_PRICES", "price file; the flag --prices comes first"},
	{"SYNOD_PASSPHRASE", "passphrase of the key of a node or a caller; without it, nodes ask on a terminal"},
	{"SYNOD_MODELS", "folder of the embedded models (default: synod/models in the data folder)"},
	{"XDG_CONFIG_HOME", "contains synod/config.yaml and synod/prices.yaml (default: ~/.config)"},
	{"XDG_DATA_HOME", "contains synod/models and synod/tasks (default: ~/.local/share)"},
	{"XDG_CACHE_HOME", "contains synod, the cache of replies (default: ~/.cache)"},
	{"XDG_STATE_HOME", "contains synod, with journals and servers.json (default: ~/.local/state)"},
	{"OPENAI_API_KEY", "API key of OpenAI, for models without url and key_env"},
	{"OPENAI_BASE_URL", "address of the provider openai, for models without url (default: https://api.openai.com/v1)"},
	{"OPENROUTER_API_KEY", "API key of OpenRouter, for models without url and key_env"},
	{"ANTHROPIC_API_KEY", "API key of Anthropic, for models without url and key_env"},
	{"GEMINI_API_KEY", "API key of Gemini, for models without url and key_env"},
	{"SYNOD_HIDDEN_TOKEN", "token that llm/hidden/server.py wants of its callers; members of provider hidden send it " +
		"where they have no url and key_env"},
	{"GROQ_API_KEY", "API key of Groq; synod init looks for it, and for MISTRAL_API_KEY, TOGETHER_API_KEY, " +
		"DEEPSEEK_API_KEY and XAI_API_KEY"},
	{"OLLAMA_HOST", "address of Ollama, for models without url (default: 127.0.0.1:11434)"},
	{"SYNOD_QUERY_MODEL", "the part after ? in the url of the model MODEL, when a run is resumed: journals do not " +
		"keep it, because it may hold a key"},
	{"SYNOD_API_KEY", "API key of synod serve; synod mcp then keeps to the limits of that key (default: no limits)"},
	{"SYNOD_SERVE_LISTEN", "the flag --listen of synod serve; SYNOD_SERVE_COUNCILS, SYNOD_SERVE_STORE and " +
		"SYNOD_SERVE_METRICS are its flags of these names"},
	{"COLUMNS", "width of text and tables that are not printed on a terminal (default: no limit)"},
	{"NO_COLOR", "with any value, no colours are printed; TERM=dumb does the same"},
	{"HTTPS_PROXY", "proxy for https addresses; HTTP_PROXY for http; NO_PROXY lists hosts that need no proxy"},
	{"GOGC", "how much memory Go uses before it collects garbage; if it is not set, synod bench uses more"},
	{"GOMEMLIMIT", "the same as the flag --memory, in the form of the Go runtime"},
	{"OTEL_SDK_DISABLED", "with the value true, nodes send no traces even if OTEL_EXPORTER_OTLP_ENDPOINT is set"},
	{"LD_LIBRARY_PATH", "further folders of libraries for the embedded model; on macOS DYLD_LIBRARY_PATH"},
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
