package sac_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"synod.dev/synod"
	"synod.dev/synod/protocol/sac"
	"synod.dev/synod/script"
	"synod.dev/synod/sim"
)

var rewrite = flag.Bool("rewrite", false, "write what happens into the transcripts")

// TestTranscripts plays testdata/*.txt. A transcript is prose, then a block of
// commands between "```play" and "```", then the whole record between "```" and
// "```". Commands, one a line:
//
//	seats N edges 0-1,1-2,…        who talks to whom; "complete" for all
//	f N | rounds N | exact | strict-trim
//	member I says A                its first answer; "fails" for a failed call
//	member I scores A=0.5,B=0.9    what it thinks of answers; 0 for others, "fails", "garbles"
//	member I refines keep|best     keep: its answer stays; best: it takes the best shown
//	silent I                       node I crashes at once
func TestTranscripts(t *testing.T) {
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
			got := "\n" + newPlay(t, strings.TrimPrefix(parts[1], "play\n")).record()
			if *rewrite {
				parts[3] = got
				if err := os.WriteFile(file, []byte(strings.Join(parts, "```")), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if diff := cmp.Diff(parts[3], got); diff != "" {
				t.Errorf("the record differs; -rewrite renews it (-want +got):\n%s", diff)
			}
		})
	}
}

// mind is how a scripted member answers typed prompts.
type mind struct {
	says    string
	scores  map[synod.Answer]string
	refines string
}

type play struct {
	n      int
	peers  [][]synod.NodeID
	f      int
	p      *sac.SAC
	minds  []mind
	faults sim.Faults
}

func newPlay(t *testing.T, text string) *play {
	t.Helper()
	p := &play{p: sac.New()}
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
		if _, e := fmt.Sscanf(s, "%d", &n); e != nil {
			err = e
		}
		return n
	}
	switch w[0] {
	case "seats":
		p.n = num(w[1])
		p.minds = make([]mind, p.n)
		p.peers = neighbours(p.n, w[3])
	case "f":
		p.f = num(w[1])
	case "rounds":
		p.p.Rounds = num(w[1])
	case "exact":
		p.p.Paper()
	case "strict-trim":
		p.p.StrictTrim = true
	case "silent":
		p.faults.Crashes = append(p.faults.Crashes, sim.Crash{Node: synod.NodeID(num(w[1]))})
	case "member":
		err = p.minds[num(w[1])].learn(w[2], w[3])
	default:
		return fmt.Errorf("unknown command")
	}
	return err
}

func (m *mind) learn(what, how string) error {
	switch what {
	case "says":
		m.says = how
	case "refines":
		m.refines = how
	case "scores":
		m.scores = map[synod.Answer]string{}
		for _, s := range strings.Split(how, ",") {
			a, v, _ := strings.Cut(s, "=")
			m.scores[synod.Answer(a)] = v
		}
	default:
		return fmt.Errorf("unknown command")
	}
	return nil
}

// neighbours reads "complete" or "0-1,1-2".
func neighbours(n int, s string) [][]synod.NodeID {
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

// ask answers as the minds do.
func (p *play) ask(calls []sim.Call) []synod.Reply {
	out := make([]synod.Reply, len(calls))
	for i, c := range calls {
		out[i] = p.minds[c.Node].reply(c.Prompt)
	}
	return out
}

func (m mind) reply(p *synod.Prompt) synod.Reply {
	switch p.Purpose {
	case synod.Answering:
		if m.says == "fails" {
			return synod.Reply{Status: synod.Timeout}
		}
		return synod.Reply{Status: synod.OK, Text: "Answer: " + m.says}
	case synod.Scoring:
		switch s := m.scores[p.Candidate]; s {
		case "fails":
			return synod.Reply{Status: synod.Unavailable}
		case "garbles":
			return synod.Reply{Status: synod.OK, Text: "I would rather not say"}
		case "":
			return synod.Reply{Status: synod.OK, Text: "0"}
		default:
			return synod.Reply{Status: synod.OK, Text: s}
		}
	default:
		best := p.Own
		if m.refines == "best" {
			best = p.Peers[0].Answer
		}
		return synod.Reply{Status: synod.OK, Text: "Answer: " + string(best)}
	}
}

func (p *play) machines() []synod.Machine {
	q := &synod.Question{Text: "?", Form: synod.Number}
	out := make([]synod.Machine, p.n)
	for i := range out {
		out[i] = p.p.Join(synod.Seat{Self: synod.NodeID(i), Peers: p.peers[i], F: p.f, Question: q, Seed: script.Derive(1, uint64(i))})
	}
	return out
}

// record is every effect of a run, alarms aside, one a line.
func (p *play) record() string {
	var r recorder
	res := sim.Run(sim.Config{Machines: p.machines(), Ask: p.ask, Faults: p.faults, Log: &r})
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
