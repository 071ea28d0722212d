package campaign

import (
	"fmt"
	"slices"

	"synod.dev/synod"
)

// FaultKind is a kind of fault that the simulator injects.
type FaultKind struct {
	synod.Entry
	Group  FaultGroup `json:"group"`
	Charge Charge     `json:"charge"`
	// what a subject needs so that the fault means something
	signed bool
	only   string // the only subject that has the kind; "": every one
}

// FaultGroup says where a kind of fault acts.
type FaultGroup string

// The groups.
const (
	Network    FaultGroup = "network"
	Content    FaultGroup = "content" // of messages
	Process    FaultGroup = "process"
	Clock      FaultGroup = "clock"
	Membership FaultGroup = "membership"
	Provider   FaultGroup = "provider" // of model calls
	Storage    FaultGroup = "storage"  // of ledgers and journals
	Insider    FaultGroup = "insider"  // of a member that knows the protocol and what others know
)

// Charge says whom a fault makes faulty.
type Charge string

// The charges.
const (
	Free      Charge = "free"      // nobody: within the assumptions of every model
	Omission  Charge = "omission"  // the member that it hits, under synchrony; nobody where delays have no bound
	Byzantine Charge = "byzantine" // the member that it hits
	Late      Charge = "late"      // it breaks the bound on delays: only executions of the model A have it
)

func kind(group FaultGroup, charge Charge, name, summary string) FaultKind {
	return FaultKind{Entry: synod.Entry{Name: name, Summary: summary}, Group: group, Charge: charge}
}

func signedKind(group FaultGroup, charge Charge, name, summary string) FaultKind {
	k := kind(group, charge, name, summary)
	k.signed = true
	return k
}

// kinds is the catalogue of faults, in the order of reports.
var kinds = []FaultKind{
	kind(Network, Free, "delay", "messages of a link take longer, within the bound"),
	kind(Network, Late, "delay-long", "messages of a link take longer than the bound"),
	kind(Network, Free, "reorder", "every second message of a link is overtaken by the next one"),
	kind(Network, Free, "duplicate", "messages of a link arrive twice"),
	kind(Network, Omission, "drop", "messages of a link are lost"),
	kind(Network, Omission, "partition", "some members are cut off from the others"),
	kind(Network, Omission, "partition-one-way", "some members are heard, and hear nothing"),
	kind(Network, Omission, "partition-bridge", "two parts of the council are linked by one member only"),
	kind(Network, Omission, "partition-flapping", "a partition comes and goes"),
	kind(Network, Omission, "swizzle-clog", "members are cut off one after another, and come back in another order"),
	kind(Network, Byzantine, "selective-silence", "a member sends to some of its neighbours only"),
	kind(Network, Byzantine, "late-reveal", "a member sends to one neighbour only, just before the end of a round"),

	kind(Content, Byzantine, "replay-round", "a member sends the content of an earlier round again"),
	kind(Content, Byzantine, "replay-other", "a member sends what another member sent in the slot as its own"),
	signedKind(Content, Byzantine, "replay-run", "a member's signatures are those of another run"),
	signedKind(Content, Byzantine, "replay-committee", "a member's signatures are those of another committee"),
	kind(Content, Byzantine, "forged-signature", "one bit near the end of a message, where signatures are, is changed"),
	kind(Content, Byzantine, "stripped-signature", "a message lacks its last bytes"),
	kind(Content, Byzantine, "swapped-signature", "a message ends with the last bytes of another one"),
	kind(Content, Byzantine, "bit-flip", "one bit of a message is changed"),
	kind(Content, Byzantine, "garbage", "a message is random bytes"),
	kind(Content, Byzantine, "empty", "a message has no bytes"),
	kind(Content, Byzantine, "oversize", "a message is longer than any that is read"),
	kind(Content, Byzantine, "deep-nesting", "a message is thousands of brackets"),
	kind(Content, Byzantine, "flood", "a member fills slots that nobody asked for"),

	kind(Process, Omission, "crash", "a member stops for good"),
	kind(Process, Omission, "restart", "a member loses what happens for a time, and goes on from its journal"),
	kind(Process, Byzantine, "restart-stale", "a member goes on from an old copy of its journal"),
	kind(Process, Omission, "pause", "a member gets all events of a time at the end of it"),
	kind(Process, Byzantine, "twins", "two copies of a member with one key, each heard by some neighbours (Twins)"),
	kind(Process, Byzantine, "duplicate-identity", "two copies of a member with one key, both heard by all"),

	kind(Clock, Free, "clock-skew", "a member's clock is wrong by one tick, within the bound"),
	kind(Clock, Omission, "clock-jump", "a member's clock jumps ahead"),
	kind(Clock, Omission, "clock-backwards", "a member's clock jumps back"),

	kind(Membership, Free, "sybil", "somebody with a key of its own takes part without being a member"),
	kind(Membership, Free, "removed-member", "somebody with a key of the committee takes part without being linked"),
	kind(Membership, Omission, "late-joiner", "a member begins after the others"),

	kind(Provider, Free, "http-429", "the model's server refuses with 429"),
	kind(Provider, Free, "http-429-retry-after", "the same, and names a time to wait"),
	kind(Provider, Free, "http-500", "the model's server fails with 500"),
	kind(Provider, Free, "http-502", "a gateway fails with 502 and a page of HTML"),
	kind(Provider, Free, "http-503", "the model's server is overloaded: 503"),
	kind(Provider, Free, "http-401", "the model's server does not know the key"),
	kind(Provider, Free, "redirect", "the model's server redirects to another host"),
	kind(Provider, Free, "refused", "the connection is refused"),
	kind(Provider, Free, "tls-error", "the server's certificate is not valid"),
	kind(Provider, Free, "dns-failure", "the server's name is unknown"),
	kind(Provider, Free, "stream-cut", "the reply ends in the middle"),
	kind(Provider, Free, "rune-cut", "the reply ends inside a character"),
	kind(Provider, Free, "malformed-json", "the reply is no JSON"),
	kind(Provider, Free, "wrong-schema", "the reply has fields of other types"),
	kind(Provider, Free, "empty-choices", "the reply has no choices"),
	kind(Provider, Free, "finish-length", "the text was cut at the limit on tokens"),
	kind(Provider, Free, "content-filter", "the server's filter removed the text"),
	kind(Provider, Free, "tool-call", "the reply is a tool call and no text"),
	kind(Provider, Free, "wrong-model", "another model answers"),
	kind(Provider, Free, "long-reply", "the reply is longer than any that is read"),
	kind(Provider, Free, "gzip-bomb", "the reply is compressed although nobody asked for that"),
	kind(Provider, Free, "refusal", "the text is a refusal"),
	kind(Provider, Free, "nonsense", "the text answers something else"),
	kind(Provider, Free, "timeout", "no reply in time"),
	kind(Provider, Free, "nondeterministic", "the same prompt gets another answer"),

	kind(Storage, Free, "disk-full", "writes that need more room fail, after a part of them"),
	kind(Storage, Free, "disk-quota", "the same, because of the owner's quota"),
	kind(Storage, Free, "disk-read-only", "writes, new names and renames are refused"),
	kind(Storage, Free, "write-error", "a write fails, and nothing is written"),
	kind(Storage, Free, "short-write", "a write fails after a part of it"),
	kind(Storage, Free, "sync-error", "a sync fails, and what it should have put on the disk never gets there"),
	kind(Storage, Free, "rename-error", "a rename fails"),
	kind(Storage, Free, "read-error", "a read fails"),
	kind(Storage, Free, "short-read", "a read returns less than there is"),
	kind(Storage, Free, "kill", "the process dies at a call of the disk"),
	kind(Storage, Free, "power-cut", "the power is cut at a call: what was not synced is lost from some call on"),
	kind(Storage, Free, "torn-sector", "the same, and each sector of 512 bytes is lost or not by itself"),
	kind(Storage, Free, "bit-rot", "one bit of a file changes while no process has it open"),
	onlyFor(ledgerName, kind(Storage, Free, "ledger-lost", "the folder of the ledger is empty when it is opened")),
	onlyFor(ledgerName, kind(Storage, Free, "ledger-rolled-back", "the folder has an older copy when it is opened")),

	signedKind(Insider, Byzantine, "lifted-signature",
		"a signature stands in a message for which it was not made: of another sender, place, phase or round"),
	kind(Insider, Byzantine, "moved-part", "a part of a message stands in another place, or in another message"),
	signedKind(Insider, Byzantine, "earlier-run", "a part of a message comes from an earlier run with the same keys"),
	kind(Insider, Byzantine, "repeated-part", "a part of a list, such as a signer, is there twice or everywhere"),
	kind(Insider, Byzantine, "missing-part", "a message lacks a part"),
	kind(Insider, Byzantine, "invented-part", "a part of a message is made up, with signatures of insiders"),
	kind(Insider, Byzantine, "other-name", "a member tells as its own what another member has told"),
	kind(Insider, Byzantine, "number-out-of-range", "a number in a message is another one"),
	kind(Insider, Byzantine, "other-value", "a text in a message is another one, with a new signature"),
	kind(Insider, Byzantine, "passed-on", "a member sends on at once what it hears, in place of its own message"),
	kind(Insider, Byzantine, "withheld", "a member sends nothing to some of its neighbours, such as a certificate"),
	kind(Insider, Byzantine, "wrong-round", "a message is sent as one of an earlier or a later round"),
	kind(Insider, Byzantine, "last-moment", "a message comes at the end of its round, or one tick after it"),
	kind(Insider, Byzantine, "misheard", "the changes are made to what a member hears, and it goes on with that"),
	kind(Insider, Byzantine, "deaf", "a member does not hear some of its neighbours"),
	kind(Insider, Byzantine, "forged-note", "a member records something else than what it holds and has signed"),
}

// onlyFor returns the kind for one subject.
func onlyFor(subject string, k FaultKind) FaultKind {
	k.only = subject
	return k
}

// firstStorage is the index of the first kind of storage: subjects that play a disk have those from there on, and all
// others those before.
var firstStorage = slices.IndexFunc(kinds, func(k FaultKind) bool { return k.Group == Storage })

// firstInsider is the index of the first kind of group Insider, which come last.
var firstInsider = slices.IndexFunc(kinds, func(k FaultKind) bool { return k.Group == Insider })

// Kinds returns the catalogue of faults.
func Kinds() []FaultKind { return kinds }

// byName maps names to indices of kinds.
var byName = func() map[string]int {
	m := map[string]int{}
	for i, k := range kinds {
		m[k.Name] = i
	}
	return m
}()

// kindOf returns the index of a kind in the catalogue.
func kindOf(name string) (int, error) {
	i, ok := byName[name]
	if !ok {
		var names []string
		for _, k := range kinds {
			names = append(names, k.Name)
		}
		return 0, fmt.Errorf("campaign: no fault is called %q%s", name, synod.Hint(name, names))
	}
	return i, nil
}

// Elsewhere are faults of real processes, and what tries them instead of the simulator.
var Elsewhere = []synod.Entry{
	{Name: "out of memory, too many files", Summary: "make soak, TestHostileLinks"},
	{Name: "slow-loris and half-open connections", Summary: "TestHostileLinks of node, tests of synod serve"},
	{Name: "SIGKILL of a process", Summary: "make kills"},
	{Name: "network namespaces, blackholes, resets", Summary: "make nodes, make perturbed"},
	{Name: "one byte a second", Summary: "TestHostileLinks of node"},
}

// onHost reports whether a kind is played by a wrapper around the member's machine.
func onHost(k int) bool {
	g := kinds[k].Group
	return g == Process || g == Clock || kinds[k].Name == "late-joiner" || kinds[k].Name == "replay-run" ||
		kinds[k].Name == "replay-committee"
}
