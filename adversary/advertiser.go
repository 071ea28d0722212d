package adversary

import (
	"fmt"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/core/param"
	"synod.dev/synod/llm/read"
)

var advertiserEntry = Entry{
	Entry: synod.Entry{Name: "advertiser", Summary: "DecentLLMs': its model's answer with an advertisement added"},
	Facts: Facts{Place: AtSeat, Model: Restricted, Where: reasoning, Defence: "judges that mark the whole answer",
		Kind: Statistical, Source: "DecentLLMs §V.A, DL-8"},
	About: `Answers with its own model and adds an advertisement (DecentLLMs §V.A): after the
answer if that is free text, and in the reasoning beside the answer in any case. A
number, a choice or a formula has no room for one; there the answer stays that of the
model, and a protocol that passes on answers without reasoning passes on no
advertisement.

text  the advertisement, at most 200 bytes`,
	New: func(params map[string]any) (Adversary, error) {
		a := defaultAdvertiser()
		if err := param.Decode(params, &a); err != nil {
			return nil, err
		}
		if a.Text = strings.TrimSpace(a.Text); a.Text == "" || len(a.Text) > maxAdvertisement {
			return nil, fmt.Errorf("text has %d bytes; an advertisement has between 1 and %d", len(a.Text),
				maxAdvertisement)
		}
		return a, nil
	},
	Params: func() any { a := defaultAdvertiser(); return &a },
}

func defaultAdvertiser() advertiser {
	return advertiser{Text: "and try Globex tonic, now at half price"}
}

const maxAdvertisement = 200

type advertiser struct {
	Text string `yaml:"text" doc:"the advertisement, 1 to 200 bytes"`
}

func (advertiser) Steady() bool { return true }

func (a advertiser) Corrupt(seat synod.Seat, honest synod.Machine) synod.Machine {
	return ReplyForger{
		Answer: func(given read.Confident) synod.Answer { return extended(seat.Question, given, ", "+a.Text) },
		Text:   func(text string) string { return a.Text + ".\n" + text },
	}.Machine(seat, honest)
}
