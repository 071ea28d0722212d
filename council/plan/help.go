package plan

// HelpError is an error about a council that people can do something about in the way of their program: with a command
// or a flag where they use a command line.
type HelpError struct {
	Err  error
	Help Help
	Name string // of the entry for HelpExplain; else ""
}

// Help is a kind of help.
type Help int

// The kinds of help.
const (
	HelpExplain  Help = iota // what an entry of a catalogue is
	HelpDefences             // which defences there are
	HelpSchema               // where a schema is given
	HelpTools                // where tools are given
	HelpProbe                // how a model gets a probe
	HelpRecord               // how a run is recorded
)

// Error returns the text of Err.
func (e *HelpError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *HelpError) Unwrap() error { return e.Err }
