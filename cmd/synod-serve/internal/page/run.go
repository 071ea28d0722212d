package page

import (
	"net/http"
)

// runPart is the page of one run, and what can be had of it.
var runPart = part{routes: map[string]handler{
	"GET /runs/{id}":             showRun,
	"GET /runs/{id}/events":      watchRun,
	"POST /runs/{id}/stop":       stopRun,
	"POST /runs/{id}/label":      labelRun,
	"GET /runs/{id}/calls":       showCalls,
	"GET /runs/{id}/json":        exportRun,
	"GET /runs/{id}/journal":     exportJournal,
	"GET /runs/{id}/share":       shareRun,
	"GET /runs/{id}/certificate": certifyRun,
}}

// showRun shows a run: live, or as it was.
func showRun(v *visit) error {
	view, err := v.runView(v.R.PathValue("id"))
	if err != nil {
		return err
	}
	f := v.frame(view.title(), view)
	if view.Running() {
		f.Refresh = 3
	}
	return v.send(http.StatusOK, "run.html", f)
}
