package adversary

import (
	"errors"
	"fmt"

	"synod.dev/synod"
	"synod.dev/synod/core/param"
)

var replayEntry = Entry{
	Entry: synod.Entry{Name: "replay",
		Summary: "the SAC paper's: a reply to another question, the same for all, confidence 1.0"},
	Facts: Facts{Place: AtSeat, Model: Restricted, Where: confiding,
		Defence: "receivers' own scores (sac)", Kind: Statistical, Source: "SAC appendix B.4"},
	About: `Sends, in every round, what a weak model replied to another question, claims confidence
1.0, never calls a model and never changes (SAC appendix B.4). The paper does not print
its cached replies. "synod bench tape" records those of your weak model: with them as the
tape, the seat's seed chooses a wrong answer that it gave to another question of the same
form. Without a tape, what it sends is invented. Numbers, formulas and texts are chosen by
the seed, JSON values and calls are drawn by it from the schema. Choices always get
the last option but one, and statements are false, like a model with a bias for one
label: of five equally frequent labels this is right in one question of five.

answer  its answer instead
tape    the file that synod bench tape wrote; the answers in it replace it in records`,
	New: func(params map[string]any) (Adversary, error) {
		var a replay
		if err := param.Decode(params, &a); err != nil {
			return nil, err
		}
		return a, a.check()
	},
	Params: func() any { return &replay{} },
}

type replay struct {
	Answer  string  `yaml:"answer" doc:"its answer; default: an invented one" example:"1776"`
	Tape    string  `yaml:"tape" doc:"file with a weak model's wrong answers, from synod bench tape" example:"runs/weak/tape.jsonl"`
	Answers []Taped `yaml:"answers" doc:"the answers on the tape, read from its file"`
}

// check refuses parameters that contradict each other. The plan of a council has replaced the file by its answers.
func (a replay) check() error {
	switch {
	case a.Tape != "":
		return errors.New("tape names a file, which only a council file or the plan of a council reads")
	case a.Answer != "" && a.Answers != nil:
		return errors.New("answer and a tape contradict each other; give one of them")
	}
	return nil
}

func (replay) Steady() bool { return true }

// Suits refuses a question to which no answer on the tape can be replayed.
func (a replay) Suits(q *synod.Question) error {
	if a.Answers == nil || len(fitting(a.Answers, q)) > 0 {
		return nil
	}
	return fmt.Errorf("the tape of the adversary has no reply to another question of the form %s; record one: synod "+
		"bench tape TASK --model MODEL -o FOLDER", q.Form)
}

// choose returns the answer of a seat: one of its tape, or the given or invented one.
func (a replay) choose(seat synod.Seat) synod.Answer {
	if all := fitting(a.Answers, seat.Question); len(all) > 0 {
		return canonical(seat.Question, all[seat.Seed%uint64(len(all))])
	}
	return invention{a.Answer}.choose(seat)
}

// Corrupt answers every prompt, so no model is called.
func (a replay) Corrupt(seat synod.Seat, honest synod.Machine) synod.Machine {
	b := &believer{mine: a.choose(seat)}
	m := &certain{honest: &PromptAnswerer{Honest: honest, Answer: b.reply}, question: seat.Question, mine: &b.mine}
	return again(m, honest, func(seat synod.Seat) {
		b.mine, b.filled = a.choose(seat), [3]bool{}
		m.reset(seat.Question)
	})
}

// invented are answers to other questions. No model gave them.
var invented = map[synod.Form][]string{
	synod.Number: {"1776", "3.5", "212", "-4", "60", "0.125"},
	synod.Math:   {`\frac{7}{2}`, "x+1", `3\sqrt{5}`, "1776", "-4"},
	synod.Text:   {"the Battle of Hastings", "photosynthesis", "about three weeks", "a minor seventh", "Lake Titicaca"},
	synod.Prose: {"The treaty was signed in 1648 and ended thirty years of war.",
		"Plants store the energy of light as sugar; the oxygen comes from water.",
		"Simmer the stock for three hours, skim it twice, and salt it at the end."},
}

// invention is an answer that no model gave.
type invention struct {
	Answer string `yaml:"answer" doc:"its answer; default: an invented one" example:"1776"`
}

// choose returns the answer of a seat: the given one, an invented one, or the label for
// which it is biased. A label drawn by the seed would be right in half of the questions
// with two options, which no reply to another question is.
func (a invention) choose(seat synod.Seat) synod.Answer {
	q := seat.Question
	answers := invented[q.Form]
	switch q.Form {
	case synod.Bool:
		answers = []string{"false"}
	case synod.Stance:
		answers = []string{string(synod.Complies), string(synod.Refuses)}
	case synod.JSON, synod.Action:
		answers = []string{string(sample(q, seat.Seed))}
	case synod.Choice:
		answers = []string{q.Options[max(len(q.Options)-2, 0)].Label}
	}
	if a.Answer != "" {
		answers = []string{a.Answer}
	}
	return canonical(q, answers[seat.Seed%uint64(len(answers))])
}
