package council

import (
	"errors"
	"fmt"
	"maps"

	"synod.dev/synod/llm"
)

// checkModels reads every model's settings without opening it.
func (c *Council) checkModels() error {
	for _, name := range keys(c.spec.Models) {
		rest := maps.Clone(c.spec.Models[name])
		provider, _ := rest["provider"].(string)
		delete(rest, "provider")
		err := errors.New("it names no provider")
		if provider != "" {
			err = llm.Check(provider, rest.decode)
		}
		if err != nil {
			return &ConfigError{Section: "models." + name, Err: err}
		}
	}
	return nil
}

// openModel opens a model of the spec by its name there.
func openModel(spec Spec, name string, env llm.Env) (llm.Model, error) {
	rest := maps.Clone(spec.Models[name])
	provider, _ := rest["provider"].(string)
	delete(rest, "provider")
	m, err := llm.Open(provider, rest.decode, spec.Exact == "paper", env)
	if err != nil {
		return nil, &ConfigError{Section: "models." + name, Err: fmt.Errorf("%s: %w", provider, err)}
	}
	return m, nil
}

// OpenModel opens one model outside a council, from settings as they would stand
// under models in a council file.
func OpenModel(settings Params, env llm.Env) (llm.Model, error) {
	const name = "m"
	c := &Council{spec: Spec{Models: map[string]Params{name: settings}}}
	err := c.checkModels()
	if err == nil {
		var m llm.Model
		if m, err = openModel(c.spec, name, env); err == nil {
			return m, nil
		}
	}
	var bad *ConfigError
	if errors.As(err, &bad) {
		return nil, bad.Err // there is no file to name a place in
	}
	return nil, err
}
