package decentllms

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/clean"
	"synod.dev/synod/core/script"
	"synod.dev/synod/core/wire"
	"synod.dev/synod/llm/read"
	"synod.dev/synod/protocol/answer"
	"synod.dev/synod/protocol/broadcast"
	"synod.dev/synod/protocol/grade"
)

// member is the protocol at one seat.
type member struct {
	*answer.Member
	p       *DecentLLMs
	workers []synod.NodeID
	nonce   [nonceSize]byte
	first   *broadcast.Outcome // of the answers
	second  *broadcast.Outcome // of the grades
	why     string             // why this evaluator sends no grades
	own     synod.Answer       // this evaluator's, with Guards.AnswerFirst
}

// answered is a worker's answer as every honest evaluator holds it, and as it was written.
type answered struct {
	WorkerAnswer
	surface   string
	rationale string
}

// evaluated is an evaluator's grades as every honest evaluator holds them.
type evaluated struct {
	by        synod.NodeID
	bottom    string
	value     []byte
	signature []byte
	evaluatorGrades
}

func (p *DecentLLMs) seat(me *script.Agent) *member {
	m := &member{p: p, Member: answer.New(me, answer.Settings{Templates: "decentllms", Exact: p.Exact,
		Caution: p.Caution, Rationale: p.Rationale})}
	m.workers, _ = members(me.Seat().Cast)
	chance := rand.New(rand.NewPCG(me.Seat().Seed, 0x5a17))
	binary.BigEndian.PutUint64(m.nonce[:], chance.Uint64())
	binary.BigEndian.PutUint64(m.nonce[8:], chance.Uint64())
	return m
}

// work plays a worker: it answers and broadcasts its answer to the evaluators.
func (m *member) work() synod.Answer {
	r := m.Answer()
	if r.Answer == synod.None {
		r = m.Answer()
	}
	m.Note(0, r, synod.Opinion{})
	broadcast.Run(m.Me, m.p.answers(m.Me.Seat().Cast, m.Me.Seat().F, m.Me.Seat().Pace), m.answerBytes(r))
	return r.Answer
}

// answerBytes returns what a worker broadcasts; nil if it has no answer that can be sent.
func (m *member) answerBytes(r answer.Held) []byte {
	if r.Answer == synod.None {
		return nil
	}
	text := string(r.Answer)
	if a, ok := read.Canonical(m.Me.Seat().Question, r.Surface); ok && a == r.Answer {
		text = r.Surface
	}
	b, err := synod.Response{Answer: synod.Answer(text), Rationale: r.Rationale}.AppendBinary(nil)
	if err != nil || len(b) > maxAnswer+m.p.Rationale {
		return nil
	}
	return b
}

// hear is phase 1 of an evaluator: it collects the workers' answers, and broadcasts the
// commitment to its part of the salt in the same rounds.
func (m *member) hear() []answered {
	if m.Me.Seat().Guards.AnswerFirst {
		m.own = m.Answer().Answer
	}
	m.Note(0, answer.Held{Source: synod.Absent}, synod.Opinion{})
	seat := m.Me.Seat()
	m.first = broadcast.Run(m.Me, m.p.answers(seat.Cast, seat.F, seat.Pace), commitment(seat.Self, m.nonce))
	answers := make([]answered, 0, len(m.workers))
	for _, d := range m.first.Deliveries {
		if seat.Cast[d.Sender] == Worker {
			a := m.p.read(seat.Question, d)
			a.rationale = answer.Shown(seat, a.rationale, m.p.Rationale)
			answers = append(answers, a)
		}
	}
	return answers
}

// read returns a delivered answer, with its reasoning as it was sent, or why it is ⊥.
func (p *DecentLLMs) read(q *synod.Question, d broadcast.Delivery) (a answered) {
	a.Of = d.Sender
	if a.Bottom = bottom(d); a.Bottom != "" {
		return a
	}
	a.Value, a.Signature = d.Signed.Value, d.Signed.Signature
	var r synod.Response
	if r.UnmarshalBinary(d.Signed.Value) != nil {
		a.Bottom = "unreadable"
		return a
	}
	canonical, ok := read.Canonical(q, string(r.Answer))
	if !ok {
		a.Bottom = "unreadable"
		return a
	}
	a.Answer, a.surface = canonical, clean.Line(string(r.Answer), maxAnswer)
	a.rationale = r.Rationale
	return a
}

func bottom(d broadcast.Delivery) string {
	switch {
	case d.Signed != nil:
		return ""
	case d.Equivocated:
		return "equivocated"
	}
	return "silent"
}

// evaluate is phase 2: it grades every answer and broadcasts the grades if there are some
// for every answer. An evaluator that lacks some after asking twice is silent, because
// grades count completely or not at all.
func (m *member) evaluate(answers []answered) []evaluated {
	seat := m.Me.Seat()
	var message []byte
	if own, ok := m.grade(answers); ok {
		message, m.why = own.encode(), ""
	}
	m.second = broadcast.Run(m.Me, m.p.marks(seat.Cast, seat.F, seat.Pace), message)
	var all []evaluated
	for _, d := range m.second.Deliveries {
		all = append(all, gradesOf(d, answers))
	}
	return all
}

// gradesOf returns the delivered grades of an evaluator, or why they are ⊥.
func gradesOf(d broadcast.Delivery, answers []answered) evaluated {
	x := evaluated{by: d.Sender, bottom: bottom(d)}
	if x.bottom == "" {
		x.value, x.signature = d.Signed.Value, d.Signed.Signature
		if x.decode(d.Signed.Value, answers) != nil {
			x.bottom = "unreadable"
		}
	}
	return x
}

// indexes returns the indexes of the workers whose answers are to be graded.
func (m *evaluatorGrades) indexes(answers []answered) (of []int) {
	for i, a := range answers {
		if a.Bottom == "" {
			of = append(of, i)
		}
	}
	return of
}

// The ways to judge (DL-6).
const (
	One = "one" // one answer a call: no answer can speak about another
	All = "all" // all answers in one call, as in the paper
)

// The ways to grade.
const (
	Stated     = "stated"     // the evaluator's model writes five grades
	Likelihood = "likelihood" // each grade is exp of the mean log-probability of the answer's text, times grade.Max
)

// grade asks for grades of every answer, at most twice.
func (m *member) grade(answers []answered) (own evaluatorGrades, ok bool) {
	own = evaluatorGrades{m.nonce, make([]*grade.Grades, len(answers))}
	of := own.indexes(answers)
	for range 2 {
		left := slices.DeleteFunc(slices.Clone(of), func(i int) bool { return own.grades[i] != nil })
		switch {
		case len(left) == 0:
			return own, true
		case m.p.Judge == All:
			m.gradeAll(answers, left, &own)
		default:
			m.gradeEach(answers, left, &own)
		}
	}
	return own, !slices.ContainsFunc(of, func(i int) bool { return own.grades[i] == nil })
}

// detail is that of a grading prompt.
func (m *member) detail() grade.Detail { return grade.Detail{Examples: m.p.Examples} }

// gradeEach asks for grades of the given answers, one answer in a call.
func (m *member) gradeEach(answers []answered, of []int, own *evaluatorGrades) {
	purpose, read := grade.One, grade.Read
	if m.p.Score == Likelihood {
		purpose, read = synod.Weighing, gradesByLikelihood
	}
	prompts := make([]synod.Prompt, len(of))
	for k, i := range of {
		q := m.Prompt(purpose)
		q.Candidate, q.Rationale, q.Detail = answers[i].Answer, answers[i].rationale, m.detail()
		q.Own, q.Spelling = m.own, spelling(answers[i:i+1])
		prompts[k] = q
	}
	for k, reply := range m.Me.Ask(prompts...) {
		g, err := read(reply)
		if err != nil {
			m.missed(reply, err.Error())
			continue
		}
		own.grades[of[k]] = &g
	}
}

// gradesByLikelihood reads a reply to a prompt of purpose synod.Weighing as five equal grades.
func gradesByLikelihood(r *synod.Reply) (grade.Grades, error) {
	switch {
	case r.Status != synod.OK:
		return grade.Grades{}, fmt.Errorf("the call failed (%s)", r.Status)
	case !r.Typed || !(r.Value <= 0):
		return grade.Grades{}, errors.New("it is not a log-probability")
	}
	return grade.Uniform(grade.Max * math.Exp(r.Value)), nil
}

// gradeAll asks for grades of the given answers in one call. It gets all or none.
func (m *member) gradeAll(answers []answered, of []int, own *evaluatorGrades) {
	q, seat := m.Prompt(grade.All), m.Me.Seat()
	q.Detail, q.Own = m.detail(), m.own
	of = slices.Clone(of)
	answer.Drawn(seat, of, func(i int) synod.NodeID { return answers[i].Of })
	var shown []answered
	for _, i := range of {
		a := &answers[i]
		q.Peers = append(q.Peers, synod.Rated{Answer: a.Answer, Rationale: a.rationale,
			Name: answer.NameOf(seat, a.Of)})
		shown = append(shown, answers[i])
	}
	q.Spelling = spelling(shown)
	reply := m.Me.Ask(q)[0]
	read, err := grade.ReadAll(reply, len(of))
	if err != nil {
		m.missed(reply, err.Error())
		return
	}
	for k, i := range of {
		own.grades[i] = &read[k]
	}
}

// missed counts a reply without grades.
func (m *member) missed(r *synod.Reply, why string) {
	if m.why = why; r.Status != synod.OK {
		m.Failed++
	} else {
		m.Unreadable++
		m.Me.Forget(r)
	}
}

// spelling maps answers to how they were written, where that is not the canonical form.
func spelling(answers []answered) (as map[synod.Answer]string) {
	for _, a := range answers {
		if a.surface != string(a.Answer) {
			if as == nil {
				as = map[synod.Answer]string{}
			}
			as[a.Answer] = a.surface
		}
	}
	return as
}

// maxAnswer is the largest length of an answer in a worker's message, in bytes, including
// the other fields of a Response.
const maxAnswer = 400

// nonceSize is the length of the part of the salt of one evaluator.
const nonceSize = 16

// marksSize returns the length of an evaluator's message with the grades of the given
// number of workers.
func marksSize(workers int) int { return nonceSize + workers*(1+8*len(grade.Grades{})) }

// evaluatorGrades is an evaluator's message in the second phase: the nonce that it committed to, and
// its grades of every worker's answer, nil for ⊥.
type evaluatorGrades struct {
	nonce  [nonceSize]byte
	grades []*grade.Grades // by worker
}

// encode writes the nonce and, for each worker, a 0, or a 1 and five numbers.
func (m *evaluatorGrades) encode() []byte {
	b := append([]byte(nil), m.nonce[:]...)
	for _, g := range m.grades {
		if g == nil {
			b = append(b, 0)
			continue
		}
		b = append(b, 1)
		for _, x := range g {
			b = binary.BigEndian.AppendUint64(b, math.Float64bits(x))
		}
	}
	return b
}

// decode reads grades for exactly those of the answers that are not ⊥, every number in its
// range. Any other message is ⊥ for all evaluators [I-DL-6].
func (m *evaluatorGrades) decode(b []byte, answers []answered) error {
	r := wire.NewReader(b, len(b))
	copy(m.nonce[:], r.Fixed(nonceSize))
	m.grades = make([]*grade.Grades, len(answers))
	for i := range answers {
		graded := r.Uint(1)
		r.Require(graded <= 1 && (graded == 1) == (answers[i].Bottom == ""))
		if graded == 0 {
			continue
		}
		m.grades[i] = new(grade.Grades)
		for j := range m.grades[i] {
			m.grades[i][j] = math.Float64frombits(r.Uint(8))
		}
		r.Require(m.grades[i].Valid())
	}
	return r.End()
}

// commitment returns what binds an evaluator to its part of the salt before it reveals it.
func commitment(by synod.NodeID, nonce [nonceSize]byte) []byte {
	b := binary.BigEndian.AppendUint32([]byte("decentllms/salt/1"), uint32(by))
	sum := sha256.Sum256(append(b, nonce[:]...))
	return sum[:]
}

// ReplyBytes returns what an evaluator signs when it replies to the user. A third party
// needs it to check a Record. The answer may be None. The signature is bound to the run.
func ReplyBytes(a synod.Answer) []byte { return append([]byte("decentllms/reply/1\x00"), a...) }
