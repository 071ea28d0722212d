package journal_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"synod.dev/synod"
	"synod.dev/synod/journal"
)

// words are strings with what JSON escapes in them, broken UTF-8 too.
var words = rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z0-9 ]*`),
	rapid.SampledFrom([]string{"", `"`, `\`, "<&>", "\u2028\u2029", "\x00\x1f\x7f", "\xff\xfe", "é", "\n\t"}))

func nodes(t *rapid.T, name string) []synod.NodeID {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) synod.NodeID { return synod.NodeID(rapid.Int32().Draw(t, "id")) }), 0, 4).Draw(t, name)
}

func drawMessage(t *rapid.T) *synod.Message {
	return &synod.Message{
		From: synod.NodeID(rapid.Int32().Draw(t, "from")), Body: rapid.SliceOf(rapid.Byte()).Draw(t, "body"),
		Slot: synod.Slot{Name: words.Draw(t, "slot"), Round: rapid.Int().Draw(t, "round")},
	}
}

func drawEvent(t *rapid.T) synod.Event {
	return rapid.OneOf(
		rapid.Just[synod.Event](synod.Begin{}), rapid.Just[synod.Event](synod.Halt{}),
		rapid.Custom(func(t *rapid.T) synod.Event { return synod.Heard{Message: drawMessage(t)} }),
		rapid.Custom(func(t *rapid.T) synod.Event { return synod.Expired{ID: synod.AlarmID(rapid.Uint32().Draw(t, "id"))} }),
		rapid.Custom(func(t *rapid.T) synod.Event {
			return synod.Answered{ID: synod.ConsultID(rapid.Uint32().Draw(t, "id")), Reply: &synod.Reply{Status: synod.OK, Text: words.Draw(t, "text")}}
		}),
	).Draw(t, "event")
}

func drawEffect(t *rapid.T) synod.Effect {
	answer := func(t *rapid.T) synod.Answer { return synod.Answer(words.Draw(t, "answer")) }
	return rapid.OneOf(
		rapid.Custom(func(t *rapid.T) synod.Effect { return synod.Send{To: nodes(t, "to"), Message: drawMessage(t)} }),
		rapid.Custom(func(t *rapid.T) synod.Effect { return synod.Decide{Answer: answer(t)} }),
		rapid.Custom(func(t *rapid.T) synod.Effect {
			return synod.Alarm{ID: synod.AlarmID(rapid.Uint32().Draw(t, "id")), At: synod.Tick(rapid.Int64().Draw(t, "at"))}
		}),
		rapid.Custom(func(t *rapid.T) synod.Effect {
			return synod.Consult{Prompt: &synod.Prompt{Template: words.Draw(t, "template"), Own: answer(t), Seed: rapid.Uint64().Draw(t, "seed")}}
		}),
		rapid.Custom(func(t *rapid.T) synod.Effect {
			score := rapid.OneOf(rapid.Float64Range(0, 1), rapid.SampledFrom([]float64{-1, math.NaN()})).Draw(t, "score")
			return synod.Note{Opinion: &synod.Opinion{Answer: answer(t), Retained: nodes(t, "retained"), Scores: []synod.Judged{{Score: synod.Score(score)}}}}
		}),
	).Draw(t, "effect")
}

// Lines are written as encoding/json writes them: older journals replay byte for
// byte, and what JSON cannot hold is an error in both.
func TestLinesAreJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now, node := synod.Tick(rapid.Int64().Draw(t, "now")), synod.NodeID(rapid.Int32().Draw(t, "node"))
		ours, theirs, err := journal.Spellings(now, node, drawEvent(t), drawEffect(t))
		if err != nil || !slices.Equal(ours, theirs) {
			t.Fatalf("%v\nours   %q\ntheirs %q", err, ours, theirs)
		}
	})
}
