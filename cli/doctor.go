package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"synod.dev/synod/llm"
	"synod.dev/synod/llm/engine"
	"synod.dev/synod/llm/models"
)

// check is one thing that the doctor looks at.
type check struct {
	what string
	// do returns what was found, and an error with what to do about it.
	do func(ctx context.Context) (string, error)
	// optional things may be missing.
	optional bool
}

func doctorCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Check that this machine has what a council needs",
		Long: `Looks at the folders, the model in the box (by really starting it), and the
servers and keys that the environment names. It sends no key anywhere and asks no
model a question.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			bad := 0
			for _, c := range a.checks() {
				found, err := c.do(cmd.Context())
				state := "ok     "
				switch {
				case err != nil && c.optional:
					state, found = "absent ", err.Error()
				case err != nil:
					state, found = "BAD    ", err.Error()
					bad++
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s %-18s %s\n", state, c.what, oneLine(found))
			}
			if bad > 0 {
				return fail(exitError1, fmt.Errorf("%d things are wrong", bad))
			}
			return nil
		},
	}
}

func (a *app) checks() []check {
	checks := []check{
		{what: "synod", do: func(context.Context) (string, error) {
			return fmt.Sprintf("%s, %s, %s/%s, %d cores", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU()), nil
		}},
		{what: "journals", do: func(context.Context) (string, error) { return writable(filepath.Join(a.dirs.state, "journals")) }},
		{what: "models folder", do: func(context.Context) (string, error) { return writable(a.store().Dir) }},
		{what: "model in the box", do: a.tryBox},
	}
	for _, e := range []struct{ what, env string }{
		{"OpenAI key", "OPENAI_API_KEY"}, {"OpenRouter key", "OPENROUTER_API_KEY"},
	} {
		checks = append(checks, check{what: e.what, optional: true, do: func(context.Context) (string, error) {
			if os.Getenv(e.env) == "" {
				return "", fmt.Errorf("%s is not set", e.env)
			}
			return e.env + " is set", nil
		}})
	}
	return append(checks, check{what: "Ollama", optional: true, do: tryOllama})
}

// writable makes a folder and a file in it.
func writable(dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("%w: choose another place with --home", err)
	}
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return "", fmt.Errorf("%w: choose another place with --home", err)
	}
	return dir, errors.Join(f.Close(), os.Remove(f.Name()))
}

// tryBox starts the engine on the default model and asks it for one token.
func (a *app) tryBox(ctx context.Context) (string, error) {
	at, err := a.store().Resolve(models.Default)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	c, err := engine.Start(ctx, engine.Config{LibDir: at.LibDir, ModelPath: at.Model, AnyLibrary: at.AnyLibrary, Seqs: 1, Context: 256})
	if err != nil {
		return "", err
	}
	defer c.Close()
	if _, err := c.Generate(ctx, engine.Request{Prompt: "2 + 2 =", MaxTokens: 1}); err != nil {
		return "", err
	}
	i := c.Info()
	return fmt.Sprintf("%s, llama.cpp %s, CPU %s, template: %s", i.Description, i.Library, i.CPU, i.Rendering), nil
}

// tryOllama looks whether a server answers at OLLAMA_HOST or the usual place.
func tryOllama(ctx context.Context) (string, error) {
	base, err := llm.OllamaURL(os.Getenv("OLLAMA_HOST"))
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/models", nil)
	if err != nil {
		return "", errors.New("OLLAMA_HOST cannot be read as an address")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", fmt.Errorf("no server answers at %s", llm.StripURL(base))
	}
	defer resp.Body.Close()
	return fmt.Sprintf("%s answers at %s", resp.Status, llm.StripURL(base)), nil
}
