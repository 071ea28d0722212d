package page

import (
	"synod.dev/synod/council/plan"

	"synod.dev/synod/cmd/synod-serve/internal/gateway"
	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// feedbackView is what the viewer has said, and may say, about the answer to a run.
type feedbackView struct {
	Mark    string // of gateway.Mark; "": nothing yet
	Decided bool   // there is an answer that is right or wrong
	Labels  int    // of the council, by all keys
	Least   int    // that a probability needs
}

// feedback finds out what the viewer may say about a run.
func (v *visit) feedback(view *runView) error {
	if view.Row == nil || view.Report == nil || view.Row.Journal == "" || !v.Key.Labels() {
		return nil
	}
	f := &feedbackView{Decided: view.Report.Answer != nil, Least: plan.LeastLabels}
	own, err := v.p.o.Store.LabelOf(v.R.Context(), view.Row.ID, keyOf(v.Key))
	if err != nil {
		return err
	}
	if own != nil {
		f.Mark = own.Mark
	}
	f.Labels, err = v.p.o.Store.CountLabels(v.R.Context(), view.Row.Model)
	view.Feedback = f
	return err
}

func keyOf(k *store.Key) string {
	if k == nil {
		return ""
	}
	return k.ID
}

// labelRun keeps what the viewer says about the answer, or withdraws it.
func labelRun(v *visit) error {
	id := v.R.PathValue("id")
	m := gateway.Mark{Run: id, Label: v.R.PostFormValue("label")}
	switch m.Label {
	case "withdraw":
		if _, e := v.p.o.Gateway.Unlabel(v.Key, id); e != nil {
			return e
		}
		return v.redirect("/runs/" + id)
	case gateway.MarkValue:
		m.Label, m.Value = "", v.R.PostFormValue("value")
	}
	if _, e := v.p.o.Gateway.Label(v.R.Context(), v.Key, m); e != nil {
		return e
	}
	return v.redirect("/runs/" + id)
}
