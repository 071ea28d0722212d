package journal

import (
	"cmp"
	"maps"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/internal/order"
)

// Run is a journal that was read.
type Run struct {
	Head    Head
	Replies Replies
	// Unanswered are the requests of this run and of earlier attempts at it whose replies
	// never came, by seat. They cost what they may cost at most.
	Unanswered []Unanswered
	Reports    []SeatReport // of seats that were played elsewhere
	End        *End         // nil: the run was cut off
	held       *held        // after Resume: the file, which the run continues in
	lines      []stored
	digest     string   // of the lines
	seats      []string // digests by NodeID
	changed    error    // wraps ErrChanged, or nil
}

// stored is an event or effect line of a file.
type stored struct {
	line
	raw []byte // as it stands in the file, newline included
	at  int    // line number, from 1
}

// Digest returns the digest of the run's event and effect lines.
func (run *Run) Digest() string { return run.digest }

// SeatDigests returns the digests of the seats by NodeID; nil in the journal of one
// seat.
func (run *Run) SeatDigests() []string { return run.seats }

// held is the file of a journal that was read, up to its last sum line.
type held struct {
	path string
	file durable.File
	size int64
	crc  uint32
	torn bool // the last byte, a newline, is missing
}

// Noted is an opinion of a journal, with the node that noted it and when.
type Noted struct {
	Tick synod.Tick
	Node synod.NodeID
	synod.Opinion
}

// Opinions returns what every node noted, in order.
func (run *Run) Opinions() []Noted {
	var out []Noted
	for _, k := range run.lines {
		if k.Opinion != nil {
			out = append(out, Noted{k.Tick, k.Node, *k.Opinion})
		}
	}
	return out
}

// Opened is what a node of a journal opened: a synod.Opened.
type Opened struct {
	Node  synod.NodeID
	First []synod.Given
}

// Opened returns what every node opened, in order.
func (run *Run) Opened() (all []Opened) {
	for _, k := range run.lines {
		if k.What == opened {
			all = append(all, Opened{k.Node, k.First})
		}
	}
	return all
}

// Lost returns the requests that were paid for and brought nothing that a resumed run can
// use: Unanswered, and those of calls that were dropped because the run ended.
func (run *Run) Lost() []Unanswered {
	all := slices.Clone(run.Unanswered)
	for key, r := range run.Replies {
		if r.Status == synod.Dropped && r.Calls > 0 {
			all = append(all, Unanswered{key.Node, Cost{r.Calls, r.Spent()}})
		}
	}
	return bySeat(all)
}

// Answered returns the replies that a resumed run can use. Calls that were dropped because
// the run ended are made again.
func (run *Run) Answered() Replies {
	all := make(Replies, len(run.Replies))
	for key, r := range run.Replies {
		if r.Status != synod.Dropped {
			all[key] = r
		}
	}
	return all
}

// before returns the replies of a later attempt with those of this one that it does not
// have. The head of the later attempt has the cost of calls that were dropped.
func (run *Run) before(later Replies) Replies {
	all := run.Answered()
	maps.Copy(all, later)
	return all
}

// Asked is a model call of a journal with its prompt.
type Asked struct {
	Key
	Prompt *synod.Prompt
	Round  int // of the next note of the node that asked; -1: it noted nothing more
}

// Asked returns every model call, in order.
func (run *Run) Asked() []Asked {
	var out []Asked
	open := map[synod.NodeID]int{} // where in out the calls of a node begin that wait for its next note
	for _, k := range run.lines {
		if k.Opinion != nil {
			for i := open[k.Node]; i < len(out); i++ {
				if out[i].Node == k.Node {
					out[i].Round = k.Opinion.Round
				}
			}
			open[k.Node] = len(out)
		}
		if k.What != "consult" || k.Prompt == nil {
			continue
		}
		p := *k.Prompt
		p.Question = &run.Head.Question
		out = append(out, Asked{Key{k.Node, synod.ConsultID(k.ID)}, &p, -1})
	}
	return out
}

// bySeat returns one entry for each seat.
func bySeat(all []Unanswered) (sums []Unanswered) {
	order.Sort(all, func(a, b Unanswered) int { return cmp.Compare(a.Node, b.Node) })
	for _, u := range all {
		if n := len(sums); n > 0 && sums[n-1].Node == u.Node {
			sums[n-1].Cost = sums[n-1].Plus(u.Cost)
		} else {
			sums = append(sums, u)
		}
	}
	return sums
}

// Replied is a call with its reply.
type Replied struct {
	Key
	synod.Reply
}

// List returns the replies in the order of their calls.
func (r Replies) List() []Replied {
	list := make([]Replied, 0, len(r))
	for key, reply := range r {
		list = append(list, Replied{key, reply})
	}
	order.Sort(list, func(a, b Replied) int { return a.Key.compare(b.Key) })
	return list
}
