package task

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"synod.dev/synod"
)

// The sets of prompts as the papers print them. Their words are read from a text of the paper that the user gives.
var (
	sacPrinted = PromptSet{
		Entry: synod.Entry{Name: "prompts/sac-paper", Summary: "prompts of SAC as its paper prints them"},
		About: "arXiv 2605.09076 (CC0), Appendix B: how answers are scored (B.1) and refined (B.2), with the words " +
			"of B.3 for questions that are not mathematical. The paper prints no prompt for first answers, so these " +
			"are asked in Synod's words",
		Input: "the text of the paper, as a browser saves or copies it from arxiv.org/html/2605.09076",
		read:  readSACPaper,
		templates: map[string]string{
			"sac/score.tmpl": mixedQuestion + `{{define "system"}}«B.1/system»{{end}}
{{define "user"}}{{if ` + isNumber + `}}«B.1/user»{{else}}«B.3/score»{{end}}{{end}}
`,
			"sac/refine.tmpl": mixedQuestion + `{{define "system"}}«B.2/system»{{end}}
{{define "user"}}{{if ` + isNumber + `}}«B.2/user»{{else}}«B.3/refine»{{end}}{{end}}
`,
		},
		actions: map[string]map[string]string{"": {
			"x": question, "r_j": "{{.Spelled .Candidate}}", "r_i": "{{.Spelled .Own}}", "f": "{{.F}}",
			"peers":  "{{range $i, $p := .Peers}}{{if $i}}\n{{end}}«B.2/peer»{{end}}",
			"answer": "{{$.Spelled $p.Answer}}", "score": "{{$p.Score}}",
		}},
	}
	cpwbftPrinted = PromptSet{
		Entry: synod.Entry{Name: "prompts/cp-wbft-paper", Summary: "the prompt of CP-WBFT that its paper prints"},
		About: "arXiv 2511.10400, Section 3: the prompt for answers with a stated confidence to mathematical " +
			"questions. The prompts for the other tasks are not printed; those of the code are in prompts/cp-wbft",
		Input: "the text of the paper",
		read:  readCPWBFTPaper,
		templates: map[string]string{"cp-wbft/answer.tmpl": `{{define "system"}}{{end}}
{{define "user"}}{{if ` + isNumber + `}}{{.Question.Text}}

«confidence»{{else}}{{template "the paper prints no prompt for this form of answer"}}{{end}}{{end}}
`},
	}
	gamePrinted = gameAsPrinted("prompts/game-paper", "prompts of the consensus game as its paper prints them",
		"Figure 13", "")
	gameAllAgents = gameAsPrinted("prompts/game-all-agents", "the same, but votes ask whether all agents agree",
		figure13All, ". Players who are warned vote by rules 1 and 2 of Figure 14, which ask whether all agents "+
			"propose the same value; Figure 13 asks it of honest agents (preset game-wording)")
)

// figure13All is Figure 13 with the first two rules of Figure 14.
const figure13All = "Figure 13 with rules of Figure 14"

// gameAsPrinted is a set of the prompts in Figures 5 to 14, in which players who are warned vote by a given text.
func gameAsPrinted(name, summary, warnedVote, more string) PromptSet {
	return PromptSet{
		Entry: synod.Entry{Name: name, Summary: summary},
		About: `"Can AI Agents Agree?", Figures 5 to 14: the prompts of honest players who are told that hostile ones ` +
			"may exist, or that there are none, and of Byzantine players. It prints none that do not mention them " +
			"(variant: unmentioned)" + more,
		Input: "the text of the paper, with each listing between two lines ``` and its caption below (Figure 5: …)",
		read:  readGamePaper,
		templates: map[string]string{
			"game/propose.tmpl": printedGame("Figure 5", "Figure 11", "Figure 12", "Figure 6", "Figure 9"),
			"game/vote.tmpl":    printedGame("Figure 8", warnedVote, "Figure 14", "Figure 7", "Figure 10"),
		},
		actions: map[string]map[string]string{"": printedGameActions()},
		truths: map[string]string{
			"self.my_value is not None": ".Detail.Value", "previous_strategies": ".Detail.Notes",
			`history_summary and "(No history" not in history_summary`:  ".Detail.Past", // Figure 10
			`history_summary and "(No history)" not in history_summary`: ".Detail.Past", // Figure 7
		},
	}
}

// printedGame is a template of five listings: the system prompts of hostile players, of honest ones who are warned, and
// of honest ones who are told that there are no others; then what hostile and honest players are asked.
func printedGame(hostile, mayExist, noAdversary, hostileAsked, asked string) string {
	return `{{define "system"}}{{if .Detail.Hostile}}«` + hostile + `»{{else if eq .Caution "may-exist"}}«` + mayExist +
		`»{{else if eq .Caution "no-adversary"}}«` + noAdversary +
		`»{{else}}{{template "the paper prints no prompt for variant: unmentioned"}}{{end}}{{end}}
{{define "user"}}{{if .Detail.Hostile}}«` + hostileAsked + `»{{else}}«` + asked + `»{{end}}{{end}}
`
}

// printedGameActions are those of the code, but for the history of the first round, which Figure 7 names.
func printedGameActions() map[string]string {
	actions := map[string]string{}
	for field, action := range gameActions {
		actions[field] = strings.Replace(action, "«BCGAgent._format_history_with_agent_details/return#0.0»",
			"(No history)", 1)
	}
	return actions
}

// maxPaper bounds the length of the text of a paper in bytes.
const maxPaper = 8 << 20

// readPaper returns the lines of the text of a paper.
func readPaper(path string) ([]string, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	if len(data) > maxPaper || !utf8.Valid(data) {
		return nil, fmt.Errorf("task: %s is not a text of at most %d bytes in UTF-8", path, maxPaper)
	}
	return strings.Split(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n"), nil
}

// printedAs is a text as a paper prints it.
func printedAs(text string) pythonText {
	return pythonText{pieces: []pythonPiece{{text: strings.TrimSpace(text)}}, printed: true}
}

var figureCaption = regexp.MustCompile(`^(Figure \d+):`)

// readFigures finds the listings of a paper by the figures whose captions stand below them.
func readFigures(path string) (pythonTexts, error) {
	lines, err := readPaper(path)
	if err != nil {
		return nil, err
	}
	texts, listing, inside := pythonTexts{}, "", false
	for _, line := range lines {
		caption := figureCaption.FindStringSubmatch(line)
		switch {
		case strings.HasPrefix(line, "```"):
			if inside = !inside; inside {
				listing = ""
			}
		case inside:
			listing += line + "\n"
		case caption != nil && listing != "":
			texts[caption[1]], listing = printedAs(listing), ""
		case strings.TrimSpace(line) != "":
			listing = ""
		}
	}
	return texts, nil
}

var votingRules = regexp.MustCompile(`(?m)^1\. Vote .*\n2\. Vote .*$`)

// readGamePaper finds the listings of the game's paper, and makes Figure 13 with the rules of Figure 14.
func readGamePaper(path string) (pythonTexts, error) {
	texts, err := readFigures(path)
	if err != nil {
		return nil, err
	}
	warned, told := texts["Figure 13"], texts["Figure 14"]
	if warned.pieces != nil && told.pieces != nil {
		text := votingRules.ReplaceAllLiteralString(warned.pieces[0].text, votingRules.FindString(told.pieces[0].text))
		texts[figure13All] = printedAs(text)
	}
	return texts, nil
}

var printedConfidence = regexp.MustCompile(`“(Please solve this question[^”]*)”`)

// readCPWBFTPaper finds the one prompt that the paper of CP-WBFT prints.
func readCPWBFTPaper(path string) (pythonTexts, error) {
	lines, err := readPaper(path)
	if err != nil {
		return nil, err
	}
	found := printedConfidence.FindStringSubmatch(strings.Join(lines, "\n"))
	if found == nil {
		return pythonTexts{}, nil
	}
	return pythonTexts{"confidence": printedAs(found[1])}, nil
}

// What Appendix B of the paper of SAC has in place of values. A text made of its page writes formulas in several ways,
// so a field is known by the words before it.
var (
	sacFields = []struct {
		is    *regexp.Regexp
		field string
	}{
		{regexp.MustCompile(`(?m)(up to )\S+( responses)`), "${1}{f}$2"},
		{regexp.MustCompile(`(?m)^(Problem: )\{.*\}()$`), "${1}{x}$2"},
		{regexp.MustCompile(`(?m)^(Proposed answer: )\{.*\}()$`), "${1}{r_j}$2"},
		{regexp.MustCompile(`(?m)^(Your current answer: )\{.*\}()$`), "${1}{r_i}$2"},
	}
	sacPeer    = regexp.MustCompile(`(?m)^[\s\p{Zs}]*(- Answer: )\{.*?\}[\s\p{Zs}]*(\(reliability score: )\{.*\}(\))$`)
	sacPeers   = regexp.MustCompile(`(?m)(?:^[\s\p{Zs}]*- Answer: .*\n)+^[\s\p{Zs}]*….*$`)
	sacWording = regexp.MustCompile(`“([^”]+)” is replaced with “([^”]+)”, and the answer-format instruction becomes ` +
		`(.+?)\\n *(Answer: \[[^\]]+\])`)
	sacFormat = regexp.MustCompile(`(?m)^Respond using the format:\n.*$`)
)

// readSACPaper finds the prompts of Appendix B of the paper of SAC.
func readSACPaper(path string) (pythonTexts, error) {
	lines, err := readPaper(path)
	if err != nil {
		return nil, err
	}
	texts, plain := pythonTexts{}, map[string]string{}
	section, user := "", false
	for _, line := range lines {
		begins := strings.HasPrefix(line, "B.1 ") || strings.HasPrefix(line, "B.2 ") || strings.HasPrefix(line, "B.3 ")
		system, is := strings.CutPrefix(line, "System: ")
		switch {
		case begins:
			section, user = line[:3], false
		case is && section != "":
			texts[section+"/system"] = printedAs(system)
		case strings.TrimSpace(line) == "User:":
			user = plain[section] == ""
		case strings.TrimSpace(line) == "":
			user = false
		case user:
			plain[section] += line + "\n"
		}
	}
	if peer := sacPeer.FindStringSubmatch(plain["B.2"]); peer != nil {
		texts["B.2/peer"] = printedAs(peer[1] + "{answer} " + peer[2] + "{score}" + peer[3])
	}
	score, refine := sacText(plain["B.1"]), sacText(plain["B.2"])
	if score != "" && refine != "" {
		texts["B.1/user"], texts["B.2/user"] = printedAs(score), printedAs(refine)
	}
	if words := sacWording.FindStringSubmatch(strings.Join(lines, "\n")); words != nil {
		texts["B.3/score"] = printedAs(strings.ReplaceAll(score, words[1], words[2]))
		refine = sacFormat.ReplaceAllString(refine, strings.TrimSpace(words[3])+"\n"+words[4])
		texts["B.3/refine"] = printedAs(strings.ReplaceAll(refine, words[1], words[2]))
	}
	return texts, nil
}

// sacText names the fields of a prompt.
func sacText(text string) string {
	for _, f := range sacFields {
		text = f.is.ReplaceAllString(text, f.field)
	}
	return sacPeers.ReplaceAllString(text, "{peers}")
}
