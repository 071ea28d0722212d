package council

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/goccy/go-yaml"

	"synod.dev/synod"
)

// split takes the name out of a named thing's parameters.
func (p Params) split() (name string, rest Params, err error) {
	name, ok := p["name"].(string)
	if !ok || name == "" {
		return "", nil, errors.New("it has no name")
	}
	rest = maps.Clone(p)
	delete(rest, "name")
	return name, rest, nil
}

// decode lays parameters over the fields of a struct, strictly: a key that the
// struct does not have is an error that names the nearest one.
func (p Params) decode(into any) error {
	if len(p) == 0 {
		return nil
	}
	b, err := yaml.Marshal(map[string]any(p))
	if err != nil {
		return err
	}
	err = unmarshal(b, into, yaml.Strict())
	return plain(err, into)
}

// plain turns the decoder's message, which shows a source line of its own
// making, into one line.
func plain(err error, into any) error {
	var unknown *yaml.UnknownFieldError
	if errors.As(err, &unknown) {
		key := unknown.Token.Value
		return fmt.Errorf("unknown key %q%s", key, synod.Hint(key, yamlKeys(into)))
	}
	var wrong *yaml.TypeError
	if errors.As(err, &wrong) {
		return fmt.Errorf("%q is not what this key takes", wrong.Token.Value)
	}
	if err != nil {
		return errors.New(yaml.FormatError(err, false, false))
	}
	return nil
}

func keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
