package reference

// Certified is what a certificate of a roster shows, and who signed it. Answers are texts or hashes of them.
type Certified struct {
	Answer  string
	Rule    Rule // plurality, majority, supermajority, or protocol
	F       int
	Agrees  bool // the claim excludes a second certificate of the run
	Shown   []Shown
	Signers []int // seats, in the order of the certificate
	Graph   Digraph
	R       int
	Exact   bool
	Claim   string
	Right   string // the claim that follows from the protocol, F and R
}

// Shown is what a certificate shows of a member.
type Shown struct {
	Voter        bool
	First, Final string // "": none
	Signed       bool   // there is a signature under both
	Genuine      bool   // it is the member's signature under just these
}

// Valid reports whether a certificate is valid, as docs/operate/certificates.md says.
func (c *Certified) Valid() bool {
	return c.signed() && c.Follows()
}

// Follows reports whether what is stated follows from what is shown, whoever signed.
func (c *Certified) Follows() bool {
	return c.shown() && c.decided() && c.graph() && (c.Claim == "none" || c.Claim == c.Right)
}

// signed reports whether enough voters that end on the answer signed, each once and in the order of seats: more than
// F, or, where the claim excludes a second certificate, so many that any two such sets share more than F.
func (c *Certified) signed() bool {
	last, voters := -1, 0
	for _, seat := range c.Signers {
		m := c.Shown[seat]
		if seat <= last || !m.Voter || m.Final != c.Answer {
			return false
		}
		last = seat
	}
	for _, m := range c.Shown {
		if m.Voter {
			voters++
		}
	}
	if n := len(c.Signers); c.Agrees {
		return 2*n-voters > c.F
	}
	return len(c.Signers) > c.F
}

// shown reports whether each member's answers are signed by it, or not there.
func (c *Certified) shown() bool {
	for _, m := range c.Shown {
		if m.Signed && !m.Genuine || !m.Signed && m.First+m.Final != "" {
			return false
		}
	}
	return true
}

// decided reports whether the answer wins among the voters and has its support among all first answers.
func (c *Certified) decided() bool {
	support, voters := 0, 0
	ends := map[string]int{}
	for _, m := range c.Shown {
		if m.First == c.Answer {
			support++
		}
		if m.Voter {
			voters++
			ends[m.Final]++
		}
	}
	own := ends[c.Answer]
	if support < c.Rule.Support || own == 0 {
		return false
	}
	switch c.Rule.Name {
	case "majority":
		return 2*own > voters
	case "supermajority":
		return 3*own >= 2*voters
	case "plurality":
		for answer, n := range ends {
			if answer != c.Answer && answer != "" && n >= own {
				return false
			}
		}
	}
	return true
}

// graph reports whether the robustness that is stated holds.
func (c *Certified) graph() bool {
	r := c.Graph.Robust()
	return c.R <= r && (!c.Exact || c.R == r)
}
