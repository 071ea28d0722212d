package adversary

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"synod.dev/synod"
)

// strict reports the first parameter that an adversary does not take.
func strict(given map[string]any, known ...string) error {
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(known, key) {
			return fmt.Errorf("unknown key %q%s", key, synod.Hint(key, known))
		}
	}
	return nil
}

// whole sets into from a parameter, if it is given: a whole number in a range.
func whole(given map[string]any, key string, into *int, low, high int) error {
	v, is := given[key]
	if !is {
		return nil
	}
	n, err := strconv.Atoi(fmt.Sprint(v))
	if err != nil || n < low || n > high {
		return fmt.Errorf("%s is %v; it must be a whole number between %d and %d", key, v, low, high)
	}
	*into = n
	return nil
}

// Naming is implemented by an adversary whose parameters name other seats. Whoever
// seats it looks them up; without that a seat is named by its NodeID.
type Naming interface {
	// Found is the adversary with the seats that it names; seat finds one by what
	// the council calls it.
	Found(seat func(name string) (synod.NodeID, error)) (Adversary, error)
}

// named is a seat as a parameter names it.
type named struct {
	name  string
	id    synod.NodeID
	known bool
}

func name(v any) named {
	s := fmt.Sprint(v)
	n, err := strconv.ParseInt(s, 10, 32)
	return named{s, synod.NodeID(n), err == nil && n >= 0}
}

// names reads one seat or a list of seats.
func names(v any) (all []named) {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	for _, x := range list {
		all = append(all, name(x))
	}
	return all
}

func (n named) find(seat func(string) (synod.NodeID, error)) (named, error) {
	id, err := seat(n.name)
	return named{n.name, id, true}, err
}

// node is the seat's NodeID.
func (n named) node() synod.NodeID {
	if !n.known {
		panic(fmt.Sprintf("adversary: nobody has looked up seat %q", n.name))
	}
	return n.id
}
