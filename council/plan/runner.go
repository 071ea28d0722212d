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

// The names of runners in a council file.
const (
	RunnerSim   = "sim"   // all seats in this process, in virtual time
	RunnerClock = "clock" // all seats in this process, by the clock
	RunnerNodes = "nodes" // each seat is a node of its owner
)

// RunnerSpec says where the seats of a council are played.
type Runner struct {
	Name   string   `yaml:"name,omitempty" json:"name,omitempty" doc:"where the seats are played: in this process in virtual time, in which waiting costs nothing; in this process by the clock, to measure how long a run takes; or by the nodes of a roster, from which everything else in the file is then taken" enum:"sim|clock|nodes" default:"sim" example:"nodes"`
	Roster string   `yaml:"roster,omitempty" json:"roster,omitempty" doc:"with nodes: the file of the roster, which all members have signed" example:"council.roster"`
	Via    []string `yaml:"via,omitempty" json:"via,omitempty" doc:"with nodes: HOST:PORT or ID=HOST:PORT where nodes are reached instead of at the roster's addresses" example:"['10.0.0.1:7400']"`
	Key    string   `yaml:"key,omitempty" json:"key,omitempty" doc:"with nodes: the file of the key that asks, of a member or caller of the roster; absent: owner.key in the configuration folder" example:"alice.key"`
	Keys   []string `yaml:"keys,omitempty" json:"keys,omitempty" doc:"with nodes: the public keys of the members, by which a record of a run is read without the roster; Synod writes them"`
}

// Nodes reports whether the seats are nodes.
func (r *Runner) Nodes() bool { return r.Name == RunnerNodes }

// absent reports whether a council file says nothing of its runner.
func (r *Runner) absent() bool {
	return r.Name == "" && r.Roster == "" && r.Key == "" && len(r.Via)+len(r.Keys) == 0
}

func (r *Runner) validate() error {
	switch {
	case r.Name != "" && r.Name != RunnerSim && r.Name != RunnerClock && r.Name != RunnerNodes:
		return fmt.Errorf("name is %q; it must be sim, clock or nodes (example: {name: nodes, roster: "+
			"council.roster})", r.Name)
	case !r.Nodes() && (r.Roster != "" || r.Key != "" || len(r.Via)+len(r.Keys) > 0):
		return errors.New("roster, via and key are for nodes (example: {name: nodes, roster: council.roster})")
	case r.Nodes() && r.Roster == "":
		return errors.New("roster is absent; nodes need the file of their roster (example: " +
			"{name: nodes, roster: council.roster})")
	}
	return nil
}

// setRunner takes the council of a roster in place of the spec's, if its seats are nodes.
func (p *Plan) setRunner(from source) error {
	r := p.spec.Runner
	if err := r.validate(); err != nil {
		return err
	}
	if r.Nodes() && len(r.Keys) == 0 {
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
	if spec.Runner.Nodes() {
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
func (p *Plan) checkKeys() error {
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

// Clock reports whether the seats are played by the clock.
func (r Runner) Clock() bool { return r.Name == RunnerClock }

// checkClock refuses settings that shorten waiting by the times of other calls.
func (p *Plan) checkClock() error {
	if p.spec.Runner.Clock() && p.spec.Patience.spare() > 0 {
		return errors.New("patience is for virtual time; with runner: {name: clock} a call may take pace.think")
	}
	return nil
}
