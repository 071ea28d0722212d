package game_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/protocol/game"
)

// ticket is an adversary that votes to stop to players 0 and 1 only, and confirms only to
// player 0 that this is what it received from itself.
type ticket struct{ honest synod.Machine }

func (m ticket) Step(now synod.Tick, e synod.Event) (out []synod.Effect) {
	for _, x := range m.honest.Step(now, e) {
		s, ok := x.(synod.Send)
		if !ok || s.Slot.Name != "vote" && s.Slot.Name != "count" {
			out = append(out, x)
			continue
		}
		for _, to := range s.To {
			own := *s.Message
			switch {
			case s.Slot.Name == "vote" && to > 1:
				own.Body = []byte("continue")
			case s.Slot.Name == "vote":
				own.Body = []byte("stop")
			case to > 0:
				own.Body = nil // no digests
			}
			out = append(out, synod.Send{To: []synod.NodeID{to}, Message: &own})
		}
	}
	return out
}

// A2A-Sim (Berdoz et al., §3, Algorithm 1): a player ends the game when it has received
// enough votes to stop. With F = 1 and n = 4 one Byzantine player ends the game for one honest
// player of three, in every execution, although the receivers check what they received
// (GM-7). With the agreed end it does so in none.
func TestPaperEndSplits(t *testing.T) {
	for _, end := range []string{game.PaperEnd, game.AgreedEnd} {
		splits := 0
		for seed := range uint64(300) {
			g := game.New()
			g.Rounds, g.End = 3, end
			machines := table(g, 4, 1, seed)
			machines[3] = ticket{machines[3]}
			p := play(machines, model(func(id synod.NodeID, _ int) string {
				if id != 2 {
					return "stop"
				}
				return "continue"
			}))
			r := g.Judge(p.notes, honest(4, 1))
			if r.Split {
				splits++
			}
			if (len(p.notes[0]) != len(p.notes[1])) != r.Split {
				t.Fatalf("seed %d: %+v, and players 0 and 1 played %d and %d rounds", seed, r, len(p.notes[0])-1,
					len(p.notes[1])-1)
			}
		}
		if want := map[string]int{game.PaperEnd: 300, game.AgreedEnd: 0}[end]; splits != want {
			t.Errorf("end %s: the game ended for some honest players only in %d of 300 executions, want %d", end,
				splits, want)
		}
	}
}

// byzantine is a seat with two machines and one key. The second machine votes the opposite of
// the first and proposes another number, so the seat signs two votes. Which of their messages
// go to whom, and when, is random.
type byzantine struct {
	machines [2]synod.Machine
	kind     string
	chance   *rand.Rand
	held     []synod.Effect // sends that wait for a later step
}

var byzantineKinds = []string{"selective", "equivocating", "silent", "late", "garbling", "all"}

func (m *byzantine) Step(now synod.Tick, e synod.Event) (out []synod.Effect) {
	if m.chance.IntN(3) == 0 {
		out, m.held = m.held, nil
	}
	for i, machine := range m.machines {
		own := e
		switch e := e.(type) {
		case synod.Answered:
			if i == 1 {
				continue
			}
		case synod.Expired:
			if int(e.ID%2) != i {
				continue
			}
			own = synod.Expired{ID: e.ID / 2}
		}
		out = append(out, m.step(i, machine, now, own)...)
	}
	return out
}

func (m *byzantine) step(i int, machine synod.Machine, now synod.Tick, e synod.Event) (out []synod.Effect) {
	events := []synod.Event{e}
	for len(events) > 0 {
		effects := slices.Clone(machine.Step(now, events[0]))
		events = events[1:]
		for _, x := range effects {
			switch x := x.(type) {
			case synod.Send:
				out = append(out, m.send(i, x)...)
			case synod.Alarm:
				out = append(out, synod.Alarm{ID: 2*x.ID + synod.AlarmID(i), At: x.At})
			case synod.Consult:
				if i == 0 {
					out = append(out, x)
					continue
				}
				reply := says(`{"internal_strategy": "", "value": 1, "public_reasoning": ""}`)
				if x.Prompt.Purpose == game.Voting {
					reply = says(fmt.Sprintf(`{"decision": %q}`, []string{"stop", "continue"}[m.chance.IntN(2)]))
				}
				events = append(events, synod.Answered{ID: x.ID, Reply: &reply})
			default:
				if i == 0 {
					out = append(out, x)
				}
			}
		}
	}
	return out
}

// send returns what is sent for a message of machine i.
func (m *byzantine) send(i int, s synod.Send) (out []synod.Effect) {
	kind := m.kind
	if kind == "all" {
		kind = byzantineKinds[m.chance.IntN(len(byzantineKinds)-1)]
	}
	if i == 1 && kind != "equivocating" {
		return nil
	}
	for _, to := range s.To {
		own := *s.Message
		own.Body = slices.Clone(own.Body)
		one := synod.Send{To: []synod.NodeID{to}, Message: &own}
		switch kind {
		case "selective", "equivocating":
			if m.chance.IntN(2) == 0 {
				continue
			}
		case "silent":
			if strings.HasPrefix(s.Slot.Name, "vote") {
				continue
			}
		case "late":
			if m.chance.IntN(2) == 0 {
				m.held = append(m.held, one)
				continue
			}
		case "garbling":
			if len(own.Body) > 0 && m.chance.IntN(2) == 0 {
				own.Body[m.chance.IntN(len(own.Body))] ^= 1 << m.chance.IntN(8)
			}
		}
		out = append(out, one)
	}
	return out
}

// The end is a Byzantine agreement (Dolev and Strong 1983, Theorem 3: any F < n): with at most
// F Byzantine players of every kind all honest players end after the same round with the same
// tally, which has the votes of all honest players. A game that code ends (rule final-vote)
// ends on one number.
func TestAgreedEnd(t *testing.T) {
	executions := 1500
	if testing.Short() {
		executions = 300
	}
	seen := map[string]int{}
	for seed := range uint64(executions) {
		for _, what := range agreedEnd(t, seed) {
			seen[what]++
		}
	}
	t.Logf("%d executions: %v", executions, seen)
	for _, what := range []string{"ended by vote", "ended by code", "a Byzantine vote counted",
		"a Byzantine player found out"} {
		if seen[what] == 0 {
			t.Errorf("in no execution: %s", what)
		}
	}
}

func agreedEnd(t *testing.T, seed uint64) (seen []string) {
	chance := rand.New(rand.NewPCG(seed, 0xe4d))
	n := 3 + chance.IntN(5)
	f := 1 + chance.IntN(n-2)
	b := 1 + chance.IntN(f)
	g := game.New()
	g.Rounds, g.Rule = 3, game.FinalVote
	machines := table(g, n, f, seed)
	twins := table(g, n, f, seed)
	for i := n - b; i < n; i++ {
		machines[i] = &byzantine{machines: [2]synod.Machine{machines[i], twins[i]},
			kind: byzantineKinds[chance.IntN(len(byzantineKinds))], chance: rand.New(rand.NewPCG(seed, uint64(i)))}
	}
	votes := func(id synod.NodeID, round int) string {
		own := rand.New(rand.NewPCG(seed, uint64(id)<<8+uint64(round)))
		return []string{"stop", "stop", "continue"}[own.IntN(3)]
	}
	p := play(machines, model(votes))
	where := fmt.Sprintf("seed %d, n=%d F=%d b=%d", seed, n, f, b)
	for i, of := range p.notes[:n-b] {
		if len(of) != len(p.notes[0]) {
			t.Fatalf("%s: player %d has %d notes, player 0 has %d", where, i, len(of), len(p.notes[0]))
		}
		for k, o := range of[1:min(len(of), g.Rounds+1)] {
			own, first := o.Record.(*game.Record), p.notes[0][k+1].Record.(*game.Record)
			if !slices.Equal(own.Stops, first.Stops) || own.Over != first.Over {
				t.Fatalf("%s round %d: player %d counts %s, player 0 %s", where, k+1, i, own, first)
			}
			for id := range synod.NodeID(n - b) {
				if (votes(id, k+1) == "stop") != slices.Contains(own.Stops, id) {
					t.Fatalf("%s round %d: player %d counts %s, and honest player %d votes %s", where, k+1, i, own, id,
						votes(id, k+1))
				}
			}
			if slices.ContainsFunc(own.Stops, func(id synod.NodeID) bool { return int(id) >= n-b }) {
				seen = append(seen, "a Byzantine vote counted")
			}
			for _, id := range o.Suspects {
				if int(id) < n-b {
					t.Fatalf("%s round %d: player %d suspects honest player %d", where, k+1, i, id)
				}
				seen = append(seen, "a Byzantine player found out")
			}
		}
	}
	switch r := g.Judge(p.notes, honest(n, b)); {
	case r.Split:
		t.Fatalf("%s: %+v", where, r)
	case r.Code && r.Outcome == game.Premature:
		t.Fatalf("%s: code ended the game on different numbers: %+v", where, r)
	case r.Code:
		seen = append(seen, "ended by code")
	default:
		seen = append(seen, "ended by vote")
	}
	return seen
}

// A council that the broadcast cannot serve is refused before it plays.
func TestTooManyPlayers(t *testing.T) {
	g := game.New()
	if err := g.CheckCast(make([]synod.Role, 100), 3); err != nil {
		t.Error(err)
	}
	err := g.CheckCast(make([]synod.Role, 300), 3)
	if err == nil || !strings.Contains(err.Error(), "end: paper") {
		t.Errorf("300 players: %v", err)
	}
	if err := g.CheckCast(make([]synod.Role, 300), 0); err != nil {
		t.Errorf("without Byzantine players: %v", err)
	}
	g.End = game.PaperEnd
	if err := g.CheckCast(make([]synod.Role, 300), 3); err != nil {
		t.Errorf("with the paper's end: %v", err)
	}
	if err := g.CheckCast(make([]synod.Role, 4), 4); err == nil {
		t.Error("n = f is accepted")
	}
}

// The guarantee states what the paper's end does not provide.
func TestEndGuarantee(t *testing.T) {
	g := game.New()
	if name, note := g.Guarantee(1, 2, true); name != game.AgreedEnd ||
		!strings.Contains(note, "after the same round") {
		t.Errorf("%s: %s", name, note)
	}
	g.Paper()
	if name, note := g.Guarantee(1, 2, true); name != "" || !strings.Contains(note, "for some honest players only") {
		t.Errorf("exact: paper: %q: %s", name, note)
	}
}

// The votes of one tick of a slow model still count: the broadcast begins when the last
// attempt of a vote ends.
func TestSlowVotesCount(t *testing.T) {
	g := game.New()
	g.Rounds, g.Attempts = 1, 1
	p := playAt(table(g, 4, 1, 1), 2, model(func(synod.NodeID, int) string { return "stop" }))
	for i, of := range p.notes {
		if r := of[1].Record.(*game.Record); len(r.Stops) != 4 || !r.Over {
			t.Errorf("player %d counts %s", i, r)
		}
	}
}

// The shortest pace of a council file, a millisecond for a message, is played.
func TestShortestPace(t *testing.T) {
	g := game.New()
	g.Rounds = 1
	machines := make([]synod.Machine, 4)
	for i := range machines {
		s := seat(i, 4, 1, 1)
		s.Pace = synod.Pace{Think: 1, Within: 1}
		machines[i] = g.Join(s)
	}
	p := play(machines, model(func(synod.NodeID, int) string { return "stop" }))
	for i, of := range p.notes {
		if r := of[len(of)-1].Record.(*game.Record); len(r.Stops) != 4 || !r.Over {
			t.Errorf("player %d counts %s", i, r)
		}
	}
}
