package forge

import (
	"bytes"
	"slices"
	"strings"

	"synod.dev/synod/record/certificate"
)

// valid is a certificate that a verifier accepts.
type valid struct {
	*certificate.Certificate
	of     *version
	second bool // it says that there is no second one
}

// Files puts certificates together from all that the callers have got, and returns their files.
func (a *Arena) Files() (files [][]byte) {
	for _, d := range a.drafts {
		for _, signatures := range a.assemble(d) {
			c := &certificate.Certificate{Payload: d.payload, Signatures: signatures}
			if file, err := c.File(); err == nil {
				files = append(files, file)
			}
		}
	}
	return files
}

// assemble returns the lists of signatures that callers try under a draft: those that honest callers would take, and
// another one.
func (a *Arena) assemble(d *draft) (lists [][]certificate.Signature) {
	all := a.hostile(d)
	lists = append(lists, d.bySeat(all, true))
	switch a.rand.IntN(6) {
	case 0:
		lists = append(lists, d.bySeat(all, false))
	case 1: // one twice, in order or not
		some := slices.Clone(lists[0])
		if len(some) > 0 {
			at := a.rand.IntN(len(some))
			some = slices.Insert(some, at, some[at])
		}
		if a.one(2) {
			a.rand.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
		}
		lists = append(lists, some)
	case 2: // lifted from another statement
		other := a.drafts[a.rand.IntN(len(a.drafts))]
		if lifted := d.bySeat(append(slices.Clone(all), other.signatures...), true); len(lifted) > len(lists[0]) {
			a.met(LiftedSigner)
			lists = append(lists, lifted)
		}
	}
	return lists
}

// Judge has a verifier read everything that the callers could put together, and checks what it accepts.
func (a *Arena) Judge() {
	var all []valid
	for _, file := range a.Files() {
		c, err := certificate.Parse(file)
		if err != nil {
			continue
		}
		of := a.rosters[a.rand.IntN(len(a.rosters))]
		if at := a.versionOf(c.Statement.Council); at != nil && !a.one(8) {
			of = at
		}
		a.earlier(c)
		report, err := certificate.VerifyBy(a.Keys, c, of.council)
		if err != nil {
			continue
		}
		v := valid{c, of, strings.Contains(strings.Join(report.Claims, "\n"), NoSecond)}
		a.count(&v)
		if v.of.within {
			a.check(&v)
			all = append(all, v)
		}
	}
	a.compare(all)
}

// earlier checks that a certificate of an earlier version, in which who writes it may say anything, is valid for those
// only who do not know the roster, with a warning.
func (a *Arena) earlier(c *certificate.Certificate) {
	if c.Statement.Domain == certificate.DomainThree {
		return
	}
	report, err := certificate.VerifyBy(a.Keys, c, nil)
	if err != nil {
		return
	}
	a.met(Earlier)
	if report.Warning == "" || strings.Contains(strings.Join(report.Claims, "\n"), NoSecond) {
		a.wrong(Exclusive, "a certificate of an earlier version is valid without a warning")
	}
	if of := a.versionOf(c.Statement.Council); of != nil {
		if _, err := certificate.VerifyBy(a.Keys, c, of.council); err == nil {
			a.wrong(Exclusive, "a certificate of an earlier version is valid for a roster whose members do not sign it")
		}
	}
}

// NoSecond is how a verifier says that two certificates of a run cannot differ.
const NoSecond = "no second certificate of version 3 of this run"

func (a *Arena) versionOf(hash []byte) *version {
	for _, v := range a.rosters {
		if bytes.Equal(v.hash, hash) {
			return v
		}
	}
	return nil
}

func (a *Arena) count(v *valid) {
	a.met(Certified)
	if v.second {
		a.met(Agreement)
	}
	if v.Statement.Merge != nil {
		a.met(MergedValue)
	}
	if v.of != a.rosters[0] {
		a.met(AfterChange)
	}
}

// check compares a valid certificate with what happened, without the code of the verifier.
func (a *Arena) check(v *valid) {
	s := v.Statement
	if !bytes.Equal(s.Council, v.of.hash) {
		a.wrong(Exclusive, "a certificate of another roster is valid")
		return
	}
	voters, signed := uint64(0), uint64(0)
	for i := range v.of.Members {
		if v.of.Members[i].Voter {
			voters++
		}
	}
	var seats []int
	for _, sig := range v.Signatures {
		at, ok := v.of.Seat(sig.Key)
		if !ok || !v.of.Members[at].Voter || slices.Contains(seats, int(at)) {
			a.wrong(Exclusive, "a member without a vote, a stranger, or one member twice signed a valid certificate")
			continue
		}
		seats, signed = append(seats, int(at)), signed+1
		if n := a.nodes[v.of.owners[at]]; n != nil && !n.papers[string(v.Payload)] {
			a.wrong(Exclusive, "a valid certificate has the signature of an honest member that did not sign it")
		}
	}
	if f := v.of.F; signed <= f || v.second && 2*signed <= voters+f {
		a.wrong(Exclusive, "%d of %d voters signed a valid certificate, with F = %d", signed, voters, f)
	}
	if v.second != (v.of.Guarantee == "agreement") {
		a.wrong(Exclusive, "a second certificate is excluded for the guarantee %q", v.of.Guarantee)
	}
	a.checkVotes(v)
}

// checkVotes checks that a certificate shows honest votes as they were, and counts as the roster says.
func (a *Arena) checkVotes(v *valid) {
	s, counts, voters := v.Statement, map[string]int{}, 0
	first := uint64(0)
	for i := range s.Members {
		m, of := &s.Members[i], &v.of.Members[i]
		if m.Kind != of.Kind || m.Voter != of.Voter || m.Adversary != of.Adversary || m.Role != of.Role {
			a.wrong(Exclusive, "a valid certificate says of a member what its roster does not")
		}
		if len(m.Signature) > 0 && a.nodes[v.of.owners[i]] != nil && !a.gave(v.of, s, i) {
			a.wrong(Exclusive, "a valid certificate shows another vote of an honest member than it gave")
		}
		if of.Voter {
			voters++
			counts[string(m.Final)]++
		}
		if bytes.Equal(m.First, s.Answer) {
			first++
		}
	}
	if s.Merge != nil {
		return // what a merge gives is tested in package structured
	}
	own := counts[string(s.Answer)]
	if v.of.Rule.Name == "majority" && 2*own <= voters || v.of.Rule.Name == "supermajority" && 3*own < 2*voters ||
		own == 0 || first < v.of.Rule.Support {
		a.wrong(Exclusive, "%d of %d voters ended on the answer of a valid certificate, and its rule is %s", own,
			voters, v.of.Rule.Name)
	}
}

// gave reports whether a member gave in some run of the roster what a statement shows of it.
func (a *Arena) gave(of *version, s *certificate.Statement, seat int) bool {
	m := &s.Members[seat]
	return slices.ContainsFunc(a.runs, func(r *arenaRun) bool {
		return r.of == of && r.instance == s.Instance && bytes.Equal(r.question, s.Question) &&
			bytes.Equal(r.first[seat], m.First) && bytes.Equal(r.final[seat], m.Final)
	})
}

// compare compares all valid certificates of each run.
func (a *Arena) compare(all []valid) {
	for i := range all {
		for k := range all[:i] {
			x, y := &all[i], &all[k]
			if x.of != y.of || x.Statement.Instance != y.Statement.Instance || bytes.Equal(x.Payload, y.Payload) {
				continue
			}
			a.met(TwoOfARun)
			if bytes.Equal(x.Statement.Answer, y.Statement.Answer) {
				continue
			}
			if x.second || y.second {
				a.wrong(Exclusive, "two valid certificates of a run name different answers, and one says that there "+
					"is no second: F = %d, protocol %s, %d and %d signatures", x.of.F, x.of.Protocol, len(x.Signatures),
					len(y.Signatures))
			} else {
				a.met(TwoAnswers)
			}
		}
	}
}
