package leader

import (
	"slices"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/script"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/answer"
	"synod.dev/synod/protocol/broadcast"
	"synod.dev/synod/protocol/grade"
)

// four is a council of four members, of which three are a quorum, with two rounds for each of two leaders.
var four = Rules{Protocol: "p/1", Rounds: 4, Turns: 2, Enough: func(ids []synod.NodeID) bool { return len(ids) >= 3 }}

var seats = []synod.NodeID{0, 1, 2, 3}

// signed returns the decision of these members for an answer.
func signed(keys *sign.Derived, round int, leader synod.NodeID, a synod.Answer, by ...synod.NodeID) *SignedDecision {
	d := &SignedDecision{Round: round, Leader: leader, Signers: by}
	for _, id := range by {
		data := VoteBytes(VoteGroup(four.Protocol, seats, 1), Commit, round, a)
		d.Signatures = append(d.Signatures, keys.Signer(id, "run").Sign(data))
	}
	return d
}

// A certificate proves a decision of members of this council, in one of its rounds, for a proposal of that round's
// leader.
func TestProves(t *testing.T) {
	keys := sign.DeriveSymbolic(1, 5)
	short := signed(keys, 1, 0, "7", 0, 1, 2)
	short.Signatures = short.Signatures[:2]
	for what, c := range map[string]struct {
		d    *SignedDecision
		want bool
	}{
		"a quorum":                   {signed(keys, 1, 0, "7", 0, 1, 2), true},
		"the last round":             {signed(keys, 4, 1, "7", 1, 2, 3), true},
		"nothing":                    {nil, false},
		"two members":                {signed(keys, 1, 0, "7", 0, 1), false},
		"a signer who is no member":  {signed(keys, 1, 0, "7", 0, 1, 4), false},
		"a negative signer":          {&SignedDecision{1, 0, []synod.NodeID{-1}, [][]byte{{}}}, false},
		"a signature too few":        {short, false},
		"round 0":                    {signed(keys, 0, 0, "7", 0, 1, 2), false},
		"a round after the last one": {signed(keys, 5, 2, "7", 0, 1, 2), false},
		"another leader":             {signed(keys, 3, 0, "7", 0, 1, 2), false},
		"another answer":             {signed(keys, 1, 0, "8", 0, 1, 2), false},
	} {
		if got := four.Proves(c.d, "7", 4, 1, keys.Verifier("run")); got != c.want {
			t.Errorf("%s: %v", what, got)
		}
	}
}

// A record is verified as a whole: there is valid evidence against each suspect and no other, and the certificate
// proves the answer of the opinion.
func TestVerify(t *testing.T) {
	keys := sign.DeriveSymbolic(1, 5)
	evidence := func(by synod.NodeID) []byte {
		g := proposals(four.Protocol, seats, 1, 1)
		signer := keys.Signer(by, "run")
		a, b := g.Sign(signer, by, []byte("a")), g.Sign(signer, by, []byte("b"))
		e := broadcast.Evidence{Group: a.Group, Sender: by, Values: [2][]byte{a.Value, b.Value},
			Signatures: [2][]byte{a.Signature, b.Signature}}
		out, err := e.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	changed := evidence(2)
	changed[len(changed)-1] ^= 1
	quorum := signed(keys, 1, 0, "7", 0, 1, 2)
	for what, c := range map[string]struct {
		suspects []synod.NodeID
		record   synod.Record
		want     string // of the error, or of the claims
	}{
		"no record":              {nil, nil, ""},
		"an empty one":           {nil, &Record{}, ""},
		"a decision":             {nil, &Record{Certificate: quorum}, "3 of 4 members signed votes"},
		"another decision":       {nil, &Record{Certificate: signed(keys, 1, 0, "8", 0, 1, 2)}, "does not prove"},
		"evidence":               {[]synod.NodeID{2}, &Record{Evidence: [][]byte{evidence(2)}}, "member 2 signed two"},
		"evidence too little":    {[]synod.NodeID{2}, &Record{}, "suspects 1 members and has evidence against 0"},
		"evidence too much":      {nil, &Record{Evidence: [][]byte{evidence(2)}}, "evidence against 1"},
		"evidence about another": {[]synod.NodeID{1}, &Record{Evidence: [][]byte{evidence(2)}}, "no valid evidence"},
		"unreadable evidence":    {[]synod.NodeID{2}, &Record{Evidence: [][]byte{{1}}}, "no valid evidence"},
		"changed evidence":       {[]synod.NodeID{2}, &Record{Evidence: [][]byte{changed}}, "no valid evidence"},
	} {
		o := &synod.Opinion{Answer: "7", Suspects: c.suspects, Record: c.record}
		in := protocol.VerifyInput{Opinion: o, N: 4, F: 1,
			Check: keys.Verifier("run"), Name: func(id synod.NodeID) string { return "member " + string('0'+rune(id)) }}
		v, err := four.Verify(in)
		var got []string
		if err != nil {
			got = append(got, err.Error())
		}
		if v != nil {
			got = append(got, v.Claims...)
		}
		if s := strings.Join(got, "; "); (s == "") != (c.want == "") || !strings.Contains(s, c.want) {
			t.Errorf("%s: %s; want %q", what, s, c.want)
		}
	}
}

// Certificates in messages have at most MaxMembers votes of members below MaxMembers, and a known phase.
func TestCertificateLimits(t *testing.T) {
	votes := func(n int, last synod.NodeID) (list []Vote) {
		for i := range n {
			list = append(list, Vote{synod.NodeID(i), "s"})
		}
		list[n-1].By = last
		return list
	}
	for _, c := range []struct {
		phase int
		votes []Vote
		want  bool
	}{
		{Prepare, votes(1, 0), true}, {Commit, votes(MaxMembers, MaxMembers-1), true}, {Commit + 1, votes(1, 0), false},
		{Commit, votes(MaxMembers+1, MaxMembers-1), false}, {Commit, votes(1, MaxMembers), false},
	} {
		b, err := meeting{lock: &Certificate{Phase: c.phase, Round: 1, Answer: "7", Votes: c.votes}}.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		var m meeting
		if err := m.UnmarshalBinary(b); (err == nil) != c.want {
			t.Errorf("phase %d, %d votes, the last of %d: %v", c.phase, len(c.votes), c.votes[len(c.votes)-1].By, err)
		}
	}
}

// Leaders take turns of several rounds, in the order of the seats and again from the first.
func TestTurns(t *testing.T) {
	m := &Member{rules: Rules{Turns: 3}, members: []synod.NodeID{4, 7}}
	for round, want := range map[int]synod.NodeID{1: 4, 2: 4, 3: 4, 4: 7, 6: 7, 7: 4} {
		if m.Leader(round) != want || m.first(round) != (round%3 == 1) {
			t.Errorf("round %d: leader %d, its first round: %v", round, m.Leader(round), m.first(round))
		}
	}
}

// The planned calls contain the ranking of all answers by every leader, unless leaders propose their own answers.
func TestCost(t *testing.T) {
	for propose, want := range map[string]int{Own: 4 * (3 + 6), Best: 4*(3+6) + 2*4, Quorum: 4*(3+6) + 2*4} {
		p := Defaults()
		if p.Propose = propose; p.Cost(4, 6, 2) != want {
			t.Errorf("propose %s: %d calls, want %d", propose, p.Cost(4, 6, 2), want)
		}
	}
	if p := (&Params{Propose: Best}); p.Cost(3, 1, 9) != 3*4+3*3 {
		t.Errorf("more turns than members: %d calls", p.Cost(3, 1, 9))
	}
}

// The evidence of a record is returned as it is; an opinion without a record that can be read has none.
func TestAccusations(t *testing.T) {
	for what, c := range map[string]struct {
		record synod.Record
		want   int
	}{
		"a record":           {&Record{Evidence: [][]byte{{1}, {2}}}, 2},
		"one as it was read": {synod.RawRecord(`{"evidence":["AQ=="]}`), 1},
		"none":               {nil, 0}, "an unreadable one": {synod.RawRecord(`[`), 0},
	} {
		if got := Accusations(&synod.Opinion{Record: c.record}); len(got) != c.want {
			t.Errorf("%s: %x", what, got)
		}
	}
}

// A round's presentation names the members with better answers, if there are any.
func TestPresentRound(t *testing.T) {
	name := func(id synod.NodeID) string { return "member " + string('0'+rune(id)) }
	p := Defaults()
	if got := p.PresentRound(&synod.Opinion{Record: &Record{}}, name); got != nil {
		t.Errorf("without better answers: %v", got)
	}
	got := p.PresentRound(&synod.Opinion{Record: &Record{Better: []synod.NodeID{1, 3}}}, name)
	if names, _ := got["better"].([]string); !slices.Equal(names, []string{"member 1", "member 3"}) {
		t.Errorf("better answers: %v", got)
	}
}

// grading runs play as the member of seat 0 of four, whose model replies with a text and a status.
func grading(reply synod.Reply, play func(m *Member)) {
	seat := synod.Seat{Self: 0, Peers: seats[1:], F: 1, Pace: synod.Pace{Think: 2, Within: 4},
		Question: &synod.Question{Text: "?", Form: synod.Text}, Signer: sign.DeriveSymbolic(1, 4).Signer(0, "run")}
	agent := script.New(seat, script.Options{}, func(me *script.Agent) synod.Answer {
		play(&Member{Member: answer.New(me, answer.Settings{}), rules: four, members: seats,
			answers: make([]memberAnswer, 4), grades: map[synod.Answer]float64{}})
		return synod.None
	})
	for queue := agent.Step(0, synod.Begin{}); len(queue) > 0; queue = queue[1:] {
		if c, ok := queue[0].(synod.Consult); ok {
			queue = append(slices.Clone(queue), agent.Step(1, synod.Answered{ID: c.ID, Reply: &reply})...)
		}
	}
}

// A grading that fails is tried twice. Failed calls and unreadable replies are counted apart, and give no grade.
func TestFailedGradesAreCounted(t *testing.T) {
	for _, c := range []struct {
		reply              synod.Reply
		failed, unreadable int
	}{
		{synod.Reply{Status: synod.OK, Text: grade.Uniform(20).Text()}, 0, 0},
		{synod.Reply{Status: synod.Timeout}, 4, 0}, {synod.Reply{Status: synod.OK, Text: "very good"}, 0, 4},
	} {
		grading(c.reply, func(m *Member) {
			m.gradeAnswers([]memberAnswer{{answer: "a"}, {}, {answer: "b"}, {answer: "a"}})
			if m.Failed != c.failed || m.Unreadable != c.unreadable ||
				(len(m.grades) == 2) != (c.failed+c.unreadable == 0) {
				t.Errorf("%+v: %d failed, %d unreadable, grades %v", c.reply, m.Failed, m.Unreadable, m.grades)
			}
		})
	}
}

// A member keeps the first of two locks of one round.
func TestHigherLock(t *testing.T) {
	m := &Member{lock: &Certificate{Round: 2}}
	for round, want := range map[int]bool{1: false, 2: false, 3: true} {
		if m.higher(&Certificate{Round: round}) != want {
			t.Errorf("a lock of round %d instead of one of round 2: %v", round, !want)
		}
	}
	if m.lock = nil; !m.higher(&Certificate{Round: 1}) || m.higher(nil) {
		t.Error("the first lock is not taken, or nothing is")
	}
}

// A certificate of round 0 is none, whoever signed it: that round has no leader.
func TestNoRoundZero(t *testing.T) {
	keys := sign.DeriveSymbolic(1, 4)
	for round, want := range map[int]bool{0: false, 1: true} {
		grading(synod.Reply{}, func(m *Member) {
			c := &Certificate{Phase: Commit, Round: round, Answer: "7"}
			for _, id := range seats {
				c.Votes = append(c.Votes, Vote{id, string(keys.Signer(id, "run").Sign(VoteBytes(m.votes, Commit, round,
					"7")))})
			}
			if m.valid(c, Commit, 2) != want {
				t.Errorf("a decision of round %d: %v", round, !want)
			}
		})
	}
}

// A member votes at once for the answer that it is locked on, and for one that was prepared later, without asking its
// model.
func TestLockedAnswerNeedsNoGrade(t *testing.T) {
	grading(synod.Reply{Status: synod.Timeout}, func(m *Member) {
		m.rules.Lock, m.own.Answer, m.lock = true, "mine", &Certificate{Phase: Prepare, Round: 1, Answer: "locked"}
		for a, want := range map[synod.Answer]bool{"locked": true, "other": false} {
			if m.proposed = (&proposal{answer: a}); m.accepts(3) != want || m.Failed > 0 { // another leads
				t.Errorf("a proposal of %s: it votes: %v, after %d failed calls", a, !want, m.Failed)
			}
		}
	})
}

// An answer is sent as its author wrote it if that is short enough and reads as the same answer.
func TestResponseSpelling(t *testing.T) {
	long := strings.Repeat("x", maxSurface-1)
	grading(synod.Reply{}, func(m *Member) {
		for _, c := range []struct {
			answer        synod.Answer
			surface, want string
		}{
			{"paris", "Paris", "Paris"}, {"paris", "Rome", "paris"}, {"paris", "", "paris"},
			{synod.Answer("x" + long), "X" + long, "X" + long}, {synod.Answer("xx" + long), "XX" + long, "xx" + long},
		} {
			if got := m.response(c.answer, c.surface, "").Answer; string(got) != c.want {
				t.Errorf("%.20s, written %.20s, is sent as %.20s", c.answer, c.surface, got)
			}
		}
	})
}

// What a member holds with an accepted answer says from whom it has it.
func TestTake(t *testing.T) {
	for _, c := range []struct {
		what     string
		accepted synod.Answer
		round    int // its leader is 0 in rounds 1 and 2, then 1
		source   synod.Source
		from     []synod.NodeID
	}{
		{"its own", "mine", 3, synod.Kept, nil},
		{"that of two others", "theirs", 3, synod.Adopted, []synod.NodeID{1, 3}},
		{"a leader's that nobody had held", "new", 3, synod.Adopted, []synod.NodeID{1}},
		{"its own revised proposal", "new", 1, synod.New, nil},
	} {
		grading(synod.Reply{}, func(m *Member) {
			m.own = answer.Held{Answer: "mine", Source: synod.Kept}
			m.answers = []memberAnswer{{"mine", "I"}, {"theirs", "they"}, {"other", ""}, {"theirs", "too"}}
			m.done = &Certificate{Round: c.round}
			h := m.take(c.accepted)
			if h.Answer != c.accepted || h.Source != c.source || !slices.Equal(h.From, c.from) {
				t.Errorf("%s: %+v", c.what, h)
			}
			if m.reasonOf("mine") != "I" || m.reasonOf("theirs") != "they" || m.reasonOf("new") != "" {
				t.Errorf("reasons: %q, %q, %q", m.reasonOf("mine"), m.reasonOf("theirs"), m.reasonOf("new"))
			}
		})
	}
}
