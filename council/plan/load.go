package plan

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/parser"

	"synod.dev/synod"
	"synod.dev/synod/core/param"
	"synod.dev/synod/internal/durable"
)

// Load reads a council file over Default. Paths in it are relative to its folder. A
// mistake is an error that names the file, the line and, for an unknown key, the
// nearest known key.
func Load(path string) (Spec, error) {
	l, err := File(path)
	if err != nil {
		return Spec{}, err
	}
	return l.Spec()
}

// Spec reads a layer as a whole council file, as Load does.
func (l Layer) Spec() (Spec, error) {
	if _, err := parse(l.Text, l.Dir); err != nil { // for its line numbers
		return Spec{}, fmt.Errorf("%s: %w", l.Name, err)
	}
	spec, _, err := Merge(l)
	return spec, err
}

// File is the layer of a council file.
func File(path string) (Layer, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return Layer{}, fmt.Errorf("council file: %s is a folder; give a council file in it, such as %s", path,
			filepath.Join(path, "council.yaml"))
	}
	b, err := durable.ReadFile(path, param.MaxText)
	if err != nil {
		return Layer{}, fmt.Errorf("council file: %w", err)
	}
	if !utf8.Valid(b) {
		return Layer{}, fmt.Errorf("council file: %s is not UTF-8 text; convert it, for example with: "+
			"iconv -f latin1 -t utf-8", path)
	}
	return Layer{Name: path, Text: b, Dir: filepath.Dir(path)}, nil
}

// Parse reads the text of a council file over Default, and checks it as NewPlan does.
// A text without seats is read but not checked, and so is one with more than 500
// seats: NewPlan checks those.
func Parse(b []byte) (Spec, error) { return parse(b, "") }

// parse reads paths as relative to a folder.
func parse(b []byte, dir string) (Spec, error) {
	spec, err := decodeSpec(b, dir)
	if err != nil {
		return Spec{}, err
	}
	if err := check(b, &spec, fromFile); err != nil {
		return Spec{}, err
	}
	return spec, nil
}

// decodeSpec is parse without the check.
func decodeSpec(b []byte, dir string) (Spec, error) {
	spec := Default()
	if len(bytes.TrimSpace(b)) == 0 {
		return spec, nil
	}
	if err := param.UnmarshalAny(b, &spec, yaml.Strict()); err != nil {
		return Spec{}, decodeError(err, b)
	}
	if err := param.WholeNumbers(b, &spec); err != nil {
		return Spec{}, err
	}
	if spec.Claims || spec.Form == synod.Prose {
		tree := map[string]any{}
		if param.UnmarshalAny(b, &tree) == nil && tree["protocol"] == nil {
			spec.Suit(synod.Prose, Chosen{F: tree["f"] != nil})
		}
	}
	spec.resolve(dir)
	return spec, nil
}

// decodeError names the line and the key of a decoder's error for a text.
func decodeError(err error, text []byte) error {
	var bad *param.Error
	if err = param.Explain(err, text, &Spec{}); errors.As(err, &bad) {
		if strings.HasPrefix(bad.Reason, param.NotYAML) {
			bad.Reason += "; docs/use/council-file.md has examples"
		}
		return &ConfigError{Line: bad.Line, Err: errors.New(bad.Reason)}
	}
	return err
}

// maxChecked is the largest number of seats that is checked when a file is read.
const maxChecked = 500

// check makes the plan of a whole file, so that a mistake in any section is found at
// once, and looks up the line of the section.
func check(b []byte, spec *Spec, from source) error {
	if len(spec.Seats) == 0 && spec.Runner.absent() {
		return nil
	}
	if seats, _, err := spec.expand(); err == nil && len(seats) > maxChecked {
		return nil
	}
	_, err := newPlan(*spec, from)
	var bad *ConfigError
	if errors.As(err, &bad) && bad.Line == 0 {
		bad.Line = lineOf(b, bad.Section, bad.Err.Error())
	}
	return err
}

// lineOf finds the line of a section, or of the key in it that the message quotes.
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

// Layer is one source of settings: a file, or what was given on the command line.
type Layer struct {
	Name string // where it comes from, for people
	Text []byte // YAML; may hold any part of a council file
	Dir  string // the folder that paths in it are relative to; "": the working folder

	assigned bool // Text was made by Set
}

// Origin names, for a key such as "protocol.rounds", the layer that set it.
type Origin map[string]string

// Merge combines layers, of which a later one takes precedence, and reads the result as
// a council file. Sections merge key by key; lists, and a section whose name or family
// changes, are replaced whole. A layer that names a roster replaces all layers before it: the roster has
// the council.
func Merge(layers ...Layer) (Spec, Origin, error) {
	merged, origin := map[string]any{}, Origin{}
	for _, l := range layers {
		var err error
		if l, err = l.bySeat(merged, origin); err != nil {
			return Spec{}, nil, fmt.Errorf("%s: %w", l.Name, err)
		}
		var part Spec
		if err := param.UnmarshalAny(l.Text, &part, yaml.Strict()); err != nil {
			err = decodeError(err, l.Text)
			var bad *ConfigError
			if l.assigned && errors.As(err, &bad) {
				bad.Line = 0 // no one has seen the text
			}
			return Spec{}, nil, fmt.Errorf("%s: %w", l.Name, err)
		}
		if err := param.WholeNumbers(l.Text, &part); err != nil {
			return Spec{}, nil, fmt.Errorf("%s: %w", l.Name, err)
		}
		tree := map[string]any{}
		if err := param.UnmarshalAny(l.Text, &tree); err != nil {
			return Spec{}, nil, fmt.Errorf("%s: %w", l.Name, err)
		}
		absolute(tree, l.Dir)
		if hasRoster(tree) {
			clear(merged)
			clear(origin)
		}
		merge(merged, tree, "", l.Name, origin)
	}
	text, err := yaml.Marshal(merged)
	if err != nil {
		return Spec{}, nil, err
	}
	spec, err := Parse(text)
	var bad *ConfigError
	if errors.As(err, &bad) {
		bad.Line = 0 // it is a line of the merged text, which no one has seen
		from := origin.near(bad.Section, layers)
		if from == "" && len(layers) > 0 {
			from = layers[0].Name
		}
		err = fmt.Errorf("%s: %w", from, bad)
	}
	return spec, origin, err
}

// near returns the last layer that set something in a section: the most likely cause
// of a mistake there.
func (o Origin) near(section string, layers []Layer) string {
	for _, l := range slices.Backward(layers) {
		for key, from := range o {
			if from == l.Name && (key == section || strings.HasPrefix(key, section+".")) {
				return from
			}
		}
	}
	return ""
}

func merge(into, from map[string]any, path, name string, origin Origin) {
	for key, value := range from {
		at := strings.TrimPrefix(path+"."+key, ".")
		section, isMap := value.(map[string]any)
		old, was := into[key].(map[string]any)
		if isMap && was && !renamed(old, section) {
			merge(old, section, at, name, origin)
			continue
		}
		maps.DeleteFunc(origin, func(k, _ string) bool { return strings.HasPrefix(k, at+".") })
		if isMap {
			fresh := map[string]any{}
			into[key] = fresh
			merge(fresh, section, at, name, origin)
			continue
		}
		into[key], origin[at] = value, name
	}
}

// renamed reports whether a section names another thing than before, so that the
// parameters of the old one no longer apply.
func renamed(old, section map[string]any) bool {
	for _, key := range []string{"name", "family", "provider", "file", "edges", "schedule"} {
		if v, ok := section[key]; ok && fmt.Sprint(v) != fmt.Sprint(old[key]) {
			return true
		}
	}
	return false
}

// absolute resolves the paths in a layer, as Spec.resolve does in a whole file.
func absolute(tree map[string]any, dir string) {
	for _, key := range []string{"prompts", "schema", "tools"} {
		pathIn(tree, key, dir)
	}
	if g, ok := tree["graph"].(map[string]any); ok {
		graphPaths(g, dir)
	}
	if a, ok := tree["adversaries"].(map[string]any); ok {
		adversaryPath(a, dir)
	}
	seats, _ := tree["seats"].([]any)
	for _, seat := range seats {
		if seat, ok := seat.(map[string]any); ok {
			adversaryPath(seat, dir)
		}
	}
	if r, ok := tree["runner"].(map[string]any); ok {
		pathIn(r, "roster", dir)
		pathIn(r, "key", dir)
	}
	models, _ := tree["models"].(map[string]any)
	for _, m := range models {
		if m, ok := m.(map[string]any); ok {
			pathIn(m, "path", dir)
			pathIn(m, "probe", dir)
		}
	}
}

// adversaryPath resolves the path of the adversary of a section.
func adversaryPath(section map[string]any, dir string) {
	if a, ok := section["adversary"].(map[string]any); ok {
		pathIn(a, "tape", dir)
	}
}
