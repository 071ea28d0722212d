package journal

import (
	"encoding/json"
	"math"
	"strconv"

	"synod.dev/synod"
)

// appendPrompt writes a prompt as encoding/json would.
func appendPrompt(b []byte, p *synod.Prompt) ([]byte, error) {
	if p.Rationale != "" || p.Detail != nil || p.Confide != "" || p.Spelling != nil {
		return appendAny(b, p)
	}
	for _, x := range p.Peers {
		if x.Rationale != "" || !plain(x.Score) {
			return appendAny(b, p)
		}
	}
	b = appendText(append(b, `{"template":`...), p.Template)
	b = appendText(append(b, `,"purpose":`...), string(p.Purpose))
	b = appendSome(b, `,"own":`, string(p.Own))
	b = appendSome(b, `,"candidate":`, string(p.Candidate))
	for i, x := range p.Peers {
		b = appendText(append(b, first(i, `,"peers":[{"answer":`, `,{"answer":`)...), string(x.Answer))
		b = append(appendScore(append(b, `,"score":`...), x.Score), '}')
	}
	if len(p.Peers) > 0 {
		b = append(b, ']')
	}
	b = appendSome(b, `,"caution":`, string(p.Caution))
	b = appendCount(b, `,"f":`, p.F)
	if p.Exact {
		b = append(b, `,"exact":true`...)
	}
	if p.Seed != 0 {
		b = strconv.AppendUint(append(b, `,"seed":`...), p.Seed, 10)
	}
	return append(b, '}'), nil
}

// appendOpinion writes an opinion as encoding/json would.
func appendOpinion(b []byte, o *synod.Opinion) ([]byte, error) {
	if o.Confidence != nil || o.Suspects != nil || o.Record != nil {
		return appendAny(b, o)
	}
	for _, x := range o.Scores {
		if !plain(x.Score) {
			return appendAny(b, o)
		}
	}
	b = strconv.AppendInt(append(b, `{"round":`...), int64(o.Round), 10)
	b = appendText(append(b, `,"answer":`...), string(o.Answer))
	b = appendSome(b, `,"surface":`, o.Surface)
	b = appendText(append(b, `,"source":`...), string(o.Source))
	b = appendNodes(b, `,"from":`, o.From)
	for i, x := range o.Scores {
		b = strconv.AppendInt(append(b, first(i, `,"scores":[{"of":`, `,{"of":`)...), int64(x.Of), 10)
		b = append(appendScore(append(b, `,"score":`...), x.Score), '}')
	}
	if len(o.Scores) > 0 {
		b = append(b, ']')
	}
	b = appendNodes(b, `,"retained":`, o.Retained)
	b = appendNodes(b, `,"dropped":`, o.Dropped)
	b = appendNodes(b, `,"silent":`, o.Silent)
	b = appendCount(b, `,"failed":`, o.Failed)
	b = appendCount(b, `,"garbled":`, o.Unreadable)
	b = appendCount(b, `,"unsure":`, o.Unsure)
	b = appendCount(b, `,"reused":`, o.Reused)
	return append(b, '}'), nil
}

// reply writes what is read as a replyLine.
func (w *Writer) reply(node synod.NodeID, id synod.ConsultID, r *synod.Reply) {
	b := strconv.AppendInt(append(w.room[:0], `{"k":"reply","n":`...), int64(node), 10)
	b = strconv.AppendUint(append(b, `,"id":`...), uint64(id), 10)
	b, err := appendReply(append(b, ','), r)
	if err != nil {
		w.fail(err)
		return
	}
	w.room = append(b, '\n')
	w.put(w.room)
}

// appendReply writes a reply as encoding/json would, without its first brace: it
// may stand in an object that has begun.
func appendReply(b []byte, r *synod.Reply) ([]byte, error) {
	confidence := r.Confidence
	if confidence == nil {
		confidence = new(float64)
	}
	if r.Logprob != nil || r.Late || !short(r.Value) || !short(*confidence) {
		all, err := json.Marshal(r)
		if err != nil {
			return nil, err
		}
		return append(b, all[1:]...), nil
	}
	b = appendText(append(b, `"status":`...), string(r.Status))
	b = appendSome(b, `,"text":`, r.Text)
	if r.Typed {
		b = append(b, `,"typed":true`...)
	}
	b = appendSome(b, `,"answer":`, string(r.Answer))
	if r.Value != 0 {
		b = strconv.AppendFloat(append(b, `,"value":`...), r.Value, 'f', -1, 64)
	}
	if r.Confidence != nil {
		b = strconv.AppendFloat(append(b, `,"confidence":`...), *r.Confidence, 'f', -1, 64)
	}
	b = appendSome(b, `,"detail":`, r.Detail)
	if u := r.Usage; u != (synod.Usage{}) {
		b = append(b, `,"usage":{`...)
		b = appendCount(b, `"prompt":`, u.Prompt)
		if u.Prompt != 0 && u.Completion != 0 {
			b = append(b, ',')
		}
		b = append(appendCount(b, `"completion":`, u.Completion), '}')
	}
	b = appendCount(b, `,"calls":`, r.Calls)
	if r.Reused {
		b = append(b, `,"reused":true`...)
	}
	return append(b, '}'), nil
}

// short is a number that JSON holds and encoding/json writes without exponent.
func short(x float64) bool { return x == 0 || math.Abs(x) >= 1e-6 && math.Abs(x) < 1e21 }
