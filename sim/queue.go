package sim

import (
	"cmp"
	"container/heap"
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
// the next tick, so ticks and not items are kept in the heap.
type queue struct {
	at    map[synod.Tick][]item
	ticks ticks
	last  []item // handed out by the last next
	spare []item // free to use again
}

func newQueue() *queue { return &queue{at: map[synod.Tick][]item{}} }

func (q *queue) add(t synod.Tick, it item) {
	items, known := q.at[t]
	if !known {
		heap.Push(&q.ticks, t)
		items, q.spare = q.spare[:0], nil
	}
	q.at[t] = append(items, it)
}

// next takes the earliest tick's items. They are valid until the next call.
func (q *queue) next() ([]item, synod.Tick, bool) {
	if len(q.ticks) == 0 {
		return nil, 0, false
	}
	t := heap.Pop(&q.ticks).(synod.Tick)
	items := q.at[t]
	delete(q.at, t)
	q.spare, q.last = q.last, items
	return items, t, true
}

type ticks []synod.Tick

func (t ticks) Len() int           { return len(t) }
func (t ticks) Less(i, j int) bool { return t[i] < t[j] }
func (t ticks) Swap(i, j int)      { t[i], t[j] = t[j], t[i] }
func (t *ticks) Push(x any)        { *t = append(*t, x.(synod.Tick)) }
func (t *ticks) Pop() any {
	old := *t
	x := old[len(old)-1]
	*t = old[:len(old)-1]
	return x
}

func sortCalls(calls []Call) {
	slices.SortFunc(calls, func(a, b Call) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.ID, b.ID))
	})
}
