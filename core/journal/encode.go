package journal

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"strconv"

	"synod.dev/synod"
)

// append writes the line as encoding/json would, byte for byte, because digests and
// replays depend on these bytes. It exists for speed: a question has hundreds of
// lines. Fields of prompts and opinions that only some protocols use are left to
// encoding/json.
func (l *line) append(b []byte) ([]byte, error) {
	b = appendText(append(b, `{"k":`...), l.Kind)
	b = strconv.AppendInt(append(b, `,"t":`...), int64(l.Tick), 10)
	b = strconv.AppendInt(append(b, `,"n":`...), int64(l.Node), 10)
	b = appendText(append(b, `,"w":`...), l.What)
	if l.ID != 0 {
		b = strconv.AppendUint(append(b, `,"id":`...), uint64(l.ID), 10)
	}
	b = appendSome(b, `,"sum":`, l.Sum)
	if l.At != 0 {
		b = strconv.AppendInt(append(b, `,"at":`...), int64(l.At), 10)
	}
	if l.From != nil {
		b = strconv.AppendInt(append(b, `,"from":`...), int64(*l.From), 10)
	}
	b = appendNodes(b, `,"to":`, l.To)
	if l.Slot != nil {
		b = appendText(append(b, `,"slot":{"name":`...), l.Slot.Name)
		b = append(strconv.AppendInt(append(b, `,"round":`...), int64(l.Slot.Round), 10), '}')
	}
	if len(l.Body) > 0 {
		b = append(base64.StdEncoding.AppendEncode(append(b, `,"body":"`...), l.Body), '"')
	}
	var err error
	if l.Prompt != nil {
		b, err = appendPrompt(append(b, `,"prompt":`...), l.Prompt)
	}
	if l.Opinion != nil && err == nil {
		b, err = appendOpinion(append(b, `,"opinion":`...), l.Opinion)
	}
	b = appendSome(b, `,"answer":`, string(l.Answer))
	for i, g := range l.First {
		b = strconv.AppendInt(append(b, first(i, `,"first":[{"of":`, `,{"of":`)...), int64(g.Of), 10)
		b = append(appendText(append(b, `,"answer":`...), string(g.Answer)), '}')
	}
	if len(l.First) > 0 {
		b = append(b, ']')
	}
	return append(b, '}'), err
}

// appendNodes, appendSome and appendCount write a field of an object, unless it is
// empty.
func appendNodes(b []byte, name string, nodes []synod.NodeID) []byte {
	for i, id := range nodes {
		b = strconv.AppendInt(append(b, first(i, name+"[", ",")...), int64(id), 10)
	}
	if len(nodes) == 0 {
		return b
	}
	return append(b, ']')
}

func appendSome(b []byte, name, text string) []byte {
	if text == "" {
		return b
	}
	return appendText(append(b, name...), text)
}

func appendCount(b []byte, name string, n int) []byte {
	if n == 0 {
		return b
	}
	return strconv.AppendInt(append(b, name...), int64(n), 10)
}

func first(i int, a, b string) string {
	if i == 0 {
		return a
	}
	return b
}

// finite reports whether JSON can hold a score.
func finite(s synod.Score) bool { return !math.IsNaN(float64(s)) && !math.IsInf(float64(s), 0) }

func appendScore(b []byte, s synod.Score) []byte {
	if s == synod.Untrusted {
		return append(b, "null"...)
	}
	return strconv.AppendFloat(b, float64(s), 'g', -1, 64)
}

// appendText quotes a string. Strings that need an escape are left to encoding/json.
func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		if escaped[s[i]] {
			quoted, _ := json.Marshal(s) // it cannot fail for a string
			return append(b, quoted...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

// escaped has the bytes that encoding/json does not write as they are. All bytes of
// characters outside ASCII are among them.
var escaped = func() (all [256]bool) {
	for c := range all {
		text := string([]byte{byte(c)})
		quoted, _ := json.Marshal(text)
		all[c] = string(quoted) != `"`+text+`"`
	}
	return all
}()

func appendAny(b []byte, v any) ([]byte, error) {
	more, err := json.Marshal(v)
	return append(b, more...), err
}

// appendPrompt writes a prompt as encoding/json would.
func appendPrompt(b []byte, p *synod.Prompt) ([]byte, error) {
	if p.Rationale != "" || p.Goal != "" || p.Detail != nil || p.ConfidenceMode != "" || p.Spelling != nil ||
		p.Unread != "" || p.Failed != nil || p.Plain || p.Unfenced || p.Raw {
		return appendAny(b, p)
	}
	for _, x := range p.Peers {
		if x.Rationale != "" || x.Name != "" || !finite(x.Score) {
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
		if !finite(x.Score) {
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

// appendReplyLine writes a reply line, which is read as a replyLine.
func appendReplyLine(b []byte, node synod.NodeID, id synod.ConsultID, r *synod.Reply) ([]byte, error) {
	b = strconv.AppendInt(append(b, `{"k":"reply","n":`...), int64(node), 10)
	b = strconv.AppendUint(append(b, `,"id":`...), uint64(id), 10)
	return appendReply(append(b, ','), r)
}

// appendReply writes a reply as encoding/json would, but without its first brace, so
// that it can continue an object.
func appendReply(b []byte, r *synod.Reply) ([]byte, error) {
	confidence := r.Confidence
	if confidence == nil {
		confidence = new(float64)
	}
	if r.Logprob != nil || r.Failed != nil || r.Late || r.Needless || !short(r.Value) || !short(*confidence) {
		all, err := json.Marshal(*r) // a copy: only these replies are allocated again
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
	b = appendUsage(b, `,"usage":{`, r.Usage)
	b = appendCount(b, `,"calls":`, r.Calls)
	b = appendUsage(b, `,"charged":{`, r.Charged)
	b = appendSome(b, `,"fault":`, r.Fault)
	b = appendSome(b, `,"model":`, r.Model)
	b = appendCount(b, `,"reader":`, r.Reader)
	if r.Cut {
		b = append(b, `,"cut":true`...)
	}
	if r.Plain {
		b = append(b, `,"plain":true`...)
	}
	b = appendSome(b, `,"reread":`, string(r.Reread))
	b = appendSome(b, `,"other":`, r.Other)
	if r.Reused {
		b = append(b, `,"reused":true`...)
	}
	b = appendCount(b, `,"ms":`, r.Took)
	return append(b, '}'), nil
}

func appendUsage(b []byte, name string, u synod.Usage) []byte {
	if u == (synod.Usage{}) {
		return b
	}
	b = append(b, name...)
	for _, c := range [...]struct {
		name string
		n    int
	}{{`"prompt":`, u.Prompt}, {`"completion":`, u.Completion}, {`"cached":`, u.Cached}, {`"stored":`, u.Stored},
		{`"billed":`, u.Billed}, {`"bills":`, u.Bills}} {
		if c.n != 0 && b[len(b)-1] != '{' {
			b = append(b, ',')
		}
		b = appendCount(b, c.name, c.n)
	}
	return append(b, '}')
}

// appendAskedLine writes an asked line, which is read as an askedLine.
func appendAskedLine(b []byte, node synod.NodeID, id synod.ConsultID, c Cost) []byte {
	b = strconv.AppendInt(append(b, `{"k":"asked","n":`...), int64(node), 10)
	b = strconv.AppendUint(append(b, `,"id":`...), uint64(id), 10)
	b = appendCount(b, `,"calls":`, c.Calls)
	return append(appendUsage(b, `,"usage":{`, c.Usage), '}')
}

// short reports whether encoding/json writes a number, and without an exponent.
func short(x float64) bool { return x == 0 || math.Abs(x) >= 1e-6 && math.Abs(x) < 1e21 }
