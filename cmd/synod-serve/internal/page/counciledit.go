package page

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"

	"synod.dev/synod/council"
	"synod.dev/synod/council/plan"

	"synod.dev/synod/cmd/synod-serve/internal/councils"
)

// editPage is the editor of a council file.
type editPage struct {
	ID       string // "": a new council
	Name     string // that the viewer has typed for a new council
	Text     string
	Was      string // digest of the file that was opened; "": there is none
	Disk     string // the file as it is now, where it was changed meanwhile
	Changed  bool
	Problem  string // why it was not saved
	ReadOnly string // why the folder cannot be written; "": it can
	Check    *checkView
	Starters []starter
}

// Rows is the height of the editor: what it finds should be near the text.
func (e *editPage) Rows() int { return min(max(strings.Count(e.Text, "\n")+3, 12), 30) }

// checkView is what a check of a text has found.
type checkView struct {
	Problem  string
	Excerpt  []excerptLine // around the line of the mistake; nil: it is not known
	Warnings []string
	Plan     *openCouncil // nil: there is a mistake
}

type excerptLine struct {
	N    int
	Text string
	Bad  bool
}

// unix is the text of a form with the line ends of files.
func unix(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

func editCouncil(v *visit) error {
	id := v.R.PathValue("id")
	if err := v.mayEdit(); err != nil {
		return err
	}
	if !editable(id) {
		return problemf(http.StatusNotFound, "Files of councils are changed here if their names have only a–z, 0–9 "+
			"and -. Rename %s.yaml first.", clip(id))
	}
	file, err := readCouncil(v.p.o.Councils.Dir(), id)
	if errors.Is(err, fs.ErrNotExist) {
		return problemf(http.StatusNotFound, "There is no file %s.yaml in the folder of councils. The council "+
			"synod of the command \"synod ask\" has its settings elsewhere: synod config show --origin", id)
	}
	if err != nil {
		return problemf(http.StatusConflict, "The file cannot be read: %v", err)
	}
	return v.edit(http.StatusOK, &editPage{ID: id, Text: file.Text, Was: file.Digest,
		Check: v.p.check(v.R.Context(), id, file.Text)})
}

// edit shows the editor.
func (v *visit) edit(status int, e *editPage) error {
	if err := writable(v.p.o.Councils.Dir()); err != nil {
		e.ReadOnly = err.Error()
	}
	title := "Edit council " + e.ID
	if e.ID == "" {
		title = "New council"
		e.Starters = starters
	}
	return v.send(status, "counciledit.html", v.frame(title, e))
}

func saveCouncil(v *visit) error {
	id := v.R.PathValue("id")
	if err := v.mayEdit(); err != nil {
		return err
	}
	e := &editPage{ID: id, Text: unix(v.R.PostFormValue("text")), Was: v.R.PostFormValue("was")}
	if v.R.PostFormValue("do") == "delete" {
		return v.remove(e)
	}
	e.Check = v.p.check(v.R.Context(), id, e.Text)
	if v.R.PostFormValue("do") != "save" {
		return v.edit(http.StatusOK, e)
	}
	return v.save(id, e)
}

// save writes the file, if it has no mistake and nobody has changed it meanwhile.
func (v *visit) save(id string, e *editPage) error {
	if e.Check.Problem != "" {
		e.Problem = "The file has a mistake, so it was not saved."
		return v.edit(http.StatusUnprocessableEntity, e)
	}
	err := writeCouncil(v.p.o.Councils.Dir(), id, e.Text, e.Was)
	var changed *changedError
	switch {
	case errors.As(err, &changed):
		e.conflict(changed, id)
		return v.edit(http.StatusConflict, e)
	case err != nil:
		e.Problem = "The file was not saved: " + err.Error()
		return v.edit(http.StatusUnprocessableEntity, e)
	}
	v.changed("saved", id)
	return v.redirect("/councils/" + id)
}

// conflict says that the file is not what was opened. To save once more replaces what is shown.
func (e *editPage) conflict(changed *changedError, id string) {
	e.Problem = id + ".yaml was changed since you opened it, so it was not saved. The file as it is now is shown " +
		"below. Saving again replaces it by your text."
	switch {
	case e.ID == "":
		e.Problem = "There is a council file " + id + ".yaml, so it was not saved. Choose another name."
		return
	case changed.now.Digest == "":
		e.Problem = id + ".yaml was removed since you opened it, so it was not saved. Saving again makes it anew."
	}
	e.Changed, e.Disk, e.Was = true, changed.now.Text, changed.now.Digest
}

func (v *visit) remove(e *editPage) error {
	err := errors.New("the name is not one of a file that is changed here")
	if editable(e.ID) {
		err = removeCouncil(v.p.o.Councils.Dir(), e.ID, e.Was)
	}
	var changed *changedError
	switch {
	case errors.As(err, &changed):
		e.conflict(changed, e.ID)
		e.Problem = e.ID + ".yaml was changed since you opened it, so it was not deleted."
		e.Check = v.p.check(v.R.Context(), e.ID, e.Text)
		return v.edit(http.StatusConflict, e)
	case err != nil:
		return problemf(http.StatusUnprocessableEntity, "The file was not deleted: %v", err)
	}
	v.changed("deleted", e.ID)
	return v.redirect("/councils")
}

// changed has the gateway read the councils again, and records who changed what.
func (v *visit) changed(what, id string) {
	key, name := "", "nobody"
	if v.Key != nil {
		key, name = v.Key.ID, v.Key.Name
	}
	v.p.o.Log.Info("council file "+what+" on the page", "model", id, "key", name)
	if err := v.p.o.Store.Audit("council "+what, key, id); err != nil {
		v.p.o.Log.Error("the audit cannot be written", "error", err.Error())
	}
	if err := v.p.o.Councils.Reload(); err != nil {
		v.p.o.Log.Error("councils cannot be reloaded", "error", err.Error())
	}
}

// checkText answers the editor while somebody types.
func checkText(v *visit) error {
	if err := v.mayEdit(); err != nil {
		return err
	}
	found := v.p.check(v.R.Context(), "", unix(v.R.PostFormValue("text")))
	part, err := v.p.fragment("counciledit.html", "checked", found)
	if err != nil {
		return err
	}
	v.W.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = v.W.Write(part) // the client may be gone
	return nil
}

// check reads a text as a council file and makes a dry run: it asks no model.
func (p *Page) check(ctx context.Context, id, text string) *checkView {
	c := &checkView{}
	if id == "" {
		id = "council"
	}
	spec, err := plan.Layer{Name: id + ".yaml", Text: []byte(text), Dir: p.o.Councils.Dir()}.Spec()
	if err == nil {
		err = small(&spec)
	}
	select {
	case p.dry <- struct{}{}:
		defer func() { <-p.dry }()
	case <-ctx.Done():
		err = ctx.Err()
	}
	var open *council.Council
	if err == nil {
		open, err = p.o.Councils.Convene(&spec)
	}
	if err != nil {
		c.mistake(err, text)
		return c
	}
	defer func() {
		if err := open.Close(); err != nil {
			p.o.Log.Warn("closing a council of a dry run", "error", err.Error())
		}
	}()
	plan := open.Plan()
	c.Plan = p.describe(ctx, &councils.Served{ID: id, Council: open, Spec: spec, Fingerprint: "draft-" +
		digestOf([]byte(plan.Digest()))})
	c.warn(plan)
	return c
}

// The bounds of dry runs. What the page shows of a council grows with the square of its seats.
const (
	mostDryRuns = 2 // at once
	mostDry     = 100
)

// small returns why a council is too large for a dry run on the page; nil: it is not.
func small(spec *plan.Spec) error {
	seats := 0
	for _, s := range spec.Seats {
		if seats += max(s.Count, 1); seats > mostDry || s.Count > mostDry {
			return fmt.Errorf("the council has more than %d seats, which the page neither checks nor saves; write its "+
				"file by hand, and check it with: synod doctor -c FILE", mostDry)
		}
	}
	return nil
}

// around is how many lines are shown before and after a mistake.
const around = 2

func (c *checkView) mistake(err error, text string) {
	c.Problem = err.Error()
	var bad *plan.ConfigError
	if !errors.As(err, &bad) || bad.Line == 0 {
		return
	}
	lines := strings.Split(text, "\n")
	for n := max(1, bad.Line-around); n <= min(len(lines), bad.Line+around); n++ {
		c.Excerpt = append(c.Excerpt, excerptLine{n, lines[n-1], n == bad.Line})
	}
}

// warn says what works and is probably not meant.
func (c *checkView) warn(p *plan.Plan) {
	if b := p.Bound(); b.Guarantee == plan.None {
		c.Warnings = append(c.Warnings, "Nothing is guaranteed: "+b.Note)
	}
	voting, models, adversaries, spec := 0, map[string]bool{}, 0, p.Spec()
	for _, s := range p.Seats() {
		if s.Adversary != "" {
			adversaries++
		}
		if !s.NonVoting {
			voting++
			models[s.Model] = true
		}
	}
	if len(models) == 1 && voting > 1 && !spec.Runner.Capabilities().Owned {
		c.Warnings = append(c.Warnings, "All seats that vote have one model, so their mistakes are the same ones: the "+
			"votes are not independent.")
	}
	if adversaries > 0 {
		c.Warnings = append(c.Warnings, "The council seats "+plural(adversaries, "member")+" that an adversary "+
			"controls, which is for experiments.")
	}
	if c.Plan.Cost != nil && strings.Contains(c.Plan.Cost.worst(), "unknown") {
		c.Warnings = append(c.Warnings, "The price of a model is not known, so keys with a limit in USD cannot use "+
			"the council: synod serve --prices FILE.")
	}
}

// worst is the cost in the worst case, as text.
func (c *costView) worst() string {
	if len(c.Rows) == 0 {
		return ""
	}
	return c.Rows[len(c.Rows)-1].Money
}
