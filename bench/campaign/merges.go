package campaign

import (
	"bytes"
	"encoding/json"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/forge"
	"synod.dev/synod/internal/reference"
	"synod.dev/synod/record/certificate"
)

// mergeSubject has councils merge JSON values, and verifiers judge certificates of merged values.
func mergeSubject() *subject {
	return pieceSubject(mergeName, .1, []string{reference.Agreed, reference.Undecided, reference.Degraded, "composed",
		"one voice with several seats", "weighted", "a change is withstood", "valid", "refused"},
		playMerge, claimMerged, claimMergeStays, claimMergeSigned)
}

func playMerge(p *piece) {
	v := &values{piece: p, shape: rand.New(rand.NewPCG(p.rand.Uint64N(48), 3))}
	v.n = 3 + p.rand.IntN(5)
	v.Merger = reference.Merger{Seats: v.n, Top: v.part(2), F: p.rand.IntN((v.n-1)/2 + 1),
		Rule: reference.Rule{Name: among(p, plan.Plurality, plan.Majority, plan.Supermajority)}}
	for v.Top.How != "object" && v.Top.How != "list" {
		v.Top = v.part(2)
	}
	if p.one(3) {
		v.Rule.Support = 2 + p.rand.IntN(2)
	}
	for range v.n {
		text := v.draw(v.Top)
		v.first = append(v.first, text)
		v.last = append(v.last, v.draw(v.Top))
	}
	if p.one(3) {
		v.certified()
	} else {
		v.judged()
	}
}

// values are what the seats of a council gave under a schema.
type values struct {
	*piece
	reference.Merger
	shape       *rand.Rand // draws the schema, of which there are few
	n           int
	first, last []any // by seat; nil: none
	weights     []float64
}

// part draws a schema.
func (v *values) part(depth int) *reference.Part {
	kinds := []string{"vote", "vote", "bool", "median", "mean", "set", "list", "object", "object"}
	how := kinds[v.shape.IntN(len(kinds))]
	if depth == 0 {
		how = kinds[v.shape.IntN(5)]
	}
	p := &reference.Part{How: how, Whole: v.shape.IntN(2) == 0}
	switch how {
	case "list":
		p.Items = v.part(depth - 1)
	case "object":
		for k := range 2 + v.shape.IntN(3) {
			p.Slots = append(p.Slots, reference.Slot{Name: string(rune('a' + k)), Required: v.shape.IntN(2) == 0,
				Part: v.part(depth - 1)})
		}
		if v.shape.IntN(3) == 0 {
			p.Groups = [][]string{{"a", "b"}}
		}
	}
	return p
}

// schemaOf writes a schema.
func schemaOf(p *reference.Part) map[string]any {
	number := "number"
	if p.Whole {
		number = "integer"
	}
	switch p.How {
	case "bool":
		return map[string]any{"type": "boolean"}
	case "median":
		return map[string]any{"type": number, "x-merge": "median"}
	case "mean":
		return map[string]any{"type": number, "x-merge": "trimmed-mean"}
	case "set":
		return map[string]any{"type": "array", "uniqueItems": true, "items": map[string]any{"type": "string"}}
	case "list":
		return map[string]any{"type": "array", "items": schemaOf(p.Items)}
	case "object":
		s, required := map[string]any{}, []string{}
		for _, slot := range p.Slots {
			if s[slot.Name] = schemaOf(slot.Part); slot.Required {
				required = append(required, slot.Name)
			}
		}
		o := map[string]any{"type": "object", "properties": s, "required": required, "additionalProperties": false}
		if p.Groups != nil {
			o["x-together"] = p.Groups
		}
		return o
	}
	return map[string]any{"type": "string"}
}

// draw draws the value of a seat; nil: it has none. Most seats give the same in most parts.
func (v *values) draw(p *reference.Part) any {
	if p == v.Top && v.one(9) {
		return nil
	}
	odd := 0
	if v.one(4) {
		odd = v.rand.IntN(3)
	}
	switch p.How {
	case "bool":
		return odd < 2
	case "median", "mean":
		x := big.NewRat(int64(10+odd), 1)
		if !p.Whole {
			x.Quo(x, big.NewRat(4, 1))
		}
		return x
	case "set":
		return []any{"x", "y", "z"}[min(odd, 1) : 2+odd/2]
	case "list":
		items := []any{}
		for range max(0, 2-odd) {
			items = append(items, v.draw(p.Items))
		}
		return items
	case "object":
		o := map[string]any{}
		for _, s := range p.Slots {
			if x := v.draw(s.Part); s.Required || odd == 0 || v.one(2) {
				o[s.Name] = x
			}
		}
		return o
	}
	return []any{"p", "q", "r"}[odd]
}

// textOf is a value as an answer; None for nil.
func textOf(value any) synod.Answer {
	if value == nil {
		return synod.None
	}
	return synod.Answer(reference.Text(value))
}

// gave is what is merged.
func (v *values) gave(of []any) (in []reference.Gave, present int) {
	for i, x := range of {
		if x == nil {
			continue
		}
		g := reference.Gave{Seat: i, Value: x, Weight: 1e9}
		if v.weights != nil {
			g.Weight = int64(v.weights[i]*1000) * 1e6
		}
		in, present = append(in, g), present+1
	}
	return in, present
}

// judged compares what a council decides.
func (v *values) judged() {
	schema, err := json.Marshal(schemaOf(v.Top))
	if err != nil {
		panic(err)
	}
	v.Never = v.one(4)
	d := &drawn{protocol: comparing(), rule: v.Rule, question: synod.Question{Text: "Which?", Form: synod.JSON,
		Schema: schema}}
	if v.one(4) {
		d.protocol = among(v.piece, weighing(), averaging())
		for range v.n {
			v.weights = append(v.weights, among(v.piece, 0, .25, .5, 1, 1))
		}
		v.State("weighted", true)
	}
	voices := among(v.piece, v.n, v.n, 3)
	d.F, d.First = v.F, make([]synod.Answer, v.n)
	for i := range v.n {
		d.Voice = append(d.Voice, i%voices)
	}
	if voices < v.n {
		v.Voice = d.Voice
		v.State("one voice with several seats", true)
	}
	if v.Never {
		d.more = "compose: never\n"
	}
	if d.plan = judged(d, false); d.plan == nil {
		return
	}
	in, present := v.gave(v.first)
	status, want := v.Decide(in, present)
	o := outcome.Judge(d.plan, plan.Instance{Question: d.question}, v.records())
	v.State(status, true)
	v.State("composed", o.Composed != nil && *o.Composed)
	v.Claim(claimMerged, o.Status == status && v.same(want, o.Decision), "%s is merged to %q (%s, %s), and by the "+
		"reference to %q (%s): F=%d %+v never %v voices %v of %s", schema, o.Decision, o.Status, o.Reason,
		reference.Text(want), status, v.F, v.Rule, v.Never, v.Voice, v.texts())
	v.Applies(claimMergeStays)
	if status == reference.Agreed && o.Withstands != nil && v.Voice == nil {
		v.stays(want, o.Withstands.Ignored, o.Withstands.Changed, schema)
		v.cutOff(d, want, &o)
	}
}

// cutOff has a limit cut the run off. The value stands if no more seats have no answer than may say anything else; and
// if it stands, it is the same whatever they say.
func (v *values) cutOff(d *drawn, want any, whole *outcome.Outcome) {
	records, missing := v.records(), []int{}
	for i := range records {
		if records[i].Stopped = outcome.PastTime; v.first[i] == nil {
			missing = append(missing, i)
		}
	}
	o := outcome.Judge(d.plan, plan.Instance{Question: d.question}, records)
	stands := o.Decision == whole.Decision
	v.Claim(claimMergeStays, stands || o.Decision == synod.None && len(missing) > whole.Withstands.Changed, "cut off "+
		"without answers of %v, %q is decided and not %q, which withstands %+v: %s", missing, o.Decision,
		whole.Decision, whole.Withstands, v.texts())
	if !stands {
		return
	}
	for range 4 {
		other, x := *v, v.draw(v.Top)
		other.first, other.weights = slices.Clone(v.first), slices.Clone(v.weights)
		for _, i := range missing {
			if other.first[i] = x; v.weights != nil {
				other.weights[i] = 1
			}
		}
		in, present := other.gave(other.first)
		_, got := other.Decide(in, present)
		v.Claim(claimMergeStays, reference.Text(got) == reference.Text(want), "cut off without answers of %v, %s is "+
			"decided, and it would be %s if they said %s: F=%d %+v never %v %s", missing, reference.Text(want),
			reference.Text(got), reference.Text(x), v.F, v.Rule, v.Never, v.texts())
	}
}

// same reports whether an answer is a value; None is no value.
func (v *values) same(want any, got synod.Answer) bool {
	if want == nil || got == synod.None {
		return want == nil && got == synod.None
	}
	return canonicalText(string(got)) == reference.Text(want)
}

// canonicalText writes JSON as the reference does.
func canonicalText(text string) string {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return err.Error()
	}
	var rational func(v any) any
	rational = func(v any) any {
		switch v := v.(type) {
		case json.Number:
			x, _ := new(big.Rat).SetString(string(v))
			return x
		case []any:
			for i := range v {
				v[i] = rational(v[i])
			}
		case map[string]any:
			for name := range v {
				v[name] = rational(v[name])
			}
		}
		return v
	}
	return reference.Text(rational(v))
}

func (v *values) texts() (all []synod.Answer) {
	for _, x := range v.first {
		all = append(all, textOf(x))
	}
	return all
}

// records are what the runs of the seats leave behind: first answers, and later ones that do not count.
func (v *values) records() (all []outcome.Record) {
	for i := range v.first {
		first := &synod.Opinion{Answer: textOf(v.first[i])}
		last := &synod.Opinion{Round: 1, Answer: first.Answer}
		if v.first[i] != nil && v.last[i] != nil {
			last.Answer = textOf(v.last[i])
		}
		if v.weights != nil && v.weights[i] > 0 { // a missing one weighs nothing
			first.Confidence = &v.weights[i]
		}
		all = append(all, outcome.Record{Seat: synod.NodeID(i), Stopped: sim.Finished,
			Opinions: []outcome.Noted{{Opinion: first}, {Tick: 1, Opinion: last}}})
	}
	return all
}

// stays checks that a value is the same without some seats, or whatever they say instead.
func (v *values) stays(want any, ignored, changed int, schema []byte) {
	v.State("a change is withstood", changed > 0)
	for range 4 {
		order := v.rand.Perm(v.n)
		left := v.Merger
		left.Seats -= ignored
		some := slices.Clone(v.first)
		for _, i := range order[:min(ignored, v.n)] {
			some[i] = nil
		}
		in, present := v.gave(some)
		_, got := left.Decide(in, present)
		v.Claim(claimMergeStays, left.Seats > 0 && reference.Text(got) == reference.Text(want), "without %v %s is "+
			"merged to %s and not to %s, and is said to withstand %d ignored: F=%d %+v never %v %s", order[:ignored],
			schema, reference.Text(got), reference.Text(want), ignored, v.F, v.Rule, v.Never, v.texts())
		other := *v
		other.first, other.weights = slices.Clone(v.first), slices.Clone(v.weights)
		x := v.draw(v.Top)
		for _, i := range order[:min(changed, v.n)] {
			if other.first[i] = x; v.weights != nil {
				other.weights[i] = 1
			}
		}
		in, present = other.gave(other.first)
		_, got = other.Decide(in, present)
		v.Claim(claimMergeStays, reference.Text(got) == reference.Text(want), "if %v say something else, %s is merged "+
			"to %s and not to %s, and is said to withstand %d changed: F=%d %+v never %v %s", order[:changed], schema,
			reference.Text(got), reference.Text(want), changed, v.F, v.Rule, v.Never, v.texts())
	}
}

// certified has one owner certify a merged value, and lie in one place or in none.
func (v *values) certified() {
	r := rand.New(rand.NewPCG(v.rand.Uint64(), 4))
	shape := forge.Draw(r, v.n)
	shape.Symbolic, shape.Rule, shape.F = true, v.Rule.Name, v.F
	c, err := forge.Make(r, shape)
	if err != nil {
		panic(err)
	}
	schema, err := json.Marshal(schemaOf(v.Top))
	if err != nil {
		panic(err)
	}
	w := &paper{Council: c}
	w.Roster.Rule.Support = uint64(v.Rule.Support)
	w.Roster.Guarantee = certificate.None
	w.s = &certificate.Statement{Instance: w.Instance, Question: w.Question, Form: "json", Answer: forge.Answer(0)}
	for range v.n {
		w.s.Members = append(w.s.Members, certificate.Member{First: []byte{}, Final: []byte{}, Signature: []byte{}})
	}
	if w.s.SetRoster(w.Roster) != nil {
		return
	}
	o, valid := v.statement(w, schema)
	made, err := certificate.Signed(o, logKeys[0])
	if err != nil {
		v.State("refused", true)
		v.Claim(claimMergeSigned, !valid, "a merged value cannot be certified: %v", err)
		return
	}
	_, err = certificate.Verify(made, nil)
	v.State("valid", valid)
	v.State("refused", !valid)
	v.Claim(claimMergeSigned, (err == nil) == valid, "a certificate of a merged value is judged %v, and by the "+
		"reference %v: F=%d %+v %s of %q", err, valid, v.F, v.Rule, schema, o.Merge.Values)
}

// statement writes what the owner states, and says whether it is true.
func (v *values) statement(w *paper, schema []byte) (o *certificate.Statement, valid bool) {
	s := *w.s
	o = &certificate.Statement{Domain: certificate.DomainThree, Kind: certificate.Owner, Council: s.Council,
		Owner: logKeys[0].PublicKey(), Instance: s.Instance, Question: s.Question, Form: s.Form, Protocol: s.Protocol,
		Parameters: s.Parameters, Rule: s.Rule, Faults: s.Faults, Graph: s.Graph, Claim: s.Claim, Journal: []byte{},
		Merge: &certificate.Merge{Schema: schema, Last: v.one(3), Values: make([][]byte, v.n)}}
	of, voters := v.first, 0
	if o.Merge.Last {
		of = v.last
	}
	counted := make([]any, v.n)
	for i, m := range s.Members {
		m.Key = []byte{}
		m.First, m.Final = hashOf(v.first[i]), hashOf(v.last[i])
		o.Merge.Values[i] = []byte(textOf(of[i]))
		if o.Members = append(o.Members, m); m.Voter {
			voters, counted[i] = voters+1, of[i]
		}
	}
	v.Seats = voters
	in, _ := v.gave(counted)
	_, want := v.Decide(in, voters) // a certificate does not count who had no answer
	if valid = want != nil; !valid {
		want = of[v.rand.IntN(v.n)]
		if want == nil {
			want = "nothing"
		}
	}
	o.Answer = hashOf(want)
	lie := v.rand.IntN(8)
	if lie == 0 {
		o.Answer, valid = certificate.AnswerHash("another value"), false
	}
	o.Fill()
	switch at := slices.IndexFunc(of, func(x any) bool { return x != nil }); {
	case lie == 1 && at >= 0:
		o.Merge.Values[at], valid = append(bytes.Clone(o.Merge.Values[at]), ' '), false
	case lie == 2 && o.Withstands != nil:
		o.Withstands.Ignored++
		valid = false
	case lie == 3 && o.Withstands != nil:
		o.Withstands.Changed++
		valid = false
	}
	return o, valid
}

func hashOf(value any) []byte { return certificate.AnswerHash(string(textOf(value))) }
