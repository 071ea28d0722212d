package plan

import (
	"slices"
	"strings"

	"synod.dev/synod/core/param"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/catalog"
)

// DefaultProtocol is the protocol of a council file that names none, of the council that answers where there is no
// file, of the files that programs propose, and of the councils that the gateway's page begins with. What speaks for
// another one is in docs/research/adversaries.md: with judges as measured, cascade decides more questions rightly
// for a twentieth of the calls.
const DefaultProtocol = "sac"

// ProposedProtocol returns the section `protocol` of a proposed council file, as YAML: the default protocol, with those
// of some parameters, such as "rounds: 3", that it has.
func ProposedProtocol(params ...string) string { return proposedProtocol(DefaultProtocol, params) }

func proposedProtocol(name string, params []string) string {
	section := "{name: " + name
	e, err := catalog.Protocols.Find(name)
	if err != nil {
		panic(err) // a constant of this package
	}
	fields := param.Fields(e.New())
	for _, p := range params {
		key, _, _ := strings.Cut(p, ":")
		if slices.ContainsFunc(fields, func(f param.Field) bool { return f.Key == key }) {
			section += ", " + p
		}
	}
	return section + "}"
}

// FirstTier is how many models the first tier of ProposedTiers has: two of them may speak for an answer against a liar.
const FirstTier = 3

// ProposedTiers returns what is proposed for three seats or more with a model each: the protocol with its tiers, and F.
// The first three seats are asked at once, and the others where these do not agree. On recorded votes of real models
// that was as right as asking all of them, for 35 to 83 % of the price (docs/worth-it.md). names are the seats, the
// cheapest first.
func ProposedTiers(names []string) (protocol Params, f int) {
	tiers := [][]string{names[:FirstTier]}
	if len(names) > FirstTier {
		tiers = append(tiers, names[FirstTier:])
	}
	return Params{"name": "cascade", "tiers": tiers}, 1
}

// ProposedRule returns the section `rule` of a proposed council file, as YAML: a majority, or the default protocol's
// own rule if it has no other.
func ProposedRule() string { return proposedRule(DefaultProtocol) }

func proposedRule(name string) string {
	e, err := catalog.Protocols.Find(name)
	if err != nil {
		panic(err) // a constant of this package
	}
	if _, staged := e.New().(protocol.Staged); staged {
		return "{name: " + ByProtocol + "}"
	}
	return "{name: " + Majority + "}"
}
