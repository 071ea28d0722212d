package manifest

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"synod.dev/synod/internal/llmtest"
)

// DecentLLMs, Fig. 7 by the clock with members at a server: a silent leader costs real time, and silent
// evaluators cost none. The seconds are null in virtual time, and virtual ones are null by the clock.
func TestFig7ByClock(t *testing.T) {
	s := llmtest.Start(t, llmtest.Fixed("42", 0.9), llmtest.Latency(20*time.Millisecond), llmtest.Quiet())
	file := filepath.Join(t.TempDir(), "members.yaml")
	text := "models: {member: {provider: openai, url: " + s.URL + ", model: m}}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	r := finished(t, "decentllms-fig7-clock", Options{Members: file, Substitute: true, N: 1, Only: "[dr]*-b[02]",
		Set: []string{"pace.think=150ms", "pace.within=100ms"}})
	took := time.Since(begun).Seconds()
	seconds := func(cell string) float64 {
		c := cellOf(t, r, cell)
		rate := c.Metrics["latency_seconds"]
		if rate == nil || c.Metrics["latency"] != nil || !slices.Equal(c.MembersKind, []string{"endpoint"}) {
			t.Fatalf("%s: %+v, members %v", cell, c.Metrics, c.MembersKind)
		}
		return rate.Value
	}
	led, slow := seconds("rotating-leader-b0"), seconds("rotating-leader-b2")
	if led < .02 || slow-led < 2*.1 { // at least a round for each silent leader
		t.Errorf("rotating leader: %.2f s, with two silent leaders %.2f s", led, slow)
	}
	none, silent := seconds("decentllms-b0"), seconds("decentllms-b2")
	if none < .6 || silent-none > (slow-led)/2 {
		t.Errorf("DecentLLMs: %.2f s, with two silent evaluators %.2f s", none, silent)
	}
	if sum := led + slow + none + silent; sum > took {
		t.Errorf("%.2f s were measured, and %.2f s passed", sum, took)
	}
	if c := cellOf(t, r, "decentllms-b0"); len(c.Paper)+len(c.Verdict) != 0 { // the seconds of other machines
		t.Errorf("paper %v, verdicts %v", c.Paper, c.Verdict)
	}
	virtual := cellOf(t, finished(t, "decentllms-fig7", Options{N: 1, Only: "decentllms-b0"}), "decentllms-b0")
	if virtual.Metrics["latency_seconds"] != nil || virtual.Metrics["latency"] == nil {
		t.Errorf("virtual time: %+v", virtual.Metrics)
	}
}
