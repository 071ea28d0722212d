package journal

import "synod.dev/synod"

// Happened is an event of a journal: what a node was given, and when.
type Happened struct {
	Tick synod.Tick
	Node synod.NodeID
	synod.Event
	Effects int // how many of its effects the journal has
}

// Events returns every event, in order. An answered event needs the reply of its call in the
// journal. The error is for a line that no Writer writes.
func (run *Run) Events() ([]Happened, error) {
	var all []Happened
	for _, k := range run.lines {
		if k.Kind != "event" {
			if n := len(all); n > 0 {
				all[n-1].Effects++
			}
			continue
		}
		e, err := k.event(run.Replies)
		if err != nil {
			return nil, atLine(k.at, err)
		}
		all = append(all, Happened{Tick: k.Tick, Node: k.Node, Event: e})
	}
	return all, nil
}

// Flush hands all lines to the operating system, so that they outlive the process. It returns the
// first failure to write.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flush()
	return w.err
}
