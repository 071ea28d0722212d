package main

import (
	"encoding/json"
	"strings"
	"testing"

	"synod.dev/synod/cmd/cli"
	"synod.dev/synod/graph/topology"
)

// The command line checks the new topology like any other.
func TestWheel(t *testing.T) {
	topology.Catalogue.Add(Wheel)
	var out, errs strings.Builder
	args := []string{"graph", "check", "--family", "wheel", "-n", "7", "--format", "json"}
	if code := cli.Run(t.Context(), args, nil, &out, &errs); code != 0 {
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	var got struct{ Nodes, Edges, R int }
	if err := json.Unmarshal([]byte(out.String()), &got); err != nil {
		t.Fatal(err)
	}
	if got.Nodes != 7 || got.Edges != 12 || got.R != 2 {
		t.Errorf("a wheel of 7 nodes has %+v; want 12 edges and r = 2", got)
	}
}
