package cpwbft

import (
	"synod.dev/synod"
	"synod.dev/synod/protocol"
)

// Entry is the protocol in the catalogue.
var Entry = protocol.Entry{
	Entry:   synod.Entry{Name: "cp-wbft", Summary: "CP-WBFT: say how sure you are, adopt what is said with more confidence; a baseline that one liar captures"},
	Source:  `Zheng et al., "Rethinking the Reliability of Multi-agent Systems: A Perspective from Byzantine Fault Tolerance", arXiv 2511.10400`,
	About:   About,
	New:     func() protocol.Protocol { return New() },
	Prompts: Prompts,
}

// About is what "synod explain" says.
const About = `Every member answers and says how sure it is, from 0 to 1. In each round of
stage 1 it tells its neighbours both, and takes over what the surest of them says
if that one is surer than itself. Stage 2 makes the decision: the answer whose
supporters are surest on average, of equals the one with more supporters. Give the
council rule: {name: protocol} for stage 2; any other rule counts the members' last
answers instead.

guaranteed  nothing, on any graph: 0 confidence liars are tolerated (claimed f is 0).
            One member that claims to be certain captures all honest ones that hear it.
measured    what confidence is worth where nobody lies (the report's calibration).
not promised  agreement, correctness, anything with a liar among the members.

rounds   of stage 1 (1, as in the paper)
probe    stated: the model says how sure it is (PCP); hidden: a trained probe reads
         it off the model's hidden states (HCP); none: no confidence
adopt    paper: the surest neighbour's answer; pooled: the reference code's rule, the
         answer with the highest mean confidence among neighbours and oneself;
         majority: what most of them say, the pilot study's traditional agents;
         none: only reflection changes an answer, the pilot study's LLM agents
weigh    of stage 2. paper: everyone; reference: none below 0.5 where any is at least 0.5
reflect  true: every round first think again with the neighbours' answers in view

A confidence that is missing counts as 0 and is reported; a message with one outside
[0,1] is not heard. The pilot study of the paper is {probe: none, adopt: majority}
for traditional agents and {probe: none, adopt: none, reflect: true} for LLM agents.`
