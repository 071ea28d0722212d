package catalog_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/adversary"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/core/script"
	"synod.dev/synod/council"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/answer"
	"synod.dev/synod/protocol/catalog"
)

// The following protocol and adversary are as long as they are in another module.

// Tally is a protocol with a new kind of record: members answer, tell their neighbours,
// and record how many of them agree.
type Tally struct{ answer.Plain }

type agreement struct {
	With int `json:"with"`
}

func (a *agreement) String() string { return fmt.Sprintf("agrees with %d", a.With) }

func (p *Tally) Join(seat synod.Seat) synod.Machine {
	return script.New(seat, script.Options{}, func(me *script.Agent) synod.Answer {
		m := answer.New(me, answer.Settings{Templates: "tally"})
		r := m.Answer()
		m.Note(0, r, synod.Opinion{})
		heard, silent := m.Exchange(0, &r, 0)
		record := &agreement{}
		for _, h := range heard {
			if h.Value.Answer == r.Answer {
				record.With++
			}
		}
		m.Note(1, r, synod.Opinion{Silent: silent, Record: record})
		return r.Answer
	})
}

func (p *Tally) Calls(degrees []int) int { return len(degrees) }

func (p *Tally) PresentRound(o *synod.Opinion, _ func(synod.NodeID) string) map[string]any {
	if r, err := synod.RecordOf[agreement](o); r != nil && err == nil {
		return map[string]any{"agrees_with": r.With}
	}
	return nil
}

var tallyEntry = protocol.Entry{
	Entry: synod.Entry{Name: "tally", Summary: "a protocol of another module"},
	About: "Members count who agrees with them.",
	New:   func() protocol.Protocol { return &Tally{} }, Prompts: answer.Templates,
}

// Contrarian is an adversary that sends the answer 7.
type Contrarian struct{}

func (Contrarian) Corrupt(_ synod.Seat, honest synod.Machine) synod.Machine {
	return &adversary.MessageRewriter{Honest: honest, Response: func(s synod.Send, r synod.Response) []synod.Send {
		r.Answer = "7"
		return []synod.Send{adversary.WithResponse(s, s.To, r)}
	}}
}

var contrarianEntry = adversary.Entry{Entry: synod.Entry{Name: "contrarian", Summary: "sends 7"},
	New: adversary.NoParams(Contrarian{})}

// A protocol with a new kind of record, and an adversary, need one catalogue line each:
// councils play them, journals store and replay the record, and outcomes show it.
func TestExternal(t *testing.T) {
	catalog.Protocols.Add(tallyEntry)
	adversary.Catalogue.Add(contrarianEntry)
	spec, err := plan.Parse([]byte(`
council: external
protocol: {name: tally}
models:
  good: {provider: simulated, ability: 1}
seats:
  - {id: honest, model: good, count: 3}
  - {id: byzantine, model: good, adversary: {name: contrarian}}
`))
	if err != nil {
		t.Fatal(err)
	}
	c, err := council.Convene(spec, llm.Env{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	o, err := c.Decide(context.Background(), council.Ask{Question: synod.Question{Text: "What is 17 + 25?",
		Form: synod.Number}, Seed: 1, Journal: path})
	if err != nil {
		t.Fatal(err)
	}
	if b, err := json.Marshal(o); err != nil || strings.Count(string(b), `"agrees_with":2`) != 3 {
		t.Errorf("the outcome is %s, %v", b, err)
	}
	run, err := journal.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := council.Replay(run); err != nil {
		t.Error(err)
	}
	records := 0
	for _, n := range run.Opinions() {
		if r, err := synod.RecordOf[agreement](&n.Opinion); err != nil {
			t.Error(err)
		} else if r != nil && n.Node < 3 && r.With == 2 {
			records++
		}
	}
	if records != 3 {
		t.Errorf("the journal has %d records of honest members with two that agree", records)
	}
}
