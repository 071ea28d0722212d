package lab

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"synod.dev/synod/llm"
	"synod.dev/synod/metrics"
	"synod.dev/synod/report"
	"synod.dev/synod/stats"
)

// CompareAll compares two or more runs on the questions that all of them have finished. It
// fails if there are none.
func CompareAll(runs []*Run) (*report.Comparison, error) {
	if len(runs) < 2 {
		return nil, errors.New("lab: a comparison needs two or more runs")
	}
	out := &report.Comparison{Version: 1}
	cases := make([]map[string]*graded, len(runs))
	for i, r := range runs {
		of, err := r.compared()
		if err != nil {
			return nil, err
		}
		out.Runs = append(out.Runs, *of)
		if cases[i], err = r.graded(); err != nil {
			return nil, err
		}
	}
	distinguish(out.Runs)
	var common []string
	for k := range runs[0].total() {
		id := runs[0].identity(runs[0].job(k))
		if !slices.ContainsFunc(cases, func(c map[string]*graded) bool { return c[id] == nil }) {
			common = append(common, id)
		}
	}
	if out.Questions = len(common); out.Questions == 0 {
		return nil, errors.New("lab: there is no question that all runs have finished")
	}
	var p []float64
	for i := range runs {
		for j := i + 1; j < len(runs); j++ {
			d := differ(cases[i], cases[j], common)
			d.First, d.Second, d.Against = out.Runs[i].Name, out.Runs[j].Name, out.Runs[i].Name
			out.Pairs, p = append(out.Pairs, d), append(p, d.McNemar)
		}
	}
	for i, corrected := range stats.Holm(p) {
		out.Pairs[i].Corrected = corrected
	}
	return out, nil
}

// graded is what a comparison needs of a question.
type graded struct {
	right, decided bool    // whether the decision is right, if that is known
	final          float64 // share of members right at the end
	known          bool    // whether it is known
}

// graded returns the finished questions by identity.
func (r *Run) graded() (map[string]*graded, error) {
	x, err := r.read()
	if err != nil {
		return nil, err
	}
	defer x.close()
	all := map[string]*graded{}
	err = x.results(func(j job, res *result) {
		if res == nil {
			return
		}
		g := &graded{}
		g.right, g.decided = res.Decided()
		g.final, g.known = res.FinalAccuracy(r.roles())
		all[r.identity(j)] = g
	})
	return all, err
}

func differ(first, second map[string]*graded, common []string) (d report.Difference) {
	var faa []float64
	for _, id := range common {
		a, b := first[id], second[id]
		if a.decided && b.decided {
			d.Compared.Pairs.Add(a.right, b.right)
		}
		if a.known && b.known {
			faa = append(faa, b.final-a.final)
		}
	}
	d.Questions = len(common)
	d.McNemar, d.Decision = d.Compared.Pairs.McNemar(), d.Compared.Pairs.Difference()
	d.FAA = metrics.BootstrapMean(faa, bootstrapSeed)
	return d
}

func (r *Run) compared() (*report.Compare, error) {
	rep, err := r.Report()
	if err != nil {
		return nil, err
	}
	x, err := r.read()
	if err != nil {
		return nil, err
	}
	defer x.close()
	s := *rep.Setting
	s.R = x.plan.Bound().R
	return &report.Compare{Name: r.Name, Folder: r.dir, Setting: s, Report: rep}, nil
}

// setting is what distinguishes the run from others. It leaves out R, for which a report
// would have to search.
func (r *reader) setting(models *modelTally) *report.Setting {
	spec := r.plan.Spec()
	s := &report.Setting{Protocol: fmt.Sprint(spec.Protocol["name"]), Graph: graphName(spec.Graph), F: spec.F,
		Rule: r.Rule.Name, Seed: r.Seed}
	var names []string
	seats := map[string]int{}
	for i, seat := range r.Seats {
		name := seat.Model
		if seat.Served != "" && seat.Served != name {
			name += " = " + seat.Served
		}
		name = llm.ReportedName(name, seat.Served, models.bySeat[i].Reported)
		if seats[name]++; seats[name] == 1 {
			names = append(names, name)
		}
	}
	for _, name := range names {
		s.Models = append(s.Models, fmt.Sprintf("%s × %d", name, seats[name]))
	}
	return s
}

// distinguish adds to equal names what differs between their runs, or the folder.
func distinguish(runs []report.Compare) {
	same := map[string][]int{}
	for i, r := range runs {
		same[r.Name] = append(same[r.Name], i)
	}
	for name, of := range same {
		if len(of) < 2 {
			continue
		}
		settings := make([]map[string]string, len(of))
		for k, i := range of {
			settings[k] = runs[i].Setting.Words()
		}
		seen := map[string]bool{}
		for k, i := range of {
			var differs []string
			for _, key := range report.SettingKeys() {
				if slices.ContainsFunc(settings, func(m map[string]string) bool { return m[key] != settings[k][key] }) {
					differs = append(differs, settings[k][key])
				}
			}
			runs[i].Name = strings.TrimSuffix(name+" · "+strings.Join(differs, ", "), " · ")
			if seen[runs[i].Name] || len(differs) == 0 {
				runs[i].Name += " · " + filepath.Base(runs[i].Folder)
			}
			seen[runs[i].Name] = true
		}
	}
}
