// Package simtest has what the tests of protocols share: transcripts, which are text files with a
// run and its expected record, and trials, which are random councils with invariants that must
// hold in each of them.
//
// A transcript has prose, then a block of commands between "```play" and "```", then the complete
// record between "```" and "```". The commands, one in a line:
//
//	seats N edges 0-1,1-2,…        links between seats, or "complete"
//	f N | form number|text|… | exact
//	pace THINK WITHIN              in ticks (2 4)
//	KEY [VALUE]                    a parameter of the protocol; true without a value
//	member I says A[|B…]           its answers in order; the last is repeated; "fails" for a failed call
//	member I sure X[|Y…]           its confidences, in the same way
//	member I scores A=0.5,B=0.9    its scores of answers, 0 for others; also "fails", "garbles"
//	member I refines keep|best     keep: it keeps its answer; best: it adopts the first one shown
//	member I names N[|M…]          its numbers in a game, "fails" or "garbles"
//	member I votes V[|W…]          its votes: stop, continue, abstain
//	cast ROLE,ROLE,…               the roles of all seats
//	silent I                       node I crashes at once
//	adversary I NAME [KEY=VALUE]   an adversary of the catalogue
package simtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"synod.dev/synod"
	"synod.dev/synod/adversary"
	"synod.dev/synod/core/script"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/internal/golden"
)

// Protocol is a protocol under test.
type Protocol interface {
	synod.Protocol
	Paper()
	Calls(degrees []int) int
	MaxRounds() int
}

// Transcripts runs the transcripts testdata/*.txt, each with a new protocol.
func Transcripts(t *testing.T, fresh func() Protocol) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			parts := strings.Split(string(text), "```")
			if len(parts) != 5 || !strings.HasPrefix(parts[1], "play\n") {
				t.Fatalf("%s: want prose, a play block and a record block", file)
			}
			got := "\n" + newPlay(t, fresh(), strings.TrimPrefix(parts[1], "play\n")).record()
			if *golden.Rewrite {
				parts[3] = got
				if err := os.WriteFile(file, []byte(strings.Join(parts, "```")), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if diff := cmp.Diff(parts[3], got); diff != "" {
				t.Errorf("the record differs; -rewrite updates it (-want +got):\n%s", diff)
			}
		})
	}
}

type play struct {
	protocol    Protocol
	peers       [][]synod.NodeID
	f           int
	form        synod.Form
	members     []member
	adversaries []adversary.Adversary
	faults      sim.Faults
	cast        []synod.Role
	pace        synod.Pace
}

// Pace is the pace of transcripts and trials in ticks. A call takes one tick and a
// message one tick and its delay.
var Pace = synod.Pace{Think: 2, Within: 4}

func newPlay(t *testing.T, protocol Protocol, text string) *play {
	t.Helper()
	p := &play{protocol: protocol, form: synod.Number, pace: Pace}
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) > 0 {
			if err := p.command(words); err != nil {
				t.Fatalf("%q: %v", strings.TrimSpace(line), err)
			}
		}
	}
	return p
}

func (p *play) command(w []string) (err error) {
	num := func(s string) (n int) {
		n, e := strconv.Atoi(s)
		if e != nil {
			err = e
		}
		return n
	}
	switch w[0] {
	case "seats":
		n := num(w[1])
		p.members, p.adversaries = make([]member, n), make([]adversary.Adversary, n)
		p.peers = Neighbours(n, w[3])
	case "cast":
		for role := range strings.SplitSeq(w[1], ",") {
			p.cast = append(p.cast, synod.Role(role))
		}
	case "f":
		p.f = num(w[1])
	case "pace":
		p.pace = synod.Pace{Think: synod.Tick(num(w[1])), Within: synod.Tick(num(w[2]))}
	case "form":
		p.form = synod.Form(w[1])
	case "exact":
		p.protocol.Paper()
	case "silent":
		p.faults.Crashes = append(p.faults.Crashes, sim.Crash{Node: synod.NodeID(num(w[1]))})
	case "member":
		if len(w) < 4 {
			return p.set(w[0], w[1]) // a protocol may have a parameter of that name
		}
		return p.members[num(w[1])].learn(w[2], w[3])
	case "adversary":
		p.adversaries[num(w[1])], err = newAdversary(w[2], w[3:])
	default:
		return p.set(w[0], strings.Join(w[1:], " "))
	}
	return err
}

// set sets a parameter of the protocol.
func (p *play) set(key, value string) error {
	if value == "" {
		value = "true"
	}
	if !json.Valid([]byte(value)) {
		value = strconv.Quote(value)
	}
	d := json.NewDecoder(bytes.NewReader(fmt.Appendf(nil, "{%q: %s}", key, value)))
	d.DisallowUnknownFields()
	return d.Decode(p.protocol)
}

func newAdversary(name string, params []string) (adversary.Adversary, error) {
	entry, err := adversary.Catalogue.Find(name)
	if err != nil {
		return nil, err
	}
	var with map[string]any
	for _, w := range params {
		key, value, _ := strings.Cut(w, "=")
		with = map[string]any{key: value}
	}
	return entry.New(with)
}

// Neighbours returns the neighbours of n nodes for "complete" or a list of edges such as "0-1,1-2".
func Neighbours(n int, s string) [][]synod.NodeID {
	peers := make([][]synod.NodeID, n)
	for i := range n {
		for j := range n {
			edge, back := fmt.Sprintf(",%d-%d,", i, j), fmt.Sprintf(",%d-%d,", j, i)
			if i != j && (s == "complete" || strings.Contains(","+s+",", edge) || strings.Contains(","+s+",", back)) {
				peers[i] = append(peers[i], synod.NodeID(j))
			}
		}
		slices.Sort(peers[i])
	}
	return peers
}

func (p *play) machines() []synod.Machine {
	q := &synod.Question{Text: "?", Form: p.form}
	out := make([]synod.Machine, len(p.members))
	keys := sign.DeriveSymbolic(1, len(out))
	for i := range out {
		seat := synod.Seat{Self: synod.NodeID(i), Peers: p.peers[i], F: p.f, Pace: p.pace, Question: q,
			Seed: script.Derive(1, uint64(i))}
		if p.cast != nil {
			seat.Cast, seat.Role = p.cast, p.cast[i]
		}
		if s, ok := p.protocol.(interface{ Signs() bool }); ok && s.Signs() {
			seat.Signer = keys.Signer(seat.Self, "transcript")
		}
		if p.adversaries[i] == nil {
			out[i] = p.protocol.Join(seat)
		} else {
			out[i] = adversary.Seat(p.adversaries[i], seat, p.protocol.Join)
		}
	}
	return out
}

// record returns all effects of a run except alarms, one in a line.
func (p *play) record() string {
	var r recorder
	ask := func(calls []sim.Call) []synod.Reply {
		out := make([]synod.Reply, len(calls))
		for i, c := range calls {
			out[i] = p.members[c.Node].reply(c.Prompt)
		}
		return out
	}
	res := sim.Run(sim.Config{Machines: p.machines(), Ask: sim.Immediate(ask), Faults: p.faults, Log: &r})
	fmt.Fprintf(&r.b, "ends: %s\n", res.Stopped)
	return r.b.String()
}

type recorder struct{ b strings.Builder }

func (r *recorder) Event(synod.Tick, synod.NodeID, synod.Event) {}
func (r *recorder) Effect(now synod.Tick, node synod.NodeID, e synod.Effect) {
	if _, ok := e.(synod.Alarm); !ok {
		fmt.Fprintf(&r.b, "%2d n%d %s\n", now, node, e)
	}
}
