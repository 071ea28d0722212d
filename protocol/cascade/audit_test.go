package cascade_test

import (
	"path/filepath"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
	"synod.dev/synod/protocol/cascade"
)

// An audit asks every member, decides what the council decides without one, and replays; which questions are audited
// depends on the secret and not on anything that a member knows.
func TestAudit(t *testing.T) {
	asked, same := 0, 0
	for seed := range uint64(40) {
		usual, audited := seven("probable", 2, 0.8), seven("probable", 2, 0.8)
		audited.Protocol["audit"], audited.Protocol["secret"] = 1.0, seed
		path := filepath.Join(t.TempDir(), "j")
		o, without := ask(t, audited, seed, path), ask(t, usual, seed, filepath.Join(t.TempDir(), "j"))
		replays(t, path, o)
		if len(o.Asked) != 7 {
			t.Errorf("seed %d: an audit asks %v", seed, o.Asked)
		}
		if len(without.Asked) < 7 {
			asked++
		}
		if o.Rounds.Len() > 1 || without.Rounds.Len() > 1 {
			continue // of a contest, members that were asked keep their answers
		}
		same++
		if (o.Answer == nil) != (without.Answer == nil) || o.Answer != nil && *o.Answer != *without.Answer {
			t.Errorf("seed %d: %v with an audit, %v without", seed, o.Answer, without.Answer)
		}
	}
	if asked < 10 || same < 20 {
		t.Errorf("%d runs asked fewer than all, %d had no contest: this shows little", asked, same)
	}
}

func TestAuditsAreDrawn(t *testing.T) {
	p, other := cascade.New(), cascade.New()
	p.Audit, other.Audit, other.Secret = 0.1, 0.1, 1
	drawn, both := 0, 0
	for i := range 3000 {
		q := &synod.Question{ID: string(rune('a' + i))}
		if p.Audited(q) {
			drawn++
			if other.Audited(q) {
				both++
			}
		}
	}
	if drawn < 240 || drawn > 360 || both > 60 {
		t.Errorf("%d of 3000 questions are audited, want about 300; %d of them with another secret too, want about 30",
			drawn, both)
	}
	if p.Audit = 0; p.Audited(&synod.Question{ID: "b"}) {
		t.Error("audited without audits")
	}
}

// A council that learns has audits with a secret of its own, and learns from nothing else: a run in stages says more
// about a member the more often the others disagree.
func TestLearnsFromAuditsOnly(t *testing.T) {
	spec := seven("probable", 1, 0.9)
	spec.Trust = plan.Trust{File: filepath.Join(t.TempDir(), "trust.json"), Learn: true}
	audits, learned := 0, 0
	secrets := map[uint64]bool{}
	for seed := range uint64(60) {
		c, err := council.Convene(spec, llm.Env{})
		if err != nil {
			t.Fatal(err)
		}
		p := c.Plan().Protocol().(*cascade.Cascade)
		if secrets[p.Secret] = true; p.Audit != 0.1 {
			t.Fatalf("audit is %v", p.Audit)
		}
		q := synod.Question{ID: "q", Text: "What is 17 + 25?", Form: synod.Number}
		o, err := c.Decide(t.Context(), council.Ask{Seed: seed, Question: q, Final: true})
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
		n := len(outcome.Observations(c.Plan(), &q, &o, nil))
		if p.Audited(&q) {
			audits++
		}
		if n > 0 {
			learned++
		}
		if n != 0 && n != 7 || (n > 0) != p.Audited(&q) {
			t.Errorf("seed %d: %d observations, audited %v", seed, n, p.Audited(&q))
		}
	}
	if len(secrets) != 60 || audits == 0 || learned == 60 {
		t.Errorf("%d secrets, %d audits, %d learned", len(secrets), audits, learned)
	}
}
