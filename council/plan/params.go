package plan

import (
	"errors"
	"maps"

	"synod.dev/synod/core/param"
)

// Given is the provider of a model that is a Go value in council.Options.
const Given = "given"

// Settings separates the provider of a model from its settings.
func Settings(model Params) (provider string, decode func(into any) error) {
	rest := maps.Clone(model)
	provider, _ = rest["provider"].(string)
	delete(rest, "provider")
	return provider, func(into any) error { return param.Decode(rest, into) }
}

// Params are the parameters of a named thing: the keys that stand beside its
// name in the council file.
type Params map[string]any

// split separates the name of a thing from its parameters.
func (p Params) split() (name string, rest Params, err error) {
	name, ok := p["name"].(string)
	if !ok || name == "" {
		return "", nil, errors.New("it has no name")
	}
	rest = maps.Clone(p)
	delete(rest, "name")
	return name, rest, nil
}
