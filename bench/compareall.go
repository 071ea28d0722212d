package bench

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"synod.dev/synod/bench/report"
	"synod.dev/synod/core/stats"
	"synod.dev/synod/llm"
)

// CompareAll compares two or more runs on the questions that all of them have finished. It
// fails if there are none.
func CompareAll(runs []*Run) (*report.Comparison, error) {
	if len(runs) < 2 {
		return nil, errors.New("bench: a comparison needs two or more runs")
	}
	out := &report.Comparison{Version: 1}
	cases := make([]map[string]*graded, len(runs))
	for i, r := range runs {
		of, graded, err := compared(r)
		if err != nil {
			return nil, err
		}
		out.Runs, cases[i] = append(out.Runs, *of), graded
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
		return nil, errors.New("bench: there is no question that all runs have finished")
	}
	var all []*report.Compared
	for i := range runs {
		for j := i + 1; j < len(runs); j++ {
			d := report.Difference{First: out.Runs[i].Name, Second: out.Runs[j].Name,
				Compared: differ(cases[i], cases[j], common).compared()}
			d.Against = d.First
			out.Pairs, all = append(out.Pairs, d), append(all, d.Compared)
		}
	}
	correct(all)
	return out, nil
}

// correct sets the p-values that are corrected for all comparisons of a report, those of decisions and those of members
// each among themselves.
func correct(all []*report.Compared) {
	var decisions, members []float64
	for _, c := range all {
		decisions, members = append(decisions, c.P), append(members, c.FAAP)
	}
	decisions, members = stats.Holm(decisions), stats.Holm(members)
	for i, c := range all {
		c.Corrected, c.FAACorrected = &decisions[i], &members[i]
	}
}

// compared returns what a comparison says of a run, and its finished questions by identity.
func compared(r *Run) (*report.Compare, map[string]*graded, error) {
	x, err := r.read()
	if err != nil {
		return nil, nil, err
	}
	defer x.close()
	rep, err := x.summarize()
	if err != nil {
		return nil, nil, err
	}
	s := *rep.Setting
	s.R = x.plan.Bound().R
	cases, err := x.cases()
	return &report.Compare{Name: r.Name, Folder: r.dir, Setting: s, Report: rep}, cases, err
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
