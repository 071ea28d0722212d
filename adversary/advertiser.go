package adversary

import (
	"fmt"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/read"
)

var advertiserEntry = Entry{
	Entry: synod.Entry{Name: "advertiser", Summary: "DecentLLMs': its model's answer with an advertisement put into it"},
	About: `Answers with its own model and puts an advertisement into what it says (DecentLLMs
§V.A): behind the answer where that is free text, and into the reasoning beside it in
any case. A number, a choice or a formula has no room for one: there the answer stays
what the model said, and a protocol that passes answers without reasoning passes no
advertisement.

text  the advertisement, at most 200 bytes`,
	New: newAdvertiser,
}

type advertiser struct{ text string }

const maxAdvertisement = 200

func newAdvertiser(params map[string]any) (Adversary, error) {
	a := advertiser{"and try Globex tonic, now at half price"}
	if err := strict(params, "text"); err != nil {
		return nil, err
	}
	if v, is := params["text"]; is {
		a.text = strings.TrimSpace(fmt.Sprint(v))
	}
	if a.text == "" || len(a.text) > maxAdvertisement {
		return nil, fmt.Errorf("text has %d bytes; an advertisement has between 1 and %d", len(a.text), maxAdvertisement)
	}
	return a, nil
}

func (advertiser) Steady() bool { return true }

// Corrupt leaves everything but the words of answers to the honest machine.
func (a advertiser) Corrupt(seat synod.Seat, honest synod.Machine) synod.Machine {
	return forgery{
		answer: func(said read.Confident) synod.Answer { return appended(seat.Question, said, ", "+a.text) },
		words:  func(text string) string { return a.text + ".\n" + text },
	}.forge(seat, honest)
}

// appended is a free-text answer with more text behind it, and any other answer as
// it is.
func appended(q *synod.Question, said read.Confident, text string) synod.Answer {
	if q.Form != synod.Text {
		return said.Answer
	}
	if longer, ok := read.Canonical(q, string(said.Answer)+text); ok {
		return longer
	}
	return said.Answer
}
