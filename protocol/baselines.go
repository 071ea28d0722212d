package protocol

import (
	"synod.dev/synod"
	"synod.dev/synod/protocol/debate"
	"synod.dev/synod/protocol/internal/answer"
	"synod.dev/synod/protocol/majority"
	"synod.dev/synod/protocol/selfconsistency"
	"synod.dev/synod/protocol/single"
	"synod.dev/synod/protocol/weightedmajority"
	"synod.dev/synod/protocol/wmsr"
)

// The baselines that every table needs.

var singleEntry = Entry{
	Entry:  synod.Entry{Name: "single", Summary: "one member answers, and only it votes"},
	Source: "the single model, a baseline that every table needs",
	About: `One member answers, and its answer is the council's: the other seats do nothing and
cost nothing, and have no vote. One call.

not promised  anything: where that member is wrong or lies, so is the council.

member       the seat that answers, counted from 0 (0)`,
	New:     func() Protocol { return single.New() },
	Prompts: answer.Pages,
}

var majorityEntry = Entry{
	Entry:  synod.Entry{Name: "majority", Summary: "everyone answers once, nobody hears anyone, the council's rule counts"},
	Source: "the plain vote, a baseline that every table needs",
	About: `Every member answers once; the council's rule (plurality, majority,
supermajority) counts. n calls, no messages: the graph plays no part.

not promised  anything of its own: liars win when there are enough of them to win a
              vote.`,
	New:     func() Protocol { return majority.New() },
	Prompts: answer.Pages,
}

var weightedMajorityEntry = Entry{
	Entry:  synod.Entry{Name: "weighted-majority", Summary: "everyone answers with a confidence and takes the answer with the largest sum of them nearby"},
	Source: "the vote weighted by stated confidence, a baseline that every table needs",
	About: `Every member answers and says how sure it is, from 0 to 1; tells its neighbours
both; and takes the answer with the largest sum of confidences among its neighbours
and itself (of equal sums the one with more supporters, then the first by its
bytes). The council's rule counts. n calls, one round.

A confidence that did not come, or that cannot be read, weighs nothing.

not promised  anything: weights are what members say of themselves, so one liar that
              claims 1.0 outweighs three honest members who are 0.3 sure. No liar is
              tolerated.

within       ticks that the exchange may take (4)`,
	New:     func() Protocol { return weightedmajority.New() },
	Prompts: answer.Pages,
}

var selfConsistencyEntry = Entry{
	Entry:  synod.Entry{Name: "self-consistency", Summary: "every member asks its own model several times and takes the answer that came most often"},
	Source: `Wang et al., "Self-Consistency Improves Chain of Thought Reasoning in Language Models", arXiv 2203.11171`,
	About: `Every member asks its own model k times, each time with another seed, and holds
the answer that came most often (of several, the one that came first). Nobody hears
anyone; the council's rule counts.

With budget: sac it makes as many calls as SAC plans for the same council: a member
with d neighbours takes 1 + T(d+2) samples, all members together n + T(2|E| + 2n).
A model that answers greedily (temperature 0) says the same every time: then this is
the majority vote at a multiple of its price. Recorded members have one reply to a
question and repeat it.

not promised  anything against a liar.

budget       samples: a fixed number each; sac: as many as SAC would call
samples      with budget samples: k, of each member (5)
rounds       with budget sac: T (6)`,
	New:     func() Protocol { return selfconsistency.New() },
	Prompts: answer.Pages,
}

var debateEntry = Entry{
	Entry:  synod.Entry{Name: "debate", Summary: "multi-agent debate: everyone is shown its neighbours' answers and reasons, and answers again"},
	Source: `Du et al., "Improving Factuality and Reasoning in Language Models through Multiagent Debate", arXiv 2305.14325`,
	About: `Every member answers by itself. Then, for a number of rounds, it is shown its
neighbours' answers with their reasoning and answers again; the council's rule
counts. Nothing is filtered and nothing scored. n(1+T) calls; in the paper three
agents who all hear one another debate for two rounds.

not promised  anything: a liar is read like anyone else.

rounds       T, the number of rounds (2)
rationale    bytes of reasoning shown beside an answer (600; 0: answers alone)
within       ticks that an exchange may take (4)`,
	New:     func() Protocol { return debate.New() },
	Prompts: debate.Prompts,
}

var wMSREntry = Entry{
	Entry:  synod.Entry{Name: "w-msr", Summary: "numbers only: drop the F largest above and the F smallest below one's own, average the rest"},
	Source: `LeBlanc, Zhang, Koutsoukos, Sundaram, "Resilient Asymptotic Consensus in Robust Networks", IEEE JSAC 31(4), 2013`,
	About: `Every member answers with a number. Then, in each round, it hears its neighbours'
numbers, drops the F largest of those above its own and the F smallest of those
below (all, if there are fewer), and moves to the mean of its own and the rest.
Models are asked for the first number only: n calls. Questions of other forms are
refused.

guaranteed  with at most F Byzantine neighbours each, whatever they tell to whom:
            validity: honest numbers stay between the smallest and the largest that
            honest members began with, on any graph;
            convergence: they approach one another where r >= 2F+1.
not promised  that the number is right, nor that it is exactly one: what is shown is
            rounded, and two sides of a rounding border are two answers.

rounds       the number of rounds (20)
decimals     of what is shown and decided (3); six more are carried
within       ticks that an exchange may take (4)`,
	New:     func() Protocol { return wmsr.New() },
	Prompts: answer.Pages,
}
