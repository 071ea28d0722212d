package council

import (
	"fmt"
	"slices"
	"strconv"

	"synod.dev/synod"
	"synod.dev/synod/adversary"
)

// liar makes the adversary that the experimenter has put around a seat; nil: none.
func (c *Council) liar(s seat) (adversary.Adversary, error) {
	if len(s.adversary) == 0 {
		return nil, nil
	}
	name, rest, err := s.adversary.split()
	if err != nil {
		return nil, fmt.Errorf("adversary: %w", err)
	}
	entry, err := adversary.Catalogue.Find(name)
	if err != nil {
		return nil, err
	}
	a, err := entry.New(rest)
	if err != nil {
		return nil, fmt.Errorf("adversary %s: %w", name, err)
	}
	if n, ok := a.(adversary.Naming); ok {
		if a, err = n.Found(c.find); err != nil {
			return nil, fmt.Errorf("adversary %s: %w", name, err)
		}
	}
	return a, nil
}

// find is a seat by its id, or else by its place from 0.
func (c *Council) find(name string) (synod.NodeID, error) {
	ids := make([]string, len(c.seats))
	for i, s := range c.seats {
		ids[i] = s.id
	}
	if i := slices.Index(ids, name); i >= 0 {
		return synod.NodeID(i), nil
	}
	if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(ids) {
		return synod.NodeID(i), nil
	}
	return 0, fmt.Errorf("no seat is called %q%s", name, synod.Hint(name, ids))
}
