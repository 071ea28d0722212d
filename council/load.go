package council

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/parser"

	"synod.dev/synod"
)

// Load reads a council file over Default. Paths in it are relative to it.
func Load(path string) (Spec, error) {
	l, err := File(path)
	if err != nil {
		return Spec{}, err
	}
	if _, err := parse(l.Text, l.Dir); err != nil { // for its line numbers
		return Spec{}, fmt.Errorf("%s: %w", path, err)
	}
	spec, _, err := Merge(l)
	return spec, err
}

// File is the layer of a council file.
func File(path string) (Layer, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return Layer{}, fmt.Errorf("council file: %w", err)
	}
	return Layer{Name: path, Text: b, Dir: filepath.Dir(path)}, nil
}

// Parse reads a council file's text over Default. An unknown key is an error
// that names the key, the line and the nearest known key.
func Parse(b []byte) (Spec, error) { return parse(b, "") }

// parse takes paths as relative to a folder.
func parse(b []byte, dir string) (Spec, error) {
	spec := Default()
	if len(bytes.TrimSpace(b)) == 0 {
		return spec, nil
	}
	if err := unmarshal(b, &spec, yaml.Strict()); err != nil {
		return Spec{}, located(err)
	}
	spec.resolve(dir)
	if err := check(b, &spec); err != nil {
		return Spec{}, err
	}
	return spec, nil
}

// unmarshal is yaml's, with its panics on odd input made errors: a council file
// may come from anywhere.
func unmarshal(b []byte, into any, opts ...yaml.DecodeOption) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("this cannot be read as YAML: %v", r)
		}
	}()
	return yaml.UnmarshalWithOptions(b, into, opts...)
}

// located adds line and nearest key to a decoder's error.
func located(err error) error {
	var unknown *yaml.UnknownFieldError
	if errors.As(err, &unknown) {
		at := unknown.Token
		return &ConfigError{Line: at.Position.Line, Err: fmt.Errorf("unknown key %q%s", at.Value, synod.Hint(at.Value, yamlKeys(&Spec{})))}
	}
	var wrong *yaml.TypeError
	if errors.As(err, &wrong) {
		return &ConfigError{Line: wrong.Token.Position.Line, Err: fmt.Errorf("%q is not what this key takes", wrong.Token.Value)}
	}
	return errors.New(yaml.FormatError(err, false, true))
}

// check seats the council without its models, so that a mistake inside a named
// section is found at once, and looks up the line of the section.
func check(b []byte, spec *Spec) error {
	if len(spec.Seats) == 0 {
		return nil // a partial file; whoever completes it checks the whole
	}
	if seats, err := spec.roll(); err == nil && len(seats) > maxChecked {
		return nil // drawing its graph is work; Convene does it, and checks
	}
	_, err := seatAll(*spec)
	var bad *ConfigError
	if errors.As(err, &bad) && bad.Line == 0 {
		bad.Line = lineOf(b, bad.Section, bad.Err.Error())
	}
	return err
}

// maxChecked is how many seats a council may have to be seated when its file is
// read.
const maxChecked = 500

// lineOf finds the line of a section, or of the key in it that the message
// quotes as unknown.
func lineOf(b []byte, section, message string) int {
	file, err := parser.ParseBytes(b, 0)
	if err != nil {
		return 0
	}
	paths := []string{"$." + section}
	if _, rest, ok := strings.Cut(message, `"`); ok {
		key, _, _ := strings.Cut(rest, `"`)
		paths = []string{"$." + section + "." + key, "$." + section}
	}
	for _, p := range paths {
		path, err := yaml.PathString(p)
		if err != nil {
			continue
		}
		if node, err := path.FilterFile(file); err == nil && node.GetToken() != nil {
			return node.GetToken().Position.Line
		}
	}
	return 0
}

// resolve makes the paths in a whole file independent of its folder.
func (s *Spec) resolve(dir string) {
	s.Prompts = under(dir, s.Prompts)
	pathIn(s.Graph, "file", dir)
	for _, m := range s.Models {
		pathIn(m, "path", dir)
		pathIn(m, "probe", dir)
	}
}

// rooted is the spec with every path in it absolute: what is written down of a run
// must not mean another file where the run is gone on with.
func (s Spec) rooted() (Spec, error) {
	dir, err := os.Getwd()
	if err != nil {
		return s, fmt.Errorf("council: %w", err)
	}
	s.Graph, s.Models = maps.Clone(s.Graph), maps.Clone(s.Models)
	for name, m := range s.Models {
		s.Models[name] = maps.Clone(m)
	}
	s.resolve(dir)
	return s, nil
}

func pathIn(p map[string]any, key, dir string) {
	if path, ok := p[key].(string); ok {
		p[key] = under(dir, path)
	}
}

// under resolves a path in a file against the file's folder.
func under(dir, p string) string {
	if p == "" || dir == "" || filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(dir, p)
}

// yamlKeys lists every key that a struct, and the structs in it, take.
func yamlKeys(v any) []string {
	var names []string
	var walk func(reflect.Type)
	seen := map[reflect.Type]bool{}
	walk = func(t reflect.Type) {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct || seen[t] {
			return
		}
		seen[t] = true
		for i := range t.NumField() {
			f := t.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			if f.IsExported() && name != "-" {
				if name != "" {
					names = append(names, name)
				}
				walk(f.Type)
			}
		}
	}
	walk(reflect.TypeOf(v))
	slices.Sort(names)
	return slices.Compact(names)
}
