package page

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"synod.dev/synod/bench"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/core/table"
)

// labPart shows the runs of experiments in a folder, with the reports and plots of "synod bench report".
var labPart = part{name: "Lab", path: "/lab", routes: map[string]handler{
	"GET /lab":           listLab,
	"GET /lab/run":       showLab,
	"GET /lab/events":    watchLab,
	"GET /lab/questions": labQuestionList,
	"GET /lab/question":  labQuestion,
	"GET /lab/calls":     labCalls,
	"GET /lab/report":    labReport,
	"GET /lab/plot":      labPlot,
}}

// labRow is a run in the list.
type labRow struct {
	At, Name string
	*labState
	Grid    bool
	Changed string
	Active  bool             // a file was written just now, and it is not finished
	Hub     *bench.HubStatus // of a folder that has or had a hub; else nil
	Stale   bool             // the hub has not written for a while
}

// labList is the list of runs.
type labList struct {
	Rows  []labRow
	Other []string
	More  bool
	None  string // why there is no list
}

// labActive is how recently a file must have been written for a run to count as going on.
const labActive = 2 * time.Minute

// labStale is how old what a hub has written may be while it works.
const labStale = time.Minute

func (v *visit) labRow(f labFolder) labRow {
	return rowOf(f, v.p.labs.state(f))
}

func rowOf(f labFolder, s *labState) labRow {
	r := labRow{At: f.At, Name: f.Name(), labState: s, Grid: f.Grid, Changed: moment(f.Changed),
		Active: s.Goes() && time.Since(f.Changed) < labActive}
	if hub, err := bench.ReadHubStatus(f.path); err == nil && hub != nil {
		r.Hub, r.Stale = hub, time.Since(hub.Written) > labStale
	}
	return r
}

// Goes reports whether something is left to do.
func (s *labState) Goes() bool { return s.State == "partly" || s.State == "waiting" }

func listLab(v *visit) error {
	root, err := v.openLab()
	var known *problem
	if errors.As(err, &known) && known.Status == http.StatusNotFound {
		return v.show("lab.html", "Lab", &labList{None: known.Text})
	}
	if err != nil {
		return err
	}
	defer root.Close()
	folders, other, err := root.folders()
	if err != nil {
		return problemf(http.StatusNotFound, "The folder of runs cannot be read: %v", err)
	}
	slices.SortStableFunc(folders, func(a, b labFolder) int { return b.Changed.Compare(a.Changed) })
	if len(folders) == 1 && folders[0].At == labSelf {
		return v.redirect("/lab/run?at=" + labSelf)
	}
	l := &labList{Other: other, More: len(folders) >= labRuns}
	for _, f := range folders {
		l.Rows = append(l.Rows, v.labRow(f))
	}
	return v.show("lab.html", "Lab", l)
}

// at returns the run that an address names.
func (v *visit) at() (labFolder, error) {
	root, err := v.openLab()
	if err != nil {
		return labFolder{}, err
	}
	defer root.Close()
	at := v.R.FormValue("at")
	f, err := root.folder(at)
	if errors.Is(err, fs.ErrNotExist) {
		return f, problemf(http.StatusNotFound, "There is no run %s.", clip(at))
	}
	if err != nil {
		return f, problemf(http.StatusUnprocessableEntity, "The run cannot be shown: %v", err)
	}
	return f, nil
}

// labPage is the page of a run.
type labPage struct {
	labRow
	Facts   [][2]string
	Note    string
	Summary *table.Table
	Plots   []labFigure
	Rest    int  // plots that are only in the report
	Later   bool // the figures are computed when the viewer asks for them
	Problem string
}

// labFigure is a plot on the page.
type labFigure struct {
	Name, Title, Caption string
	Picture              template.HTML
}

// labAtOnce is the most finished questions for which the page computes figures without being asked: journals of more
// take a while.
const labAtOnce = 5000

// labPlots is how many plots the page shows; the report has all.
const labPlots = 12

func showLab(v *visit) error {
	f, err := v.at()
	if err != nil {
		return err
	}
	page := &labPage{labRow: v.labRow(f), Problem: v.p.labs.state(f).Problem}
	page.Later = page.Finished > labAtOnce && v.R.FormValue("figures") == ""
	if page.Problem == "" && !page.Later {
		if err := page.fill(v.p, f); err != nil {
			page.Problem = err.Error()
		}
	}
	show := v.frame("Run "+page.Name, page)
	if page.Active {
		show.Refresh = 15
	}
	return v.send(http.StatusOK, "labrun.html", show)
}

// fill computes the figures.
func (page *labPage) fill(p *Page, f labFolder) error {
	if page.Finished == 0 && page.Total > 0 {
		return nil // nothing to report yet
	}
	r, err := p.labs.result(f, p.o.Prices)
	if err != nil {
		return err
	}
	page.Facts, page.Note, page.Summary = r.facts(), r.note(), r.summary()
	plots := r.plots()
	page.Rest = max(0, len(plots)-labPlots)
	for _, plot := range plots[:min(len(plots), labPlots)] {
		image, err := plot.SVG()
		if err != nil {
			return err
		}
		page.Plots = append(page.Plots, labFigure{plot.Name, plot.Title, plot.Caption, svg(image, plot.Title)})
	}
	return nil
}

// labQuestions is how many questions a report shows; of a grid, of each cell.
const labQuestions, labCellQuestions = 200, 3

// labReport sends the report that "synod bench report" makes.
func labReport(v *visit) error {
	f, err := v.at()
	if err != nil {
		return err
	}
	form := v.R.FormValue("format")
	if !slices.Contains(report.Formats(), form) {
		return problemf(http.StatusNotFound, "There is no format %s; there are %s.", clip(form),
			strings.Join(report.Formats(), ", "))
	}
	r, err := v.p.labs.result(f, v.p.o.Prices)
	if err != nil {
		return problemf(http.StatusUnprocessableEntity, "There is no report: %v", err)
	}
	var b bytes.Buffer
	if err := v.p.labs.write(&b, r, form); err != nil {
		return problemf(http.StatusUnprocessableEntity, "There is no report: %v", err)
	}
	h := v.W.Header()
	switch form {
	case "html":
		h.Set("Content-Type", "text/html; charset=utf-8")
		// the report brings its own policy; what it shows comes from models, so it has no origin either
		h.Set("Content-Security-Policy", report.Policy()+"; frame-ancestors 'none'; sandbox allow-scripts")
	default:
		h.Set("Content-Type", map[string]string{"json": "application/json", "csv": "text/csv; charset=utf-8"}[form])
		if h.Get("Content-Type") == "" {
			h.Set("Content-Type", "text/plain; charset=utf-8")
		}
		name := strings.ReplaceAll(f.At, "/", "-") + "." + strings.Replace(form, "text", "txt", 1)
		h.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", name))
	}
	_, _ = v.W.Write(b.Bytes()) // the client may be gone
	return nil
}

// labPlot sends a plot as a file.
func labPlot(v *visit) error {
	f, err := v.at()
	if err != nil {
		return err
	}
	r, err := v.p.labs.result(f, v.p.o.Prices)
	if err != nil {
		return problemf(http.StatusUnprocessableEntity, "There is no plot: %v", err)
	}
	name, ext, _ := strings.Cut(v.R.FormValue("name"), ".")
	for _, plot := range r.plots() {
		if plot.Name != name {
			continue
		}
		kinds := map[string]struct {
			kind string
			make func() ([]byte, error)
		}{"svg": {"image/svg+xml", plot.SVG}, "png": {"image/png", plot.PNG}, "pdf": {"application/pdf", plot.PDF},
			"csv": {"text/csv; charset=utf-8", plot.CSV}}
		k, ok := kinds[ext]
		if !ok {
			break
		}
		b, err := k.make()
		if err != nil {
			return err
		}
		v.W.Header().Set("Content-Type", k.kind)
		v.W.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", name+"."+ext))
		_, _ = v.W.Write(b) // the client may be gone
		return nil
	}
	return problemf(http.StatusNotFound, "There is no plot %s.", clip(v.R.FormValue("name")))
}

// write writes a report in a format.
func (l *labs) write(w io.Writer, r *labResult, form string) error {
	l.reading.Lock()
	defer l.reading.Unlock()
	if r.run != nil {
		if form != "html" {
			return r.one.Write(w, form)
		}
		return r.one.HTML(w, report.Detail{Questions: r.run.Views(labQuestions), Limit: labQuestions,
			Rest: "the rest: synod bench report FOLDER --format html --questions all"})
	}
	versus := slices.ContainsFunc(r.grid.Cells, func(c bench.Cell) bool { return len(c.Paper) > 0 })
	if form != "html" {
		return r.many.Write(w, form, versus)
	}
	return r.many.HTML(w, versus, func(cell int) report.Detail {
		run := r.grid.Reported(cell)
		if run == nil {
			return report.Detail{}
		}
		return report.Detail{Questions: run.Views(labCellQuestions), Limit: labCellQuestions,
			Rest: "the rest: synod bench report FOLDER/cells/" + r.grid.Cells[cell].Name + " --format html"}
	})
}

// openLab opens the folder of runs, for a viewer who may see it.
func (v *visit) openLab() (labRoot, error) {
	dir := v.p.o.Runs
	switch {
	case !v.Key.Administers():
		return labRoot{}, problemf(http.StatusForbidden, "The key %s may not see the lab. The owner of the gateway "+
			"makes a key that may with: synod serve keys new NAME --admin", v.Key.Name)
	case dir == "":
		return labRoot{}, problemf(http.StatusNotFound, "The gateway has no folder of runs. Start it with: synod "+
			"serve --runs FOLDER, where FOLDER has the folders that synod bench run -o has made.")
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return labRoot{}, problemf(http.StatusNotFound, "The folder of runs cannot be read: %v", err)
	}
	return labRoot{root, dir}, nil
}
