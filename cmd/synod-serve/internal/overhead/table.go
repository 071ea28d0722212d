package main

import (
	"context"
	"fmt"
	"text/tabwriter"
)

// table prints rows as they are measured.
type table struct{ *tabwriter.Writer }

func (t *table) head() {
	fmt.Fprintln(t, "target\tat once\trequests\tµs CPU/request\tof control\tp50 ms\tp99 ms\tMiB now\tMiB most")
}

// add prints a row; ratio 0: the row is not compared with the control.
func (t *table) add(target string, l load, f figures, ratio float64) error {
	of := ""
	if ratio > 0 {
		of = fmt.Sprintf("%.2f", ratio)
	}
	fmt.Fprintf(t, "%s\t%d\t%d\t%.0f\t%s\t%.2f\t%.2f\t%.1f\t%.1f\n", target, l.at, l.requests, f.cpu, of, f.p50, f.p99,
		f.now, f.most)
	return t.Flush()
}

// row measures a target alone and prints it.
func (t *table) row(ctx context.Context, target string, p *process, l load) (figures, error) {
	f, err := l.run(ctx, p)
	if err == nil {
		err = t.add(target, l, f, 0)
	}
	return f, err
}

// contender is a target that is compared with others.
type contender struct {
	name  string
	p     *process
	url   string
	model string
	key   string
}

// compare measures targets in turns, as often as there are rounds, and prints the medians. What else the machine does
// meets all of them alike then. The second is the control: the ratio is the median of those of the rounds.
func (t *table) compare(ctx context.Context, all []contender, at, requests, rounds int) error {
	loads, seen := make([]load, len(all)), make([][]figures, len(all))
	for range rounds {
		for i, c := range all {
			loads[i] = load{url: c.url + chats, body: ask(c.model), key: c.key, at: at, requests: requests}
			f, err := loads[i].run(ctx, c.p)
			if err != nil {
				return err
			}
			seen[i] = append(seen[i], f)
		}
	}
	for i, c := range all {
		ratio := 0.0
		if i >= 1 {
			ratios := make([]float64, rounds)
			for k := range ratios {
				ratios[k] = seen[i][k].cpu / seen[1][k].cpu
			}
			ratio = median(ratios)
		}
		if err := t.add(c.name, loads[i], typical(seen[i]), ratio); err != nil {
			return err
		}
	}
	return nil
}

// typical returns the medians of figures, and of memory the most.
func typical(all []figures) (f figures) {
	var cpu, p50, p99 []float64
	for _, one := range all {
		cpu, p50, p99 = append(cpu, one.cpu), append(p50, one.p50), append(p99, one.p99)
		f.now, f.most = max(f.now, one.now), max(f.most, one.most)
	}
	f.cpu, f.p50, f.p99 = median(cpu), median(p50), median(p99)
	return f
}
