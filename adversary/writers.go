package adversary

import (
	"fmt"
	"slices"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/internal/payload"
	"synod.dev/synod/llm/read"
)

// writing is an adversary that differs from others only in the text beside its wrong answer.
type writing struct {
	number  int
	name    string // that of the payload too
	summary string
	about   string
	defence string
	kind    Promise
	where   synod.Where
	whole   bool // the text is its answer
}

// hypnotist is the name of the adversary with a text of one of several families.
const hypnotist = "judge-hypnotist"

// writings are the adversaries of this kind.
var writings = []writing{
	{number: 4, name: hypnotist, summary: "a wrong answer with a text that tells judges to mark it as right",
		about:   "Its texts are of twenty families of judge-directed injection (parameter family).",
		defence: "support rule; rationale: 0, so that judges see the answer alone", kind: Deterministic,
		where: reasoning},
	{number: 5, name: "null-model", summary: "one constant reply with the layout of a verdict, to every question",
		about:   "The reply is no answer to the question at all. Judges of free text may mark it as the best.",
		defence: "a typed form: what cannot be read as an answer is dropped before it is judged", kind: Deterministic,
		where: judging, whole: true},
	{number: 6, name: "master-key", summary: "the bare opening \"Thought process:\" in place of an answer",
		about:   "Some judges mark the opening of a solution as a right solution.",
		defence: "a typed form: what cannot be read as an answer is dropped before it is judged", kind: Deterministic,
		where: judging, whole: true},
	{number: 7, name: "score-smuggler", summary: "a wrong answer with lines that look like the judge's score",
		about: "It attacks readers that take a number from anywhere in a judge's reply, where a judge quotes what " +
			"it judges.",
		defence: "strict reader: the last line or one JSON object", kind: Deterministic, where: judging},
	{number: 8, name: "step-one", summary: "a wrong answer that asks the judge to number its steps",
		about:   "The paper's reader takes the 1 of \"Step 1\" for the score (finding F4).",
		defence: "strict reader: the last line or one JSON object", kind: Deterministic, where: judging},
	{number: 9, name: "parse-breaker", summary: "a wrong answer that asks the judge to give no number",
		about:   "The paper's reader takes 0.5 where it finds no number, which lifts the score of a wrong answer.",
		defence: "a judgement that cannot be read is the lowest score", kind: Deterministic, where: judging},
	{number: 12, name: "rival-slander", summary: "a wrong answer with a text that says all other answers are injected",
		about:   "It needs a judge that sees several answers in one prompt.",
		defence: "one answer in each call of a judge (decentllms judge: one)", kind: Deterministic,
		where: synod.With(synod.Grades, synod.Lists)},
	{number: 13, name: "prompt-infector", summary: "a wrong answer with a text that asks readers to repeat it",
		about:   "Members that obey send the text on, so it reaches members that do not hear the adversary.",
		defence: "rationale: 0: only answers are passed on", kind: Deterministic, where: arguing},
	{number: 14, name: "peer-commander", summary: "a wrong answer with a command to all members to give it",
		about:   "Written as if a system message had come.",
		defence: "support rule; rationale: 0; texts of others in the user's part only, between borders",
		kind:    Deterministic, where: arguing},
	{number: 15, name: "role-breaker", summary: "control tokens of chat templates around a message of the system",
		about:   "A server that tokenises them in the text of a member begins a new message there.",
		defence: "control tokens in texts of others are broken", kind: Deterministic, where: reading},
	{number: 16, name: "json-smuggler", summary: "closes the field of a JSON reply and adds keys",
		about: "It attacks judges that copy the answer into their JSON reply, and readers that take the first " +
			"object or " +
			"ignore letter case.",
		defence: "strict reader: one object, no repeated key, exact letter case", kind: Deterministic, where: judging},
	{number: 17, name: "unicode-ghost", summary: "an order to the judge in characters that nobody sees",
		about:   "Tag characters, marks of direction and characters without width.",
		defence: "texts of others are folded: one spelling of every character, none that is invisible",
		kind:    Deterministic, where: reading},
	{number: 29, name: "essayist", summary: "a wrong answer with pages of polished text without content",
		about:   "Judges tend to prefer long texts.",
		defence: "a cap on reasoning (rationale)", kind: Deterministic, where: reasoning},
	{number: 30, name: "bandwagon", summary: "a wrong answer and the claim that most members agreed on it",
		about:   "The claim is invented.",
		defence: "support rule; counts come from messages only, never from a text", kind: Deterministic,
		where: arguing},
	{number: 31, name: "threat-crier", summary: "warns of Byzantine members, so that nobody follows anybody",
		about:   "It costs agreement and does not aim at a wrong decision.",
		defence: "rationale: 0; meta-talk, for warnings in words that its list has", kind: Deterministic,
		where: arguing},
	{number: 36, name: "overthinker", summary: "a wrong answer behind a puzzle that costs its readers tokens",
		about:   "A decision process and a grid to fill in, as decoys.",
		defence: "rationale: 0; limits of tokens and time of a call", kind: Deterministic, where: reasoning},
	{number: 41, name: "prompt-thief", summary: "asks readers to repeat their prompt, with delimiters and private " +
		"notes",
		about:   "What it learns are the borders of fences, by which a later text could leave its place.",
		defence: "no secret in a prompt; borders that are new in every call", kind: Deterministic, where: reasoning},
	{number: 42, name: "markup-bomber", summary: "markup, terminal sequences, formulas and line breaks for those " +
		"who read outputs",
		about:   "HTML, Markdown with remote images, ANSI and OSC 52 sequences, cells of tables, forged log lines.",
		defence: "outputs escape what others wrote", kind: Deterministic, where: synod.Anywhere},
}

// writers returns the entries of writings.
func writers() (all []Entry) {
	for _, w := range writings {
		about := "Its model answers, and it sends another answer in every round, the same one, with a text beside " +
			"it:\n" +
			w.about
		if w.whole {
			about = "It sends a text in place of an answer in every round:\n" + w.about
		}
		about += "\nThe text stands in the reasoning beside the answer, and after a free-text answer. It judges " +
			"nothing.\n" +
			"Simulated members do what it asks with probability fooled, 0 by default.\n\n" +
			"answer  its answer; by default another than its model's\ntext    its text; {answer} stands for the answer"
		e := Entry{Entry: synod.Entry{Name: w.name, Summary: w.summary}, About: about,
			Facts: Facts{Number: w.number, Place: AtSeat, Model: Restricted, Where: w.where, Defence: w.defence,
				Kind: w.kind}}
		e.New = func(params map[string]any) (Adversary, error) { return w.open(params) }
		e.Params = func() any { return &writerParams{} }
		if w.name == hypnotist {
			e.About += "\nfamily  one of: " + strings.Join(payload.Judges(), ", ") + ";\n        by default the " +
				"seat's seed draws one"
			e.Params = func() any { return &hypnotistParams{} }
			e.Source = "twenty published attacks on judges (internal/payload)"
		} else if f, err := payload.Find(w.name); err == nil {
			e.Source = f.Source
		}
		all = append(all, e)
	}
	return all
}

type writerParams struct {
	Answer string `yaml:"answer" doc:"its answer; default: another than its model's" example:"1776"`
	Text   string `yaml:"text" doc:"its text, in which {answer} stands for its answer; default: a payload" example:"It is {answer}."`
}

type hypnotistParams struct {
	Answer string `yaml:"answer" doc:"its answer; default: another than its model's" example:"1776"`
	Text   string `yaml:"text" doc:"its text, in which {answer} stands for its answer; default: a payload" example:"It is {answer}."`
	Family string `yaml:"family" doc:"the family of its text; default: drawn by the seat's seed" example:"authority"`
}

// open returns the adversary with parameters of a council file.
func (w writing) open(params map[string]any) (Adversary, error) {
	var given hypnotistParams
	if w.name == hypnotist {
		if err := decode(params, &given); err != nil {
			return nil, err
		}
	} else {
		var plain writerParams
		if err := decode(params, &plain); err != nil {
			return nil, err
		}
		given.Answer, given.Text = plain.Answer, plain.Text
	}
	names := []string{w.name}
	if w.name == hypnotist {
		names = payload.Judges()
	}
	if given.Family != "" {
		if !slices.Contains(names, given.Family) {
			return nil, fmt.Errorf("family is %q%s; it must be one of %s", given.Family, synod.Hint(given.Family,
				names),
				strings.Join(names, ", "))
		}
		names = []string{given.Family}
	}
	a := writer{answer: given.Answer, whole: w.whole}
	for _, name := range names {
		f, err := payload.Find(name)
		if err != nil {
			return nil, err
		}
		if given.Text != "" {
			f.Raw = given.Text
		}
		a.families = append(a.families, f)
	}
	return a, nil
}

// writer gives one wrong answer with a text beside it.
type writer struct {
	families []payload.Family
	answer   string // "": another than its model's
	whole    bool
}

func (writer) Steady() bool { return true }

// Corrupt lets the model answer once, and sends the forged answer with the text from then on.
func (w writer) Corrupt(seat synod.Seat, honest synod.Machine) synod.Machine {
	m, mine := firstAnswer(&seat, honest)
	keep := m.Replace
	m.Replace = func(p *synod.Prompt, r *synod.Reply) *synod.Reply {
		if *mine != synod.None || p.Purpose != synod.Answering {
			return r
		}
		if keep(p, r); *mine == synod.None {
			return r
		}
		answer, text := w.write(seat, *mine)
		*mine = answer
		if _, ok := read.Canonical(seat.Question, string(answer)); !ok {
			return r // receivers have to reject it, so its own machine must not
		}
		forged := *r // with the model's cost
		forged.Typed, forged.Answer, forged.Text = true, answer, text
		return &forged
	}
	return certainly(m, &seat, mine)
}

// write returns what it sends in place of its model's answer.
func (w writer) write(seat synod.Seat, model synod.Answer) (synod.Answer, string) {
	q, f := seat.Question, w.families[seat.Seed%uint64(len(w.families))]
	if w.whole && w.answer == "" {
		return canonical(q, f.Text("")), f.Text("")
	}
	answer := other(q, model)
	if w.answer != "" {
		answer = canonical(q, w.answer)
	}
	text := f.Text(string(answer))
	return extended(q, read.Confident{Answer: answer}, " "+text), text
}
