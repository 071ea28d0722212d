package task

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"synod.dev/synod"
)

// readInstruction splits an instruction into question and choices. It ends with "Answer format:
// answer1/answer2", which names the choices.
func readInstruction(s string) (synod.Question, error) {
	end := formatEnd.FindStringSubmatchIndex(s)
	if end == nil {
		return synod.Question{}, errors.New(`the instruction does not end with "Answer format: …"`)
	}
	labels := strings.Split(s[end[2]:end[3]], "/")
	s = preamble.ReplaceAllString(s[:end[0]], "")
	if len(labels) == 2 && labels[0] == "true" && labels[1] == "false" {
		return synod.Question{Text: strings.TrimSpace(s), Form: synod.Bool}, nil
	}
	q := synod.Question{Form: synod.Choice, Options: make([]synod.Option, len(labels))}
	for i := len(labels) - 1; i >= 0; i-- { // from the end, where the labels cannot be words of the question
		mark := strings.ToUpper(labels[i][:1]) + labels[i][1:] + ":"
		at := strings.LastIndex(s, mark)
		if at < 0 { // the SAC authors' repository
			at = strings.LastIndex(s, labels[i]+":")
		}
		if at < 0 {
			return synod.Question{}, fmt.Errorf("the instruction names the choice %s and has no %q", labels[i], mark)
		}
		q.Options[i] = synod.Option{Label: labels[i], Text: strings.TrimSpace(s[at+len(mark):])}
		s = s[:at]
	}
	q.Text = strings.TrimSpace(s)
	return q, nil
}

type adapterRow struct {
	Instruction string `json:"instruction"`
	Input       string `json:"input"`
	Output      string `json:"output"`
	Answer      string `json:"answer"`
}

var (
	preamble  = regexp.MustCompile(`^Please (?:choose the correct \w+ (?:to|to fill in the blank to complete) the (?:given )?(?:question|sentence)|answer the following question with true or false, question): `)
	formatEnd = regexp.MustCompile(`\s*Answer format: ([a-z0-9/]+)\s*$`)
)
