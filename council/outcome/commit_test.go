package outcome

import (
	"slices"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/protocol"
)

// seven is a council of seven simulated members.
func seven(more string) string {
	return more + "\nf: 2\nmodels: {m: {provider: simulated, ability: 0.7}}\nseats: [{id: a, model: m, count: 7}]\n"
}

// Members commit where they tell one another first answers, unless the file says otherwise or asks for the papers'
// choices, or rounds have no ends. What counts first answers without commitments says so.
func TestWhoCommits(t *testing.T) {
	for text, want := range map[string]bool{
		"protocol: {name: sac}": true, "protocol: {name: debate}": true, "protocol: {name: cascade}": true,
		"protocol: {name: cp-wbft}": true, "protocol: {name: weighted-majority}": true, "protocol: {name: panel}": true,
		"protocol: {name: w-msr}": true, "protocol: {name: majority}\nform: text\nsame: members": true,
		"protocol: {name: majority}": false, "protocol: {name: sac, rounds: 0}": false,
		"protocol: {name: self-consistency}": false, "protocol: {name: sac}\nexact: paper": false,
		"protocol: {name: sac}\ndefences: {commit: off}":                  false,
		"protocol: {name: sac, asynchronous: true}":                       false,
		"protocol: {name: cascade}\ndefences: {commit: off}":              false,
		"protocol: {name: sac}\nrule: {support: 3}\nexact: paper":         false,
		"protocol: {name: sac}\nrule: {name: majority, support: 3}":       true,
		"protocol: {name: majority}\nrule: {name: plurality, support: 3}": false,
	} {
		p, err := plan.New(parsed(t, seven(text)))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if p.Commits() != want {
			t.Errorf("%s: members commit: %v", text, p.Commits())
		}
		label := strings.Contains(text, "cascade") && !want || strings.Contains(text, "support: 3}\nexact")
		if got := strings.Contains(p.Bound().Note, "can copy one"); got != label {
			t.Errorf("%s: it says that copies count: %v (%s)", text, got, p.Bound().Note)
		}
	}
}

// A first answer counts if F others have it, whoever they are, and what members say of one another strips nobody that
// F honest ones confirm. Without any word of an opening all count, because nobody had seen an answer.
func TestWitnesses(t *testing.T) {
	p, err := plan.New(parsed(t, seven("protocol: {name: sac, rounds: 2}")))
	if err != nil {
		t.Fatal(err)
	}
	in := plan.Instance{Question: synod.Question{Text: "?", Form: synod.Number}, Seed: 1}
	for _, c := range []struct {
		name   string
		opened map[int]string // by seat: what it says of seat 6, which noted 42
		none   bool
		counts bool
	}{
		{name: "nobody opened anything", none: true, counts: true},
		{name: "four say so", opened: map[int]string{0: "42", 1: "42", 2: "42", 5: "42"}, counts: true},
		{name: "two say so", opened: map[int]string{0: "42", 1: "42", 2: "41"}, counts: true},
		{name: "in another spelling", opened: map[int]string{0: "42.0", 1: "$42$"}, counts: true},
		{name: "one says so", opened: map[int]string{0: "42", 1: "41", 2: "41"}},
		{name: "another answer", opened: map[int]string{0: "41", 1: "41", 2: "41", 3: "41"}},
		{name: "one and itself", opened: map[int]string{0: "42", 6: "42"}},
	} {
		records := make([]Record, 7)
		for i := range records {
			first, last := &synod.Opinion{Answer: "42"}, &synod.Opinion{Round: 1, Answer: "42"}
			records[i] = Record{Seat: synod.NodeID(i), Stopped: sim.Finished,
				Opinions: []Noted{{Opinion: first}, {Opinion: last}}}
			if c.none {
				continue
			}
			records[i].Opened = []synod.Given{}
			for of := range 6 {
				if of != i {
					records[i].Opened = append(records[i].Opened, synod.Given{Of: synod.NodeID(of), Answer: "42"})
				}
			}
			if a := c.opened[i]; a != "" {
				records[i].Opened = append(records[i].Opened, synod.Given{Of: 6, Answer: synod.Answer(a)})
			}
		}
		o := Judge(p, in, records)
		if m := o.Members[6]; (m.First != nil) != c.counts || m.Uncommitted == c.counts || o.Voices < 6 {
			t.Errorf("%s: the first answer counts: %v; it is marked: %v; %d gave the answer", c.name, m.First != nil,
				m.Uncommitted, o.Voices)
		}
	}
}

// Cascade decides nothing from an answer of its first stage to which its member did not commit in time.
func TestCascadeCountsNoCopies(t *testing.T) {
	p, err := plan.New(parsed(t, strings.Replace(seven("protocol: {name: cascade}"), "f: 2", "f: 1", 1)))
	if err != nil {
		t.Fatal(err)
	}
	in := plan.Instance{Question: synod.Question{Text: "?", Form: synod.Number}, Seed: 1}
	asked := p.Protocol().(protocol.Beginning).FirstAsked(&in.Question, 7, 1)
	for _, committed := range []int{1, 2} {
		records := make([]Record, 7)
		for i := range records {
			records[i] = Record{Seat: synod.NodeID(i), Stopped: sim.Finished, Opened: []synod.Given{}}
			for _, of := range slices.Sorted(slices.Values(asked[:committed])) {
				if of != synod.NodeID(i) {
					records[i].Opened = append(records[i].Opened, synod.Given{Of: of, Answer: "42"})
				}
			}
		}
		for _, id := range asked {
			records[id].Opinions = []Noted{{Opinion: &synod.Opinion{Answer: "42"}}}
		}
		if o := Judge(p, in, records); (o.Decision == "42") != (committed == 2) || len(o.Asked) != 2 {
			t.Errorf("%d of 2 members have committed: decided %s (%s)", committed, o.Decision, o.Reason)
		}
	}
}
