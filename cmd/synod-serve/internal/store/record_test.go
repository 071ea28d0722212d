package store

import (
	"encoding/json"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// What is written to the log is read again as it was, whatever it holds.
func TestRecord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, number := rapid.StringN(0, 20, -1), rapid.Int64()
		r := record{ID: text.Draw(t, "id"), Key: text.Draw(t, "key"), API: text.Draw(t, "api"),
			Model: text.Draw(t, "model"), Kept: text.Draw(t, "kept"), Question: text.Draw(t, "question"),
			Want: Money(number.Draw(t, "want")), Tokens: number.Draw(t, "tokens"), Drawn: rapid.Bool().Draw(t, "drawn"),
			Begun: number.Draw(t, "begun"), Ended: number.Draw(t, "ended")}
		if rapid.Bool().Draw(t, "has ended") {
			r.Result = &Result{Status: text.Draw(t, "status"), HTTP: 429, Spent: Money(number.Draw(t, "spent")),
				Tokens: number.Draw(t, "all tokens"), Unpriced: rapid.Bool().Draw(t, "unpriced"), Calls: 3, Prompt: 4,
				Completion: 5, Journal: text.Draw(t, "journal"), Answer: text.Draw(t, "answer"),
				Bytes: number.Draw(t, "bytes"), Alone: Money(number.Draw(t, "alone")),
				Compared: rapid.Bool().Draw(t, "compared")}
		}
		var got record
		if err := json.Unmarshal(r.append(nil), &got); err != nil || !reflect.DeepEqual(got, r) {
			t.Fatalf("%s: %v %+v", r.append(nil), err, got)
		}
	})
}
