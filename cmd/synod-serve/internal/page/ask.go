package page

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
	"synod.dev/synod/protocol/catalog"

	"synod.dev/synod/cmd/synod-serve/internal/store"
	"synod.dev/synod/cmd/synod-serve/internal/wire"
)

// askPart is the page that asks a council.
var askPart = part{name: "Ask", path: "/", routes: map[string]handler{
	"GET /{$}":  askForm,
	"POST /ask": ask,
}}

// askView is the form: what was typed, and what can be chosen.
type askView struct {
	Problem   string
	Question  string
	Model     string
	Form      string
	System    string
	USD       string
	Calls     string
	Deadline  string
	AtLeast   string // the least probability of a decision
	Protocol  string
	Schema    string
	After     string // the id of the run that the question follows; "": none
	Recent    []historyRow
	Examples  []string
	Councils  []councilView
	Forms     []synod.Form
	Protocols []string
	Opened    bool // options that are not empty are shown
}

// councilView is a council in the list of the form.
type councilView struct {
	ID    string
	Seats int
	Calls int
	Bound plan.Bound
}

// askForm shows the form, empty or with the question of an earlier run.
func askForm(v *visit) error {
	view := &askView{Model: cmp.Or(v.R.FormValue("council"), v.lastCouncil()), Question: v.R.FormValue("q")}
	if id := v.R.FormValue("from"); id != "" {
		row, err := v.row(id)
		if err != nil {
			return err
		}
		view.Model, view.Question = row.Model, row.Question
		if t := v.p.past(row); t.journal != nil {
			view.again(&t.journal.Head.Question)
		}
	}
	return v.showAsk(http.StatusOK, view)
}

// again fills the form with an earlier question. Files have to be chosen again.
func (view *askView) again(q *synod.Question) {
	view.Question, view.Form, view.Schema = q.Text, string(q.Form), string(q.Schema)
	for _, o := range q.Options {
		view.Question += fmt.Sprintf("\n%s) %s", o.Label, o.Text)
	}
	for _, t := range q.Before {
		if t.Role == synod.BySystem {
			view.System = t.Text
		}
	}
	if len(q.Schema) > 0 || q.Form == synod.Action {
		view.Form = ""
	}
}

func (v *visit) showAsk(status int, view *askView) error {
	for _, id := range v.p.councilsOf(v) {
		if s, ok := v.p.o.Councils.Acquire(id); ok {
			p := s.Council.Plan()
			view.Councils = append(view.Councils, councilView{id, len(p.Seats()), p.Calls(), p.Bound()})
			s.Release()
		}
	}
	if view.Question == "" {
		rows, err := v.p.o.Store.Search(v.R.Context(), v.own(), mostRecent)
		if err != nil {
			return err
		}
		view.Recent, view.Examples = historyRows(rows, nil), examples
	}
	view.Forms = append(synod.ShortForms(), synod.Prose)
	view.Protocols = catalog.Protocols.Names()
	view.Opened = cmp.Or(view.Form, view.System, view.USD, view.Calls, view.Deadline, view.AtLeast, view.Protocol,
		view.Schema) != ""
	return v.send(status, "ask.html", v.frame("Ask", view))
}

// councilsOf lists the councils that a viewer may ask.
func (p *Page) councilsOf(v *visit) (ids []string) {
	for _, l := range p.o.Councils.List() {
		if s, ok := p.o.Councils.Acquire(l.ID); ok {
			if s.Council != nil && v.Key.May(l.ID) {
				ids = append(ids, l.ID)
			}
			s.Release()
		}
	}
	return ids
}

// ask puts the question of a form, and shows its run.
func ask(v *visit) error {
	field := func(name string) string { return strings.TrimSpace(v.R.PostFormValue(name)) }
	view := &askView{Question: v.R.PostFormValue("question"), Model: field("council"), Form: field("form"),
		System: v.R.PostFormValue("system"), USD: field("usd"), Calls: field("calls"), Deadline: field("deadline"),
		AtLeast: field("at_least"), Protocol: field("protocol"), Schema: field("schema"), After: field("after")}
	before, err := v.before(view.After)
	if err != nil {
		return err
	}
	body, err := view.body(before, v.R.MultipartForm)
	if err == nil {
		v.rememberCouncil(view.Model)
		var l *live
		if l, err = v.p.begin(v.Key, view.Model, body); err == nil {
			return v.redirect("/runs/" + l.run.ID)
		}
	}
	var bad *problem
	var api *wire.Error
	switch {
	case errors.As(err, &bad):
		view.Problem = bad.Text
		return v.showAsk(bad.Status, view)
	case errors.As(err, &api):
		view.Problem = api.Message
		return v.showAsk(api.HTTP, view)
	}
	return err
}

// examples are questions to click.
var examples = []string{"Which is larger, 3^7 or 7^3?",
	"Is it safe to take ibuprofen together with lisinopril? Say why in a few sentences.",
	"Explain in three sentences how public-key cryptography works."}

// mostRecent is how many earlier questions the form lists.
const mostRecent = 8

// own filters the runs that the viewer may see.
func (v *visit) own() (f store.Filter) {
	if v.Key != nil {
		f.Key = &v.Key.ID
	}
	return f
}

// councilCookie has the council that the viewer asked last.
const councilCookie = "synod_council"

func (v *visit) lastCouncil() string {
	c, err := v.R.Cookie(councilCookie)
	if err != nil || !slices.Contains(v.p.councilsOf(v), c.Value) {
		return ""
	}
	return c.Value
}

func (v *visit) rememberCouncil(id string) {
	if slices.Contains(v.p.councilsOf(v), id) {
		http.SetCookie(v.W, &http.Cookie{Name: councilCookie, Value: id, Path: "/", MaxAge: 365 * 24 * 3600,
			HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: v.R.TLS != nil})
	}
}

// before returns the messages of an earlier run of the viewer, to which a new question belongs: the conversation
// before its question, the question and the answer.
func (v *visit) before(id string) (messages []any, err error) {
	if id == "" {
		return nil, nil
	}
	row, err := v.row(id)
	if err != nil {
		return nil, err
	}
	t := v.p.past(row)
	if t.outcome == nil {
		return nil, problemf(http.StatusConflict, "Nothing can be asked after this run: it has not ended, or its "+
			"journal is not kept here.")
	}
	raw, err := llm.RelayMessages(conversation(&t.journal.Head.Question, t.outcome))
	if err == nil {
		err = json.Unmarshal(raw, &messages)
	}
	return messages, err
}

// conversation is a question with what was said before it, and the answer of the council.
func conversation(q *synod.Question, o *outcome.Outcome) []synod.Turn {
	text := q.Text
	for _, x := range q.Options {
		text += fmt.Sprintf("\n%s) %s", x.Label, x.Text)
	}
	turns := append(slices.Clone(q.Before), synod.Turn{Role: synod.ByUser, Text: text, Parts: q.Parts})
	said := "(The members did not agree on an answer.)"
	switch {
	case !o.Answered():
	case o.Words != nil:
		said = o.Words.Text
	default:
		said = o.Text
	}
	return append(append(turns, q.After...), synod.Turn{Role: synod.ByAssistant, Text: said})
}

// body is the request that the form stands for, as a client of the API would send it.
func (view *askView) body(before []any, files *multipart.Form) ([]byte, error) {
	if strings.TrimSpace(view.Question) == "" {
		return nil, problemf(http.StatusBadRequest, "Type a question.")
	}
	options := map[string]any{}
	if view.Form != "" {
		options["form"] = view.Form
	}
	if view.Deadline != "" {
		options["deadline"] = view.Deadline
	}
	if view.Protocol != "" {
		options["protocol"] = view.Protocol
	}
	if err := view.limits(options); err != nil {
		return nil, err
	}
	parts := []any{map[string]any{"type": "text", "text": view.Question}}
	more, err := attached(files)
	if err != nil {
		return nil, err
	}
	messages := []any{}
	if strings.TrimSpace(view.System) != "" {
		messages = append(messages, map[string]any{"role": "system", "content": view.System})
	}
	messages = append(messages, before...)
	messages = append(messages, map[string]any{"role": "user", "content": slices.Concat(more, parts)})
	body := map[string]any{"model": view.Model, "messages": messages, "synod": options}
	if view.Schema != "" {
		if !json.Valid([]byte(view.Schema)) {
			return nil, problemf(http.StatusBadRequest, "The JSON schema is no JSON; an example is "+
				`{"type": "object", "properties": {"total": {"type": "number"}}, "required": ["total"]}.`)
		}
		body["response_format"] = map[string]any{"type": "json_schema", "json_schema": map[string]any{
			"name": "answer", "schema": json.RawMessage(view.Schema)}}
	}
	return json.Marshal(body)
}

// limits adds what the run may use and the least probability of a decision, as the API takes them.
func (view *askView) limits(options map[string]any) error {
	budget := map[string]any{}
	for _, n := range []struct {
		of               map[string]any
		key, name, value string
		example          any
	}{{budget, "usd", "Dollars at most", view.USD, 20}, {budget, "calls", "Calls at most", view.Calls, 20},
		{options, "at_least", "Probability at least", view.AtLeast, 0.9}} {
		if n.value == "" {
			continue
		}
		amount, err := strconv.ParseFloat(n.value, 64)
		if err != nil || !(amount > 0) {
			return problemf(http.StatusBadRequest, "%s is %q; it must be a number above 0, such as %v.", n.name,
				n.value, n.example)
		}
		n.of[n.key] = amount
	}
	if len(budget) > 0 {
		options["budget"] = budget
	}
	return nil
}

// attached makes parts of the files of a form.
func attached(files *multipart.Form) (parts []any, err error) {
	if files == nil {
		return nil, nil
	}
	for _, head := range files.File["file"] {
		if head.Size == 0 {
			continue // no file was chosen
		}
		f, err := head.Open()
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(f)
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
		kind := http.DetectContentType(content)
		kind, _, _ = strings.Cut(kind, ";")
		data := "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(content)
		if strings.HasPrefix(kind, "image/") {
			parts = append(parts, map[string]any{"type": "image_url", "image_url": map[string]any{"url": data}})
			continue
		}
		parts = append(parts, map[string]any{"type": "file", "file": map[string]any{"filename": head.Filename,
			"file_data": data}})
	}
	return parts, nil
}
