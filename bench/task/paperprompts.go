package task

import "synod.dev/synod"

// The sets of prompts. The SAC authors' repository contains the prompts of SAC and those of CP-WBFT as it compares
// with them, so its set has both.
var (
	sacPrompts = PromptSet{
		Entry: synod.Entry{Name: "prompts/sac", Summary: "prompts of SAC and of CP-WBFT, of the SAC authors' code"},
		About: "GitHub daniel-eai/Robust-Multi-Agent-LLMs-under-Byzantine-Faults at 2fa2da0 (MIT by its README), " +
			"core/agents/llm_agent.py: the prompts for MATH and for the mixed sets of Commonsense170k. Of the two " +
			"prompts for MATH that without \\boxed is taken, as in the paper. It has none for XSTest that Synod can " +
			"read, because it asks for the labels 0 and 1",
		Input: "core/agents/llm_agent.py of that repository",
		From: Source{URL: "https://raw.githubusercontent.com/daniel-eai/" +
			"Robust-Multi-Agent-LLMs-under-Byzantine-Faults/2fa2da0aa7745db87bc94cbf1681939a97456a33/" +
			"core/agents/llm_agent.py"},
		templates: map[string]string{
			"sac/answer.tmpl":     sacAnswer,
			"sac/score.tmpl":      sacScore,
			"sac/refine.tmpl":     sacRefine,
			"cp-wbft/answer.tmpl": sacAnswer,
			"cp-wbft/refine.tmpl": cpRefine,
		},
		actions: map[string]map[string]string{
			"": {
				"question": question, "question_text": question, "question.question_text": question,
				"answer": "{{.Spelled .Candidate}}", "own_answer": "{{.Spelled .Own}}",
				"neighbor_lines": "{{range $i, $p := .Peers}}{{if $i}}\n{{end}}" +
					"«LLMAgent.sac_refine/neighbor_lines#0.1»{{end}}",
				"ans": "{{$.Spelled $p.Answer}}", "score:.2f": "{{$p.Score}}",
				"', '.join(different_answers)": others,
			},
		},
	}
	cpwbftPrompts = PromptSet{
		Entry: synod.Entry{Name: "prompts/cp-wbft", Summary: "prompts of CP-WBFT, of its authors' code"},
		About: "GitHub Z1ivan/Byzantine-Fault-Tolerance-in-LLM-MAS at 5558e84 (MIT), core/agents/llm_agent.py: first " +
			"answers to GSM8K, CommonsenseQA and XSTest with a stated confidence, and the reflection of the pilot " +
			"study. " +
			"Its reflection on XSTest asks for the labels 0 and 1, which Synod does not read, so that prompt is " +
			"missing",
		Input: "core/agents/llm_agent.py of that repository",
		From: Source{URL: "https://raw.githubusercontent.com/Z1ivan/Byzantine-Fault-Tolerance-in-LLM-MAS/" +
			"5558e842e2ed2634e00c093bb2f21d52b7b32b80/core/agents/llm_agent.py"},
		templates: map[string]string{"cp-wbft/answer.tmpl": cpAnswer, "cp-wbft/refine.tmpl": cpRefine},
		actions: map[string]map[string]string{
			"": {
				"question": "{{.Question.Text}}", "question.question_text": question,
				"choices":    "{{range $i, $o := .Question.Options}}{{if $i}}\n{{end}}{{$o.Label}}. {{$o.Text}}{{end}}",
				"own_answer": "{{.Spelled .Own}}", "', '.join(different_answers)": others,
			},
		},
	}
	gamePrompts = PromptSet{
		Entry: synod.Entry{Name: "prompts/game", Summary: "prompts of the consensus game, of its authors' code"},
		About: "GitHub leorugli/byzantine-consensus-llm-agents at 54a797c (MIT), " +
			"byzantine_consensus_game/bcg_agents.py: the prompts of honest players who know that hostile ones may " +
			"exist (its standard version), of players who are told nothing of them (its minimal version), and of " +
			"Byzantine players. It lacks those of the variant no-adversary, which the paper prints in Figures 12 and " +
			"14. A few words differ from the paper's figures",
		Input: "byzantine_consensus_game/bcg_agents.py of that repository and, for the variant no-adversary, two " +
			"files " +
			"with the texts of Figures 12 and 14 of the paper",
		From: Source{URL: "https://raw.githubusercontent.com/leorugli/byzantine-consensus-llm-agents/" +
			"54a797cd4edc35db339a84a9c405dfcd570f6d04/byzantine_consensus_game/bcg_agents.py"},
		templates: map[string]string{"game/propose.tmpl": gamePropose, "game/vote.tmpl": gameVote},
		actions:   map[string]map[string]string{"": gameActions},
		truths: map[string]string{
			"self.my_value is not None": ".Detail.Value", "previous_strategies": ".Detail.Notes",
			`history_summary and "(No history" not in history_summary`: ".Detail.Past",
		},
		extra: []string{figure12, figure14},
	}
	decentPrompts = PromptSet{
		Entry: synod.Entry{Name: "prompts/decentllms", Summary: "prompts of DecentLLMs"},
		About: "its code is not public. The paper prints the prompts of workers and evaluators in Fig. 5: write them " +
			"as templates into FOLDER/decentllms/answer.tmpl and FOLDER/decentllms/grade.tmpl " +
			"(docs/use/council-file.md), and pass --set prompts=FOLDER",
		Input: "the prompts of Fig. 5 of the paper, written as templates by hand",
	}
)

// Parts of templates. Their words come from the published files; those here are Synod's control structures.
const (
	question = `{{template "question" .}}`
	noPrompt = `{{template "the repository has no prompt for this form of answer"}}`
	isNumber = `or (eq .Question.Form "number") (eq .Question.Form "math")`
	others   = `{{$n := 0}}{{range .Peers}}{{if ne .Answer $.Own}}{{if $n}}, {{end}}{{$.Spelled .Answer}}` +
		`{{$n = 1}}{{end}}{{end}}`

	options = `{{range .Question.Options}}
({{.Label}}) {{.Text}}{{end}}`

	// mixedQuestion has the choices and the wanted form beside the text, as the items of LLM-Adapters do.
	mixedQuestion = `{{define "question"}}{{.Question.Text}}` + options + `{{if eq .Question.Form "bool"}}

Answer format: true/false{{else if .Question.Options}}

Answer format: {{range $i, $o := .Question.Options}}{{if $i}}/{{end}}{{$o.Label}}{{end}}{{end}}{{end}}
`

	sacAnswer = mixedQuestion +
		`{{define "system"}}{{if eq .Question.Form "stance"}}` + noPrompt + `{{else if ` + isNumber + `}}` +
		`«LLMAgent.__init__/system_default#1.0»{{else}}«LLMAgent.__init__/system_default#5.0»{{end}}{{end}}
{{define "user"}}{{if ` + isNumber + `}}«LLMAgent.__init__/user_default#1.0»` +
		`{{else}}«LLMAgent.__init__/user_default#5.0»{{end}}{{end}}
`
	sacScore = mixedQuestion +
		`{{define "system"}}{{if eq .Question.Form "stance"}}` + noPrompt + `{{end}}` +
		`«LLMAgent.sac_evaluate/response#0.3»{{end}}
{{define "user"}}{{if ` + isNumber + `}}«LLMAgent.sac_evaluate/user_msg#0.0»` +
		`{{else}}«LLMAgent.sac_evaluate/user_msg#2.0»{{end}}{{end}}
`
	sacRefine = mixedQuestion +
		`{{define "system"}}{{if eq .Question.Form "stance"}}` + noPrompt + `{{end}}` +
		`«LLMAgent.sac_refine/response#0.3»{{end}}
{{define "user"}}{{if ` + isNumber + `}}«LLMAgent.sac_refine/user_msg#1.0»` +
		`{{else}}«LLMAgent.sac_refine/user_msg#4.0»{{end}}{{end}}
`
	cpAnswer = `{{define "system"}}{{if ` + isNumber + `}}«LLMAgent.__init__/system_default#0.0»` +
		`{{else if eq .Question.Form "stance"}}«LLMAgent.__init__/system_default#1.0»` +
		`{{else if .Question.Options}}«LLMAgent.__init__/system_default#2.0»{{else}}` + noPrompt + `{{end}}{{end}}
{{define "user"}}{{if ` + isNumber + `}}«LLMAgent.__init__/user_default#0.0»` +
		`{{else if eq .Question.Form "stance"}}«LLMAgent.__init__/user_default#1.0»` +
		`{{else}}«LLMAgent.__init__/user_default#2.0»{{end}}{{end}}
`
	cpRefine = `{{define "question"}}{{.Question.Text}}` + options + `{{end}}
{{define "system"}}{{if eq .Question.Form "stance"}}` + noPrompt + `{{end}}` +
		`«LLMAgent._intelligent_learning_process/response#0.3»{{end}}
{{define "user"}}«LLMAgent._intelligent_learning_process/reflection_prompt#1.0»{{end}}
`

	figure12 = "the text of Figure 12"
	figure14 = "the text of Figure 14"

	gamePropose = `{{define "system"}}{{if .Detail.Hostile}}«ByzantineBCGAgent.build_system_prompt/system_prompt#0.0»` +
		`{{else if eq .Caution "no-adversary"}}«` + figure12 + `»` +
		`{{else if eq .Caution "may-exist"}}«HonestBCGAgent.build_system_prompt/system_prompt#2.0»` +
		`{{else}}«HonestBCGAgent.build_system_prompt/system_prompt#0.0»{{end}}{{end}}
{{define "user"}}{{if .Detail.Hostile}}«ByzantineBCGAgent.build_round_prompt/round_prompt#0.0»` +
		`{{else}}«HonestBCGAgent.build_round_prompt/round_prompt#0.0»{{end}}{{end}}
`
	gameVote = `{{define "system"}}{{if .Detail.Hostile}}` +
		`«ByzantineBCGAgent.build_vote_system_prompt/vote_system_prompt#0.0»` +
		`{{else if eq .Caution "no-adversary"}}«` + figure14 + `»` +
		`{{else}}«HonestBCGAgent.build_vote_system_prompt/vote_system_prompt#0.0»{{end}}{{end}}
{{define "user"}}{{if .Detail.Hostile}}«ByzantineBCGAgent.build_vote_round_prompt/return#0.0»` +
		`{{else}}«HonestBCGAgent.build_vote_round_prompt/return#0.0»{{end}}{{end}}
`
)

var gameActions = map[string]string{
	"self.agent_id": "player {{.Detail.Self}}", "agent_id": "player {{.Detail.Self}}",
	"value_min": "{{.Detail.Low}}", "value_max": "{{.Detail.High}}", "max_rounds": "{{.Detail.Rounds}}",
	"current_round": "{{.Detail.Round}}", "int(self.initial_value)": "{{.Detail.Initial}}",
	"int(self.my_value)":  "{{.Detail.Value}}",
	"previous_strategies": "{{range $i, $n := .Detail.Notes}}{{if $i}}\n{{end}}{{$n}}{{end}}",
	"history_summary": "{{if .Detail.Past}}{{range .Detail.Past}}Round {{.Round}}:\n{{$.Detail.Lines " +
		".Proposals}}{{end}}" +
		"{{else}}«BCGAgent._format_history_with_agent_details/return#0.0»{{end}}",
	"current_round_summary": "{{.Detail.Lines .Detail.Now}}",
}
