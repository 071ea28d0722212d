package manifest

import (
	"bytes"
	"os"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"synod.dev/synod/bench/presets"
)

const publishedSchema = "../../docs/measure/manifest.schema.json"

// The published schema is the one that the structs make, and every preset and example fits it.
func TestManifestSchema(t *testing.T) {
	made, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	made = append(made, '\n')
	if *rewrite {
		if err := os.WriteFile(publishedSchema, made, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if onFile, err := os.ReadFile(publishedSchema); err != nil || !bytes.Equal(onFile, made) {
		t.Errorf("the published schema is not the present one (%v); -rewrite renews it", err)
	}
	schema := compiled(t, made)
	for _, name := range presets.Names() {
		text, err := presets.File(name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(yamlValue(t, text)); err != nil {
			t.Errorf("preset %s: %v", name, err)
		}
	}
	example, err := os.ReadFile("../../examples/experiment/study.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(yamlValue(t, example)); err != nil {
		t.Errorf("examples/experiment/study.yaml: %v", err)
	}
}

// The schema accepts and refuses what Parse accepts and refuses, as far as it can see it.
func TestManifestSchemaIsStrict(t *testing.T) {
	made, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	schema := compiled(t, made)
	for _, bad := range []string{
		"summary: no name", "experiment: 3", "experiment: x\nbsae: {}", "experiment: x\nbase: {protcol: {name: sac}}",
		"experiment: x\nbase: {protocol: {rouns: 3}}", "experiment: x\nbase: {protocol: {rounds: many}}",
		"experiment: x\nbase: {questions: -1}", "experiment: x\nbase: {needs: luck}",
		"experiment: x\nmembers: {simulatd: {}}",
		"experiment: x\naxes: {graph: star}", "experiment: x\naxes: {graph: []}",
		"experiment: x\naxes: {p: {a: {protcol: 1}}}", "experiment: x\ncases: [{where: {a: 1}, st: {}}]",
		"experiment: x\ncases: [{where: {a: 1}, set: {limts: {}}}]", "experiment: x\nbudget: {calls: -1}",
		"experiment: x\nbudget: {cals: 1}", "experiment: x\nplots: [{name: p, kind: pie}]",
		"experiment: x\nfull: {repet: 2}",
		"experiment: x\nbase: {graph: {failing: 2}}", "experiment: x\nbase: {models: {m: {provider: nosuch}}}",
		"experiment: x\nbase: {seats: [{id: a, modl: m}]}", "experiment: x\nbase: {limits: {deadline: soon}}",
	} {
		if schema.Validate(yamlValue(t, []byte(bad))) == nil {
			t.Errorf("the schema lets %q through", bad)
		}
	}
	for _, good := range []string{
		"experiment: x", "experiment: x\nbase: {protocol: {rounds: 3}}",
		"experiment: x\nbase: {protocol: {rounds: $t}}",
		"experiment: x\nbase: {seats: [{id: a, model: m, count: $n}]}",
		"experiment: x\nbase: {seats: {s3: {model: weak}}}",
		"experiment: x\naxes: {f: [1, 2], protocol.rounds: [2, 4]}", "experiment: x\nbase: {seats: $seats, f: '${f}'}",
		"experiment: x\naxes: {cast: {alike: {vars: {k: 1}}, mixed: {models: {m: {ability: $a}}}}}",
		"experiment: x\nbase: {graph: {schedule: [{family: ring}], failing: $p}, adversaries: {members: 2}}",
		"experiment: x\ncases: [{where: {members: [simulated]}, set: {limits: {calls: 5}}}]",
	} {
		if err := schema.Validate(yamlValue(t, []byte(good))); err != nil {
			t.Errorf("the schema refuses %q: %v", good, err)
		}
		if _, err := Parse([]byte(good), ""); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
}

func compiled(t *testing.T, text []byte) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("manifest.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// yamlValue is YAML text as a JSON value.
func yamlValue(t *testing.T, text []byte) any {
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
