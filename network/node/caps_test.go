package node

import (
	"log/slog"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

// priced is a model with a price.
type priced struct{ llm.Model }

func (priced) Info() llm.Info {
	return llm.Info{Kind: llm.Endpoint, Name: "m", Model: "gpt-4o-mini", Server: "api.openai.com"}
}

// What a day has cost is counted in US dollars, outlives the process, and ends what the node takes; the next
// day begins at 0.
func TestDailyUSD(t *testing.T) {
	path, now := filepath.Join(t.TempDir(), "spent.json"), time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	caps := Caps{DailyUSD: 0.10, CallerUSD: 1}
	open := func() *daily {
		d, err := openDaily(path, caps, clock, nil, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	n := &Node{model: priced{}, daily: open(), log: slog.New(slog.DiscardHandler)}
	price, known := llm.Published().Of(priced{}.Info())
	if !known {
		t.Fatal("the model has no price")
	}
	reply := synod.Reply{Status: synod.OK, Calls: 1, Usage: synod.Usage{Prompt: 200_000, Completion: 10_000}}
	n.spend(&reply, "alice")
	n.daily.save()
	want := (200_000*price.Prompt + 10_000*price.Completion) / 1e6
	if again := open(); math.Abs(again.USD-want) > 1e-9 || again.left("alice") != nil {
		t.Fatalf("$%v are on disk, want $%v; %v", again.USD, want, again.left("alice"))
	}
	for range 5 {
		n.spend(&reply, "alice")
	}
	n.daily.save()
	if err := open().left("alice"); err == nil || !strings.Contains(err.Error(), "its limit is $0.10") {
		t.Errorf("after $%v: %v", n.daily.USD, err)
	}
	now = now.Add(24 * time.Hour)
	if err := n.daily.left("alice"); err != nil || n.daily.USD != 0 {
		t.Errorf("the next day: $%v, %v", n.daily.USD, err)
	}
	if n.daily.budget(plan.Limits{USD: 5}, "alice") == nil {
		t.Error("there is no budget")
	}
}
