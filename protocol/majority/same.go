package majority

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"

	"synod.dev/synod"
	"synod.dev/synod/core/clean"
	"synod.dev/synod/core/script"
	"synod.dev/synod/llm/prompt"
	"synod.dev/synod/llm/read"
	"synod.dev/synod/protocol/answer"
)

// MaxCompared is the largest number of different answers whose meanings are compared: 66 pairs. With more, those with
// the most authors are, and of equals the first by their bytes.
const MaxCompared = 12

// comparing is the purpose of a prompt that asks which answers mean the same.
const comparing synod.Purpose = "same"

//go:embed prompts/*.tmpl
var files embed.FS

// JoinAnswers makes members say which answers mean the same.
func (p *Majority) JoinAnswers() { p.Same = true }

// JoinPrompts returns the templates of the protocol with JoinAnswers.
func (p *Majority) JoinPrompts() fs.FS { return answer.With(files) }

// Meanings is what a member noted about the answers of others. Its own answer is not among them: what an author says
// of its answer does not count.
type Meanings struct {
	Answers []synod.Answer `json:"answers"` // canonical, in the order in which the member was shown them
	Same    [][2]int       `json:"same"`    // indices of the answers that mean the same to it
}

// String returns one line for transcripts.
func (m *Meanings) String() string {
	return fmt.Sprintf("same: %d pairs of %d answers", len(m.Same), len(m.Answers))
}

// SamePairs returns the pairs of answers that a member calls the same. asked reports whether it noted any comparison.
func (p *Majority) SamePairs(o *synod.Opinion) (pairs [][2]synod.Answer, asked bool) {
	m, err := synod.RecordOf[Meanings](o)
	if err != nil || m == nil || len(m.Answers) > MaxCompared || len(m.Same) > MaxCompared*MaxCompared {
		return nil, false
	}
	for _, s := range m.Same {
		if min(s[0], s[1]) >= 0 && max(s[0], s[1]) < len(m.Answers) {
			pairs = append(pairs, [2]synod.Answer{m.Answers[s[0]], m.Answers[s[1]]})
		}
	}
	return pairs, true
}

// compare plays the protocol with JoinAnswers: the independent answer, the exchange of answers, one call about all
// pairs of answers of others. The answer stays what it was.
func (p *Majority) compare(me *script.Agent) synod.Answer {
	m := answer.New(me, answer.Settings{Templates: "majority"})
	r := m.Answer()
	m.Note(0, r, synod.Opinion{})
	heard, silent := m.Exchange(0, &r, 1)
	o := synod.Opinion{Silent: silent}
	if others := compared(me.Seat(), r.Answer, heard); len(others) > 1 {
		o.Record = ask(m, others)
	}
	if r.Answer != synod.None {
		r.Source = synod.Kept
	}
	m.Note(1, r, o)
	return r.Answer
}

// compared returns the answers of others that a member compares, in an order of its own, so that no author can choose
// its place.
func compared(seat *synod.Seat, own synod.Answer, heard []answer.Heard) (all []synod.Answer) {
	authors := map[synod.Answer]int{}
	for _, h := range heard {
		if authors[h.Value.Answer]++; authors[h.Value.Answer] == 1 {
			all = append(all, h.Value.Answer)
		}
	}
	slices.SortFunc(all, func(a, b synod.Answer) int {
		return cmp.Or(cmp.Compare(authors[b], authors[a]), cmp.Compare(a, b))
	})
	all = slices.DeleteFunc(all, func(a synod.Answer) bool { return a == own || a == synod.None })
	all = all[:min(len(all), MaxCompared)]
	rand.New(rand.NewPCG(seat.Seed, uint64(len(all)))).Shuffle(len(all), func(i, k int) {
		all[i], all[k] = all[k], all[i]
	})
	return all
}

// ask asks which of the answers mean the same. It returns nil, as an interface, if no readable reply came.
func ask(m *answer.Member, others []synod.Answer) synod.Record {
	d := Comparing{Answers: make([]string, len(others))}
	for i, a := range others {
		d.Answers[i] = m.Spelling(a)
		for k := range i {
			d.Pairs = append(d.Pairs, [2]int{k, i})
		}
	}
	q := m.Prompt(comparing)
	q.Detail = d
	r := m.Me.Ask(q)[0]
	same, ok := d.read(r)
	switch {
	case r.Status != synod.OK:
		m.Failed++
	case !ok:
		m.Unreadable++
	default:
		return &Meanings{Answers: others, Same: same}
	}
	return nil
}

// Comparing makes a prompt for the meanings of answers answerable.
type Comparing struct {
	Answers []string `json:"answers"` // as their authors spell them, in the order in which they are shown
	Pairs   [][2]int `json:"pairs"`   // indices of the answers
}

// The verdicts on a pair.
const (
	same      = "same"
	different = "different"
)

// Same implements synod.Detail.
func (d Comparing) Same(other synod.Detail) bool {
	o, ok := other.(Comparing)
	return ok && slices.Equal(o.Answers, d.Answers) && slices.Equal(o.Pairs, d.Pairs)
}

// String implements synod.Detail.
func (d Comparing) String() string { return fmt.Sprintf("%d pairs of answers", len(d.Pairs)) }

// Number returns how the answer with index i is called.
func (d Comparing) Number(i int) int { return i + 1 }

// Key returns the name of the pair with index k.
func (d Comparing) Key(k int) string { return fmt.Sprintf("pair_%d", k+1) }

// Schema returns the schema of the reply.
func (d Comparing) Schema(*synod.Prompt) json.RawMessage {
	fields := make([]prompt.Field, len(d.Pairs))
	for k := range d.Pairs {
		fields[k] = prompt.Field{Name: d.Key(k), Schema: map[string]any{"type": "string",
			"enum": []string{same, different}}}
	}
	return prompt.Object(fields...)
}

// Reads implements synod.Readable.
func (d Comparing) Reads(_ *synod.Prompt, r *synod.Reply) bool {
	_, ok := d.read(r)
	return ok
}

// read returns the pairs that a reply calls the same; not ok if a verdict is missing or unknown.
func (d Comparing) read(r *synod.Reply) (pairs [][2]int, ok bool) {
	body, ok := read.JSONObject(r)
	if r.Status != synod.OK || !ok {
		return nil, false
	}
	pairs = [][2]int{}
	for k, pair := range d.Pairs {
		switch strings.ToLower(strings.TrimSpace(read.TextMember(body, d.Key(k)))) {
		case same:
			pairs = append(pairs, pair)
		case different:
		default:
			return nil, false
		}
	}
	return pairs, true
}

// Simulate compares letters and digits: a simulated member knows no meanings.
func (d Comparing) Simulate(*synod.Prompt, synod.Simulation) synod.Reply {
	verdicts := map[string]string{}
	for k, p := range d.Pairs {
		verdicts[d.Key(k)] = different
		if letters(d.Answers[p[0]]) == letters(d.Answers[p[1]]) {
			verdicts[d.Key(k)] = same
		}
	}
	b, _ := json.Marshal(verdicts) // texts
	return synod.Reply{Status: synod.OK, Text: string(b)}
}

// letters returns the letters and digits of a text in lower case.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, clean.Fold(s))
}
