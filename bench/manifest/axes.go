package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"

	"synod.dev/synod"
	"synod.dev/synod/adversary"
	"synod.dev/synod/core/param"
	"synod.dev/synod/protocol/catalog"
)

// axis is something that cells vary.
type axis struct {
	name   string
	values []value
}

// value is a value of an axis.
type value struct {
	name    string
	what    any            // of the parameter and of the variable $axis
	overlay map[string]any // nil: the value is only a variable
}

// shortAxes are the keys that axes with a list of values stand for.
var shortAxes = map[string]string{
	"protocol":  "protocol.name",
	"caution":   "protocol.caution",
	"graph":     "graph.family",
	"rule":      "rule.name",
	"adversary": "adversaries.adversary.name",
	"b":         "adversaries.members",
	"position":  "adversaries.seats",
}

// ShortAxes returns the short names of axes and the keys that they stand for.
func ShortAxes() map[string]string { return maps.Clone(shortAxes) }

var axisName = regexp.MustCompile(`^[a-z][a-z0-9_]*(\.[A-Za-z0-9_-]+)*$`)

// readAxes reads the axes in the order in which they are written.
func (m *Manifest) readAxes() error {
	var file struct {
		Axes yaml.MapSlice `yaml:"axes"`
	}
	decoder := yaml.NewDecoder(bytes.NewReader(m.text), yaml.UseOrderedMap())
	if err := decoder.Decode(&file); err != nil && len(m.Axes) > 0 {
		return fmt.Errorf("axes: %w", err)
	}
	for _, item := range file.Axes {
		name := fmt.Sprint(item.Key)
		if !axisName.MatchString(name) {
			return fmt.Errorf("axes: %q is not a name of an axis: it must be lower-case letters, digits and _, or a "+
				"key of an overlay (examples: graph, protocol.rounds)", name)
		}
		a := axis{name: name}
		var err error
		switch given := m.Axes[name].(type) {
		case []any:
			a.values, err = listed(name, given)
		case string:
			if err = errNoAxis; name == adversaryAxis && given == everyAdversary {
				a.values, err = listed(name, seatedAdversaries())
			}
		case map[string]any:
			order, _ := item.Value.(yaml.MapSlice)
			a.values, err = named(name, given, order)
		default:
			err = errNoAxis
		}
		if err == nil && len(a.values) == 0 {
			err = errors.New("has no values")
		}
		if err != nil {
			return fmt.Errorf("axes.%s: %w (examples: graph: [complete, merg]; cast: {strong: {models: …}, weak: "+
				"{models: …}})", name, err)
		}
		m.axes = append(m.axes, a)
	}
	return nil
}

var errNoAxis = errors.New("must be a list of values or a table of overlays by name (adversary: every stands for all)")

const (
	adversaryAxis  = "adversary"
	everyAdversary = "every"
	admitted       = "admitted" // whether the traits of the cell's protocol admit its adversary
)

func seatedAdversaries() (names []any) {
	for _, e := range adversary.Seated(false) {
		names = append(names, e.Name)
	}
	return names
}

// admits reports whether the traits of the cell's protocol admit its adversary.
func (c *cell) admits() bool {
	protocol := ""
	for _, l := range c.layers {
		of, _ := l.tree["protocol"].(map[string]any)
		if name, ok := of["name"].(string); ok {
			protocol = name
		}
	}
	p, err := catalog.Protocols.Find(protocol)
	if err != nil {
		return false // an error of the cell, which says so
	}
	e, err := adversary.Catalogue.Find(fmt.Sprint(c.vars[adversaryAxis]))
	return err == nil && e.Where.Admits(p.Traits)
}

// listed returns the values of a list, which are those of a single key.
func listed(name string, list []any) (values []value, err error) {
	path, short := shortAxes[name]
	if !short {
		path = name
	}
	steps := strings.Split(path, ".")
	known := slices.Concat(councilKeys, settingKeys)
	isKey := slices.Contains(known, steps[0])
	if len(steps) > 1 && !isKey {
		return nil, fmt.Errorf("%q is not a key of an overlay%s", steps[0], synod.Hint(steps[0], known))
	}
	for _, what := range list {
		if _, table := what.(map[string]any); table {
			return nil, errors.New("a list has single values; name overlays as in {strong: {models: …}}")
		}
		v := value{name: cellPart(what), what: what}
		if v.name == "" {
			return nil, fmt.Errorf("the value %v cannot be a part of a name; give it a name: {NAME: {%s: %v}}", what,
				path, what)
		}
		if isKey {
			v.overlay = map[string]any{}
			at := v.overlay
			for _, step := range steps[:len(steps)-1] {
				next := map[string]any{}
				at[step], at = next, next
			}
			at[steps[len(steps)-1]] = what
		}
		values = append(values, v)
	}
	return values, distinctNames(values)
}

// named returns the values of a table of overlays.
func named(axis string, table map[string]any, order yaml.MapSlice) (values []value, err error) {
	for _, item := range order {
		name := fmt.Sprint(item.Key)
		overlay, ok := table[name].(map[string]any)
		if !ok && table[name] != nil {
			return nil, fmt.Errorf("%s is not a table with the settings of that value", name)
		}
		if err := checkKeys("axes."+axis+"."+name, overlay); err != nil {
			return nil, err
		}
		v := value{name: cellPart(name), what: scalar(name), overlay: overlay}
		if v.overlay == nil {
			v.overlay = map[string]any{}
		}
		values = append(values, v)
	}
	return values, distinctNames(values)
}

func distinctNames(values []value) error {
	for i, v := range values {
		if slices.ContainsFunc(values[:i], func(w value) bool { return w.name == v.name }) {
			return fmt.Errorf("two values give cells the name %q", v.name)
		}
	}
	return nil
}

// scalar reads a number in a text.
func scalar(text string) any {
	var v any
	if param.UnmarshalAny([]byte(text), &v) == nil {
		switch n := v.(type) {
		case uint64:
			return n
		case float64:
			return n
		}
	}
	return text
}

var unnamed = regexp.MustCompile(`[^a-z0-9.]+`)

// cellPart returns a value as a part of the name of a cell.
func cellPart(v any) string {
	var text string
	switch v := v.(type) {
	case []any:
		var parts []string
		for _, item := range v {
			parts = append(parts, fmt.Sprint(item))
		}
		text = strings.Join(parts, ".")
	case float64:
		text = strconv.FormatFloat(v, 'g', -1, 64)
	default:
		text = fmt.Sprint(v)
	}
	return strings.Trim(unnamed.ReplaceAllString(strings.ToLower(text), "-"), "-.")
}

// combination is one value of every axis.
type combination []value

// combinations returns all combinations, the last axis changing fastest.
func combinations(axes []axis) []combination {
	all := []combination{nil}
	for _, a := range axes {
		var longer []combination
		for _, c := range all {
			for _, v := range a.values {
				longer = append(longer, append(slices.Clip(c), v))
			}
		}
		all = longer
	}
	return all
}

// maxCells bounds a grid.
const maxCells = 100_000

// countCombinations fails if there are too many combinations.
func (m *Manifest) countCombinations() error {
	n := 1
	for _, a := range m.axes {
		if n *= len(a.values); n > maxCells {
			return fmt.Errorf("the axes have more than %d combinations; use fewer values, or several manifests",
				maxCells)
		}
	}
	return nil
}
