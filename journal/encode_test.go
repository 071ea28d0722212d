package journal_test

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"synod.dev/synod"
	"synod.dev/synod/journal"
)

// texts are strings with characters that JSON escapes, and with invalid UTF-8.
var texts = rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z0-9 ]*`),
	rapid.SampledFrom([]string{"", `"`, `\`, "<&>", "\u2028\u2029", "\x00\x1f\x7f", "\xff\xfe", "é", "\n\t"}))

func nodes(t *rapid.T, name string) []synod.NodeID {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) synod.NodeID {
		return synod.NodeID(rapid.Int32().Draw(t,
			"id"))
	}), 0, 4).Draw(t, name)
}

func drawMessage(t *rapid.T) *synod.Message {
	return &synod.Message{
		From: synod.NodeID(rapid.Int32().Draw(t, "from")), Body: rapid.SliceOf(rapid.Byte()).Draw(t, "body"),
		Slot: synod.Slot{Name: texts.Draw(t, "slot"), Round: rapid.Int().Draw(t, "round")},
	}
}

func drawEvent(t *rapid.T) synod.Event {
	return rapid.OneOf(
		rapid.Just[synod.Event](synod.Begin{}), rapid.Just[synod.Event](synod.Halt{}),
		rapid.Custom(func(t *rapid.T) synod.Event { return synod.Heard{Message: drawMessage(t)} }),
		rapid.Custom(func(t *rapid.T) synod.Event {
			return synod.Expired{ID: synod.AlarmID(rapid.Uint32().Draw(t,
				"id"))}
		}),
	).Draw(t, "event")
}

func drawAnswered(t *rapid.T) synod.Event {
	r := sparse[synod.Reply](t)
	r.Text, r.Value = texts.Draw(t, "text"), float64(score(t))
	return synod.Answered{ID: synod.ConsultID(rapid.Uint32().Draw(t, "id")), Reply: r}
}

// raw draws a record or a detail as it is read from a journal.
var raw = rapid.Map(rapid.SampledFrom([]string{`{}`, `{"vote":"stop"}`, `[1,2]`}),
	func(s string) any { return synod.RawRecord(s) })

// sparse draws a struct most of whose fields are zero, so that a field which the
// encoder forgets is found.
func sparse[T any](t *rapid.T) *T {
	v := rapid.MakeCustom[T](rapid.MakeConfig{Types: map[reflect.Type]*rapid.Generator[any]{
		reflect.TypeFor[synod.Record](): raw, reflect.TypeFor[synod.Detail](): raw,
	}}).Draw(t, "struct")
	for i := range reflect.TypeFor[T]().NumField() {
		if rapid.IntRange(0, 5).Draw(t, "zero") > 0 {
			reflect.ValueOf(&v).Elem().Field(i).SetZero()
		}
	}
	return &v
}

func answer(t *rapid.T) synod.Answer { return synod.Answer(texts.Draw(t, "answer")) }

func drawConsult(t *rapid.T) synod.Effect {
	p := sparse[synod.Prompt](t)
	p.Template, p.Own = texts.Draw(t, "template"), answer(t)
	p.Peers = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) synod.Rated {
		return synod.Rated{Answer: answer(t),
			Score: score(t)}
	}), 0, 3).Draw(t, "peers")
	return synod.Consult{Prompt: p}
}

func drawNote(t *rapid.T) synod.Effect {
	o := sparse[synod.Opinion](t)
	o.Answer, o.Retained = answer(t), nodes(t, "retained")
	o.Scores = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) synod.Judged {
		return synod.Judged{Of: 3,
			Score: score(t)}
	}), 0, 3).Draw(t, "scores")
	return synod.Note{Opinion: o}
}

func score(t *rapid.T) synod.Score {
	return synod.Score(rapid.OneOf(rapid.Float64Range(0, 1), rapid.Float64Range(0, 1e-6),
		rapid.SampledFrom([]float64{0, 1, -1, 3, math.NaN(), math.Inf(1)})).Draw(t, "score"))
}

func drawEffect(t *rapid.T) synod.Effect {
	return rapid.OneOf(
		rapid.Custom(func(t *rapid.T) synod.Effect { return synod.Send{To: nodes(t, "to"), Message: drawMessage(t)} }),
		rapid.Custom(func(t *rapid.T) synod.Effect { return synod.Decide{Answer: answer(t)} }),
		rapid.Custom(func(t *rapid.T) synod.Effect {
			return synod.Alarm{ID: synod.AlarmID(rapid.Uint32().Draw(t, "id")),
				At: synod.Tick(rapid.Int64().Draw(t, "at"))}
		}),
	).Draw(t, "effect")
}

// Lines are written as encoding/json writes them, and what JSON cannot hold is an error
// in both.
func TestLinesAreJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now, node := synod.Tick(rapid.Int64().Draw(t, "now")), synod.NodeID(rapid.Int32().Draw(t, "node"))
		for _, x := range []synod.Effect{drawEffect(t), drawConsult(t), drawNote(t)} {
			got, want, err := journal.Encodings(now, node,
				rapid.OneOf(rapid.Custom(drawEvent), rapid.Custom(drawAnswered)).Draw(t, "event"), x)
			if err != nil || !slices.Equal(got, want) {
				t.Fatalf("%v\ngot  %q\nwant %q", err, got, want)
			}
		}
	})
}
