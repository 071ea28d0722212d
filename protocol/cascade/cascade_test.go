package cascade

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod"
)

// Without history the seats are asked in an order that differs from question to question, and every seat is in a first
// stage for some question.
func TestDraw(t *testing.T) {
	p := New()
	first := map[synod.NodeID]int{}
	for q := range 300 {
		c := p.convene(&synod.Question{ID: fmt.Sprint(q), Form: synod.Number}, 7, 2)
		sorted := slices.Clone(c.order)
		slices.Sort(sorted)
		if !slices.Equal(sorted, []synod.NodeID{0, 1, 2, 3, 4, 5, 6}) || len(c.stage(0)) != 3 || len(c.stage(1)) != 1 ||
			c.stage(5) != nil {
			t.Fatalf("order %v", c.order)
		}
		for _, id := range c.stage(0) {
			first[id]++
		}
	}
	for id := range synod.NodeID(7) {
		if first[id] < 60 {
			t.Errorf("seat %d was first for %d of 300 questions", id, first[id])
		}
	}
}

// However good the history of a seat is, it is no more often in the first stage than others; a low price does that. The
// seats behind the first stage come by weight and price.
func TestValue(t *testing.T) {
	p := New()
	p.Weights = map[string][]float64{"number": {1, 3, 2, 1.5, 0.5}}
	first, second := map[synod.NodeID]int{}, map[synod.NodeID]int{}
	for q := range 500 {
		c := p.convene(&synod.Question{ID: fmt.Sprint(q), Form: synod.Number}, 5, 1)
		for _, id := range c.stage(0) {
			first[id]++
		}
		second[c.order[2]]++
		for k := 3; k < 5; k++ {
			if c.weights[c.order[k]] > c.weights[c.order[k-1]] {
				t.Fatalf("order %v by the weights %v", c.order, c.weights)
			}
		}
	}
	for id := range synod.NodeID(5) {
		if first[id] < 160 || first[id] > 240 {
			t.Errorf("seat %d was first for %d of 500 questions", id, first[id])
		}
	}
	if second[4] > 0 {
		t.Errorf("the seat of the least weight is next: %v", second)
	}
	p.Prices = []float64{1, 1, 1, 0.01, 1}
	cheap := 0
	for q := range 500 {
		c := p.convene(&synod.Question{ID: fmt.Sprint(q), Form: synod.Number}, 5, 1)
		if slices.Contains(c.stage(0), 3) {
			cheap++
		}
	}
	if cheap < 480 {
		t.Errorf("the cheap seat was first for %d of 500 questions", cheap)
	}
}

// Seats that err together are one supporter, also where the seat that links two of them gave another answer.
func TestTogether(t *testing.T) {
	p := New()
	p.Together = [][2]synod.NodeID{{0, 1}, {1, 3}}
	c := p.convene(&synod.Question{Form: synod.Text}, 5, 1)
	for _, v := range []struct {
		seats  []synod.NodeID
		voices int
	}{{[]synod.NodeID{0, 1, 3}, 1}, {[]synod.NodeID{0, 3}, 1},
		{[]synod.NodeID{0, 2}, 2}, {[]synod.NodeID{1, 2, 3, 4}, 3}} {
		if got := c.voices(v.seats); got != v.voices {
			t.Errorf("%v: %d voices, want %d", v.seats, got, v.voices)
		}
	}
	if _, end := run(c, []synod.Answer{"a", "a", "b", "a", "c"}); end != hopeless {
		t.Errorf("colluders alone: %d", end)
	}
}

func TestMistakes(t *testing.T) {
	for want, change := range map[string]func(*Cascade){
		"no form of question":      func(p *Cascade) { p.Weights = map[string][]float64{"maths": {1}} },
		"weights: number[1] is -1": func(p *Cascade) { p.Weights = map[string][]float64{"number": {1, -1}} },
		"prices[0] is 0":           func(p *Cascade) { p.Prices = []float64{0} },
	} {
		p := New()
		change(p)
		if err := p.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	for want, change := range map[string]func(*Cascade){
		"at most 1":            func(*Cascade) {},
		"number has 1":         func(p *Cascade) { p.Weights = map[string][]float64{"number": {1}} },
		"prices has 2":         func(p *Cascade) { p.Prices = []float64{1, 2} },
		"[0, 4] is not a pair": func(p *Cascade) { p.Together = [][2]synod.NodeID{{0, 4}} },
	} {
		p, f := New(), 1
		if change(p); want == "at most 1" {
			f = 2
		}
		if err := p.CheckCast(make([]synod.Role, 4), f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
