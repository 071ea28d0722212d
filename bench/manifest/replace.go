package manifest

import (
	"fmt"
	"maps"

	"synod.dev/synod/core/param"
	"synod.dev/synod/council/plan"
)

func (r *Replace) none() bool { return r.Number == 0 && r.Seats == nil }

// places returns the indexes of the seats that are replaced.
func (r *Replace) places(p *plan.Plan, seed uint64) ([]int, error) {
	of := plan.Adversaries{Seats: r.Seats, Seed: seed}
	if r.Number > 0 {
		of.Members = &r.Number
	}
	seats := p.Seats()
	if list, ok := r.Seats.([]any); ok {
		ids := make([]any, len(list))
		for i, at := range list {
			ids[i] = at
			if k, ok := at.(uint64); ok {
				if k >= uint64(len(seats)) {
					return nil, fmt.Errorf("seats lists %d; seats are 0 to %d, or ids such as %s", k, len(seats)-1,
						seats[0].ID)
				}
				ids[i] = seats[k].ID
			}
		}
		of.Seats = ids
	}
	return plan.PlaceAdversaries(p.Graph().Built, seats, of)
}

// seated returns the single seats of a council, of which those at the given indexes are changed.
func (r *Replace) seated(all []plan.Seat, specs []plan.SeatSpec, placed []int) ([]plan.SeatSpec, error) {
	var single []plan.SeatSpec
	for _, s := range specs {
		for range max(s.Count, 1) {
			one := s
			one.Count, one.ID = 0, all[len(single)].ID
			single = append(single, one)
		}
	}
	for _, i := range placed {
		keys := maps.Clone(r.Seat)
		if id, ok := keys["id"]; ok {
			keys["id"] = fmt.Sprint(id, i)
		}
		if _, ok := keys["adversary"]; ok {
			single[i].Adversary = nil
		}
		if err := param.Decode(keys, &single[i]); err != nil {
			return nil, fmt.Errorf("replace.seat: %w", err)
		}
	}
	return single, nil
}
