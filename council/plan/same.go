package plan

import (
	"fmt"

	"synod.dev/synod"
	"synod.dev/synod/protocol"
)

// The values of the council key same.
const (
	SameOff     = "off"     // two answers are one only if their canonical spelling is; "" means the same
	SameMembers = "members" // also if more than F members other than their authors say so
)

// JoinsTexts reports whether members say which answers mean the same.
func JoinsTexts(p *Plan) bool { return p.spec.Same == SameMembers }

// setSame reads the key same.
func setSame(p *Plan) error {
	j, can := p.protocol.(protocol.Joining)
	switch {
	case p.spec.Same == "" || p.spec.Same == SameOff:
		return nil
	case !JoinsTexts(p):
		return fmt.Errorf("same is %q; it must be off or members", p.spec.Same)
	case !can:
		return fmt.Errorf("same is members, and the members of protocol %s do not compare answers; use protocol: "+
			"majority, or remove same", p.entry.Name)
	case p.spec.Exact != "":
		return fmt.Errorf("same is members, and exact is %s: no paper joins answers. Remove one of them", p.spec.Exact)
	case p.spec.Form != "" && p.spec.Form != synod.Text:
		return formOfSame(p.spec.Form)
	}
	j.JoinAnswers()
	return nil
}

// formOfSame is the error for a form whose answers are never joined.
func formOfSame(f synod.Form) error {
	return fmt.Errorf("same is members, which joins answers of the form text only, and the form is %s: set form: text "+
		"if short texts are wanted, or same: off", f)
}

// checkSame refuses seats that are too few for any two answers to be joined.
func checkSame(p *Plan) error {
	if n, f := len(p.seats), p.spec.F; JoinsTexts(p) && n < f+3 {
		return fmt.Errorf("same is members, f is %d, and there are %d seats: more than f members other than the "+
			"authors of two answers must call them the same, so at least %d seats are needed. Add seats, lower f, or "+
			"set same: off", f, n, f+3)
	}
	return nil
}
