package answer

import "fmt"

// Plain is what the protocols share in which nobody talks: no rounds, and nothing
// to set but how answers are read.
type Plain struct {
	Exact bool `yaml:"-" json:"exact"` // the papers' readers: council key "exact: paper"
}

// Paper has answers asked for and read as the papers do.
func (p *Plain) Paper() { p.Exact = true }

// Validate finds nothing wrong.
func (p *Plain) Validate() error { return nil }

// MaxRounds is none: nobody talks.
func (p *Plain) MaxRounds() int { return 0 }

// Settles: there is no round that could repeat.
func (p *Plain) Settles() bool { return false }

// Limit is a whole number's range, both ends included.
type Limit struct {
	Key            string
	Is, Least, Top int
}

// Check reports the first parameter of a protocol that is out of its range.
func Check(protocol string, limits ...Limit) error {
	for _, l := range limits {
		if l.Is < l.Least || l.Is > l.Top {
			return fmt.Errorf("%s: %s is %d; it must be between %d and %d", protocol, l.Key, l.Is, l.Least, l.Top)
		}
	}
	return nil
}
