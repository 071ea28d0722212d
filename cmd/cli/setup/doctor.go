package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/cmd/cli/display"
	"synod.dev/synod/council"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
	"synod.dev/synod/llm/engine"
	"synod.dev/synod/llm/models"
)

// check is one check of "synod doctor".
type check struct {
	what string
	// do returns a description of what was found, or an error with advice.
	do func(ctx context.Context) (string, error)
	// optional checks may fail without making the command fail.
	optional bool
}

// DoctorCommand is "synod doctor".
func DoctorCommand(a *app.App) *cobra.Command {
	var source app.CouncilFlags
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check that this machine has what a council needs",
		Long: `Checks the folders, the embedded model (by starting it), and the servers and keys that
environment variables name. It sends no key to any server and asks no served model.

With -c or --model it checks this council instead, and says what its graph guarantees: that keys are set and
accepted, addresses can be reached, and servers know the models. It sends the keys to the
servers of the council, and asks for their lists of models, which costs nothing.`,
		Example: "  synod doctor\n  synod doctor -c council.yaml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			checks := doctorChecks(a)
			if cmd.Flags().Changed("council") || cmd.Flags().Changed("model") {
				var err error
				if checks, err = memberChecks(a, cmd, &source); err != nil {
					return err
				}
			}
			bad := 0
			for _, c := range checks {
				found, err := c.do(cmd.Context())
				state := "ok     "
				switch {
				case err != nil && c.optional:
					state, found = "absent ", err.Error()
				case err != nil:
					state, found = "BAD    ", err.Error()
					bad++
				}
				if err := app.Sayf(cmd.OutOrStdout(), "%s %-18s %s\n", state, c.what, app.OneLine(found)); err != nil {
					return app.Fail(app.ExitFailure, err)
				}
			}
			if bad > 0 {
				return app.Fail(app.ExitFailure, fmt.Errorf("%s failed", app.Count(bad, "check")))
			}
			return nil
		},
	}
	source.Add(cmd)
	return cmd
}

// memberChecks returns a check for each model of a council.
func memberChecks(a *app.App, cmd *cobra.Command, source *app.CouncilFlags) (checks []check, err error) {
	spec, err := source.Load(a)
	if err != nil {
		return nil, app.ConfigError(err)
	}
	c, err := council.Convene(spec, a.Env())
	if err != nil {
		return nil, app.ConfigError(err)
	}
	defer c.Close()
	checks = append(checks, check{what: "guarantee", do: func(context.Context) (string, error) {
		b := c.Plan().Bound()
		claim := b.Note
		if b.Guarantee != plan.None {
			claim = b.Guarantee + ": " + claim
		}
		claims := append([]string{claim}, display.OverTime(b)...)
		if advice := plan.RealBound(c.Plan()); advice != "" {
			claims = append(claims, advice+" (synod init looks for models)")
		}
		return strings.Join(claims, "; "), nil
	}})
	for _, k := range c.Preflight(cmd.Context()) {
		checks = append(checks, check{what: app.CheckedMember(k), do: func(context.Context) (string, error) {
			if k.Err != nil {
				return "", errors.New(app.CheckedProblem(k))
			}
			return cmp.Or(k.Found, "has no server to check"), nil
		}})
	}
	return checks, nil
}

func doctorChecks(a *app.App) []check {
	checks := []check{
		{what: "synod", do: func(context.Context) (string, error) {
			return fmt.Sprintf("%s, %s, %s/%s, %d cores", app.Version(), runtime.Version(), runtime.GOOS,
				runtime.GOARCH,
				runtime.NumCPU()), nil
		}},
		{what: "journals", do: writable(filepath.Join(a.Dirs.State, "journals"))},
		{what: "models folder", do: writable(a.Store().Dir)},
		{what: "embedded model", do: func(ctx context.Context) (string, error) { return tryEmbedded(a, ctx) }},
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

// writable returns a check that a folder and a file in it can be created.
func writable(dir string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return "", fmt.Errorf("%w: choose another folder with --home", err)
		}
		f, err := os.CreateTemp(dir, ".doctor-*")
		if err != nil {
			return "", fmt.Errorf("%w: choose another folder with --home", err)
		}
		return dir, errors.Join(f.Close(), os.Remove(f.Name()))
	}
}

// tryEmbedded starts the engine with the default model and generates one token.
func tryEmbedded(a *app.App, ctx context.Context) (string, error) {
	at, err := a.Store().Resolve(models.Default)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	c, err := engine.Start(ctx, engine.Config{LibDir: at.LibDir, ModelPath: at.Model, AnyLibrary: at.AnyLibrary,
		Seqs: 1, Context: 256})
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

// tryOllama checks whether a server answers at OLLAMA_HOST or the default address.
func tryOllama(ctx context.Context) (string, error) {
	base, err := llm.OllamaURL(os.Getenv("OLLAMA_HOST"))
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/models", nil)
	if err != nil {
		return "", errors.New("OLLAMA_HOST is not a valid address")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", fmt.Errorf("no server answers at %s", llm.StripURL(base))
	}
	defer resp.Body.Close()
	return fmt.Sprintf("%s answers at %s", resp.Status, llm.StripURL(base)), nil
}
