package journal

import (
	"bytes"
	"fmt"
	"strings"

	"synod.dev/synod"
)

// Divergence is the first difference between a replay and its journal.
type Divergence struct {
	Line int // of the journal
	Node synod.NodeID
	Tick synod.Tick
	Want string // what the journal has, "" if the machine did more
	Got  string // what the machine did, "" if it did less
}

// Error shows the lines only around their first different byte, because the records of
// some protocols take many kilobytes.
func (d *Divergence) Error() string {
	same := 0
	for same < min(len(d.Want), len(d.Got)) && d.Want[same] == d.Got[same] {
		same++
	}
	return fmt.Sprintf("journal: line %d, node %d, tick %d: the journal has %s, the replay has %s",
		d.Line, d.Node, d.Tick, around(d.Want, same), around(d.Got, same))
}

// around returns the part of a line that begins 100 bytes before index at and ends 100
// bytes after it.
func around(line string, at int) string {
	if line == "" {
		return "nothing"
	}
	from, to := max(0, at-100), min(len(line), at+100)
	part := strings.ToValidUTF8(line[from:to], "")
	if from > 0 {
		part = "…" + part
	}
	if to < len(line) {
		part += "…"
	}
	return part
}

// Replay plays the run again without any model: it gives the events of the journal to
// fresh machines, which join makes, and checks that they have the same effects. It
// returns the digest of the lines. The error is a *Divergence at the first difference,
// or an ErrChanged if the end has other digests than the lines.
func Replay(run *Run, join func(synod.NodeID) (synod.Machine, error)) (digest string, err error) {
	p := player{run: run, join: join, machines: map[synod.NodeID]synod.Machine{}}
	defer p.halt()
	for i := 0; i < len(run.lines); {
		if i, err = p.step(i); err != nil {
			return "", err
		}
	}
	if run.changed != nil {
		return run.digest, fmt.Errorf("journal: %w", run.changed)
	}
	return run.digest, nil
}

type player struct {
	run      *Run
	join     func(synod.NodeID) (synod.Machine, error)
	machines map[synod.NodeID]synod.Machine
}

// step plays the event at index i with the effects that follow it, and returns the
// index of the next event.
func (p *player) step(i int) (int, error) {
	k := p.run.lines[i]
	if k.Kind != "event" {
		return 0, &Divergence{k.at, k.Node, k.Tick, string(bytes.TrimSpace(k.raw)), ""}
	}
	e, err := k.event(p.run.Replies)
	if err != nil {
		return 0, fmt.Errorf("journal: line %d: %w", k.at, err)
	}
	m := p.machines[k.Node]
	if m == nil {
		if m, err = p.join(k.Node); err != nil {
			return 0, fmt.Errorf("journal: make the machine of node %d: %w", k.Node, err)
		}
		p.machines[k.Node] = m
	}
	effects := m.Step(k.Tick, e)
	if _, over := e.(synod.Halt); over {
		delete(p.machines, k.Node)
	}
	i++
	for _, effect := range effects {
		did := effectOf(k.Tick, k.Node, effect)
		got, _ := did.append(nil)
		if i >= len(p.run.lines) && p.run.End == nil {
			return i, nil // the run was cut off here
		}
		if i >= len(p.run.lines) || !bytes.Equal(bytes.TrimSpace(p.run.lines[i].raw), got) {
			return 0, p.divergence(i, k, string(got))
		}
		i++
	}
	return i, nil
}

func (p *player) divergence(i int, cause stored, got string) error {
	d := &Divergence{cause.at, cause.Node, cause.Tick, "", got}
	if i < len(p.run.lines) && p.run.lines[i].Kind == "effect" {
		d.Line, d.Want = p.run.lines[i].at, string(bytes.TrimSpace(p.run.lines[i].raw))
	}
	return d
}

func (p *player) halt() {
	for _, m := range p.machines {
		m.Step(0, synod.Halt{})
	}
}
