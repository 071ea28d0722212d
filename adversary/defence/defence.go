// Package defence is the catalogue of the defences of a council against adversaries among its members. Each is a
// switch under "defences" in a council file. Most set a field of synod.Guards, which the seats of a plan get. The
// others are names for a key of the council file that means the same; package council sets that key.
//
// The package is pure and has rank 1: it needs only the root package.
package defence

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"synod.dev/synod"
)

// The values of a switch.
const (
	On  = "on"
	Off = "off"
)

// Entry is a defence.
type Entry struct {
	synod.Entry
	About string `json:"about"` // what the switch does when it is on and when it is off
	// Key is the key of the council file that the switch sets, such as protocol.judge; "": the switch is the only
	// setting.
	Key     string      `json:"key,omitempty"`
	Where   synod.Where `json:"traits"`  // the protocols in which it does something
	Against []string    `json:"against"` // the adversaries that it is for
	Cost    string      `json:"cost"`    // what it costs in calls and tokens
	Default string      `json:"default"` // on | off, or of a Key: the default of that key

	field func(*synod.Guards) *bool // the guard; nil with a Key
	weak  bool                      // the field is true when the defence is off
	since bool                      // records without switches were made without it
	later bool                      // records without its own switch were made without it
}

// Guard reports whether the switch sets a field of synod.Guards.
func (e Entry) Guard() bool { return e.field != nil }

// Settings are the switches of a council file, by name: On or Off.
type Settings map[string]string

// Check returns an error for a name that is not in the catalogue or a value that is not On or Off.
func (s Settings) Check() error {
	for _, name := range slices.Sorted(maps.Keys(s)) {
		if _, err := Catalogue.Find(name); err != nil {
			return fmt.Errorf("%w; see: synod list defences", err)
		}
		if v := s[name]; v != On && v != Off {
			return fmt.Errorf("%s is %q; it must be on or off (example: {%s: off})", name, v, name)
		}
	}
	return nil
}

// Given says from where the switches come that a council file does not name.
type Given int

// The sources of switches.
const (
	Usual  Given = iota // the defaults
	Paper               // exact: paper, which has what no choice was needed for
	Record              // a record of a run that was made before there were switches; the same as Paper
	Listed              // a record that lists the switches that there were
)

// Complete returns the switches of all guards that do something in a protocol: those that are given, and the
// others from their source. Switches of keys are left out.
func (s Settings) Complete(traits []synod.Trait, from Given) Settings {
	out := Settings{}
	for _, e := range Catalogue.All() {
		if !e.Guard() || !e.Where.Admits(traits) {
			continue
		}
		value := e.Default
		if from == Listed && e.later || (from == Paper || from == Record) && e.since {
			value = Off
		}
		if given, ok := s[e.Name]; ok {
			value = given
		}
		out[e.Name] = value
	}
	return out
}

// Guards returns the guards of the switches.
func (s Settings) Guards() (g synod.Guards) {
	for name, value := range s {
		if e, err := Catalogue.Find(name); err == nil && e.Guard() {
			*e.field(&g) = (value == On) != e.weak
		}
	}
	return g
}

// Names returns the names of the catalogue in one line.
func Names() string { return strings.Join(Catalogue.Names(), ", ") }
