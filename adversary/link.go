package adversary

import (
	"fmt"

	"synod.dev/synod"
)

// Hostile is implemented by adversaries that sit outside a machine. Package node plays those at links; a
// simulation has no links and refuses them.
type Hostile interface {
	// Name returns the name in the catalogue, and At the place.
	Name() string
	At() Place
}

// Linked is what a node does on the streams that it opens to other nodes. Its seat's machine is honest.
type Linked struct {
	name string
	// Rate is how many times it attacks in a second, and Strangers how many keys of its own it invents.
	Rate      int `yaml:"rate" doc:"attacks in a second" range:"1:100000"`
	Strangers int `yaml:"keys" doc:"keys that it invents" range:"1:10000"`
}

// Name implements Hostile.
func (a *Linked) Name() string { return a.name }

// At implements Hostile.
func (a *Linked) At() Place { return AtLink }

// Corrupt returns the honest machine.
func (a *Linked) Corrupt(_ synod.Seat, honest synod.Machine) synod.Machine { return honest }

// The names of the adversaries at links.
const (
	Flooder  = "flooder"
	SlowDrip = "slow-drip"
	Forger   = "forger"
	Sybils   = "sybil-swarm"
)

// linked returns the entry of an adversary at a link. The parameters that it has are those with a default.
func linked(name, summary, about string, rate, keys int, f Facts) Entry {
	f.Place, f.Model = AtLink, Synchronous
	if f.Where == nil {
		f.Where = synod.Anywhere
	}
	return Entry{Entry: synod.Entry{Name: name, Summary: summary}, Facts: f,
		About: about + "\n\nIt sits at a node (synod-node) and not in a machine, so councils that are played in one " +
			"process refuse it.",
		New: func(params map[string]any) (Adversary, error) {
			a := &Linked{name: name, Rate: max(rate, 1), Strangers: max(keys, 1)}
			for key, has := range map[string]bool{"rate": rate > 0, "keys": keys > 0} {
				if _, given := params[key]; given && !has {
					return nil, fmt.Errorf("%s has no parameter %s", name, key)
				}
			}
			return a, decode(params, a)
		},
		Params: func() any {
			switch {
			case rate > 0:
				return &rateParams{rate}
			case keys > 0:
				return &keyParams{keys}
			}
			return &struct{}{}
		}}
}

type rateParams struct {
	Rate int `yaml:"rate" doc:"attacks in a second" range:"1:100000"`
}

type keyParams struct {
	Keys int `yaml:"keys" doc:"keys that it invents" range:"1:10000"`
}

var (
	flooderEntry = linked(Flooder, "at nodes: floods its streams with junk, oversize and nested frames",
		`Beside the messages of an honest member its node sends frames that no honest node sends:
lengths beyond the limit, random bytes, deeply nested values, and thousands of pings.

rate  junk frames in a second (20000)`, 20_000, 0,
		Facts{Number: 37, Defence: "size before parse; rates of frames and bytes for each neighbour; exclusion for " +
			"a time",
			Kind: Deterministic, Source: "go-libp2p's guide to denial of service; OWASP LLM10"})
	slowDripEntry = linked(SlowDrip, "at nodes: sends its frames byte by byte, just fast enough not to be cut off",
		`Writes one byte at a time. A reader that grants each byte a time of its own waits for ever.

rate  bytes in a second (10)`, 10, 0,
		Facts{Number: 38, Defence: "one deadline for a whole frame; rounds that end at fixed times",
			Kind:   Deterministic,
			Source: "slow-loris"})
	forgerEntry = linked(Forger, "at nodes: changes bits of its messages and of their signatures",
		`Its node changes one bit in some of the frames that it sends, cuts others off, and so
forges messages that its key did not sign.

rate  one of so many frames is sent as it is (4)`, 4, 0,
		Facts{Number: 40, Defence: "every message is signed, and the signature is checked against the roster",
			Kind:   Deterministic,
			Source: "CE-1"})
	sybilEntry = linked(Sybils, "at nodes: opens streams under keys that no roster has",
		`Invents keys and opens streams to all nodes in their names, to be counted as members.

keys  how many it invents (32)`, 0, 32,
		Facts{Number: 24, Defence: "a closed roster: keys are pinned, one key has one vote", Kind: Deterministic,
			Source: "Douceur 2002; gossipsub P6"})
)

var poisonedEntry = Entry{
	Entry: synod.Entry{Name: "poisoned-model", Summary: "a model file with a trigger in it, in place of the one " +
		"that was asked for"},
	Facts: Facts{Number: 43, Place: AtFile, Model: Outside, Where: synod.Anywhere,
		Defence: "synod models pull compares each file with a pinned digest", Kind: Deterministic,
		Source: "reports on chat templates with triggers in GGUF files, 2025"},
	About: `Somebody on the way to the model store exchanges or changes a model file, such as its chat
template. It is no member and cannot be seated: synod models pull refuses a file whose
SHA-256 differs from the catalogue's.`,
	New: func(params map[string]any) (Adversary, error) {
		return poisoned{}, decode(params, &struct{}{})
	},
}

type poisoned struct{}

func (poisoned) Name() string { return "poisoned-model" }
func (poisoned) At() Place    { return AtFile }

func (poisoned) Corrupt(_ synod.Seat, honest synod.Machine) synod.Machine { return honest }
