package certificate

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
)

// Checked is a check in code that the answer passes, by the word of the signers.
type Checked struct {
	_    struct{} `cbor:",toarray"`
	Name string
	Kind string // cel, schema, regex or command
	Hash []byte // SHA-256 of its definition as JSON
}

// is reports whether two checks have the same name, kind and definition.
func (c *Checked) is(b Checked) bool {
	return c.Name == b.Name && c.Kind == b.Kind && slices.Equal(c.Hash, b.Hash)
}

// command is the kind of check that only the owner of all members can run.
const command = "command"

var checkKinds = []string{"cel", "schema", "regex", command}

// Limits of the checks that a statement names.
const (
	maxChecks    = 64
	maxCheckName = 256 // bytes
)

// validChecks returns an error for checks that no statement can name. owned says that all members have one owner.
func validChecks(all []Checked, owned bool) error {
	if len(all) > maxChecks {
		return fmt.Errorf("certificate: it names %d checks; at most %d are allowed", len(all), maxChecks)
	}
	for i, c := range all {
		switch {
		case c.Name == "" || len(c.Name) > maxCheckName:
			return fmt.Errorf("certificate: the name of a check has %d bytes; it must have 1 to %d", len(c.Name),
				maxCheckName)
		case slices.ContainsFunc(all[:i], func(b Checked) bool { return b.Name == c.Name }):
			return fmt.Errorf("certificate: two checks are called %q", c.Name)
		case !slices.Contains(checkKinds, c.Kind) || c.Kind == command && !owned:
			return fmt.Errorf("certificate: the check %q is of the kind %.40q, which this council cannot have", c.Name,
				c.Kind)
		case len(c.Hash) != sha256.Size:
			return fmt.Errorf("certificate: the check %q has no SHA-256 of its definition", c.Name)
		}
	}
	return nil
}

// listed says which checks these are.
func listed(all []Checked) string {
	names := make([]string, len(all))
	for i, c := range all {
		names[i] = fmt.Sprintf("%s (%s, %x…)", c.Name, c.Kind, c.Hash[:6])
	}
	return strings.Join(names, ", ")
}
