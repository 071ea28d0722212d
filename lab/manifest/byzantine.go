package manifest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"synod.dev/synod/council"
	"synod.dev/synod/graph/topology"
	"synod.dev/synod/param"
)

func (b *Byzantine) none() bool { return b.Number == 0 && b.Seats == nil }

// places returns the indexes of the Byzantine seats.
func (b *Byzantine) places(plan *council.Plan, seed uint64) ([]int, error) {
	seats := plan.Seats()
	switch where := b.Seats.(type) {
	case nil:
		return nil, fmt.Errorf("number is %d, and seats is missing (examples: seats: worst, seats: [6, 3, 0])",
			b.Number)
	case string:
		if b.Number < 1 {
			return nil, fmt.Errorf("seats is %s, and number is missing (example: number: 2)", where)
		}
		placed, err := topology.Place(plan.Graph(), where, b.Number, seed, nil)
		if err != nil {
			return nil, fmt.Errorf("seats is %q, and must be a list of seats or a placement: %w", where, err)
		}
		return placed, nil
	case []any:
		n := cmp.Or(b.Number, len(where))
		if n > len(where) {
			return nil, fmt.Errorf("number is %d, and seats lists only %d", b.Number, len(where))
		}
		var placed []int
		for _, at := range where[:n] {
			i := slices.IndexFunc(seats, func(s council.Seat) bool { return s.ID == fmt.Sprint(at) })
			if k, ok := at.(uint64); ok && i < 0 && k < uint64(len(seats)) {
				i = int(k)
			}
			if i < 0 || slices.Contains(placed, i) {
				return nil, fmt.Errorf("seats lists %v, which is twice there or no seat; seats are 0 to %d, or ids "+
					"such as %s", at, len(seats)-1, seats[0].ID)
			}
			placed = append(placed, i)
		}
		return placed, nil
	}
	return nil, fmt.Errorf("seats is %v; it must be a list of seats or a placement (examples: worst, [6, 3, 0])",
		b.Seats)
}

// seated returns the single seats of a council, of which those at the given indexes are changed.
func (b *Byzantine) seated(all []council.Seat, specs []council.SeatSpec, placed []int) ([]council.SeatSpec, error) {
	var single []council.SeatSpec
	for _, s := range specs {
		for range max(s.Count, 1) {
			one := s
			one.Count, one.ID = 0, all[len(single)].ID
			single = append(single, one)
		}
	}
	for _, i := range placed {
		keys := maps.Clone(b.Seat)
		if id, ok := keys["id"]; ok {
			keys["id"] = fmt.Sprint(id, i)
		}
		if _, ok := keys["adversary"]; ok {
			single[i].Adversary = nil
		}
		if err := param.Decode(keys, &single[i]); err != nil {
			return nil, fmt.Errorf("byzantine.seat: %w", err)
		}
	}
	return single, nil
}
