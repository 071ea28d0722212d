package plan

import (
	"errors"
	"fmt"
	"strings"
)

// The names of runners in a council file.
const (
	RunnerSim   = "sim"   // all seats in this process, in virtual time
	RunnerClock = "clock" // all seats in this process, by the clock
	RunnerNodes = "nodes" // each seat is a node of its owner
)

// Capabilities say what a runner does differently from the default one, which plays all seats in this process in
// virtual time and has none of them. Code outside the runners asks for a capability and never for a runner's name.
type Capabilities struct {
	// Roster: the council, its seats and models included, comes from a roster that all members have signed. The
	// council file has nothing else, and no question can change the council.
	Roster bool

	// Owned: each seat has an owner of its own, who calls its model, pays for it and chooses its seed. This process
	// opens no model. It learns of calls when the run is over, and can give limits only at its beginning.
	Owned bool

	// Certifies: the members sign certificates of their decisions, and record them in their ledger.
	Certifies bool

	// Measured: the time of a run is that of the clock. No call is cut short for the sake of others, and signatures
	// are real.
	Measured bool

	NoReplay string // why the journal of a run cannot be replayed; "": it can
	NoResume string // why a run that was cut off cannot be resumed; "": it can
}

// runners is the catalogue of runners, by name.
var runners = map[string]Capabilities{
	RunnerSim: {},
	RunnerClock: {
		Measured: true,
		NoResume: "it was played by the clock, and its time would not be known; ask the question again",
	},
	RunnerNodes: {
		Roster: true, Owned: true, Certifies: true,
		NoReplay: "nodes have played the run; the journal of each node can be replayed, and this one has only what " +
			"they reported",
		NoResume: "nodes have played the run, and keep its replies; ask the question again",
	},
}

// Runner says where the seats of a council are played.
type Runner struct {
	Name   string   `yaml:"name,omitempty" json:"name,omitempty" doc:"where the seats are played: in this process in virtual time, in which waiting costs nothing; in this process by the clock, to measure how long a run takes; or by the nodes of a roster, from which everything else in the file is then taken" enum:"sim|clock|nodes" default:"sim" example:"nodes"`
	Roster string   `yaml:"roster,omitempty" json:"roster,omitempty" doc:"with nodes: the file of the roster, which all members have signed" example:"council.roster"`
	Via    []string `yaml:"via,omitempty" json:"via,omitempty" doc:"with nodes: HOST:PORT or ID=HOST:PORT where nodes are reached instead of at the roster's addresses" example:"['10.0.0.1:7400']"`
	Key    string   `yaml:"key,omitempty" json:"key,omitempty" doc:"with nodes: the file of the key that asks, of a member or caller of the roster; absent: owner.key in the configuration folder" example:"alice.key"`
	Keys   []string `yaml:"keys,omitempty" json:"keys,omitempty" doc:"with nodes: the public keys of the members, by which a record of a run is read without the roster; Synod writes them"`
}

// Capabilities returns what the runner can do. A runner whose name is unknown has none.
func (r *Runner) Capabilities() Capabilities { return runners[r.Name] }

// nodesSection is the section of a council file that names the nodes of a roster. An empty key or via is left out.
func nodesSection(roster, key string, via []string) map[string]any {
	section := map[string]any{"name": RunnerNodes, "roster": roster}
	if len(via) > 0 {
		section["via"] = via
	}
	if key != "" {
		section["key"] = key
	}
	return section
}

// hasRoster reports whether a part of a council file names a runner whose council comes from a roster.
func hasRoster(tree map[string]any) bool {
	r, _ := tree["runner"].(map[string]any)
	name, _ := r["name"].(string)
	return runners[name].Roster
}

// starts says what a run over this runner sends where; "": the council file says it.
func (r *Runner) starts() string {
	if !r.Capabilities().Roster {
		return ""
	}
	line := "the questions go to the nodes of the roster " + r.Roster
	if r.Key != "" {
		line += ", signed with the key in " + r.Key
	}
	if len(r.Via) > 0 {
		line += ", at " + strings.Join(r.Via, ", ")
	}
	return line
}

// absent reports whether a council file says nothing of its runner.
func (r *Runner) absent() bool {
	return r.Name == "" && r.Roster == "" && r.Key == "" && len(r.Via)+len(r.Keys) == 0
}

func (r *Runner) validate() error {
	can, known := runners[r.Name]
	switch {
	case r.Name != "" && !known:
		return fmt.Errorf("name is %q; it must be sim, clock or nodes (example: {name: nodes, roster: "+
			"council.roster})", r.Name)
	case !can.Roster && (r.Roster != "" || r.Key != "" || len(r.Via)+len(r.Keys) > 0):
		return errors.New("roster, via and key are for nodes (example: {name: nodes, roster: council.roster})")
	case can.Roster && r.Roster == "":
		return errors.New("roster is absent; nodes need the file of their roster (example: " +
			"{name: nodes, roster: council.roster})")
	}
	return nil
}
