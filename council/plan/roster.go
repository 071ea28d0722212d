package plan

import (
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/network/roster"
)

// setRunner takes the council of a roster in place of the spec's, if its seats are nodes.
func setRunner(p *Plan, from source) error {
	r := p.spec.Runner
	if err := r.validate(); err != nil {
		return err
	}
	if r.Capabilities().Roster && len(r.Keys) == 0 {
		if from == fromRecord {
			return errors.New("keys is absent; the record of a run with nodes has the keys of its members")
		}
		signed, err := ReadRoster(r.Roster)
		if err != nil {
			return err
		}
		if err := p.spec.takes(signed.Roster); err != nil {
			return err
		}
	}
	if len(p.spec.Runner.Keys) == 0 {
		return nil
	}
	keys := make([][]byte, len(p.spec.Runner.Keys))
	for i, text := range p.spec.Runner.Keys {
		var err error
		if keys[i], err = hex.DecodeString(text); err != nil {
			return fmt.Errorf("keys[%d] is %q; it must be a public key in hexadecimal, as a roster has it", i, text)
		}
	}
	var err error
	p.committee, err = sign.NewCommittee(keys)
	return err
}

// takes replaces the spec by the council of a roster. Everybody has signed that council, so another key
// in the file is a mistake.
func (s *Spec) takes(r *roster.Roster) error {
	plain, of := Default(), reflect.TypeFor[Spec]()
	for i := range of.NumField() {
		key, _, _ := strings.Cut(of.Field(i).Tag.Get("yaml"), ",")
		given, absent := reflect.ValueOf(*s).Field(i), reflect.ValueOf(plain).Field(i)
		if key == "runner" || key == "council" || given.IsZero() || reflect.DeepEqual(given.Interface(),
			absent.Interface()) || given.Kind() == reflect.Map && given.Len() == 0 {
			continue
		}
		return &ConfigError{Section: key, Err: fmt.Errorf("the members of the roster %s have signed their council; "+
			"remove this key, or runner", s.Runner.Roster)}
	}
	spec, err := ParseRecord([]byte(r.Council))
	if err != nil {
		return fmt.Errorf("roster %s: its council: %w", s.Runner.Roster, err)
	}
	if spec.Runner.Capabilities().Roster {
		return fmt.Errorf("roster %s: its council has a roster again", s.Runner.Roster)
	}
	spec.Runner = s.Runner
	for _, m := range r.Members {
		spec.Runner.Keys = append(spec.Runner.Keys, hex.EncodeToString(m.Key))
	}
	*s = spec
	return nil
}

// checkKeys fails unless there is a key for each seat.
func checkKeys(p *Plan) error {
	if p.committee != nil && len(p.committee) != len(p.seats) {
		return fmt.Errorf("keys has %d keys, and the council has %d seats", len(p.committee), len(p.seats))
	}
	return nil
}

// ReadRoster reads the roster in a file and checks who has signed it (roster.Signed.Verify).
func ReadRoster(path string) (*roster.Signed, error) {
	text, err := durable.ReadFile(path, 2*roster.MaxFile)
	if err != nil {
		return nil, err
	}
	r, err := roster.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := r.Verify(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}
