//go:build clients

package clients

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Each script prints a line for each thing that it has tried, and ends with an error if one does not hold.
func TestClients(t *testing.T) {
	tools := os.Getenv("SYNOD_CLIENTS")
	if tools == "" {
		t.Fatal("SYNOD_CLIENTS is not set: run make clients")
	}
	url, counter := house(t)
	var tape *tape
	if *record {
		tape = newTape(t, url)
		url = tape.URL
	}
	scripts, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []struct{ script, program string }{
		{"openai_sdk.py", "sdk/bin/python"}, {"anthropic_sdk.py", "sdk/bin/python"}, {"openai_sdk.mjs", "node"},
		{"litellm_sdk.py", "agents/bin/python"}, {"openai_agents.py", "agents/bin/python"},
		{"langchain_app.py", "apps/bin/python"}, {"instructor_app.py", "apps/bin/python"},
		{"pydantic_app.py", "apps/bin/python"}, {"editor_assistant.sh", "sh"},
		{"inspect_eval.py", "eval/bin/python"}, {"lm_eval.py", "eval/bin/python"},
		{"mcp_client.py", "sdk/bin/python"}, {"a2a_client.py", "sdk/bin/python"},
	} {
		t.Run(s.script, func(t *testing.T) {
			program := filepath.Join(tools, s.program)
			path, folder := filepath.Join(scripts, s.script), t.TempDir()
			if s.program == "sh" {
				program = "sh"
			}
			if s.program == "node" { // it looks for packages beside the script
				program, folder = "node", filepath.Join(tools, "js")
				b, err := os.ReadFile(path)
				path = filepath.Join(folder, s.script)
				if err != nil || os.WriteFile(path, b, 0o600) != nil {
					t.Fatal(err)
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			c := exec.CommandContext(ctx, program, path)
			c.Dir = folder
			c.Env = append(os.Environ(), "SYNOD_URL="+url, "SYNOD_COUNT="+counter, "SYNOD_TOOLS="+tools,
				"OPENAI_API_KEY=any", "ANTHROPIC_API_KEY=any", "OPENAI_BASE_URL="+url+"/v1", "ANTHROPIC_BASE_URL="+url,
				"NO_PROXY=127.0.0.1", "LITELLM_LOCAL_MODEL_COST_MAP=True", "OPENAI_AGENTS_DISABLE_TRACING=1",
				"HF_HUB_OFFLINE=1", "HF_DATASETS_OFFLINE=1")
			out, err := c.CombinedOutput()
			t.Logf("%s", out)
			if err != nil {
				t.Error(err)
			}
			if tape != nil {
				tape.save(t, strings.ReplaceAll(s.script, ".", "-"))
			}
		})
	}
}
