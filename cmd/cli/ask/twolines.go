package ask

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/core/table"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/llm"
)

// twoLines prints what somebody who is not a specialist needs beside the answer: how many members gave it, then time
// and cost. A line for each model whose replies could not be read follows, unless there is no answer: the advice that
// is printed then has these lines. guessed says whether the form of the answer was guessed.
func twoLines(w io.Writer, o *outcome.Outcome, guessed bool) {
	fmt.Fprintln(w, table.Wrap(app.OneLine(o.Summary()), app.Columns(w)))
	fmt.Fprintln(w, table.Wrap(app.OneLine(spent(o, guessed)), app.Columns(w)))
	if !o.Answered() {
		return
	}
	for _, line := range unreadReplies(o) {
		fmt.Fprintln(w, table.Wrap(app.OneLine(line), app.Columns(w)))
	}
}

// formWords are the forms that a question may be taken to ask for, in words.
var formWords = map[synod.Form]string{synod.Number: "a number", synod.Bool: "yes or no", synod.Choice: "a choice",
	synod.Math: "a formula", synod.Stance: "a stance"}

// spent says how long the answer took and what it cost, and where more is said.
func spent(o *outcome.Outcome, guessed bool) string {
	text := fmt.Sprintf("%.1f s, %s", o.Seconds, price(o.Money))
	if form := formWords[o.Form]; guessed && form != "" && o.Answered() {
		text += ", read as " + form
	}
	if len(o.OfKind(llm.Embedded)) == len(o.Members) {
		return text + ". With better models: synod init, or synod ask --model openai:gpt-4o-mini --model " +
			"ollama:llama3.2"
	}
	return text + ". How it was reached: -v"
}

// price is an amount of money in words.
func price(m llm.Money) string {
	usd := strconv.FormatFloat(m.AtLeast, 'f', 2, 64) + " USD"
	if m.AtLeast > 0 && m.AtLeast < 0.1 {
		usd = strconv.FormatFloat(m.AtLeast, 'f', 4, 64) + " USD"
	}
	unknown := strings.Join(m.Unknown, ", ")
	const most = 2
	if len(m.Unknown) > most+1 {
		unknown = fmt.Sprintf("%s and %d more", strings.Join(m.Unknown[:most], ", "), len(m.Unknown)-most)
	}
	switch {
	case len(m.Unknown) > 0 && m.AtLeast > 0:
		return "at least " + usd + ", unknown for " + unknown
	case len(m.Unknown) > 0:
		return "cost unknown for " + unknown
	case m.AtLeast == 0:
		return "free"
	}
	return usd
}
