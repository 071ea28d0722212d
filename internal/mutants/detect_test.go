package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What a program does with a mutant is read as what a campaign found.
func TestWhatACampaignFound(t *testing.T) {
	d := &detector{work: t.TempDir(), limit: time.Second, reach: map[string][]int{"a": {1, 2}, "b": {2}, "c": {3}}}
	program := filepath.Join(d.work, "program")
	for _, c := range []struct {
		name, script, want string
		id                 int
		fails              bool
	}{
		{"a claim", `echo '{"claim":"BB-1"}'`, "BB-1", 1, false},
		{"none", "echo null", "", 1, false},
		{"a panic", "exit 2", panics, 1, false},
		{"a second claim, and a panic", `echo '{"claim":"BB-1"}'; echo '{"claim":"BB-3"}'; echo panic; exit 2`,
			"BB-1 BB-3", 1, false},
		{"no result", "echo what", "", 1, true},
		{"the subject that reaches the fewest mutants comes first", `echo "{\"claim\":\"$2\"}"`, "b", 2, false},
		{"no subject reaches it", `echo '{"claim":"BB-1"}'`, "", 4, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := os.WriteFile(program, []byte("#!/bin/sh\n"+c.script+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			got, err := d.try(program, c.id, false)
			if strings.Join(got, " ") != c.want || (err != nil) != c.fails {
				t.Errorf("found %q, error %v", got, err)
			}
		})
	}
}

// Each claim that found nothing is named.
func TestDetectionReport(t *testing.T) {
	sum := newDetection()
	for _, m := range []*mutant{{fate: byCampaign, claims: []string{"BB-1"}},
		{fate: byCampaign, claims: []string{"BB-1", "BB-3"}},
		{fate: byCampaign, claims: []string{panics}}, {fate: killed}, {fate: lived}, {fate: broken}} {
		sum.add(m)
	}
	var b bytes.Buffer
	sum.report(&b)
	for _, want := range []string{"     2      2 BB-1\n     1      1 a panic\n     0      1 BB-3\n", ", BB-2, ",
		"5 viable mutants: 3 found by campaigns, 1 more by unit tests, 1 not found\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "BB-1,") {
		t.Error("a claim that found mutants is named among those that found none")
	}
}
