package panel

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"synod.dev/synod"
	"synod.dev/synod/clean"
	"synod.dev/synod/prompt"
	"synod.dev/synod/read"
)

// The limits of a list of claims.
const (
	MaxClaims = 60  // of a text
	maxClaim  = 500 // bytes of a claim
)

// sumOfClaims identifies a list.
func sumOfClaims(claims []Claim) Sum {
	b, _ := json.Marshal(claims) // texts and numbers
	return sumOf(synod.Answer(b))
}

// validClaims reports whether a list may be judged: each claim is short and stands on a span of the text.
func validClaims(claims []Claim, text synod.Answer) bool {
	if len(claims) > MaxClaims {
		return false
	}
	for _, c := range claims {
		if c.Text == "" || c.Text != clean.Line(c.Text, maxClaim) || c.Start < 0 || c.End <= c.Start ||
			c.End > len(text) || !utf8.ValidString(string(text[c.Start:c.End])) {
			return false
		}
	}
	return true
}

// claimsIn reads the author's list. A claim whose quote is not in the text is left out: it cannot be shown
// where it was made. It returns nil if the reply is no list.
func claimsIn(text string, r *synod.Reply) []Claim {
	if r.Status != synod.OK {
		return nil
	}
	body, ok := read.JSONObject(r)
	if !ok {
		return nil
	}
	raw, ok := read.Member(body, "claims")
	var listed []struct{ Claim, Quote string }
	if !ok || json.Unmarshal(raw, &listed) != nil {
		return nil
	}
	claims := []Claim{}
	index := newIndex(text)
	for _, l := range listed {
		start, end, found := index.find(l.Quote)
		c := Claim{Text: clean.Line(l.Claim, maxClaim), Start: start, End: end}
		if found && c.Text != "" && len(claims) < MaxClaims &&
			!slices.ContainsFunc(claims, func(d Claim) bool { return d.Text == c.Text }) {
			claims = append(claims, c)
		}
	}
	return claims
}

// index finds quotes in a text. White space, and how a character is spelled, do not matter: the author was
// shown the folded text.
type index struct {
	folded []byte
	from   []int // by byte of folded: where its character begins in the text
	to     []int // and where it ends
}

func newIndex(text string) *index {
	x := &index{}
	for i, r := range text {
		for _, b := range []byte(squeezed(string(r))) {
			x.folded, x.from, x.to = append(x.folded, b), append(x.from, i), append(x.to, i+utf8.RuneLen(r))
		}
	}
	return x
}

// squeezed returns a text folded and without white space.
func squeezed(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, clean.Fold(s))
}

// find returns the bytes of the text that a quote covers: from start to before end.
func (x *index) find(quote string) (start, end int, ok bool) {
	var q []byte
	for _, r := range quote {
		q = append(q, squeezed(string(r))...)
	}
	i := bytes.Index(x.folded, q)
	if len(q) == 0 || i < 0 {
		return 0, 0, false
	}
	return x.from[i], x.to[i+len(q)-1], true
}

// Listing makes a prompt for the claims of a text answerable.
type Listing struct {
	Most int `json:"most"` // claims that are asked for at most
}

// Same implements synod.Detail.
func (d Listing) Same(other synod.Detail) bool { return other == d }

// String implements synod.Detail.
func (d Listing) String() string { return "" }

// Schema returns the schema of the reply.
func (d Listing) Schema(*synod.Prompt) json.RawMessage { return listSchema }

var listSchema = prompt.Object(prompt.Field{Name: "claims", Schema: map[string]any{"type": "array",
	"items": prompt.Object(prompt.Field{Name: "claim", Schema: map[string]any{"type": "string"}},
		prompt.Field{Name: "quote", Schema: map[string]any{"type": "string"}})}})

// Simulate lists the sentences of the text.
func (d Listing) Simulate(p *synod.Prompt, _ synod.Simulation) synod.Reply {
	type item struct {
		Claim string `json:"claim"`
		Quote string `json:"quote"`
	}
	all := struct {
		Claims []item `json:"claims"`
	}{[]item{}}
	for _, s := range strings.SplitAfter(string(p.Candidate), ". ") {
		if s = strings.TrimSpace(s); s != "" && len(all.Claims) < d.Most {
			all.Claims = append(all.Claims, item{clean.Line(s, maxClaim), s})
		}
	}
	b, _ := json.Marshal(all) // texts
	return synod.Reply{Status: synod.OK, Text: string(b)}
}

// Checking makes a prompt for verdicts on claims answerable.
type Checking struct {
	Claims []string     `json:"claims"`           // in the order in which they are shown
	Before synod.Answer `json:"before,omitempty"` // the text that Candidate replaces; None: there is none
}

// Same implements synod.Detail.
func (d Checking) Same(other synod.Detail) bool {
	o, ok := other.(Checking)
	return ok && o.Before == d.Before && slices.Equal(o.Claims, d.Claims)
}

// String implements synod.Detail.
func (d Checking) String() string { return fmt.Sprintf("%d claims", len(d.Claims)) }

// Key returns the name of the claim with index i.
func (d Checking) Key(i int) string { return fmt.Sprintf("claim_%d", i+1) }

// Faithful returns the name of the question whether the new text adds nothing.
func (d Checking) Faithful() string { return "nothing_new" }

// keys returns the names of the reply.
func (d Checking) keys() (keys []string) {
	for i := range d.Claims {
		keys = append(keys, d.Key(i))
	}
	if d.Before != synod.None {
		keys = append(keys, d.Faithful())
	}
	return keys
}

// Schema returns the schema of the reply.
func (d Checking) Schema(*synod.Prompt) json.RawMessage {
	var fields []prompt.Field
	for _, k := range d.keys() {
		fields = append(fields, prompt.Field{Name: k, Schema: map[string]any{"type": "string",
			"enum": []Verdict{Supported, Contradicted, CannotTell}}})
	}
	return prompt.Object(fields...)
}

// Simulate draws the verdicts: the abler the member, the more claims it supports. It says nothing about the
// claims, which are invented too.
func (d Checking) Simulate(_ *synod.Prompt, m synod.Simulation) synod.Reply {
	verdicts := map[string]Verdict{}
	for i, k := range d.keys() {
		verdicts[k] = Supported
		if i < len(d.Claims) {
			switch u := m.Rand.Float64(); {
			case u > (1+m.Ability)/2:
				verdicts[k] = Contradicted
			case u > m.Ability:
				verdicts[k] = CannotTell
			}
		}
	}
	b, _ := json.Marshal(verdicts) // texts
	return synod.Reply{Status: synod.OK, Text: string(b)}
}

var errVerdicts = errors.New("the reply has no verdict, or an unknown one, on some claim")

// verdictsIn reads a reply to a Checking: all verdicts or none.
func verdictsIn(r *synod.Reply, d Checking) (all []Verdict, faithful Verdict, err error) {
	if r.Status != synod.OK {
		return nil, "", fmt.Errorf("the call failed (%s)", r.Status)
	}
	body, ok := read.JSONObject(r)
	if !ok {
		return nil, "", errVerdicts
	}
	for _, k := range d.keys() {
		v := Verdict(strings.ToLower(strings.TrimSpace(read.TextMember(body, k))))
		if v != Supported && v != Contradicted && v != CannotTell {
			return nil, "", errVerdicts
		}
		all = append(all, v)
	}
	if d.Before != synod.None {
		faithful = all[len(d.Claims)]
	}
	return all[:len(d.Claims)], faithful, nil
}

// Rewriting makes a prompt for a text without some claims answerable.
type Rewriting struct {
	Claims []string `json:"claims"` // what to leave out
}

// Same implements synod.Detail.
func (d Rewriting) Same(other synod.Detail) bool {
	o, ok := other.(Rewriting)
	return ok && slices.Equal(o.Claims, d.Claims)
}

// String implements synod.Detail.
func (d Rewriting) String() string { return fmt.Sprintf("without %d claims", len(d.Claims)) }

// Simulate takes the claims out of the text, as Listing.Simulate found them.
func (d Rewriting) Simulate(p *synod.Prompt, _ synod.Simulation) synod.Reply {
	text := string(p.Candidate)
	for _, c := range d.Claims {
		text = strings.ReplaceAll(text, c, "")
	}
	return synod.Reply{Status: synod.OK, Text: text}
}
