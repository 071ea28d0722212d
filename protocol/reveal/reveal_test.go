package reveal_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"synod.dev/synod"
	"synod.dev/synod/adversary"
	"synod.dev/synod/core/script"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/protocol/answer"
	"synod.dev/synod/protocol/reveal"
)

// pace is the pace of the runs below.
var pace = synod.Pace{Think: 20, Within: 4}

// play is a protocol of one exchange: a member decides on what it heard, as "from=answer" in the order of members.
func play(me *script.Agent) synod.Answer {
	m := answer.New(me, answer.Settings{Templates: "majority"})
	r := m.Answer()
	m.Note(0, r, synod.Opinion{})
	heard, _ := m.Exchange(0, &r, 1)
	m.Note(1, r, synod.Opinion{})
	return list(heard)
}

func list(heard []answer.Heard) synod.Answer {
	var s []string
	for _, h := range heard {
		s = append(s, fmt.Sprintf("%d=%s", h.From, string(h.Value.Answer)))
	}
	return synod.Answer(strings.Join(s, " "))
}

// table is a run of some members.
type table struct {
	n       int
	peers   func(i int) []synod.NodeID // nil: all others
	asked   []synod.NodeID
	hops    int
	corrupt map[int]func(synod.Seat, synod.Machine) synod.Machine // of machines inside
	outside map[int]func(synod.Seat, synod.Machine) synod.Machine // of the machines that commit
	late    map[int]synod.Tick                                    // what a member's model takes, at least 1
	mute    map[int]bool                                          // whose model gives no answer
	plain   bool                                                  // nobody commits
	faults  sim.Faults
	seed    uint64
	batches bool // without a log, so that events come in batches
	watch   func(now synod.Tick, id synod.NodeID, x synod.Effect)
	hear    func(now synod.Tick, id synod.NodeID, m *synod.Message)
}

// result is what came of it.
type result struct {
	decided map[synod.NodeID]synod.Answer
	opened  map[synod.NodeID][]synod.Given
	ticks   synod.Tick
}

func (t *table) run() result {
	config := reveal.Config{Hops: cmp.Or(t.hops, 1)}
	if t.asked != nil {
		config.Asked = func(*synod.Question) []synod.NodeID { return t.asked }
	}
	q := &synod.Question{Text: "?", Form: synod.Number}
	machines := make([]synod.Machine, t.n)
	join := func(s synod.Seat) synod.Machine { return script.New(s, script.Options{}, play) }
	for i := range machines {
		seat := synod.Seat{Self: synod.NodeID(i), Pace: pace, Question: q, F: 1, Seed: uint64(i) + 1, Run: "run"}
		seat.Salt[0] = byte(i)
		for k := range t.n {
			if k != i && t.peers == nil {
				seat.Peers = append(seat.Peers, synod.NodeID(k))
			}
		}
		if t.peers != nil {
			seat.Peers = t.peers(i)
		}
		m := join(seat)
		if !t.plain {
			m = reveal.Inside(seat, config, join)
		}
		m = &slowModel{Machine: m, ticks: t.late[i], mute: t.mute[i]}
		if c := t.corrupt[i]; c != nil {
			m = c(seat, m)
		}
		if !t.plain {
			m = reveal.Around(seat, config, m)
		}
		if c := t.outside[i]; c != nil {
			m = c(seat, m)
		}
		machines[i] = m
	}
	r := result{opened: map[synod.NodeID][]synod.Given{}}
	var log sim.Log
	if !t.batches {
		log = logger{t}
	}
	played := sim.Run(sim.Config{Machines: machines, Faults: t.faults, Seed: t.seed, Log: log,
		Ask: sim.Immediate(func(calls []sim.Call) []synod.Reply {
			replies := make([]synod.Reply, len(calls))
			for i, c := range calls {
				replies[i] = synod.Reply{Status: synod.OK, Typed: true, Answer: synod.Answer(fmt.Sprint(10 + c.Node))}
			}
			return replies
		}),
		Opened: func(id synod.NodeID, first []synod.Given) { r.opened[id] = slices.Clone(first) }})
	r.decided, r.ticks = played.Decided, played.Ticks
	return r
}

type logger struct{ t *table }

func (l logger) Event(now synod.Tick, id synod.NodeID, e synod.Event) {
	if h, ok := e.(synod.Heard); ok && l.t.hear != nil {
		l.t.hear(now, id, h.Message)
	}
}

func (l logger) Effect(now synod.Tick, id synod.NodeID, x synod.Effect) {
	if l.t.watch != nil {
		l.t.watch(now, id, x)
	}
}

// slowModel delays the replies of a member's model, or makes them failures.
type slowModel struct {
	synod.Machine
	ticks synod.Tick
	mute  bool
	held  synod.Answered
}

const replied = synod.AlarmID(1 << 20)

func (m *slowModel) Step(now synod.Tick, e synod.Event) []synod.Effect {
	switch x := e.(type) {
	case synod.Answered:
		if m.mute {
			x.Reply = &synod.Reply{Status: synod.Timeout}
		}
		if m.held = x; m.ticks > 1 {
			return []synod.Effect{synod.Alarm{ID: replied, At: now + m.ticks - 1}}
		}
		e = x
	case synod.Expired:
		if x.ID == replied {
			e = m.held
		}
	}
	return m.Machine.Step(now, e)
}

// All members hear the answers of all others, whoever is slow, and say so. It takes two messages longer than without
// commitments.
func TestHonestMembers(t *testing.T) {
	for _, late := range []map[int]synod.Tick{nil, {1: 39}, {0: 5, 1: 17, 2: 30, 3: 2}} {
		with, without := (&table{n: 4, late: late}).run(), (&table{n: 4, late: late, plain: true}).run()
		for id := range synod.NodeID(4) {
			var want []string
			for k := range 4 {
				if k != int(id) {
					want = append(want, fmt.Sprintf("%d=%d", k, 10+k))
				}
			}
			if got := with.decided[id]; string(got) != strings.Join(want, " ") || got != without.decided[id] {
				t.Errorf("%v: member %d heard %s, without commitments %s", late, id, got, without.decided[id])
			}
			if len(with.opened[id]) != 3 || with.opened[id][0].Answer != with.opened[(id+1)%4][0].Answer &&
				id != 0 && id != 3 {
				t.Errorf("member %d opened %v", id, with.opened[id])
			}
		}
		if with.ticks != without.ticks+2 {
			t.Errorf("%v: %d ticks, without commitments %d", late, with.ticks, without.ticks)
		}
	}
}

// enclose returns the machine of an adversary that breaks commitments.
func enclose(how string) func(synod.Seat, synod.Machine) synod.Machine {
	a, err := adversary.Catalogue.Find("commitment-breaker")
	if err != nil {
		panic(err)
	}
	made, err := a.New(map[string]any{"how": how})
	if err != nil {
		panic(err)
	}
	return made.(adversary.Outer).Enclose
}

// heardOf returns what a member heard of another one; "": nothing.
func (r *result) heardOf(by, of int) string {
	for _, s := range strings.Fields(string(r.decided[synod.NodeID(by)])) {
		if from, a, _ := strings.Cut(s, "="); from == fmt.Sprint(of) {
			return a
		}
	}
	return ""
}

// What breaks the rules of commitments is silence, or counts as it was committed to first. Honest answers come through,
// and what members say that they opened is what they heard.
func TestHostileSeats(t *testing.T) {
	for how, want := range map[string]string{
		"late": "", "split": "", "twice": "", "other": "", "replay": "", "withhold": "", "early": "13",
	} {
		for _, late := range []map[int]synod.Tick{nil, {0: 3, 1: 20, 2: 11, 3: 1}, {3: 35}} {
			x := table{n: 4, late: late, outside: map[int]func(synod.Seat, synod.Machine) synod.Machine{
				3: enclose(how)}}
			r := x.run()
			for by := range 3 {
				if got := r.heardOf(by, 3); got != want {
					t.Errorf("%s, %v: member %d heard %q of the hostile one, want %q", how, late, by, got, want)
				}
				for of := range 3 {
					if got := r.heardOf(by, of); of != by && got != fmt.Sprint(10+of) {
						t.Errorf("%s, %v: member %d heard %q of %d", how, late, by, got, of)
					}
				}
				var opened []string
				for _, g := range r.opened[synod.NodeID(by)] {
					opened = append(opened, fmt.Sprintf("%d=%s", g.Of, string(g.Answer)))
				}
				if got := strings.Join(opened, " "); got != string(r.decided[synod.NodeID(by)]) {
					t.Errorf("%s: member %d opened %s and heard %s", how, by, got, r.decided[synod.NodeID(by)])
				}
			}
		}
	}
}

// credulous is a machine that takes all neighbours to be ready, which leaves step 2 out.
type credulous struct {
	synod.Machine
	peers []synod.NodeID
}

func (m *credulous) Step(now synod.Tick, e synod.Event) []synod.Effect {
	out := slices.Clone(m.Machine.Step(now, e))
	for i := 0; i < len(out); i++ {
		s, ok := out[i].(synod.Send)
		if !ok || s.Slot.Name != reveal.Ready {
			continue
		}
		for _, id := range m.peers {
			word := &synod.Message{From: id, Slot: s.Slot}
			out = append(out, m.Machine.Step(now, synod.Heard{Message: word})...)
		}
	}
	return out
}

// The control of step 2: where members open as soon as they have all commitments, who commits to one of them only can
// copy its answer.
func TestWithoutReadyACopyCounts(t *testing.T) {
	weak := func(s synod.Seat, m synod.Machine) synod.Machine { return &credulous{m, s.Peers} }
	x := table{n: 4, outside: map[int]func(synod.Seat, synod.Machine) synod.Machine{
		0: weak, 1: weak, 2: weak, 3: enclose("split")}}
	r := x.run()
	if r.heardOf(1, 3) != "10" || r.heardOf(2, 3) != "10" {
		t.Errorf("the weak members heard %q and %q of the hostile one, want 10", r.heardOf(1, 3), r.heardOf(2, 3))
	}
}

// On a ring a copy goes around two members that do not hear one another, unless members wait for all within two steps.
func TestRing(t *testing.T) {
	for hops, want := range map[int]string{1: "10", 2: ""} {
		x := table{n: 4, hops: hops, peers: func(i int) []synod.NodeID {
			peers := []synod.NodeID{synod.NodeID((i + 1) % 4), synod.NodeID((i + 3) % 4)}
			slices.Sort(peers)
			return peers
		}, outside: map[int]func(synod.Seat, synod.Machine) synod.Machine{3: enclose("split")}}
		r := x.run()
		if got := r.heardOf(2, 3); got != want {
			t.Errorf("%d hops: member 2 heard %q of the hostile one, want %q", hops, got, want)
		}
		if r.heardOf(2, 1) != "11" || r.heardOf(0, 1) != "11" || r.heardOf(1, 0) != "10" {
			t.Errorf("%d hops: %v", hops, r.decided)
		}
	}
}

// A member that has said that it is ready, or whose time for commitments is over, takes none, also while it still waits
// for others to be ready.
func TestLateCommitmentIsNone(t *testing.T) {
	opening := func(id byte) []byte {
		body, _ := synod.Response{Answer: synod.Answer(fmt.Sprint(10 + id))}.AppendBinary(make([]byte, 32))
		return body
	}
	for _, late := range []bool{false, true} {
		seat := synod.Seat{Peers: []synod.NodeID{1, 2}, Pace: pace, F: 1, Seed: 1,
			Question: &synod.Question{Text: "?", Form: synod.Number}}
		c := reveal.Config{Hops: 1}
		m := reveal.Around(seat, c, reveal.Inside(seat, c, func(s synod.Seat) synod.Machine {
			return script.New(s, script.Options{}, play)
		}))
		hear := func(now synod.Tick, from synod.NodeID, name string, body []byte) []synod.Effect {
			x := &synod.Message{From: from, Slot: synod.Slot{Name: name}, Body: body}
			return m.Step(now, synod.Heard{Message: x})
		}
		commit := func(now synod.Tick, from synod.NodeID) {
			sum := reveal.Commitment("", from, opening(byte(from)), new([]byte))
			hear(now, from, reveal.Commit, sum[:])
		}
		alarm := m.Step(0, synod.Begin{})[0].(synod.Alarm)
		m.Step(1, synod.Answered{Reply: &synod.Reply{Status: synod.OK, Typed: true, Answer: "10"}})
		commit(2, 1)
		if !late {
			commit(3, 2)
		}
		m.Step(alarm.At, synod.Expired{ID: alarm.ID})
		commit(alarm.At+1, 2)
		for from := range synod.NodeID(3) {
			hear(alarm.At+1, from, reveal.Ready, nil)
		}
		hear(alarm.At+2, 1, reveal.Open, opening(1))
		var decided synod.Answer
		for _, x := range append(hear(alarm.At+2, 2, reveal.Open, opening(2)), m.Step(alarm.At+9, synod.Halt{})...) {
			if d, ok := x.(synod.Decide); ok {
				decided = d.Answer
			}
		}
		if want := map[bool]synod.Answer{false: "1=11 2=12", true: ""}[late]; decided != want {
			t.Errorf("late %v: the member heard %s, want %s", late, decided, want)
		}
	}
}

// Members that are not asked commit to nothing and hear the others. A member without an answer makes the others wait
// until the end of the time for commitments, and not longer.
func TestAsked(t *testing.T) {
	x := table{n: 4, asked: []synod.NodeID{0, 2}, mute: map[int]bool{1: true, 3: true}}
	r := x.run()
	for by := range 4 {
		for of, want := range []string{"10", "", "12", ""} {
			if got := r.heardOf(by, of); of != by && got != want {
				t.Errorf("member %d heard %q of %d, want %q", by, got, of, want)
			}
		}
	}
	r = (&table{n: 3, mute: map[int]bool{1: true}}).run()
	if want := 2*pace.Think + pace.Within + 2; r.ticks != want || r.heardOf(0, 2) != "12" || r.heardOf(1, 2) != "12" {
		t.Errorf("with a member without an answer: %d ticks, want %d; %v", r.ticks, want, r.decided)
	}
}

// Events in batches have the same effects as one by one.
func TestBatches(t *testing.T) {
	for _, how := range []string{"", "withhold", "split", "early"} {
		x := table{n: 5}
		if how != "" {
			x.outside = map[int]func(synod.Seat, synod.Machine) synod.Machine{4: enclose(how)}
		}
		one := x.run()
		x.batches = true
		if many := x.run(); !maps.Equal(one.decided, many.decided) || one.ticks != many.ticks {
			t.Errorf("%q: %v in %d ticks, and in batches %v in %d", how, one.decided, one.ticks, many.decided,
				many.ticks)
		}
	}
}

// No honest member opens before each honest member has a commitment of each asked member, or the time of these is over:
// with any delays within the pace, models of any speed, and at most F Byzantine members of any kind. And all honest
// members hear one another.
func TestNobodyOpensEarly(t *testing.T) {
	kinds := []string{"late", "split", "twice", "other", "replay", "withhold", "early", "mute"}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 6).Draw(t, "n")
		x := table{n: n, late: map[int]synod.Tick{}, mute: map[int]bool{}, seed: rapid.Uint64().Draw(t, "seed"),
			outside: map[int]func(synod.Seat, synod.Machine) synod.Machine{}}
		x.faults.Delay.Max = rapid.SampledFrom([]synod.Tick{0, 1, pace.Within - 2}).Draw(t, "delay")
		bad := map[int]bool{}
		for range rapid.IntRange(0, (n-1)/2).Draw(t, "f") {
			i, kind := rapid.IntRange(0, n-1).Draw(t, "hostile"), rapid.SampledFrom(kinds).Draw(t, "kind")
			if bad[i] = true; kind == "mute" {
				x.mute[i] = true
				delete(x.outside, i)
			} else {
				x.outside[i] = enclose(kind)
			}
		}
		for i := range n {
			x.late[i] = rapid.SampledFrom([]synod.Tick{1, 2, 5, 19, 38}).Draw(t, "late")
			if rapid.Bool().Draw(t, "asked") {
				x.asked = append(x.asked, synod.NodeID(i))
			}
		}
		if len(x.asked) == 0 {
			x.asked = nil
		}
		x.mustNotOpenEarly(t, bad)
		r := x.run()
		for by := range n {
			for of := range n {
				asked := x.asked == nil || slices.Contains(x.asked, synod.NodeID(of))
				if asked && by != of && !bad[by] && !bad[of] && r.heardOf(by, of) != fmt.Sprint(10+of) {
					t.Fatalf("member %d heard %q of %d: %v", by, r.heardOf(by, of), of, r.decided)
				}
			}
		}
	})
}

// mustNotOpenEarly makes a run fail in which an honest member opens early.
func (x *table) mustNotOpenEarly(t *rapid.T, bad map[int]bool) {
	over, has := 2*pace.Think+pace.Within, map[[2]int]bool{}
	x.hear = func(_ synod.Tick, id synod.NodeID, m *synod.Message) {
		if m.Slot.Name == reveal.Commit {
			has[[2]int{int(id), int(m.From)}] = true
		}
	}
	x.watch = func(now synod.Tick, id synod.NodeID, e synod.Effect) {
		if s, ok := e.(synod.Send); !ok || s.Slot.Name != reveal.Open || bad[int(id)] || now >= over {
			return
		}
		for by := range x.n {
			for of := range x.n {
				asked := x.asked == nil || slices.Contains(x.asked, synod.NodeID(of))
				if asked && by != of && !bad[by] && !has[[2]int{by, of}] {
					t.Fatalf("tick %d: %d opens, and %d has no commitment of %d", now, id, by, of)
				}
			}
		}
	}
}

// A commitment is one of a run, a sender, a salt and a message.
func TestCommitmentIsBound(t *testing.T) {
	sums, buffer := map[[32]byte]string{}, []byte{}
	for _, run := range []string{"", "a", "ab"} {
		for from := range synod.NodeID(3) {
			for _, body := range []string{"", "b", "bc", "salt", "saltb"} {
				sum := reveal.Commitment(run, from, []byte(body), &buffer)
				what := fmt.Sprintf("%q %d %q", run, from, body)
				if other := sums[sum]; other != "" {
					t.Errorf("%s and %s have one hash", what, other)
				}
				sums[sum] = what
			}
		}
	}
}

// A machine that is used again does what a new one does.
func TestResetMachineIsLikeANewOne(t *testing.T) {
	join := func(s synod.Seat) synod.Machine { return script.New(s, script.Options{}, play) }
	seats := func(run string) (all []synod.Seat) {
		for i := range synod.NodeID(4) {
			s := synod.Seat{Self: i, Pace: pace, Question: &synod.Question{Text: run, Form: synod.Number}, Run: run,
				Seed: uint64(i) + 1}
			for k := range synod.NodeID(4) {
				if k != i {
					s.Peers = append(s.Peers, k)
				}
			}
			s.Salt[1] = run[0] + byte(i)
			all = append(all, s)
		}
		return all
	}
	machines := func(run string) (all []synod.Machine) {
		for _, s := range seats(run) {
			c := reveal.Config{Hops: 1, Asked: func(q *synod.Question) []synod.NodeID { // another one for each question
				return []synod.NodeID{0, 1, 2, 3}[len(q.Text)-5:]
			}}
			all = append(all, reveal.Around(s, c, reveal.Inside(s, c, join)))
		}
		return all
	}
	used := machines("first")
	played(used, 10)
	for _, run := range []string{"second", "third"} {
		for i, s := range seats(run) {
			used[i].(synod.Resetter).Reset(s)
		}
		if again, fresh := played(used, 20), played(machines(run), 20); again != fresh {
			t.Errorf("used again:\n%s\nnew:\n%s", again, fresh)
		}
	}
}

// played returns all events and effects of a run.
func played(machines []synod.Machine, answer int) string {
	var b strings.Builder
	write := func(now synod.Tick, id synod.NodeID, what any) {
		fmt.Fprintf(&b, "%d n%d %v", now, id, what)
		if s, ok := what.(synod.Send); ok {
			fmt.Fprintf(&b, " %x", s.Body)
		}
		b.WriteByte('\n')
	}
	x := &table{watch: func(now synod.Tick, id synod.NodeID, e synod.Effect) { write(now, id, e) }}
	sim.Run(sim.Config{Machines: machines, Log: logger{x}, Ask: sim.Immediate(func(calls []sim.Call) []synod.Reply {
		replies := make([]synod.Reply, len(calls))
		for i, c := range calls {
			a := synod.Answer(fmt.Sprint(answer + int(c.Node)))
			replies[i] = synod.Reply{Status: synod.OK, Typed: true, Answer: a}
		}
		return replies
	})})
	return b.String()
}
