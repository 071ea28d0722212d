package campaign

import (
	"fmt"
	"slices"
	"sync"

	"github.com/goccy/go-yaml"

	"synod.dev/synod"
	"synod.dev/synod/core/param"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/catalog"
	"synod.dev/synod/protocol/check"
)

// subjects are all subjects, in the order of reports: those of protocols and broadcast by their places, and then disks
// and callers.
var subjects = sync.OnceValue(func() []*subject {
	all := []*subject{broadcastSubject()}
	for _, e := range catalog.Protocols.All() {
		all = append(all, ofProtocol(&e)...)
	}
	slices.SortStableFunc(all, func(a, b *subject) int { return placeOf(a) - placeOf(b) })
	return append(all, ledgerDisk(), journalDisk(), callersSubject(),
		graphSubject(), judgeSubject(), mergeSubject(), logSubject(), signSubject(), evidenceSubject(),
		fieldSubject(), agentSubject(), diarySubject(),
		readerSubject())
})

// placeOf returns the place of a subject; those without one come last, and were in the order of their names.
func placeOf(s *subject) int {
	if s.Place == 0 {
		return 1 << 20
	}
	return s.Place
}

// Subjects returns the names of all subjects in the order of reports.
func Subjects() (names []string) {
	for _, s := range subjects() {
		names = append(names, s.Name)
	}
	return names
}

func subjectOf(name string) (*subject, error) {
	for _, s := range subjects() {
		if s.Name == name {
			return s, nil
		}
	}
	if e, err := catalog.Protocols.Find(name); err == nil {
		if _, err := defaultOf(&e); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("campaign: nothing is called %q%s; there are: %v", name, synod.Hint(name, Subjects()),
		Subjects())
}

// ofProtocol returns the subjects of a protocol; none if it does not say enough to be tried.
func ofProtocol(e *protocol.Entry) (all []*subject) {
	campaigns := e.Campaigns
	if campaigns == nil {
		c, err := defaultOf(e)
		if err != nil {
			return nil
		}
		campaigns = []check.Subject{c}
	}
	for _, c := range campaigns {
		if c.Name == "" {
			c.Name = e.Name
		}
		if c.Share == 0 {
			c.Share = 1
		}
		s := &subject{Subject: c, protocol: e.Name, claims: allClaims(&c), traits: e.Traits, build: built(*e)}
		s.setup = func(r chance, x *Execution) { c.Setup(r, &x.Case) }
		s.horizon = func(x *Execution) synod.Tick { return c.Horizon(&x.Case) }
		s.check = func(t *trace) {
			if c.Check != nil {
				c.Check(&t.Trace)
			}
		}
		if c.Twins {
			s.playTwins()
		}
		all = append(all, s)
	}
	return all
}

// defaultOf returns how a protocol is tried whose entry does not say how. The error says what the entry must say.
func defaultOf(e *protocol.Entry) (check.Subject, error) {
	p := e.New()
	s := check.Staged(1, "", "{}")
	if slices.Contains(e.Traits, synod.Rounds) {
		s = check.Ordinary(1, "{}")
		s.Horizon = func(*check.Case) synod.Tick { return synod.Tick(10 + 10*p.MaxRounds()) }
	}
	if signs, ok := p.(protocol.Signing); ok {
		s.Signs = signs.Signs()
	}
	s.States = nil // nobody has said which situations occur
	if roles, ok := p.(protocol.Casting); ok {
		return s, fmt.Errorf("campaign: protocol %s has the roles %v, and its entry does not say which seats of an "+
			"execution have them: set Campaigns", e.Name, roles.Roles())
	}
	if formal, ok := p.(protocol.Formal); ok {
		s.Form = synod.Prose
		if forms := formal.Forms(); slices.Contains(forms, synod.Number) {
			s.Form = ""
		} else if !slices.Contains(forms, synod.Prose) {
			return s, fmt.Errorf("campaign: protocol %s decides questions of the forms %v only, and simulated members "+
				"of a campaign answer with numbers or prose", e.Name, forms)
		}
	}
	return s, nil
}

// built builds a protocol of the catalogue with parameters.
func built(e protocol.Entry) func(*ExecutionPlayer, string) (synod.Protocol, error) {
	return func(_ *ExecutionPlayer, params string) (synod.Protocol, error) {
		p, with := e.New(), map[string]any{}
		if err := yaml.Unmarshal([]byte(params), &with); err != nil {
			return nil, fmt.Errorf("campaign: the parameters %q are not YAML: %w", params, err)
		}
		if j, ok := p.(protocol.Joining); ok && with["same"] == plan.SameMembers { // a key of the council
			j.JoinAnswers()
			delete(with, "same")
		}
		if len(with) > 0 {
			if err := param.Decode(with, p); err != nil {
				return nil, fmt.Errorf("campaign: %s: %w", e.Name, err)
			}
		}
		return p, e.Verify(p)
	}
}

// playTwins makes a subject play all schedules (Bano et al., "Twins: BFT Systems Made Robust").
func (s *subject) playTwins() {
	s.sweep = twinSchedules
	s.setup = func(c chance, x *Execution) {
		x.N, x.F, x.Regime = twinMembers, 1, Asynchronous
		x.Byzantine, x.AtBound = []synod.NodeID{twin}, true
		s.Setup(c, &x.Case)
	}
	s.horizon = func(*Execution) synod.Tick { return twinPeriods * check.TwinView }
}

// Claims returns all claims, in the order of subjects, each with all its protocols.
func Claims() (all []Claim) {
	for _, s := range subjects() {
		for _, c := range s.claims {
			i := slices.IndexFunc(all, func(o Claim) bool { return o.ID == c.ID })
			if i < 0 {
				i, all = len(all), append(all, c)
			}
			all[i].Protocols = append(slices.Clip(all[i].Protocols), s.Name)
		}
	}
	return all
}

// councils returns the protocols that councils play in trials, as council files have them, those with the shortest
// text first.
func councils() (all []string) {
	for _, s := range subjects() {
		if s.Council != "" {
			all = append(all, s.Council)
		}
	}
	slices.SortStableFunc(all, func(a, b string) int { return len(a) - len(b) })
	return all
}
