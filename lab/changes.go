package lab

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"

	"synod.dev/synod/council"
	"synod.dev/synod/llm"
)

// Changes lists in what another run differs from this one, in words: what it is
// here, and what there.
func (r *Run) Changes(other *Run) []string {
	var out []string
	differ := func(what string, here, there any) {
		if here != there {
			out = append(out, fmt.Sprintf("%s: %v there, %v now", what, here, there))
		}
	}
	differ("task", r.Task, other.Task)
	differ("form", orNone(r.Form), orNone(other.Form))
	differ("questions", r.N, other.N)
	differ("repeat", r.Repeat, other.Repeat)
	differ("seed", r.Seed, other.Seed)
	out = append(out, lines(r.Council, other.Council)...)
	if r.Council == other.Council {
		for i, s := range r.Seats {
			if i < len(other.Seats) {
				differ("model "+s.Model, s.Identity, other.Seats[i].Identity)
			}
		}
	}
	if r.Protocol == other.Protocol {
		out = append(out, council.ChangedPrompts(r.Prompts, other.Prompts)...)
	}
	if len(out) == 0 && r.Manifest.Items != other.Manifest.Items {
		out = append(out, "the questions themselves")
	}
	return unique(out)
}

// ChangedCouncil lists in what a council differs from the run's.
func (r *Run) ChangedCouncil(spec council.Spec, env llm.Env) ([]string, error) {
	c, err := council.Convene(spec, env)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	text, err := yaml.Marshal(c.Spec())
	if err != nil {
		return nil, fmt.Errorf("lab: encode the council: %w", err)
	}
	other := *r
	other.Council, other.Seats, other.Prompts = string(text), c.Seats(), c.Prompts()
	return r.Changes(&other), nil
}

func orNone(s string) string {
	if s == "" {
		return "(the task's own)"
	}
	return s
}

// lines is the difference of two texts by their longest common lines.
func lines(a, b string) (out []string) {
	x, y := strings.Split(strings.TrimSpace(a), "\n"), strings.Split(strings.TrimSpace(b), "\n")
	if len(x)*len(y) > 1<<22 {
		if a != b {
			out = []string{"the council"}
		}
		return out
	}
	same := make([][]int, len(x)+1) // longest common tail of x[i:], y[j:]
	for i := range same {
		same[i] = make([]int, len(y)+1)
	}
	for i := len(x) - 1; i >= 0; i-- {
		for j := len(y) - 1; j >= 0; j-- {
			if same[i][j] = max(same[i+1][j], same[i][j+1]); x[i] == y[j] {
				same[i][j] = same[i+1][j+1] + 1
			}
		}
	}
	i, j := 0, 0
	for i < len(x) || j < len(y) {
		switch {
		case i < len(x) && j < len(y) && x[i] == y[j]:
			i, j = i+1, j+1
		case i < len(x) && (j == len(y) || same[i+1][j] >= same[i][j+1]):
			out = append(out, "council, there: "+strings.TrimSpace(x[i]))
			i++
		default:
			out = append(out, "council, now:   "+strings.TrimSpace(y[j]))
			j++
		}
	}
	return out
}

func unique(in []string) (out []string) {
	seen := map[string]bool{}
	for _, s := range in {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// listed puts changes on lines of their own.
func listed(changes []string) string {
	if len(changes) == 0 {
		return ""
	}
	return ", and another one:\n  " + strings.Join(changes, "\n  ")
}

// ChangedError says that a run cannot go on with another configuration.
type ChangedError struct{ Changes []string }

func (e *ChangedError) Error() string {
	return "the run was made with another configuration:\n  " + strings.Join(e.Changes, "\n  ")
}
