package plan_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"synod.dev/synod/council/plan"
)

var rewrite = flag.Bool("rewrite", false, "write the published schema anew")

const published = "../../docs/use/council.schema.json"

// The published schema is the one that Spec makes, and every example fits it.
func TestSchema(t *testing.T) {
	made, err := plan.Schema()
	if err != nil {
		t.Fatal(err)
	}
	made = append(made, '\n')
	if *rewrite {
		if err := os.WriteFile(published, made, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if onFile, err := os.ReadFile(published); err != nil || !bytes.Equal(onFile, made) {
		t.Fatalf("the published schema is not the present one (%v); -rewrite renews it", err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(made))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("council.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("council.json")
	if err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob("../../examples/*.yaml")
	if len(files) < 4 {
		t.Fatalf("only %d examples", len(files))
	}
	for _, f := range files {
		if err := schema.Validate(tree(t, f)); err != nil {
			t.Errorf("%s: %v", f, err)
		}
		if _, err := plan.Load(f); err != nil {
			t.Errorf("%s: %v", f, err)
		}
	}
	if schema.Validate(map[string]any{"protocl": map[string]any{}}) == nil {
		t.Error("the schema lets an unknown key through")
	}
	for _, bad := range []string{
		"protocol: {name: sac, rouns: 3}", "protocol: {name: sac, rounds: -1}", "protocol: {name: sac, score: loud}",
		"protocol: {name: nosuch}", "protocol: {name: decentllms, aggregate: nosuch}", "graph: {family: nosuch}",
		"graph: {family: circulant, k: two}", "models: {m: {provider: openai, api_key: x}}", "models: {m: {url: x}}",
		"models: {m: {provider: simulated, ability: 1.5}}", "seats: [{id: a, modl: m}]", "seats: [{model: m}]",
		"seats: [{id: a, adversary: {name: nosuch}}]", "seats: [{id: a, adversary: {name: silent, by: 1}}]",
		"seats: [{id: a, group: middle}]", "limits: {deadline: 10}", "limits: {deadline: ten}", "rule: {name: all}",
		"graph: {schedule: [{family: nosuch}]}", "graph: {schedule: []}", "graph: {family: ring, failing: 2}",
		"graph: {family: ring, hold: 2}", "graph: {schedule: [{family: ring}], family: star}",
		"faults: {loss: 2}", "exact: papr", "patience: {after: twice}",
	} {
		if schema.Validate(parsed(t, []byte(bad))) == nil {
			t.Errorf("the schema lets %s through", bad)
		}
	}
	for _, good := range []string{
		"protocol: {rounds: 3}", "graph: {edges: [[0, 1]]}", "graph: {file: g.graphml}",
		"graph: {family: er, p: 0.5, seed: 7}", "graph: {family: ring, failing: 0.2, failing_seed: 3}",
		"graph: {edges: [[0, 1]], failing: 0.2}",
		"graph: {schedule: [{family: ring}, {edges: [[0, 1]]}, {file: g.dot}], hold: 2, failing: 0.1}",
		"models: {m: {provider: ollama, model: x, timeout: 1m30s}}", "patience: {spare: 1, after: 2x}", "exact: \"\"",
		"seats: [{id: a, adversary: {name: number-alterer, by: 3}}]", "limits: {deadline: 10m, usd: 0.5}",
	} {
		if err := schema.Validate(parsed(t, []byte(good))); err != nil {
			t.Errorf("the schema refuses %s: %v", good, err)
		}
	}
}

// tree is a YAML file as a JSON value.
func tree(t *testing.T, path string) any {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return parsed(t, b)
}

// parsed is YAML text as a JSON value.
func parsed(t *testing.T, text []byte) any {
	t.Helper()
	b, err := yaml.YAMLToJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return v
}
