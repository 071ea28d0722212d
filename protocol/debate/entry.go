package debate

import (
	"embed"
	"io/fs"

	"synod.dev/synod"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/answer"
)

// Entry is the protocol in the catalogue.
var Entry = protocol.Entry{
	Entry:  synod.Entry{Name: "debate", Summary: "multi-agent debate: everyone is shown its neighbours' answers and reasons, and answers again"},
	Source: `Du et al., "Improving Factuality and Reasoning in Language Models through Multiagent Debate", arXiv 2305.14325`,
	About: `Every member answers by itself. Then, for a number of rounds, it is shown its
neighbours' answers with their reasoning and answers again; the council's rule
counts. Nothing is filtered and nothing scored. n(1+T) calls; in the paper three
agents who all hear one another debate for two rounds.

not promised  anything: a liar is read like anyone else.

rounds       T, the number of rounds (2)
rationale    bytes of reasoning shown beside an answer (600; 0: answers alone)`,
	New:     func() protocol.Protocol { return New() },
	Prompts: Prompts,
}

//go:embed prompts/*.tmpl
var files embed.FS

// Prompts are the protocol's templates, in our words.
func Prompts() fs.FS { return answer.With(files) }
