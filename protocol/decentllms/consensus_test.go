package decentllms

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/robust"
	"synod.dev/synod/protocol/grade"
)

// [I-DL-6] Signed grades are ⊥ if one is missing, extra or out of range.
func TestMarksDecode(t *testing.T) {
	answers := []answered{{}, {WorkerAnswer: WorkerAnswer{Bottom: "silent"}}, {}}
	good := evaluatorGrades{grades: []*grade.Grades{{1, 2, 3, 4, 5}, nil, {20, 0, 0, 0, 20}}}
	b := good.encode()
	var got evaluatorGrades
	if err := got.decode(b, answers); err != nil || *got.grades[2] != *good.grades[2] || len(b) > marksSize(3) {
		t.Fatal(got, err)
	}
	bad := map[string][]byte{
		"extra": append(slices.Clone(b), 0), "an invalid grade": slices.Concat(b[:nonceSize+41], []byte{2},
			b[nonceSize+42:]), "for ⊥": (&evaluatorGrades{grades: []*grade.Grades{{}, {}, {}}}).encode(),
		"missing":     (&evaluatorGrades{grades: []*grade.Grades{{}, nil, nil}}).encode(),
		"one too few": (&evaluatorGrades{grades: []*grade.Grades{{}, nil}}).encode(),
	}
	for _, x := range []float64{-0.1, 20.1, math.NaN(), math.Inf(1)} {
		bad[fmt.Sprint(x)] = (&evaluatorGrades{grades: []*grade.Grades{{0, 0, x}, nil, {}}}).encode()
	}
	for i := range b {
		bad[fmt.Sprint("cut at ", i)] = b[:i]
	}
	for what, b := range bad {
		if got.decode(b, answers) == nil {
			t.Errorf("%s: accepted", what)
		}
	}
}

// [I-DL-7] Ties are decided with a salt that workers cannot know: a worker that tries a thousand
// answers against salts that it knows wins no more than its share of ties.
func TestDL7Grinding(t *testing.T) {
	const k = 5
	trials, hands := *executions/2, runtime.GOMAXPROCS(0) // each has two executions
	var wins atomic.Int64
	var wait sync.WaitGroup
	for hand := range hands {
		wait.Go(func() {
			for i := hand; i < trials; i += hands {
				if ground(uint64(i), uint64(i+trials), k) {
					wins.Add(1)
				}
			}
		})
	}
	wait.Wait()
	sigma := math.Sqrt(float64(trials) * (1.0 / k) * (1 - 1.0/k))
	if w, share := float64(wins.Load()), float64(trials)/k; w > share+3*sigma || w < share-3*sigma {
		t.Errorf("the grinder wins %.0f of %d ties among %d; its share is %.0f ± %.0f", w, trials, k, share, 3*sigma)
	}
}

// ground reports whether worker 0 wins a tie among k answers, after it has chosen its answer for
// the salt of an earlier run. The others give different honest answers.
func ground(before, now uint64, k int) bool {
	last := saltOf(before)
	mine, hash := synod.None, []byte(nil)
	for v := range 1000 {
		a := synod.Answer(fmt.Sprint(1000 + v))
		if h := salted(a, last); slices.Compare(h, hash) > 0 {
			mine, hash = a, h
		}
	}
	record := &Record{Salt: saltOf(now)}
	total := 75.0
	for i := range k {
		a := synod.Answer(fmt.Sprint(i))
		if i == 0 {
			a = mine
		}
		record.Answers = append(record.Answers, WorkerAnswer{Of: synod.NodeID(i), Answer: a, Total: &total})
	}
	got, _ := best(record)
	return got == mine
}

// saltOf returns the salt of another run.
func saltOf(seed uint64) []byte {
	x := &trial{w: 1, e: 3, f: 1, p: New(), seed: seed}
	return x.play().held[0].Salt
}

// [I-DL-7] The salt does not depend on anything that was sent before the answers were committed:
// two councils that differ only in the seeds of their evaluators have different salts.
func TestSaltIsTheEvaluators(t *testing.T) {
	if slices.Equal(saltOf(1), saltOf(2)) {
		t.Error("two runs have the same salt")
	}
	if !slices.Equal(saltOf(1), saltOf(1)) {
		t.Error("one run has two salts")
	}
}

// [I-DL-8] A decision takes the same time whatever the workers do (the constant line of Fig. 7).
func TestDL8Latency(t *testing.T) {
	var want synod.Tick
	for bad := range 5 {
		for _, way := range []string{"twin", "silent", "garbage", "selective"} {
			x := &trial{w: 5, e: 4, f: 1, p: New(), seed: 3, hostile: map[synod.NodeID]string{}}
			for i := range bad {
				x.hostile[synod.NodeID(i)] = way
			}
			o := x.play()
			if want == 0 {
				want = o.ticks
			}
			if o.ticks != want || len(o.held) != 4 || o.held[0].answer == synod.None {
				t.Errorf("%d %s workers: %d ticks, not %d, and %v", bad, way, o.ticks, want, o.held)
			}
		}
	}
}

// There are no more calls than planned, apart from repeated ones. [DL-6] With all answers in one
// call, each evaluator makes one call, and the decision is the same if evaluators grade alike in
// both ways.
func TestCalls(t *testing.T) {
	for seed := range uint64(50) {
		x := drawn(seed)
		clear(x.hostile)
		if o := x.play(); len(o.calls) > 2*x.p.Calls(make([]int, x.w+x.e)) {
			t.Errorf("seed %d: %d calls", seed, len(o.calls))
		}
		x.grade = func(by synod.NodeID, a synod.Answer) grade.Grades {
			return grade.Grades{float64(by % 7), 2 * float64(a[0]-'0')}
		}
		x.p.Judge = One
		one := x.play()
		x.p.Judge = All
		all := x.play()
		if len(one.calls) != x.w+x.w*x.e || len(all.calls) != x.w+x.e || one.held[0].answer != all.held[0].answer ||
			totals(one.held[0]) != totals(all.held[0]) {
			t.Errorf("seed %d: one answer a call: %d calls, %s; all: %d, %s", seed, len(one.calls), totals(one.held[0]),
				len(all.calls), totals(all.held[0]))
		}
	}
}

// A small Fig. 8: a cartel within the bound does not win, one above it does. Honest grades grow
// with the answer, so 4 is the best answer, and 1, that of the cartel, the worst.
func TestCartel(t *testing.T) {
	for _, aggregate := range []string{"geometric-median", "median-total", "coordinate-median"} {
		for k := range 10 {
			colluders := k / 2
			x := &trial{w: 4, e: 3 + colluders, p: New(), hostile: map[synod.NodeID]string{}, seed: uint64(colluders)}
			x.p.Aggregate, x.p.Judge = aggregate, []string{One, All}[k%2]
			x.f = min(colluders, (x.e+1)/2-1)
			x.grade = func(_ synod.NodeID, a synod.Answer) grade.Grades {
				m := float64(a[0]-'0') * 3
				return grade.Grades{m, m, m, m, m}
			}
			for i := range colluders {
				x.hostile[synod.NodeID(x.w+3+i)] = "cartel"
			}
			h := x.play().held[0]
			if want := map[bool]synod.Answer{false: "4", true: "1"}[colluders > 2]; h.answer != want {
				t.Errorf("%s, judging %s, 3 honest, %d colluders: replies %s, want %s", aggregate, x.p.Judge, colluders,
					h.answer, want)
			}
		}
	}
}

// Evaluators without grades count toward f; with more than f there is no decision.
func TestSilentEvaluators(t *testing.T) {
	for silent, want := range []synod.Answer{"2", "2", "2", synod.None} {
		for _, aggregate := range robust.Catalogue.Names()[1:] {
			x := &trial{w: 2, e: 7, f: 2, p: New(), hostile: map[synod.NodeID]string{},
				grade: func(_ synod.NodeID, a synod.Answer) (g grade.Grades) {
					g[0] = float64(a[0] - '0')
					return g
				}}
			x.p.Aggregate = aggregate
			for i := range silent {
				x.hostile[synod.NodeID(x.w+i)] = "silent"
			}
			h := x.play().held[0]
			if h.answer != want || want == synod.None && h.Undecided != "3 of 7 evaluators sent no grades; f is 2" {
				t.Errorf("%s, %d silent: replies %s, %q", aggregate, silent, h.answer, h.Undecided)
			}
		}
	}
}

// [DL-4] A value that differs from its commitment has no part in the salt.
func TestSaltIsCommitted(t *testing.T) {
	record := &Record{}
	var whole []evaluated
	for i := range synod.NodeID(3) {
		x := evaluated{by: i, evaluatorGrades: evaluatorGrades{nonce: [nonceSize]byte{byte(i)}}}
		record.Grades = append(record.Grades, EvaluatorGrades{By: i, Committed: commitment(i, x.nonce)})
		whole = append(whole, x)
	}
	all, two := salt(record, whole), salt(record, whole[:2])
	whole[2].nonce[5]++
	if changed := salt(record, whole); slices.Equal(all, two) || !slices.Equal(changed, two) {
		t.Errorf("salts %x of all, %x of two, %x with one that was not committed to", all, two, changed)
	}
}

// [DL-4] The latest record of the ledger is in the salt, and what evaluators have committed to still is.
func TestSaltHasLatestRecord(t *testing.T) {
	x := evaluated{evaluatorGrades: evaluatorGrades{nonce: [nonceSize]byte{1}}}
	record := &Record{Grades: []EvaluatorGrades{{Committed: commitment(0, x.nonce)}}}
	seen := map[string]bool{}
	for _, latest := range []string{"", "aa", "bb"} {
		record.Latest = latest
		seen[string(salt(record, []evaluated{x}))] = true
		seen[string(salt(record, nil))] = true
	}
	if len(seen) != 6 {
		t.Errorf("6 records have %d salts", len(seen))
	}
}

// Fifty runs with the same seed have the same record.
func TestFiftyRuns(t *testing.T) {
	x := drawn(12)
	record := func() (s string) {
		for _, h := range x.play().held {
			b, _ := json.Marshal(shared(h))
			s += string(b) + string(binary.BigEndian.AppendUint64(nil, uint64(len(h.Signature))))
		}
		return s
	}
	first := record()
	for range 50 {
		if record() != first {
			t.Fatal("two runs with the same seed have different records")
		}
	}
}

// [DE-2] If rounds are shorter than delays, evaluators that notice it do not decide, and the user
// gets the reason. A late message of an adversary is only recorded.
func TestLateRounds(t *testing.T) {
	knew, decided, split := 0, 0, 0
	for seed := range uint64(200) {
		x := &trial{w: 2, e: 5, f: 1, p: New(), hostile: map[synod.NodeID]string{}, seed: seed,
			grade: func(_ synod.NodeID, a synod.Answer) grade.Grades {
				return grade.Grades{float64(a[0] - '0')}
			}}
		x.faults.Delay.Max = 3 * pace.Within
		replies := map[synod.Answer]bool{}
		for _, h := range x.play().held {
			if h.Undecided == late {
				knew++
			}
			if h.answer != synod.None {
				replies[h.answer], decided = true, decided+1
			}
			if (h.answer != synod.None) != (h.Undecided == "") {
				t.Errorf("seed %d: evaluator %d replies %q with the reason %q", seed, h.id, h.answer, h.Undecided)
			}
		}
		split += b2i(len(replies) > 1)
	}
	t.Logf("of 1000 evaluators %d knew, %d decided; %d of 200 councils had two replies", knew, decided, split)
	if knew < 500 {
		t.Errorf("only %d of 1000 evaluators noticed", knew)
	}
}

// [DE-2] Evaluators that notice long delays in the broadcast of the grades alone do not decide either. Here the grades
// of two of five evaluators come late, which no single Byzantine evaluator can cause.
func TestLateGradesAlone(t *testing.T) {
	x := &trial{w: 2, e: 5, f: 1, p: New(), hostile: map[synod.NodeID]string{}}
	answers := x.p.answers(x.cast(), x.f, pace)
	x.carry = func(now synod.Tick, _ synod.NodeID, m *synod.Message, deliver func(synod.Tick, *synod.Message)) {
		after := synod.Tick(1)
		if now > answers.End() && m.From < 4 {
			after = 2*answers.Within + 1
		}
		deliver(after, m)
	}
	for _, h := range x.play().held {
		if h.id >= 4 && (h.Undecided != late || h.answer != synod.None) {
			t.Errorf("evaluator %d replies %q with the reason %q", h.id, h.answer, h.Undecided)
		}
	}
}
