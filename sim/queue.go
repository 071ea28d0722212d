package sim

import (
	"cmp"
	"slices"

	"synod.dev/synod"
)

// item is an event on its way to a node.
type item struct {
	node  synod.NodeID
	event synod.Event
}

// queue holds items by tick. Within a tick they keep the order in which they
// were added, which is deterministic because whoever adds is. Most items are for
// the next tick and few ticks wait at a time, so the ticks stand in a sorted
// slice and their lists are used again.
type queue struct {
	days []day    // ascending by tick
	last []item   // handed out by the last next
	free [][]item // lists to use again
	room int      // of a new list
}

// day is what happens at a tick.
type day struct {
	tick  synod.Tick
	items []item
}

// newQueue makes a queue for so many nodes that each tell a few others at once.
func newQueue(nodes int) *queue { return &queue{room: 4 * nodes} }

func (q *queue) add(t synod.Tick, it item) {
	at, known := 0, len(q.days) > 0 && q.days[0].tick == t
	if !known {
		at, known = slices.BinarySearchFunc(q.days, t, func(d day, t synod.Tick) int { return cmp.Compare(d.tick, t) })
	}
	if !known {
		q.days = slices.Insert(q.days, at, day{t, q.list()})
	}
	q.days[at].items = append(q.days[at].items, it)
}

// list is an empty list for a new day.
func (q *queue) list() []item {
	if len(q.free) == 0 {
		return make([]item, 0, q.room)
	}
	last := len(q.free) - 1
	items := q.free[last]
	q.free = q.free[:last]
	return items
}

// next takes the earliest tick's items. They are valid until the next call.
func (q *queue) next() ([]item, synod.Tick, bool) {
	if len(q.days) == 0 {
		return nil, 0, false
	}
	first := q.days[0]
	q.days = slices.Delete(q.days, 0, 1)
	if q.last != nil {
		q.free = append(q.free, q.last[:0])
	}
	q.last = first.items
	return first.items, first.tick, true
}

func sortCalls(calls []Call) {
	slices.SortFunc(calls, func(a, b Call) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.ID, b.ID))
	})
}
