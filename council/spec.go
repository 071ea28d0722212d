// Package council is the library's front door: it seats members from a Spec and
// puts questions to them.
//
//	spec, err := council.Load("council.yaml")
//	c, err := council.Convene(spec, council.Env{})
//	defer c.Close()
//	outcome, err := c.Decide(ctx, council.Ask{Text: "What is 17 + 25?"})
//
// It plays the protocol's machines under sim, asks real models concurrently,
// journals everything, and makes the decision by a rule that is code over the
// members' own final answers. Nothing in it knows who is honest.
package council

import (
	"fmt"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/graph"
	"synod.dev/synod/sim"
)

// Params are the parameters of a named thing: the keys that stand beside its
// name in the council file.
type Params map[string]any

// Spec is a council file. Keys that are absent have the values of Default.
type Spec struct {
	Council  string            `yaml:"council" json:"council" jsonschema:"description=The council's name."`
	Protocol Params            `yaml:"protocol" json:"protocol" jsonschema:"description=name and the protocol's own parameters."`
	Exact    string            `yaml:"exact" json:"exact" jsonschema:"enum=,enum=paper,description=paper: no reuse and no early stop; the paper's parsers and sampling."`
	Graph    Params            `yaml:"graph" json:"graph" jsonschema:"description=family with its parameters; or edges; or file."`
	F        int               `yaml:"f" json:"f" jsonschema:"minimum=0,description=The bound F on Byzantine neighbours of a member."`
	Rule     Rule              `yaml:"rule" json:"rule" jsonschema:"description=How final answers become a decision. Without a name: majority, or the protocol's own where its members reply to a user."`
	Prompts  string            `yaml:"prompts,omitempty" json:"prompts,omitempty" jsonschema:"description=A folder of NAME.tmpl files that replace the protocol's prompts."`
	Models   map[string]Params `yaml:"models" json:"models" jsonschema:"description=Models by name: provider and its settings."`
	Seats    []SeatSpec        `yaml:"seats" json:"seats" jsonschema:"description=Who sits where; in order."`
	Limits   Limits            `yaml:"limits" json:"limits" jsonschema:"description=What one question may cost."`
	Breakers Breakers          `yaml:"breakers,omitempty" json:"breakers,omitzero" jsonschema:"description=What stops a run that is going nowhere."`
	Faults   sim.Faults        `yaml:"faults,omitempty" json:"faults,omitzero" jsonschema:"description=What goes wrong between members; for experiments."`
}

// SeatSpec is one seat, or Count seats of one kind named id1, id2, ….
type SeatSpec struct {
	ID        string `yaml:"id" json:"id"`
	Model     string `yaml:"model" json:"model"`
	Count     int    `yaml:"count,omitempty" json:"count,omitempty" jsonschema:"minimum=0"`
	Adversary Params `yaml:"adversary,omitempty" json:"adversary,omitempty" jsonschema:"description=name and parameters of a liar put around the seat; for experiments."`
	Role      string `yaml:"role,omitempty" json:"role,omitempty" jsonschema:"description=What the seat is for, in a protocol that tells roles apart."`
	Group     string `yaml:"group,omitempty" json:"group,omitempty" jsonschema:"enum=weak,enum=strong,description=What the experimenter takes the seat for; the bench reports both groups. Members are not told."`
}

// Limits bound one attempt at a question: what a run that goes on finds on file
// is paid for and not counted again. Zero is no limit.
type Limits struct {
	Calls    int           `yaml:"calls" json:"calls" jsonschema:"minimum=0"`
	Tokens   int           `yaml:"tokens" json:"tokens" jsonschema:"minimum=0"`
	USD      float64       `yaml:"usd,omitempty" json:"usd,omitempty" jsonschema:"minimum=0,description=money; every model's price must be known"`
	Deadline time.Duration `yaml:"deadline" json:"deadline" jsonschema:"type=string,description=such as 90s or 10m"`
}

// Default is what a council file starts from.
func Default() Spec {
	return Spec{
		Council:  "council",
		Protocol: Params{"name": "sac"},
		Graph:    Params{"family": "complete"},
		F:        1,
		Limits:   Limits{Calls: 2000, Tokens: 4_000_000, Deadline: 10 * time.Minute},
	}
}

// seat is one seat after counts are written out.
type seat struct {
	id        string
	model     string
	adversary Params
	group     string
	role      synod.Role
}

// roll writes out counts: {id: a, count: 4} sits a1 … a4; a single seat keeps
// its id.
func (s *Spec) roll() ([]seat, error) {
	var seats []seat
	taken := map[string]bool{}
	for i, spec := range s.Seats {
		if spec.ID == "" {
			return nil, fmt.Errorf("seat %d of the list has no id", i+1)
		}
		if err := spec.checkGroup(); err != nil {
			return nil, err
		}
		ids := []string{spec.ID}
		if spec.Count < 0 || spec.Count > graph.MaxNodes {
			return nil, fmt.Errorf("seat %s: count is %d; it must be between 0 and %d", spec.ID, spec.Count, graph.MaxNodes)
		}
		if spec.Count > 0 {
			ids = ids[:0]
			for k := range spec.Count {
				ids = append(ids, fmt.Sprintf("%s%d", spec.ID, k+1))
			}
		}
		for _, id := range ids {
			if taken[id] {
				return nil, fmt.Errorf("two seats are called %q", id)
			}
			taken[id] = true
			seats = append(seats, seat{id, spec.Model, spec.Adversary, spec.Group, synod.Role(spec.Role)})
		}
	}
	if len(seats) == 0 {
		return nil, fmt.Errorf("the council has no seats")
	}
	return seats, nil
}
