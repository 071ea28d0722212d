package read

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"

	"synod.dev/synod"
)

// Recorded replies of real models: how often our reader agrees with what the
// source extracted. Skipped where the traces are not at hand.
func TestReadRecordedReplies(t *testing.T) {
	for _, c := range []struct {
		file  string
		q     synod.Question
		least float64 // of the rows in which the source found an answer, read alike
	}{
		{"mmlu-pro.jsonl", synod.Question{Form: synod.Choice, Options: lettered(10)}, 0.95},
		{"gsm8k-openai.jsonl", synod.Question{Form: synod.Number}, 0.95},
		{"realcritic-math.jsonl", synod.Question{Form: synod.Math}, 0.8},
	} {
		f, err := os.Open("../../shared/data/traces/" + c.file)
		if err != nil {
			t.Skip("no traces here")
		}
		defer f.Close()
		same, differ, none := 0, 0, 0
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var row struct{ Response, Answer *string }
			if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
				t.Fatal(err)
			}
			if row.Answer == nil || row.Response == nil {
				continue
			}
			want, _ := Canonical(&c.q, *row.Answer)
			switch got, _, ok := AnswerIn(&c.q, *row.Response); {
			case !ok:
				none++
			case got == want:
				same++
			default:
				differ++
				t.Logf("%s: read %q, the source %q", c.file, got, *row.Answer)
			}
		}
		all := same + differ + none
		t.Logf("%s: %d alike, %d differ, %d unread of %d", c.file, same, differ, none, all)
		if float64(same) < c.least*float64(all) {
			t.Errorf("%s: only %d of %d are read alike", c.file, same, all)
		}
	}
}

func lettered(n int) []synod.Option {
	o := make([]synod.Option, n)
	for i := range o {
		o[i] = synod.Option{Label: string(rune('A' + i)), Text: "text of " + string(rune('A'+i))}
	}
	return o
}
