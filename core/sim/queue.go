package sim

import (
	"slices"
	"sync"

	"synod.dev/synod"
)

// item is an event on its way to a node, or a message on its way to several.
type item struct {
	node  synod.NodeID // or anyBatch or several
	count int32        // with several: how many of the receivers of the slot are its receivers
	event synod.Event
}

const (
	// anyBatch marks an item that stands for the replies of the oldest batch of calls.
	anyBatch synod.NodeID = -1
	// several marks a message whose receivers are the next ones of the slot.
	several synod.NodeID = -2
)

// queue holds items by tick. Items of one tick keep the order in which they were
// added. Most items are for the next tick and only few different ticks are waiting
// at a time, so the ticks are kept in a sorted slice and the lists of items are
// used again.
type queue struct {
	slots []slot  // ascending by tick
	last  lists   // that next returned last
	free  []lists // empty lists to use again
	size  int     // capacity of a new list
	spare buffers // of the run
}

// slot is what happens in one tick.
type slot struct {
	tick synod.Tick
	lists
}

// lists are items, and the receivers of the messages with several, in their order.
type lists struct {
	items     []item
	receivers []synod.NodeID
}

func (l lists) empty() lists { return lists{l.items[:0], l.receivers[:0]} }

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
		q.free = append(q.free, s.empty())
	}
	if q.last.items != nil {
		q.free = append(q.free, q.last.empty())
	}
	room := q.spare.room()
	for _, l := range q.free {
		room += max(cap(l.items), cap(l.receivers))
	}
	if room > maxReuse {
		return
	}
	q.slots, q.last = q.slots[:0], lists{}
	queues.Put(q)
}

// room returns how many things the largest buffer can hold.
func (b *buffers) room() int {
	return max(cap(b.decided), cap(b.notes), cap(b.inputs), cap(b.place))
}

func (q *queue) add(t synod.Tick, it item) {
	at := q.at(t)
	at.items = append(at.items, it)
}

// at returns the lists of a tick, which are valid until the next call of another method.
func (q *queue) at(t synod.Tick) *lists {
	at, end := 0, len(q.slots)
	for at < end { // a search written out: half of the time that the function for any type takes
		if mid := (at + end) / 2; q.slots[mid].tick < t {
			at = mid + 1
		} else {
			end = mid
		}
	}
	if at == len(q.slots) || q.slots[at].tick != t {
		q.slots = slices.Insert(q.slots, at, slot{t, q.list()})
	}
	return &q.slots[at].lists
}

// list returns empty lists.
func (q *queue) list() lists {
	if len(q.free) == 0 {
		return lists{items: make([]item, 0, q.size)}
	}
	last := len(q.free) - 1
	l := q.free[last]
	q.free = q.free[:last]
	return l
}

// peek returns the earliest tick that has items.
func (q *queue) peek() (synod.Tick, bool) {
	if len(q.slots) == 0 {
		return 0, false
	}
	return q.slots[0].tick, true
}

// next removes the earliest tick and returns its lists, which are valid until the
// next call.
func (q *queue) next() (lists, synod.Tick, bool) {
	if len(q.slots) == 0 {
		return lists{}, 0, false
	}
	first := q.slots[0]
	q.slots = slices.Delete(q.slots, 0, 1)
	if q.last.items != nil {
		q.free = append(q.free, q.last.empty())
	}
	q.last = first.lists
	return first.lists, first.tick, true
}
