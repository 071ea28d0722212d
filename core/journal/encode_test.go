package journal_test

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
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
		reflect.TypeFor[map[string]any](): rapid.Just[any](map[string]any{"minimum": 1.5}),
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
			return synod.Opened{First: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) synod.Given {
				return synod.Given{Of: synod.NodeID(rapid.Int32().Draw(t, "of")), Answer: answer(t)}
			}), 0, 3).Draw(t, "first")}
		}),
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

// fieldValues returns values of a field's type, each of which JSON writes in another way.
func fieldValues(t reflect.Type) []any {
	number := func(x float64) *float64 { return &x }
	switch t {
	case reflect.TypeFor[[]synod.NodeID]():
		return []any{[]synod.NodeID{}, []synod.NodeID{0}, []synod.NodeID{3, 1, 2}}
	case reflect.TypeFor[[]synod.Rated]():
		return []any{[]synod.Rated{}, []synod.Rated{{Answer: "a", Score: synod.Untrusted}, {Answer: "é", Score: .25}},
			[]synod.Rated{{Answer: "a", Score: 1e-7}, {Answer: "b", Score: 2}, {Answer: "c", Rationale: "so"}},
			[]synod.Rated{{Answer: "a", Score: 1, Rationale: "so"}}}
	case reflect.TypeFor[[]synod.Judged]():
		return []any{[]synod.Judged{}, []synod.Judged{{Of: 2, Score: synod.Untrusted}, {Of: 0, Score: 1}},
			[]synod.Judged{{Of: 1, Score: synod.Score(math.NaN())}}, []synod.Judged{{Of: 1, Score: 1e-7}}}
	case reflect.TypeFor[*float64]():
		return []any{number(0), number(.1 + .2), number(1e-7), number(1e-6), number(1e21), number(math.Inf(1))}
	case reflect.TypeFor[synod.Usage]():
		return []any{synod.Usage{Prompt: 1}, synod.Usage{Completion: 2}, synod.Usage{Cached: 3, Stored: 4}}
	case reflect.TypeFor[map[synod.Answer]string]():
		return []any{map[synod.Answer]string{"a": "A"}}
	case reflect.TypeFor[synod.Detail](), reflect.TypeFor[synod.Record]():
		return []any{synod.RawRecord(`{"a":1}`)}
	case reflect.TypeFor[*synod.Failure]():
		return []any{&synod.Failure{Check: "c", Reason: "<é>"}}
	case reflect.TypeFor[*synod.Question]():
		return []any{&synod.Question{Text: "?"}}
	}
	switch t.Kind() {
	case reflect.String:
		return []any{"a ~", `"`, `\`, "<", ">", "&", "\x1f", "\x7f", "é"}
	case reflect.Bool:
		return []any{true}
	case reflect.Float64:
		return []any{1.0, -.5, .1 + .2, 9e-7, 1e-6, -1e-6, 9e20, 1e21, -1e21, math.NaN()}
	case reflect.Int:
		return []any{1, -7}
	case reflect.Uint64:
		return []any{uint64(1), uint64(math.MaxUint64)}
	}
	return nil
}

// oneField calls check with structs that have one field that is not zero.
func oneField[T any](t *testing.T, check func(field string, v *T)) {
	for i := range reflect.TypeFor[T]().NumField() {
		f := reflect.TypeFor[T]().Field(i)
		values := fieldValues(f.Type)
		if len(values) == 0 {
			t.Errorf("%s has a type without test values", f.Name)
		}
		for _, value := range values {
			var v T
			reflect.ValueOf(&v).Elem().Field(i).Set(reflect.ValueOf(value).Convert(f.Type))
			check(f.Name, &v)
		}
	}
}

// Every field of a prompt, an opinion and a reply is written as encoding/json writes it, also where no other is set.
func TestEveryFieldIsJSON(t *testing.T) {
	check := func(field string, e synod.Event, x synod.Effect) {
		t.Helper()
		got, want, err := journal.Encodings(1, 2, e, x)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v\ngot  %q\nwant %q", field, err, got, want)
		}
	}
	oneField(t, func(field string, p *synod.Prompt) { check(field, synod.Begin{}, synod.Consult{Prompt: p}) })
	oneField(t, func(field string, o *synod.Opinion) { check(field, synod.Begin{}, synod.Note{Opinion: o}) })
	oneField(t, func(field string, r *synod.Reply) { check(field, synod.Answered{Reply: r}, synod.Decide{}) })
}
