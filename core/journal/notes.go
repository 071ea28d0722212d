package journal

import (
	"bytes"

	"github.com/tidwall/gjson"

	"synod.dev/synod"
)

// ParseNotes reads what the seats noted from the lines of a finished journal that a Writer of this program has just
// written: whole opinions, without calls, messages and replies. Most lines are messages and prompts, which it skips,
// so it is much faster than Parse. The run has neither digests nor lines to replay.
func ParseNotes(lines []byte) (*Run, error) {
	run := &Run{Replies: Replies{}}
	n := 0
	for raw := range bytes.Lines(lines) {
		n++
		if !bytes.HasPrefix(raw, []byte(effectPrefix)) || what(raw) != "note" {
			continue
		}
		k, err := noteLine(raw)
		if err != nil {
			return nil, atLine(n, err)
		}
		run.lines = append(run.lines, stored{line: k, at: n})
	}
	return run, nil
}

// noteLine decodes the line of a note.
func noteLine(raw []byte) (k line, err error) {
	all, err := object(raw)
	if err != nil {
		return k, err
	}
	k = line{Kind: "effect", What: "note", Tick: synod.Tick(all.Get("t").Int()), Node: synod.NodeID(all.Get("n").Int())}
	opinion := all.Get("opinion")
	if !opinion.IsObject() {
		return k, errLine
	}
	k.Opinion = &synod.Opinion{}
	if err := summarizeOpinion(opinion, k.Opinion); err != nil {
		return k, err
	}
	return k, completeOpinion(opinion, k.Opinion)
}

// completeOpinion decodes what summarizeOpinion leaves out.
func completeOpinion(opinion gjson.Result, o *synod.Opinion) (err error) {
	opinion.ForEach(func(name, v gjson.Result) bool {
		switch name.Str {
		case "surface":
			o.Surface = v.Str
		case "source":
			o.Source = synod.Source(v.Str)
		case "from":
			err = nodes(v, &o.From)
		case "scores":
			o.Scores = scores(v)
		case "suspects":
			err = nodes(v, &o.Suspects)
		case "unsure":
			o.Unsure = int(v.Int())
		}
		return err == nil
	})
	return err
}

func scores(list gjson.Result) (all []synod.Judged) {
	list.ForEach(func(_, v gjson.Result) bool {
		judged := synod.Judged{Of: synod.NodeID(v.Get("of").Int()), Score: synod.Untrusted}
		if score := v.Get("score"); score.Type == gjson.Number {
			judged.Score = synod.Score(score.Num)
		}
		all = append(all, judged)
		return true
	})
	return all
}
