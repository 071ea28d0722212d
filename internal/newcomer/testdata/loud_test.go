package adversary_test

import (
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/adversary"
)

// unsure sends an answer of which it is not certain.
type unsure struct{}

func (unsure) Step(synod.Tick, synod.Event) []synod.Effect {
	send := synod.Send{To: []synod.NodeID{1}, Message: &synod.Message{Slot: synod.Slot{Name: synod.Respond}}}
	return []synod.Effect{adversary.WithResponse(send, send.To, synod.Response{Answer: "4", Confidence: 0.5})}
}

// TestLoud: the adversary sends the answer of its member with full confidence.
func TestLoud(t *testing.T) {
	entry, err := adversary.Catalogue.Find("loud-greeting")
	if err != nil {
		t.Fatal(err)
	}
	made, err := entry.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	effects := made.Corrupt(synod.Seat{}, unsure{}).Step(0, synod.Begin{})
	var got synod.Response
	err = got.UnmarshalBinary(effects[0].(synod.Send).Body)
	if err != nil || got.Answer != "4" || got.Confidence != 1 {
		t.Errorf("it sends %+v, %v", got, err)
	}
}
