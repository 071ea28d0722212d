package bargain

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"synod.dev/synod"
)

func number(v int) *int { return &v }

// said returns the proposals of players 0, 1 and so on; -1: the player abstains.
func said(values ...int) (all []Proposal) {
	for i, v := range values {
		p := Proposal{By: synod.NodeID(i)}
		if v >= 0 {
			p.Value = &v
		}
		all = append(all, p)
	}
	return all
}

// A prompt lists what players said, one line each, and a log shows a table in one line.
func TestTableAsText(t *testing.T) {
	all := said(7, -1, 9)
	all[2].Reason = "nine\nis\x1b more"
	want := "player 0: 7\nplayer 1: said nothing\nplayer 2: 9, because nine is more\n"
	if got := (&Table{}).Lines(all); got != want {
		t.Errorf("lines %q, want %q", got, want)
	}
	for _, c := range []struct {
		table Table
		want  string
	}{
		{Table{Round: 1, Rounds: 5}, "round 1 of 5"},
		{Table{Round: 2, Rounds: 5, Value: number(3)}, "round 2 of 5 holding 3"},
		{Table{Round: 3, Rounds: 5, Past: []Past{{1, said(1)}, {2, said(7, -1)}}}, "round 3 of 5 n0=7 n1=–"},
		{Table{Round: 3, Rounds: 5, Now: said(4, 5), Past: []Past{{2, said(7)}}}, "round 3 of 5 n0=4 n1=5"},
	} {
		if got := c.table.String(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// The schema of a reply has the range of the game. Only a hostile player may abstain, which needs a list of all values,
// and a game with more than 101 of them has none.
func TestSchema(t *testing.T) {
	for _, c := range []struct {
		purpose    synod.Purpose
		hostile    bool
		low, high  int
		field      string
		want       string
		properties int
	}{
		{Voting, false, 0, 50, "decision", `{"enum":["stop","continue"],"type":"string"}`, 1},
		{Voting, true, 0, 50, "decision", `{"enum":["stop","continue","abstain"],"type":"string"}`, 1},
		{Proposing, false, 10, 12, "value", `{"maximum":12,"minimum":10,"type":"integer"}`, 3},
		{Proposing, true, 10, 12, "value", `{"enum":[10,11,12,"abstain"]}`, 3},
		{Proposing, true, -1, 1, "value", `{"enum":[-1,0,1,"abstain"]}`, 3},
		{Proposing, true, 10, 111, "value", `{"maximum":111,"minimum":10,"type":"integer"}`, 3},
	} {
		table := &Table{Low: c.low, High: c.high, Hostile: c.hostile}
		var schema struct{ Properties map[string]json.RawMessage }
		if err := json.Unmarshal(table.Schema(&synod.Prompt{Purpose: c.purpose}), &schema); err != nil {
			t.Fatal(err)
		}
		if got := string(schema.Properties[c.field]); got != c.want || len(schema.Properties) != c.properties {
			t.Errorf("%s from %d to %d, hostile %v: %s, want %s", c.purpose, c.low, c.high, c.hostile, got, c.want)
		}
	}
	var all struct {
		Properties struct{ Value struct{ Enum []any } }
	}
	table := &Table{Low: 100, High: 200, Hostile: true}
	if err := json.Unmarshal(table.Schema(&synod.Prompt{Purpose: Proposing}), &all); err != nil {
		t.Fatal(err)
	}
	if n := len(all.Properties.Value.Enum); n != 102 {
		t.Errorf("101 values and an abstention are a list of %d", n)
	}
}

// Texts as long as the schema allows are kept whole, also in letters of two bytes.
func TestSchemaFitsWhatIsKept(t *testing.T) {
	var schema struct {
		Properties map[string]struct{ MaxLength int }
	}
	if err := json.Unmarshal((&Table{High: 50}).Schema(&synod.Prompt{Purpose: Proposing}), &schema); err != nil {
		t.Fatal(err)
	}
	notes := strings.Repeat("é", schema.Properties["internal_strategy"].MaxLength)
	reason := strings.Repeat("é", schema.Properties["public_reasoning"].MaxLength)
	p, ok := ReadMove(&synod.Reply{Status: synod.OK, Text: fmt.Sprintf(
		`{"internal_strategy": %q, "value": 7, "public_reasoning": %q}`, notes, reason)}, 0, 50)
	if !ok || notes == "" || reason == "" || p.Notes != notes || p.Reason != reason {
		t.Errorf("of %d and %d bytes, %d and %d are kept", len(notes), len(reason), len(p.Notes), len(p.Reason))
	}
}

// simulated counts the replies of a simulated player to one prompt.
func simulated(table Table, purpose synod.Purpose, caution synod.Caution, f int, m synod.Simulation) map[string]int {
	seen := map[string]int{}
	m.Rand = rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		r := table.Simulate(&synod.Prompt{Purpose: purpose, Caution: caution, F: f}, m)
		seen[string(r.Answer)]++
	}
	return seen
}

// A simulated player keeps its number, or takes one of the last round, the more often the more players proposed it. A
// hostile one proposes any number of the game.
func TestSimulatedProposals(t *testing.T) {
	any3 := map[string]float64{"10": .33, "11": .33, "12": .33}
	past := []Past{{1, said(8, 8, 8)}, {2, said(5, 7, 7, -1, 7)}}
	for what, c := range map[string]struct {
		table Table
		m     synod.Simulation
		want  map[string]float64 // shares
	}{
		"hostile":          {Table{Hostile: true}, synod.Simulation{}, any3},
		"without a number": {Table{}, synod.Simulation{}, any3},
		"a first round":    {Table{Value: number(11)}, synod.Simulation{}, map[string]float64{"11": 1}},
		"stubborn": {Table{Value: number(11), Past: past}, synod.Simulation{Stubbornness: 1},
			map[string]float64{"11": 1}},
		"one that holds": {Table{Value: number(11), Past: past}, synod.Simulation{Holds: true},
			map[string]float64{"11": 1}},
		"a follower of no number more than of another": {Table{Value: number(11), Past: past}, synod.Simulation{},
			map[string]float64{"5": .5, "7": .5}},
		"a follower of most": {Table{Value: number(11), Past: past}, synod.Simulation{Sharpness: 2},
			map[string]float64{"5": .1, "7": .9}},
		"one that is stubborn at times": {Table{Value: number(11), Past: past},
			synod.Simulation{Stubbornness: .5, Sharpness: 1}, map[string]float64{"11": .5, "5": .125, "7": .375}},
		"a follower of nobody": {Table{Value: number(11), Past: []Past{{1, said(-1, -1)}}}, synod.Simulation{},
			map[string]float64{"11": 1}},
	} {
		c.table.Low, c.table.High = 10, 12
		got := simulated(c.table, Proposing, "", 0, c.m)
		for value, share := range c.want {
			if n := float64(got[value]) / 1000; n < share-.05 || n > share+.05 {
				t.Errorf("%s: a share of %.2f proposes %s, want %.2f", what, n, value, share)
			}
		}
		if len(got) != len(c.want) {
			t.Errorf("%s proposes %v", what, got)
		}
	}
}

// A simulated player votes to stop if all players except at most F proposed one number, and the other way with the
// probability Noise. One that stalls, a wary one that is warned, and a hostile one vote to go on.
func TestSimulatedVotes(t *testing.T) {
	for what, c := range map[string]struct {
		now     []Proposal
		f       int
		caution synod.Caution
		hostile bool
		m       synod.Simulation
		stops   float64 // share
	}{
		"all alike":                  {said(7, 7, 7, 7), 0, "", false, synod.Simulation{}, 1},
		"one differs":                {said(7, 7, 7, 8), 0, "", false, synod.Simulation{}, 0},
		"one differs, F = 1":         {said(7, 7, 8, 7), 1, "", false, synod.Simulation{}, 1},
		"two differ, F = 1":          {said(7, 8, 9, 7), 1, "", false, synod.Simulation{}, 0},
		"one is silent, F = 1":       {said(7, 7, 7, -1), 1, "", false, synod.Simulation{}, 1},
		"nobody says anything":       {said(-1, -1), 2, "", false, synod.Simulation{}, 0},
		"noise":                      {said(7, 7, 7, 7), 0, "", false, synod.Simulation{Noise: .3}, .7},
		"noise, and one differs":     {said(7, 7, 7, 8), 0, "", false, synod.Simulation{Noise: .3}, .3},
		"one that stalls":            {said(7, 7, 7, 7), 0, "", false, synod.Simulation{Stalls: true}, 0},
		"wary, and warned":           {said(7, 7), 0, synod.CautionMayExist, false, synod.Simulation{Wary: true}, 0},
		"wary, and not warned":       {said(7, 7), 0, synod.CautionNoAdversary, false, synod.Simulation{Wary: true}, 1},
		"warned, and not wary":       {said(7, 7), 0, synod.CautionMayExist, false, synod.Simulation{}, 1},
		"hostile, and all are alike": {said(7, 7), 0, "", true, synod.Simulation{}, 0},
	} {
		got := simulated(Table{Now: c.now, Hostile: c.hostile}, Voting, c.caution, c.f, c.m)
		if n := float64(got[string(Stop)]) / 1000; n < c.stops-.05 || n > c.stops+.05 ||
			got[string(Stop)]+got[string(Continue)] != 1000 {
			t.Errorf("%s: %v, want a share of %.2f that stop", what, got, c.stops)
		}
	}
}

// A typed reply has the number, or nothing if the player abstains.
func TestTypedReplies(t *testing.T) {
	for answer, want := range map[synod.Answer]string{"7": "7 true", "": "abstains true", "51": "no", "x": "no"} {
		v, ok := ReadValue(&synod.Reply{Status: synod.OK, Typed: true, Answer: answer}, 0, 50)
		got := "no"
		if ok && v == nil {
			got = "abstains true"
		} else if ok {
			got = strconv.Itoa(*v) + " true"
		}
		if got != want {
			t.Errorf("%q: %s, want %s", answer, got, want)
		}
	}
	for answer, want := range map[synod.Answer]Vote{"stop": Stop, "continue": Continue, "abstain": Abstain, "go": ""} {
		r := &synod.Reply{Status: synod.OK, Typed: true, Answer: answer}
		if v, ok := ReadVote(r); v != want || ok != (want != "") {
			t.Errorf("%q: %s, %v", answer, v, ok)
		}
	}
}
