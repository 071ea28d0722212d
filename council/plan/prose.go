package plan

import (
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/catalog"
)

// protocol returns the catalogue's entry of the protocol, and its parameters.
func (s *Spec) protocol() (e protocol.Entry, params Params, err error) {
	name, params, err := s.Protocol.split()
	if err == nil {
		e, err = catalog.Protocols.Find(name)
	}
	return e, params, err
}

// playsProse reports whether the protocol chooses among long texts.
func playsProse(p *Plan) bool { return decidesProse(p.protocol) }

func decidesProse(p protocol.Protocol) bool {
	if f, ok := p.(protocol.Formal); ok {
		return slices.Contains(f.Forms(), synod.Prose)
	}
	s, ok := p.(protocol.Selecting)
	return ok && s.SelectsProse()
}

// DecidesProse reports whether a protocol can choose among long texts.
func DecidesProse(name string) bool {
	e, err := catalog.Protocols.Find(name)
	return err == nil && decidesProse(e.New())
}

// proseProtocols lists the protocols that decide prose, the default first.
func proseProtocols() (names []string) {
	for _, e := range catalog.Protocols.All() {
		switch {
		case e.Default == synod.Prose:
			names = slices.Insert(names, 0, e.Name)
		case decidesProse(e.New()):
			names = append(names, e.Name)
		}
	}
	return names
}
