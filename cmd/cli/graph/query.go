package graph

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"synod.dev/synod/graph/format"
	"synod.dev/synod/graph/topology"
)

// Query is a graph that Check checks: the text of a file, or a family with its parameters.
type Query struct {
	Text   string         // of a file; "": Family is built
	Format string         // of Text: edges, json, graphml or dot; "": edges
	Family string         // as in "synod graph list"
	Nodes  int            // of the family
	Params map[string]any // of the family
	Seed   uint64         // of a random family
	Faults int            // F for which the graph has to be robust enough; negative: only r is found
	Strong bool           // F needs r ≥ 2F+1 in place of r ≥ F+1
	Rounds int            // T of the calls of a question
	Most   int            // nodes of a graph at most
	Limit  time.Duration  // of the search
}

// Check finds how robust a graph is, as "synod graph check" does.
func Check(ctx context.Context, q Query) (*CheckReport, error) {
	g, err := q.graph()
	if err != nil {
		return nil, err
	}
	rule := claimRule{ruleSAC}
	if q.Strong {
		rule.name = ruleStrong
	}
	cmd := &cobra.Command{}
	cmd.SetContext(ctx)
	return (&checker{limit: timeLimit{q.Limit}, rule: rule, f: max(q.Faults, -1), rounds: q.Rounds}).check(cmd, g)
}

func (q *Query) graph() (namedGraph, error) {
	tooMany := fmt.Errorf("the graph has too many nodes; %d are allowed", q.Most)
	if q.Family != "" && q.Text != "" {
		return namedGraph{}, errors.New("give the text of a graph or a family, not both")
	}
	if q.Family != "" {
		if q.Nodes > q.Most {
			return namedGraph{}, tooMany
		}
		b, err := topology.Build(q.Family, q.Nodes, q.Params, q.Seed)
		return namedGraph{q.Family, format.File{Graph: b.Graph}, b}, err
	}
	name := q.Format
	if name == "" {
		name = "edges"
	}
	how, err := format.Find(name)
	if err != nil {
		return namedGraph{}, err
	}
	file, err := how.Parse([]byte(q.Text))
	if err == nil && file.Graph.N() > q.Most {
		err = tooMany
	}
	return namedGraph{"graph", file, topology.Built{Graph: file.Graph}}, err
}
