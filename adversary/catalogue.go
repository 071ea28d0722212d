package adversary

import (
	"slices"

	"synod.dev/synod"
)

// Catalogue lists the adversaries. Programs of other modules add theirs with Add.
var Catalogue = synod.NewCatalogue("adversary", append(slices.Concat(writers(), aliases(), poisons()),
	replayEntry, weakAnswerEntry,
	overconfidentEntry, persuaderEntry, adaptiveEntry, silentEntry, selectiveSilenceEntry,
	equivocatorEntry, inverterEntry, lastMoverEntry, strategistEntry, sleeperEntry, echoEntry,
	honestNoiseEntry, digitTwinEntry, anchorPoisonerEntry, styleMirrorEntry, squatterEntry, clonesEntry, labourEntry,
	littleEntry, replayerEntry, malformedEntry,
	advertiserEntry, numberAltererEntry, cartelEntry, lateRevealerEntry, hashGrinderEntry, delimiterForgerEntry,
	colluderEntry, copierEntry, midpointEntry, mimicEntry, oscillatorEntry, extremistEntry, saboteurEntry, jammerEntry,
	flooderEntry, slowDripEntry, forgerEntry, sybilEntry, poisonedEntry, commitmentBreakerEntry)...)

// Seated returns the adversaries that sit in a seat and need no parameters, each under one name. Those of other
// modules that do not say where they sit are among them; those that need a council that learns only if this one does.
func Seated(learns bool) (all []Entry) {
	for _, e := range Catalogue.All() {
		if e.Place != AtSeat && e.Place != "" || e.SameAs != "" || e.Setting != "" && !learns {
			continue
		}
		if _, err := e.New(nil); err == nil {
			all = append(all, e)
		}
	}
	return all
}

// alias returns the entry under the name that the list of attacks has.
func alias(name string, number int, e Entry) Entry {
	e.SameAs = e.Name
	e.Name, e.Number = name, number
	e.Summary = "another name of " + e.SameAs + ": " + e.Summary
	return e
}

// aliases returns the entries that the list of attacks calls by other names.
func aliases() []Entry {
	return []Entry{alias("confidence-liar", 2, replayEntry), alias("calm-liar", 3, persuaderEntry),
		alias("evaluator-cartel", 25, cartelEntry), alias(string(CopyDefect), 0, copierEntry)}
}
