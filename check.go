package synod

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
)

// Check is a condition in code that an answer must meet to be a candidate, whoever gave it and however many agree on
// it. Exactly one of CEL, Schema, Regex and Command is set. The first three are functions of the answer, which every
// honest seat evaluates alike. A Command is run by the process that asks the member, and its verdict is recorded in
// the reply.
type Check struct {
	Name    string         `yaml:"name" json:"name" doc:"name of the check, shown where an answer passes or fails it: letters, digits, - and _" example:"positive"`
	CEL     string         `yaml:"cel,omitempty" json:"cel,omitempty" doc:"a condition in CEL over the answer, self: a number, true or false, a text, or a JSON value; a call of a tool is {name, arguments}" example:"self.net + self.vat == self.gross"`
	Schema  map[string]any `yaml:"schema,omitempty" json:"schema,omitempty" doc:"a JSON schema of the answer" example:"{minimum: 0}"`
	Regex   string         `yaml:"regex,omitempty" json:"regex,omitempty" doc:"a regular expression (RE2) that matches some part of the answer in its canonical spelling" example:"^[a-z]+$"`
	Command []string       `yaml:"command,omitempty" json:"command,omitempty" doc:"a program with its arguments, run in bubblewrap without network: it reads the answer from its input and the question from the file /question; exit status 0 passes, else its first line of output is the reason" example:"[python3, /check/run.py]"`
	Mount   string         `yaml:"mount,omitempty" json:"mount,omitempty" doc:"with command: a folder that the program sees, read-only, as /check; default: none" example:"/srv/checks"`
	Memory  int            `yaml:"memory,omitempty" json:"memory,omitempty" doc:"with command: the most memory of all its processes together; 0: 256 MiB" range:"0:65536" unit:"MiB" example:"512"`
	Seconds int            `yaml:"seconds,omitempty" json:"seconds,omitempty" doc:"with command: the time it may take; 0: 5 s" range:"0:600" unit:"s" example:"10"`
	Tool    string         `yaml:"tool,omitempty" json:"tool,omitempty" doc:"with form action: only calls of this tool are checked, and self is their arguments" example:"pay"`
	Says    string         `yaml:"says,omitempty" json:"says,omitempty" doc:"what a member is told whose answer fails, at most 300 bytes; default: the condition, or the program's first line of output" example:"net and VAT must add up to gross"`
}

// Failure says which check an answer failed, and why.
type Failure struct {
	Check  string `json:"check"`
	Reason string `json:"reason"` // one line, cleaned; it may have words of a program
}

// The limits of checks.
const (
	maxChecks  = 16
	maxPattern = 1000 // bytes of an expression or a regular expression
	// MaxReason is how many bytes the reason of a Failure has at most.
	MaxReason = 300
)

// Validate reports what is wrong with a check; nil if nothing is. Package read compiles expressions and
// schemas.
func (c *Check) Validate() error {
	kinds := 0
	for _, set := range []bool{c.CEL != "", c.Schema != nil, c.Regex != "", len(c.Command) > 0} {
		if set {
			kinds++
		}
	}
	switch {
	case !plainName(c.Name):
		return fmt.Errorf("the name %.40q is empty or not plain: use at most 64 letters, digits, _ and -", c.Name)
	case kinds != 1:
		return fmt.Errorf("%s has %d of cel, schema, regex and command, and needs one of them (example: {name: "+
			"positive, cel: self > 0})", c.Name, kinds)
	case len(c.CEL) > maxPattern || len(c.Regex) > maxPattern:
		return fmt.Errorf("%s: its expression has more than %d bytes", c.Name, maxPattern)
	case len(c.Says) > MaxReason || !utf8.ValidString(c.Says):
		return fmt.Errorf("%s: says is longer than %d bytes or not UTF-8", c.Name, MaxReason)
	case c.Tool != "" && !plainName(c.Tool):
		return fmt.Errorf("%s: tool is %.40q, and no tool can be called that", c.Name, c.Tool)
	}
	return c.validateCommand()
}

// Kind is the key that a check has: cel, schema, regex or command.
func (c *Check) Kind() string {
	switch {
	case c.CEL != "":
		return "cel"
	case c.Schema != nil:
		return "schema"
	case c.Regex != "":
		return "regex"
	}
	return "command"
}

// validateCommand checks the keys of a command.
func (c *Check) validateCommand() error {
	switch {
	case len(c.Command) == 0 && (c.Mount != "" || c.Memory != 0 || c.Seconds != 0):
		return fmt.Errorf("%s: mount, memory and seconds belong to a command", c.Name)
	case len(c.Command) > 0 && c.Command[0] == "":
		return fmt.Errorf("%s: command names no program", c.Name)
	case c.Memory < 0 || c.Memory > 64<<10:
		return fmt.Errorf("%s: memory is %d; it must be between 0 and 65536 MiB", c.Name, c.Memory)
	case c.Seconds < 0 || c.Seconds > 600:
		return fmt.Errorf("%s: seconds is %d; it must be between 0 and 600", c.Name, c.Seconds)
	}
	return nil
}

// Same reports whether two checks are the same, also after one of them was written as JSON and read again.
func (c *Check) Same(d *Check) bool {
	if c.Name != d.Name {
		return false
	}
	a, errA := json.Marshal(c)
	b, errB := json.Marshal(d)
	return errA == nil && errB == nil && string(a) == string(b)
}

// ValidateChecks reports what is wrong with a list of checks; nil if nothing is.
func ValidateChecks(all []Check) error {
	if len(all) > maxChecks {
		return fmt.Errorf("there are %d checks; at most %d are accepted", len(all), maxChecks)
	}
	for i := range all {
		if err := all[i].Validate(); err != nil {
			return fmt.Errorf("check %d: %w", i+1, err)
		}
		if slices.ContainsFunc(all[:i], func(c Check) bool { return c.Name == all[i].Name }) {
			return fmt.Errorf("two checks are called %s", all[i].Name)
		}
	}
	return nil
}

// ErrCommand says that a question has a command that the council's own file does not have.
var ErrCommand = errors.New("a command can only be in the council file of the operator: use cel, schema or regex")
