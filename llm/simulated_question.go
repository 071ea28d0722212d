package llm

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"synod.dev/synod"
	"synod.dev/synod/llm/read"
)

// item is what a simulated member knows about one question.
type item struct {
	id, text string
	form     synod.Form
	options  int
	plain    bool
	hash     uint64 // of the study and the question
	truth    synod.Answer
	wrong    []synod.Answer // distinct, none is the truth
	chance   float64        // of being right
}

// itemSlot caches the last item whose question hashed to it: making an item takes
// a thousand times as long as replying.
type itemSlot struct{ last atomic.Pointer[item] }

func (m *simulated) item(q *synod.Question) *item {
	s := &m.items[(uint(len(q.Text))*31+lastByte(q.Text)*7+lastByte(q.ID))%uint(len(m.items))]
	it := s.last.Load()
	if it != nil && it.id == q.ID && it.text == q.Text && it.form == q.Form && it.options == len(q.Options) &&
		it.plain && q.Plain() {
		return it
	}
	it = m.newItem(q)
	s.last.Store(it)
	return it
}

// identify returns what tells a question from others: its ID, or its text, or all of it where it is more than
// a text.
func identify(q *synod.Question) string {
	if q.ID == "" && !q.Plain() {
		return itemID(q)
	}
	return cmp.Or(q.ID, q.Text)
}

func lastByte(s string) uint {
	if s == "" {
		return 0
	}
	return uint(s[len(s)-1])
}

func (m *simulated) newItem(q *synod.Question) *item {
	it := &item{id: strings.Clone(q.ID), text: strings.Clone(q.Text), form: q.Form, options: len(q.Options),
		plain: q.Plain()}
	it.hash = hashString(mix(m.cfg.Study), identify(q))
	chance := rand.New(rand.NewPCG(it.hash, 0xd1ce))
	u := (float64(chance.Uint64()>>12) + 0.5) / (1 << 52) // never 0 or 1
	it.chance = correctness(m.offset, m.cfg.Spread, u)
	if m.truth != nil {
		it.truth = m.truth(q)
	}
	if it.truth == synod.None {
		it.truth = invented(q, chance)
	}
	it.wrong = mistakes(q, it.truth, m.cfg.Wrong, chance)
	return it
}

// correctness returns the probability to be right about a question whose
// difficulty is at quantile u.
func correctness(offset, spread, u float64) float64 {
	return sigmoid(offset - spread*math.Log(u/(1-u)))
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// offsets are the values of offset that were computed: sweeps open thousands of members with few abilities.
var offsets sync.Map // from [2]float64, ability and spread, to float64

// offset returns b, for which the mean probability over all difficulties is
// ability.
func offset(ability, spread float64) float64 {
	of := [2]float64{ability, spread}
	if b, known := offsets.Load(of); known {
		return b.(float64)
	}
	b := solveOffset(ability, spread)
	offsets.Store(of, b)
	return b
}

func solveOffset(ability, spread float64) float64 {
	switch ability {
	case 0, 1:
		return math.Inf(int(2*ability - 1))
	}
	const points = 512
	low, high := -200.0, 200.0
	for range 60 {
		b, sum := (low+high)/2, 0.0
		for i := range points {
			sum += correctness(b, spread, (float64(i)+0.5)/points)
		}
		if sum < ability*points {
			low = b
		} else {
			high = b
		}
	}
	return low
}

var sumPattern = regexp.MustCompile(`^[^0-9]*?(-?[0-9]{1,9})\s*([-+*\x{00d7}\x{2212}])\s*([0-9]{1,9})[^0-9]*$`)

// arithmetic computes the answer to a question such as "What is 17 + 25?".
func arithmetic(text string) (int64, bool) {
	if !strings.ContainsAny(text, "0123456789") {
		return 0, false // without the time that the pattern takes
	}
	m := sumPattern.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	a, _ := strconv.ParseInt(m[1], 10, 64)
	b, _ := strconv.ParseInt(m[3], 10, 64)
	switch m[2] {
	case "+":
		return a + b, true
	case "-", "\u2212":
		return a - b, true
	}
	return a * b, true
}

// invented returns an answer to a question whose right answer is not known.
func invented(q *synod.Question, chance *rand.Rand) synod.Answer {
	switch q.Form {
	case synod.Number, synod.Math:
		if v, ok := arithmetic(q.Text); ok {
			return synod.Answer(strconv.FormatInt(v, 10))
		}
		return synod.Answer(strconv.Itoa(1 + chance.IntN(999)))
	case synod.Bool:
		return []synod.Answer{"true", "false"}[chance.IntN(2)]
	case synod.Stance:
		return []synod.Answer{synod.Complies, synod.Refuses}[chance.IntN(2)]
	case synod.JSON, synod.Action:
		return read.Sample(q, chance)
	case synod.Choice:
		if len(q.Options) > 0 {
			return synod.Answer(q.Options[chance.IntN(len(q.Options))].Label)
		}
	}
	return fiction(q, 1)
}

// fiction returns an invented text, which says what it is.
func fiction(q *synod.Question, n int) synod.Answer {
	if q.Form != synod.Prose {
		return synod.Answer("simulated answer " + strconv.Itoa(n))
	}
	return synod.Answer(fmt.Sprintf("Simulated text %d. A simulated member invented it without reading the question."+
		"\n\nIt has a second paragraph. This is its sentence %d.", n, n+100))
}

// mistakes returns up to n wrong answers of the question's form, at least one.
func mistakes(q *synod.Question, truth synod.Answer, n int, chance *rand.Rand) []synod.Answer {
	wrong := make([]synod.Answer, 0, min(n, 8))
	add := func(raw string) {
		a, ok := read.Canonical(q, raw)
		if ok && a != truth && !slices.Contains(wrong, a) && len(wrong) < n {
			wrong = append(wrong, a)
		}
	}
	switch q.Form {
	case synod.Bool:
		add("true")
		add("false")
	case synod.Stance:
		for _, a := range synod.Stances() {
			add(string(a))
		}
	case synod.JSON, synod.Action:
		for range 4 * n {
			add(string(read.Vary(q, truth, chance)))
		}
		if len(wrong) == 0 { // one value only follows the schema
			wrong = append(wrong, truth)
		}
	case synod.Choice:
		for _, i := range chance.Perm(len(q.Options)) {
			add(q.Options[i].Label)
		}
	case synod.Number, synod.Math:
		near := numberNear(truth, chance)
		for step := int64(1); len(wrong) < n && step < int64(n)+100; step++ { // huge numbers have few neighbours
			off := step
			if chance.IntN(2) == 0 {
				off = -step
			}
			add(near(off))
		}
	}
	many := q.Form == synod.Text || q.Form == synod.Prose
	for k := 2; len(wrong) == 0 || many && len(wrong) < n; k++ {
		if a := fiction(q, k); a != truth {
			wrong = append(wrong, a)
		}
	}
	return wrong
}

// numberNear returns a function that writes the number at some distance from the
// truth, or from any number if the truth is none. Whole numbers, which most are,
// need no rational arithmetic.
func numberNear(truth synod.Answer, chance *rand.Rand) func(off int64) string {
	const far = 1 << 53
	if whole, err := strconv.ParseInt(string(truth), 10, 64); err == nil && -far < whole && whole < far {
		return func(off int64) string { return strconv.FormatInt(whole+off, 10) }
	}
	near, ok := new(big.Rat).SetString(string(truth))
	if !ok {
		near = big.NewRat(int64(chance.IntN(100)), 1)
	}
	return func(off int64) string { return new(big.Rat).Add(near, big.NewRat(off, 1)).RatString() }
}
