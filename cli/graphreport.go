package cli

import (
	"encoding/json"
	"io"

	"github.com/spf13/cobra"

	"synod.dev/synod/graph"
)

// drawnJSON is a graph inside a report, in the form that "graph check" reads.
type drawnJSON struct {
	N        int      `json:"n"`
	Directed bool     `json:"directed"`
	Edges    [][2]int `json:"edges"`
	Names    []string `json:"names,omitempty"`
}

func asDrawn(f graph.File) drawnJSON {
	return drawnJSON{f.Graph.N(), f.Graph.Directed(), f.Graph.Edges(), f.Names}
}

// report writes the graph where it was asked for and says what was found: on
// stdout, or on stderr if the graph goes there.
func (a *app) report(cmd *cobra.Command, out graphOut, asJSON bool, file graph.File, v any, text func(io.Writer) error) error {
	w := cmd.OutOrStdout()
	if out.path != "" {
		if err := out.write(cmd, file); err != nil {
			return err
		}
		if out.path == "-" {
			w = cmd.ErrOrStderr()
		}
	}
	switch {
	case a.quiet && out.path == "-":
		return nil
	case asJSON:
		return json.NewEncoder(w).Encode(v)
	}
	return text(w)
}

// tabulate prints findings as a table.
func tabulate(w io.Writer, asked examiner, all ...*finding) error {
	asked.f, asked.rs, asked.measures = -1, false, false
	t, err := newFindings(w, "text", asked)
	if err != nil {
		return err
	}
	for _, o := range all {
		o.gate, o.pairwise, o.measures = nil, nil, nil
		if err := t.add(o); err != nil {
			return err
		}
	}
	return t.end()
}
