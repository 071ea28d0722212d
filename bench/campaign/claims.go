package campaign

import (
	"fmt"
	"slices"

	"synod.dev/synod/internal/forge"
	"synod.dev/synod/protocol/check"
)

// The types of claims, which protocols declare in their folders.
type (
	// FaultModel is the fault model under which a claim holds.
	FaultModel = check.FaultModel
	// Claim is a property that must hold in every execution of its protocols under its fault model.
	Claim = check.Claim
	// Violation is a claim that did not hold in an execution.
	Violation = check.Violation
)

// The fault models.
const (
	Any   = check.Any
	Sync  = check.Sync
	Local = check.Local
	Async = check.Async
	Crash = check.Crash
	Disk  = check.Disk
	Calls = check.Calls
)

// The ids of claims that code checks in more than one place.
const (
	claimCrash  = "EN-1"
	claimEnds   = "EN-2"
	claimCost   = "EN-3"
	claimSource = "I-SAC-9"
	claimSame   = "RU-1"

	claimKept    = "LE-2"
	claimStopped = "LE-5"
	claimCosign  = "LE-6d"
	claimWhole   = "LE-7"

	claimCosts = "JO-7"
	claimAgain = "JO-8"

	claimMeant  = "TX-5"
	claimUnsaid = "TX-6"

	claimHeard = "AT-1"
	claimNonce = "AT-2"

	claimFields   = "CE-7"
	claimApproved = "CE-8"

	claimPaid   = "JO-4"
	claimLeaves = "JO-5"
	claimRead   = "JO-6"

	claimRobust  = "GH-1"
	claimConnect = "GH-2"
	claimWritten = "GH-3"

	claimCounted   = "DE-3"
	claimWithstood = "DE-4"
	claimSpelled   = "DE-5"
	claimProbable  = "DE-6"

	claimMerged      = "DE-7"
	claimMergeStays  = "DE-8"
	claimMergeSigned = "CE-9"

	claimTree  = "LE-8"
	claimHeads = "LE-9"
	claimEnter = "LE-10"

	claimBound = "SG-1"
	claimKinds = "SG-2"

	claimEvidence = "EV-1"
)

// common are the claims of every subject.
var common = claimsOf(claimCrash, claimEnds, claimSame, check.Replay, check.FailedCalls)

// answering are the claims of protocols whose members exchange answers in rounds.
var answering = claimsOf(claimCost, claimSource)

// allClaims returns the claims of a subject, and those of all subjects that may apply to it.
func allClaims(s *check.Subject) []Claim {
	all := slices.Concat(s.Claims, common)
	if s.Exchanges {
		all = append(all, answering...)
	}
	return slices.DeleteFunc(all, func(c Claim) bool { return slices.Contains(s.Never, c.ID) })
}

// ClaimTable has each claim that no protocol owns, once: docs/guarantees.txt, docs/guarantees.json and the output of
// commands are made from it and from the claims in the folders of protocols.
var ClaimTable = []Claim{
	// Claims of every run: it ends, repeats, resumes, keeps limits and secrets.
	{ID: claimCrash, Model: Any,
		Property: "no machine panics, whatever it is sent",
		Source:   "reliability, SC-16"},
	{ID: claimEnds, Model: Any,
		Property: "every run ends: each member that is up decides within the rounds",
		Source:   "SAC Algorithm 1; DecentLLMs §III.C"},
	{ID: claimCost, Model: Any,
		Property: "members play at most the announced rounds, in order, with at most the announced calls",
		Source:   "SAC §4.1 (I-SAC-8)", Margin: "calls below the bound"},
	{ID: claimSource, Model: Any,
		Property: "the source of every answer is right: own, kept, adopted from a neighbour, or new",
		Source:   "SAC §4.1 (I-SAC-9)"},
	{ID: claimSame, Model: Any,
		Property: "one seed and one set of replies give one record",
		Source:   "own"},
	{ID: check.Replay, Model: Crash,
		Property: "a member that is restarted from its journal does again what it did, and goes on",
		Source:   "own"},
	{ID: "RU-3", Model: Calls,
		Property: "the calls, tokens and money of a question never exceed its limits, whatever members ask at once " +
			"and however calls fail",
		Source: "own (RU-3)"},
	{ID: "RU-4", Model: Any,
		Property: "a key that a server repeats in its errors and headers is in no journal, outcome or error of a run",
		Source:   "own (RU-4, SC-31)"},
	{ID: "RU-4k", Model: Any,
		Property: "a key is in no form that a log, an error or a record writes it in",
		Source:   "own (RU-4, SC-30)"},
	{ID: check.FailedCalls, Model: Calls,
		Property: "a call that failed, or whose reply is not what was asked for, is never an answer, a vote or a " +
			"score, and is counted at most once",
		Source: "own (GR-2)"},

	// Claims of the signed broadcast.
	{ID: "BB-1", Model: Sync,
		Property: "all honest members deliver the same value of a sender, or all deliver none for the same reason",
		Source:   "Dolev and Strong 1983; DecentLLMs §III.C"},
	{ID: "BB-2", Model: Sync,
		Property: "all honest members deliver the value of an honest sender",
		Source:   "Dolev and Strong 1983"},
	{ID: "BB-3", Model: Any,
		Property: "members deliver after f+1 rounds, f+2 for a sender outside of the group, and never later",
		Source:   "finding F11"},
	{ID: "BB-4", Model: Any,
		Property: "a value is delivered once, and only with its sender's signature",
		Source:   "Dolev and Strong 1983"},
	{ID: "BB-5", Model: Any,
		Property: "two signed values are evidence that a third party verifies, and there is none against the honest",
		Source:   "own"},
	{ID: "BB-6", Model: Any,
		Property: "an honest member sends at most one message for each part of a round",
		Source:   "Dolev and Strong 1983", Margin: "messages below the bound"},
	{ID: "BB-7", Model: Any,
		Property: "what a sender has signed for another run or another committee is delivered by nobody",
		Source:   "own"},
	{ID: "BB-8", Model: Sync,
		Property: "while delays are within the bound, nobody can make an honest member sure that they are not",
		Source:   "own"},
	{ID: "BB-8a", Model: Async,
		Property: "if delays break agreement and nothing is lost, some member marks its delivery as unsafe",
		Source:   "own"},
	{ID: "BB-D", Model: Any,
		Property: "a member delivers, passes on and marks as unsafe what a slow reference does from the same messages",
		Source:   "Dolev and Strong 1983"},

	// Claims of ledgers.
	{ID: "LE-1", Model: Any,
		Property: "any two heads of a log have a proof that the later one extends the earlier one, and no changed " +
			"proof is accepted",
		Source: "RFC 6962", Protocols: []string{"ledger"}},
	{ID: claimKept, Model: Crash,
		Property: "an entry that a ledger has acknowledged is there with its proof after errors of the disk, a " +
			"kill and a power cut at any call, and the ledger can be opened",
		Source: "own (LE-2)"},
	{ID: "LE-3", Model: Disk,
		Property: "a flipped, removed, inserted or swapped entry under the last head is found when the log is " +
			"opened, and the error says where",
		Source: "own", Protocols: []string{"ledger"}},
	{ID: "LE-4", Model: Crash,
		Property: "whatever part of a write that was not acknowledged is on the disk, recovery keeps every " +
			"acknowledged entry and cuts only bytes after the last whole one",
		Source: "own", Margin: "bytes between the last acknowledged entry and the cut", Protocols: []string{"ledger"}},
	{ID: claimStopped, Model: Disk,
		Property: "after an error of the disk a ledger acknowledges nothing more until it is opened again",
		Source:   "own (LE-5)"},
	{ID: "LE-6", Model: Any,
		Property: "a witness that has signed a later head refuses an older copy and a fork",
		Source:   "own", Protocols: []string{"ledger"}},
	{ID: claimCosign, Model: Disk,
		Property: "after a ledger was lost or rolled back, its witness signs no head that lacks an entry which it " +
			"has signed for",
		Source: "own (LE-6)"},
	{ID: claimWhole, Model: Disk,
		Property: "whatever bit changes, a ledger that can be opened has every acknowledged entry, and none that " +
			"nobody appended",
		Source: "own (LE-3)"},

	{ID: claimTree, Model: Any,
		Property: "numbers, roots, inclusion and consistency proofs of a log are those of a slow Merkle tree",
		Source:   "RFC 6962"},
	{ID: claimHeads, Model: Any,
		Property: "a head is valid for its log with a quorum of its replicas, strangers not counted; a witness signs " +
			"no fork, and no older checkpoint takes the place of a newer one",
		Source: "own"},
	{ID: claimEnter, Model: Any,
		Property: "a log of replicas has the entries of a record that enough replicas hold, one of each",
		Source:   "own"},
	{ID: "LE-11", Model: Any,
		Property: "a public witness cosigns each head of a ledger that grows, and no older copy and no fork; what is " +
			"no cosignature of the head is not taken for one",
		Source: "c2sp.org/tlog-witness", Protocols: []string{"ledger"}},

	// Claims of journals.
	{ID: "JO-1", Model: Any,
		Property: "playing a journal again without any model gives the same digest, and the same seed gives the " +
			"same journal",
		Source: "own (RU-1)", Protocols: []string{"journal"}},
	{ID: "JO-2", Model: Crash,
		Property: "a run whose journal was cut at any byte after its head and that is resumed decides what the " +
			"uninterrupted run decides",
		Source: "own (RU-2)", Protocols: []string{"journal"}},
	{ID: "JO-3", Model: Disk,
		Property: "a flipped bit in a journal is an error, or its replay has the same digest",
		Source:   "own", Protocols: []string{"journal"}},
	{ID: claimPaid, Model: Crash,
		Property: "a reply that was paid for is read again after errors of the disk and a kill at any call, and a " +
			"journal that was closed also after a power cut",
		Source: "own (RU-2)"},
	{ID: claimLeaves, Model: Disk,
		Property: "after an error of the disk no request leaves and no run counts as kept until the journal is " +
			"opened again",
		Source: "own (LE-5)"},
	{ID: claimRead, Model: Disk,
		Property: "whatever bit changes and whatever is torn, no reply is read that was not written, and a journal " +
			"with an end is read whole or not at all; without a power cut none that was taken disappears from a " +
			"segment",
		Source: "own (JO-3)"},

	{ID: claimCosts, Model: Crash,
		Property: "a run that was interrupted, dropped or begun anew any number of times has the replies that may be " +
			"used, and the cost of all calls that brought none",
		Source: "own (RU-2)"},
	{ID: claimAgain, Model: Any,
		Property: "the replay of a journal is what its machine did, and one from which an effect is missing is refused",
		Source:   "own (RU-1)"},

	// Claims of certificates and their quorums.
	{ID: "CE-1", Model: Any,
		Property: "a certificate with one changed bit, cut off, extended or with other signatures is refused",
		Source:   "finding F9", Protocols: []string{"certificate"}},
	{ID: "CE-2", Model: Any,
		Property: "a statement whose support, graph, claim, rule or answer does not follow from the members' " +
			"answers is refused although it is signed",
		Source: "own", Protocols: []string{"certificate"}},
	{ID: forge.Exclusive, Model: Async,
		Property: "whatever callers, up to F voters and all members without a vote write, no two valid " +
			"certificates of a run differ where one says that there is no second, and none is valid that too few " +
			"voters, or a member without a vote, signed, or that shows another vote of an honest member than it gave",
		Source: "an attack on nodes: two valid certificates of one run contradicted each other"},
	{ID: forge.OneAnswer, Model: Crash,
		Property: "a member that is not Byzantine signs at most one answer of a run, and only one that it ended " +
			"on, whatever it is asked, killed, or moved to another roster",
		Source: "own (as CE-5)"},
	{ID: claimFields, Model: Any,
		Property: "a certificate is valid if, and only if, a slow reference finds that its signers, votes, rule, " +
			"support, graph and claim are enough, whatever fields are false",
		Source: "own (docs/operate/certificates.md)"},
	{ID: claimApproved, Model: Any,
		Property: "a member signs a statement if, and only if, it is about its own run, question, form and votes and " +
			"follows from what it shows",
		Source: "own"},
	{ID: "QU-1", Model: Async,
		Property: "two quorums of n >= 3f+1 members share more than f of them, and those that are not Byzantine " +
			"are a quorum",
		Source: "Castro and Liskov 1999; certificates CE-3b", Margin: "members that two quorums share beyond f+1",
		Protocols: []string{"certificate"}},

	// Claims of aggregates, support, and what answers withstand.
	{ID: "AG-1", Model: Sync,
		Property: "the median of totals is between the lowest and the highest honest total, whatever fewer than " +
			"half of the evaluators say",
		Source: "DecentLLMs §III.C, finding F6", Margin: "distance to the nearer end of the honest range"},
	{ID: "AG-2", Model: Any,
		Property: "every aggregate gives the same bits in whatever order evaluations come",
		Source:   "finding F5"},
	{ID: "DE-1", Model: Any,
		Property: "with a support rule nothing is decided that fewer members answered before they heard others",
		Source:   "finding F7", Margin: "supporters beyond the rule"},
	{ID: "WI-1", Model: Any,
		Property: "an answer that withstands k changed votes leads whatever any k of the voters say instead",
		Source:   "own"},

	// Claims of the runtime that plays the texts of protocols.
	{ID: claimHeard, Model: Any,
		Property: "the text of a protocol hears the first message of each neighbour for each of its rounds, and gets " +
			"the first reply to each call, as a slow machine does on the same events",
		Source: "own"},
	{ID: claimNonce, Model: Any,
		Property: "each call has a seed and a nonce of its own, and the nonce is not the seed, which models see",
		Source:   "own"},

	// Claims of the judge of a council.
	{ID: claimCounted, Model: Any,
		Property: "a council's status, decision, votes and supporters are those that a slow reference counts from " +
			"the same ballots: with voices of several seats, answers that members call the same, and checks",
		Source: "own (docs/use/council-file.md)"},
	{ID: claimWithstood, Model: Any,
		Property: "what a decision withstands is what trying all changes of votes finds, in voices",
		Source:   "own"},
	{ID: claimSpelled, Model: Any,
		Property: "a decision is printed as most of those wrote it that end on it, if more than F did and it reads " +
			"as the decision",
		Source: "own"},
	{ID: claimProbable, Model: Any,
		Property: "the stated probability of an answer of tiers is that of a slow reference, without the votes of F " +
			"members that may lie, and after n questions at most (n+1)/(n+2)",
		Source: "own (docs/research/cascade.md)"},
	{ID: "DE-9", Model: Any,
		Property: "a breaker trips after the round after which a slow reference lets it trip, and after no other, " +
			"with F members left out",
		Source: "own (GR-1, docs/research/papers.md)"},
	{ID: "DE-10", Model: Any,
		Property: "a run of votes that a limit cuts off decides if, and only if, it would decide the same whatever " +
			"those without an answer said",
		Source: "own (GR-1)"},
	{ID: "DE-11", Model: Any,
		Property: "what an outcome tells of rounds, members, models, calls and tokens is what the records of its " +
			"seats say, packed and in JSON as well",
		Source: "own"},
	{ID: "DE-12", Model: Any,
		Property: "an outcome is computed again from its journal, and its entry in a ledger has question, answer and " +
			"the last record of each seat",
		Source: "own"},
	{ID: "DE-13", Model: Any,
		Property: "what members' answers say of their reliability, their weights, who errs together and who has " +
			"changed is what a slow reference estimates, and a history has the last answer of each member to each " +
			"question",
		Source: "Dawid and Skene 1979; own (docs/research/cascade.md, Trust)"},

	// Claims of structured answers.
	{ID: claimMerged, Model: Any,
		Property: "a JSON value is decided as a slow reference decides it: as a whole, or part by part by votes, " +
			"numbers without the F lowest and highest, and items, and no combination that only F members gave",
		Source: "own (docs/use/forms.md)"},
	{ID: claimMergeStays, Model: Any,
		Property: "a merged value is the same without as many seats, and whatever as many say, as it is said to " +
			"withstand",
		Source: "own (docs/use/forms.md)"},
	{ID: claimMergeSigned, Model: Any,
		Property: "a certificate of a merged value is valid if, and only if, the answers of which it has the hashes " +
			"give the value, and what it withstands is that of these answers",
		Source: "own (docs/operate/certificates.md)"},
	{ID: "CE-10", Model: Any,
		Property: "a statement of one owner is written and read if, and only if, all its fields are within the rules " +
			"of the format",
		Source: "own (docs/operate/certificates.md, K1, C1, M1)"},

	// Claims of graphs.
	{ID: claimRobust, Model: Any,
		Property: "r, s, their witnesses, reach and locality of a graph are those of the definition, tried on all " +
			"pairs of sets",
		Source: "LeBlanc et al. 2013"},
	{ID: claimConnect, Model: Any,
		Property: "connectivity, roots and what is left without some nodes are those of the definition",
		Source:   "own"},
	{ID: claimWritten, Model: Any,
		Property: "a graph that is written in a format is read again as the same graph",
		Source:   "own"},
	{ID: "GH-4", Model: Any,
		Property: "a node that hears r others changes nothing in r, in graphs of more than 64 nodes too, and two " +
			"sets prove what the definition says",
		Source: "LeBlanc et al. 2013"},

	{ID: "GH-5", Model: Any,
		Property: "graphs of layers, that grow, of schedules and with names have the edges that their parameters " +
			"say, and no exchange of one node makes the worst placement worse",
		Source: "CP-WBFT §5.1; SAC Appendix A; own"},

	// Claims of signatures and evidence.
	{ID: claimBound, Model: Any,
		Property: "a signature is valid for its signer, run, committee and data, and with any of them changed it is " +
			"not",
		Source: "own"},
	{ID: claimKinds, Model: Any,
		Property: "no signature of one kind (envelope, note, run) counts as one of another kind or of another type",
		Source:   "own"},
	{ID: claimEvidence, Model: Any,
		Property: "evidence is accepted if, and only if, a member signed two bodies for one slot of one run",
		Source:   "own"},

	// Claims of texts.
	{ID: "TX-1", Model: Any,
		Property: "a score is read from the last line or a JSON object only: numbers in the text of a judge before " +
			"it change nothing",
		Source: "finding F4"},
	{ID: "TX-2", Model: Any,
		Property: "the canonical form of an answer is its own canonical form",
		Source:   "own (adversary digit-twin)"},
	{ID: "TX-3", Model: Any,
		Property: "what a member writes never stands outside of its fence or quotation in the prompt of another",
		Source:   "own (adversaries score-smuggler, delimiter-forger, role-breaker)"},
	{ID: claimMeant, Model: Any,
		Property: "numbers, amounts with units, times and choices are read as what they mean, in whatever way they " +
			"are written",
		Source: "own"},
	{ID: claimUnsaid, Model: Any,
		Property: "a reply that failed, says two things, or has a score out of range has no answer and no score",
		Source:   "own (SAC-10)"},
	{ID: "TX-7", Model: Any,
		Property: "with the defence drop-meta no sentence about members, judges or instructions that the question " +
			"does not name is shown, and every other sentence is",
		Source: "own (adversary judge-hypnotist)"},
	{ID: "TX-4", Model: Any,
		Property: "a shown text has no character that a terminal obeys or that cannot be seen",
		Source:   "own (adversary markup-bomber, SC-37)"},
}

// claimOf returns a claim of the table.
func claimOf(id string) Claim {
	at := slices.IndexFunc(ClaimTable, func(c Claim) bool { return c.ID == id })
	if at < 0 {
		panic(fmt.Sprintf("campaign: the table has no claim %s", id))
	}
	return ClaimTable[at]
}

// claimsOf returns claims of the table.
func claimsOf(ids ...string) (all []Claim) {
	for _, id := range ids {
		all = append(all, claimOf(id))
	}
	return all
}

// TestedClaim is a claim that only tests check: a check needs several programs, time or a repository.
type TestedClaim struct {
	ID       string
	Property string // one sentence
	Model    string // fault models, and what else must hold
	Check    string // the commands that check it, as Markdown
}

// TestedClaims lists the claims that only tests check.
var TestedClaims = []TestedClaim{
	{ID: "CE-3", Model: "S(f), A",
		Property: "two conflicting certificates of one run do not exist if f < n/2 (S) or, with quorums of " +
			"⌈(n+f+1)/2⌉, f < n/3 (A); a certificate says which applies",
		Check: "I-LB-1, LB-C, QU-1 and CE-5 of `synod research verify-claims` together; `go test " +
			"./protocol/rotatingleader ./protocol/fixedleader -run LB`"},
	{ID: "CO-1", Model: "S(f), members that all hear one another",
		Property: "no honest member tells its first answer before each honest member has a commitment of each " +
			"member that is asked, or the time for commitments is over; so each first answer that honest members " +
			"take was fixed before its sender could read one of theirs (defence `commit`)",
		Check: "`go test ./protocol/reveal` (`TestNobodyOpensEarly`: random delays, speeds and adversaries), `go " +
			"test ./network/node -run TestNodesCopyNothing`"},
	{ID: "CO-2", Model: "S(f)",
		Property: "a first answer counts as independent only if F other members say that its sender had committed " +
			"to it in time; F members together can keep no honest one from counting",
		Check: "`go test ./council/outcome -run 'TestWitnesses|TestCascadeCountsNoCopies'`, `go test ./adversary " +
			"-run TestCopiesAreNoSupport`"},
	{ID: "CE-4", Model: "any",
		Property: "verifiers in Python and JavaScript, which share no code with the first or one another, judge " +
			"certificates alike",
		Check: "`make certificates` (100,000 structured mutants to three, a million mutants of bytes to two), " +
			"`FuzzBoth` in `certificate`, `go test ./record/certificate -run ThreeVerifiers`"},
	{ID: "LE-2, with processes", Model: "C",
		Property: "an acknowledged entry of a ledger survives kill -9",
		Check:    "`go test ./record/ledger -run TestKilled -kills 1000`"},
	{ID: "RU-2, with processes", Model: "C",
		Property: "a run that was killed anywhere and resumed is the uninterrupted run, and repeats no paid call " +
			"that was answered",
		Check: "`make kills`"},
	{ID: "RU-3, with repeated calls", Model: "P",
		Property: "calls, tokens and money stay within the limits, also with second copies of slow calls and after " +
			"a run was resumed",
		Check: "`go test ./llm ./council -run 'Budget|Spend|Limit'`"},
	{ID: "RU-4, in programs", Model: "any",
		Property: "keys are in no log, journal, ledger, certificate, error or metric",
		Check: "`go test ./cmd/cli -run TestFirstSession`, `go test ./llm -run Secret`, `TestNoSecretsInFiles` of " +
			"synod-serve"},
}
