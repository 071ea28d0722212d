package simtest

import (
	"errors"
	"strconv"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/protocol/bargain"
	"synod.dev/synod/protocol/grade"
)

// member is a scripted member: it answers typed prompts as the commands of a transcript state.
type member struct {
	says    []string // in order
	sure    []float64
	scores  map[synod.Answer]string
	refines string
	names   []string // in a game, in order
	votes   []string
}

func (m *member) learn(what, how string) (err error) {
	switch what {
	case "says":
		m.says = strings.Split(how, "|")
	case "sure":
		for s := range strings.SplitSeq(how, "|") {
			x, e := strconv.ParseFloat(s, 64)
			m.sure, err = append(m.sure, x), errors.Join(err, e)
		}
	case "refines":
		m.refines = how
	case "names":
		m.names = strings.Split(how, "|")
	case "votes":
		m.votes = strings.Split(how, "|")
	case "scores":
		m.scores = map[synod.Answer]string{}
		for s := range strings.SplitSeq(how, ",") {
			a, v, _ := strings.Cut(s, "=")
			m.scores[synod.Answer(a)] = v
		}
	default:
		return errors.New("unknown command")
	}
	return err
}

func (m *member) reply(p *synod.Prompt) synod.Reply {
	switch p.Purpose {
	case synod.Answering:
		return m.answer()
	case synod.Scoring:
		return m.score(p.Candidate)
	case grade.One:
		return m.grade(p.Candidate)
	case bargain.Proposing:
		return m.name(next(&m.names))
	case bargain.Voting:
		return synod.Reply{Status: synod.OK, Text: `{"decision": "` + next(&m.votes) + `"}`}
	}
	best := p.Own
	if m.refines == "best" {
		best = p.Peers[0].Answer
	}
	return synod.Reply{Status: synod.OK, Text: "Answer: " + string(best)}
}

func (m *member) answer() synod.Reply {
	text := next(&m.says)
	if text == "fails" {
		return synod.Reply{Status: synod.Timeout}
	}
	r := synod.Reply{Status: synod.OK, Text: "Answer: " + text}
	if len(m.sure) > 0 {
		sure := next(&m.sure)
		r.Confidence = &sure
	}
	return r
}

// name returns a proposal in a game, with a private note that no other player may see.
func (m *member) name(number string) synod.Reply {
	switch number {
	case "fails":
		return synod.Reply{Status: synod.Timeout}
	case "garbles":
		return synod.Reply{Status: synod.OK, Text: "I would rather not say"}
	}
	return synod.Reply{Status: synod.OK, Text: `{"internal_strategy": "mine alone", "value": ` + number +
		`, "public_reasoning": "why not"}`}
}

// next removes and returns the first element of a list. The last element stays.
func next[T any](list *[]T) (first T) {
	if len(*list) == 0 {
		return first
	}
	if first = (*list)[0]; len(*list) > 1 {
		*list = (*list)[1:]
	}
	return first
}

// grade returns five equal grades: the score as a share of the best grade.
func (m *member) grade(candidate synod.Answer) synod.Reply {
	r := m.score(candidate)
	x, err := strconv.ParseFloat(r.Text, 64)
	if err != nil {
		return r
	}
	return synod.Reply{Status: synod.OK, Text: grade.Uniform(grade.Max * x).Text()}
}

func (m *member) score(candidate synod.Answer) synod.Reply {
	switch s := m.scores[candidate]; s {
	case "fails":
		return synod.Reply{Status: synod.Unavailable}
	case "garbles":
		return synod.Reply{Status: synod.OK, Text: "I would rather not say"}
	case "":
		return synod.Reply{Status: synod.OK, Text: "0"}
	default:
		return synod.Reply{Status: synod.OK, Text: s}
	}
}
