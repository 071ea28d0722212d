package sim

import (
	"cmp"
	"slices"
	"sync"

	"synod.dev/synod"
)

// item is an event on its way to a node.
type item struct {
	node  synod.NodeID // or anyBatch
	event synod.Event
}

// anyBatch marks an item that stands for the replies of the oldest batch of calls.
const anyBatch synod.NodeID = -1

// queue holds items by tick. Items of one tick keep the order in which they were
// added. Most items are for the next tick and only few different ticks are waiting
// at a time, so the ticks are kept in a sorted slice and the lists of items are
// used again.
type queue struct {
	slots []slot   // ascending by tick
	last  []item   // the list that next returned last
	free  [][]item // empty lists to use again
	size  int      // capacity of a new list
	spare buffers  // of the run
}

// slot is the list of items of one tick.
type slot struct {
	tick  synod.Tick
	items []item
}

// queues are queues to use again: a bench plays thousands of short runs.
var queues = sync.Pool{New: func() any { return new(queue) }}

// newQueue returns an empty queue sized for so many nodes that each send to a few
// others in a tick.
func newQueue(nodes int) *queue {
	q := queues.Get().(*queue)
	q.size = 4 * nodes
	return q
}

// maxReuse is how many things the lists and the largest buffer of a queue that is used again
// can hold together at most.
const maxReuse = 16 << 10

// release makes the queue available to other runs. It must not be used afterwards. Lists
// are not cleared: what they hold of this run stays in memory until the next run
// overwrites it or the garbage collector empties the pool.
func (q *queue) release() {
	for _, s := range q.slots {
		q.free = append(q.free, s.items[:0])
	}
	if q.last != nil {
		q.free = append(q.free, q.last[:0])
	}
	room := q.spare.room()
	for _, items := range q.free {
		room += cap(items)
	}
	if room > maxReuse {
		return
	}
	q.slots, q.last = q.slots[:0], nil
	queues.Put(q)
}

// room returns how many things the largest buffer can hold.
func (b *buffers) room() int {
	return max(cap(b.decided), cap(b.notes), cap(b.replies), cap(b.events), cap(b.order))
}

func (q *queue) add(t synod.Tick, it item) {
	items := q.at(t)
	*items = append(*items, it)
}

// at returns the list of items of a tick, which is valid until the next call of another method.
func (q *queue) at(t synod.Tick) *[]item {
	at, known := 0, len(q.slots) > 0 && q.slots[0].tick == t
	if !known {
		at, known = slices.BinarySearchFunc(q.slots, t,
			func(s slot, t synod.Tick) int { return cmp.Compare(s.tick, t) })
	}
	if !known {
		q.slots = slices.Insert(q.slots, at, slot{t, q.list()})
	}
	return &q.slots[at].items
}

// list returns an empty list.
func (q *queue) list() []item {
	if len(q.free) == 0 {
		return make([]item, 0, q.size)
	}
	last := len(q.free) - 1
	items := q.free[last]
	q.free = q.free[:last]
	return items
}

// peek returns the earliest tick that has items.
func (q *queue) peek() (synod.Tick, bool) {
	if len(q.slots) == 0 {
		return 0, false
	}
	return q.slots[0].tick, true
}

// next removes the earliest tick and returns its items, which are valid until the
// next call.
func (q *queue) next() ([]item, synod.Tick, bool) {
	if len(q.slots) == 0 {
		return nil, 0, false
	}
	first := q.slots[0]
	q.slots = slices.Delete(q.slots, 0, 1)
	if q.last != nil {
		q.free = append(q.free, q.last[:0])
	}
	q.last = first.items
	return first.items, first.tick, true
}
