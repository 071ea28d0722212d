package council_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"synod.dev/synod/council"
)

var rewrite = flag.Bool("rewrite", false, "write the published schema anew")

const published = "../docs/council.schema.json"

// The published schema is the one that Spec makes, and every example fits it.
func TestSchema(t *testing.T) {
	made, err := council.Schema()
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
	files, _ := filepath.Glob("../examples/*.yaml")
	if len(files) < 4 {
		t.Fatalf("only %d examples", len(files))
	}
	for _, f := range files {
		if err := schema.Validate(tree(t, f)); err != nil {
			t.Errorf("%s: %v", f, err)
		}
		if _, err := council.Load(f); err != nil {
			t.Errorf("%s: %v", f, err)
		}
	}
	if schema.Validate(map[string]any{"protocl": map[string]any{}}) == nil {
		t.Error("the schema lets an unknown key through")
	}
}

// tree is a YAML file as a JSON value.
func tree(t *testing.T, path string) any {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if b, err = yaml.YAMLToJSON(b); err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return v
}
