package adversary

import (
	"fmt"
	"strconv"

	"synod.dev/synod"
	"synod.dev/synod/core/param"
)

// decode writes parameters over the defaults in a struct, and checks their ranges.
func decode(params map[string]any, into any) error {
	if err := param.Decode(params, into); err != nil {
		return err
	}
	return param.Verify(into)
}

// inRange returns an error unless a parameter is between low and high.
func inRange(key string, v, low, high int) error {
	if v < low || v > high {
		return fmt.Errorf("%s is %v; it must be a whole number between %d and %d", key, v, low, high)
	}
	return nil
}

// seatName is a seat as a parameter names it.
type seatName struct {
	name  string
	id    synod.NodeID
	known bool // id is set
}

func newSeatName(v any) seatName {
	s := fmt.Sprint(v)
	n, err := strconv.ParseInt(s, 10, 32)
	return seatName{s, synod.NodeID(n), err == nil && n >= 0}
}

// seatNames reads one name or a list of names; nil: none.
func seatNames(v any) (all []seatName) {
	if v == nil {
		return nil
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	for _, x := range list {
		all = append(all, newSeatName(x))
	}
	return all
}

func (n seatName) find(seat func(string) (synod.NodeID, error)) (seatName, error) {
	id, err := seat(n.name)
	return seatName{n.name, id, true}, err
}

// node returns the seat's NodeID. It panics if the name was never resolved.
func (n seatName) node() synod.NodeID {
	if !n.known {
		panic(fmt.Sprintf("adversary: the seat %q was not looked up", n.name))
	}
	return n.id
}
