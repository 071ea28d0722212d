package roster

import (
	"fmt"

	"synod.dev/synod/internal/canonical"
)

// beginOne is the first byte of the encoding of a roster of FormatOne: an array of 21.
const beginOne = 0x95

// rosterOne is the encoding of a roster of FormatOne. It does not say who votes, by which rule, and what is simulated.
type rosterOne struct {
	_          struct{} `cbor:",toarray"`
	Format     string
	Name       string
	Serial     uint64
	Previous   []byte
	Members    []memberOne
	Edges      [][]uint64
	F          uint64
	R          uint64
	Exact      bool
	Guarantee  string
	Note       string
	Protocol   string
	Parameters string
	Council    string
	Think      uint64
	Within     uint64
	Prompts    []Prompt
	Callers    []Caller
	Links      string
	Relay      bool
	Ledger     Ledger
}

type memberOne struct {
	_         struct{} `cbor:",toarray"`
	ID        string
	Role      string
	Key       []byte
	Addresses []string
}

func (r *Roster) one() *rosterOne {
	o := &rosterOne{Format: r.Format, Name: r.Name, Serial: r.Serial, Previous: r.Previous, Edges: r.Edges, F: r.F,
		R: r.R, Exact: r.Exact, Guarantee: r.Guarantee, Note: r.Note, Protocol: r.Protocol, Parameters: r.Parameters,
		Council: r.Council, Think: r.Think, Within: r.Within, Prompts: r.Prompts, Callers: r.Callers, Links: r.Links,
		Relay: r.Relay, Ledger: r.Ledger}
	for _, m := range r.Members {
		o.Members = append(o.Members, memberOne{ID: m.ID, Role: m.Role, Key: m.Key, Addresses: m.Addresses})
	}
	return o
}

func decodeOne(b []byte) (*Roster, error) {
	var o rosterOne
	if err := canonical.Decode(b, MaxBytes, &o); err != nil {
		return nil, err
	}
	if o.Format != FormatOne {
		return nil, fmt.Errorf("its format is %.40q, and it is encoded as %s", o.Format, FormatOne)
	}
	r := &Roster{Format: o.Format, Name: o.Name, Serial: o.Serial, Previous: o.Previous, Edges: o.Edges, F: o.F, R: o.R,
		Exact: o.Exact, Guarantee: o.Guarantee, Note: o.Note, Protocol: o.Protocol, Parameters: o.Parameters,
		Council: o.Council, Think: o.Think, Within: o.Within, Prompts: o.Prompts, Callers: o.Callers, Links: o.Links,
		Relay: o.Relay, Ledger: o.Ledger}
	for _, m := range o.Members {
		r.Members = append(r.Members, Member{ID: m.ID, Role: m.Role, Key: m.Key, Addresses: m.Addresses})
	}
	return r, nil
}
