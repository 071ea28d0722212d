package council

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// Layer is one source of settings: a file, or what was given on the command line.
type Layer struct {
	Name string // where it comes from, for people
	Text []byte // YAML; may hold any part of a council file
	Dir  string // what paths in it are relative to; "": the working folder
}

// Origin says, for a key such as "protocol.rounds", which layer set it.
type Origin map[string]string

// Merge lays settings over one another, later over earlier, and reads the result
// as a council. Sections merge key by key; lists, and a section whose name or
// family changes, are replaced whole.
func Merge(layers ...Layer) (Spec, Origin, error) {
	merged, origin := map[string]any{}, Origin{}
	for _, l := range layers {
		var part Spec
		if err := unmarshal(l.Text, &part, yaml.Strict()); err != nil {
			return Spec{}, nil, fmt.Errorf("%s: %w", l.Name, located(err))
		}
		tree := map[string]any{}
		if err := unmarshal(l.Text, &tree); err != nil {
			return Spec{}, nil, fmt.Errorf("%s: %w", l.Name, err)
		}
		absolute(tree, l.Dir)
		lay(merged, tree, "", l.Name, origin)
	}
	text, err := yaml.Marshal(merged)
	if err != nil {
		return Spec{}, nil, err
	}
	spec, err := Parse(text)
	var bad *ConfigError
	if errors.As(err, &bad) {
		bad.Line = 0 // of a text that nobody has seen
		if from := origin.near(bad.Section, layers); from != "" {
			err = fmt.Errorf("%s: %w", from, bad)
		}
	}
	return spec, origin, err
}

// near is the last of the layers that have set something in a section: what is wrong
// there has most likely come with it.
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

func lay(into, from map[string]any, path, name string, origin Origin) {
	for key, value := range from {
		at := strings.TrimPrefix(path+"."+key, ".")
		section, isMap := value.(map[string]any)
		old, was := into[key].(map[string]any)
		if isMap && was && !renamed(old, section) {
			lay(old, section, at, name, origin)
			continue
		}
		maps.DeleteFunc(origin, func(k, _ string) bool { return strings.HasPrefix(k, at+".") })
		if isMap {
			fresh := map[string]any{}
			into[key] = fresh
			lay(fresh, section, at, name, origin)
			continue
		}
		into[key], origin[at] = value, name
	}
}

// renamed says that a section is about another thing than before, so that the
// parameters of the old one mean nothing.
func renamed(old, section map[string]any) bool {
	for _, key := range []string{"name", "family", "provider", "file", "edges"} {
		if v, ok := section[key]; ok && fmt.Sprint(v) != fmt.Sprint(old[key]) {
			return true
		}
	}
	return false
}

// absolute resolves the paths in a layer, as Spec.resolve does in a whole file.
func absolute(tree map[string]any, dir string) {
	if p, ok := tree["prompts"].(string); ok {
		tree["prompts"] = under(dir, p)
	}
	if g, ok := tree["graph"].(map[string]any); ok {
		pathIn(g, "file", dir)
	}
	models, _ := tree["models"].(map[string]any)
	for _, m := range models {
		if m, ok := m.(map[string]any); ok {
			pathIn(m, "path", dir)
			pathIn(m, "probe", dir)
		}
	}
}

// Set is the layer of assignments such as "protocol.rounds=3". Values are YAML.
func Set(name string, assignments []string) (Layer, error) {
	tree := map[string]any{}
	for _, a := range assignments {
		path, text, ok := strings.Cut(a, "=")
		if !ok || path == "" {
			return Layer{}, fmt.Errorf("%s: %q is not key=value", name, a)
		}
		var value any
		if err := unmarshal([]byte(text), &value); err != nil {
			return Layer{}, fmt.Errorf("%s: the value of %s cannot be read", name, path)
		}
		at := tree
		steps := strings.Split(path, ".")
		for _, step := range steps[:len(steps)-1] {
			next, ok := at[step].(map[string]any)
			if !ok {
				next = map[string]any{}
				at[step] = next
			}
			at = next
		}
		at[steps[len(steps)-1]] = value
	}
	text, err := yaml.Marshal(tree)
	return Layer{Name: name, Text: text}, err
}
