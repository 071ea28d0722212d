package synod

import (
	"slices"
	"strings"
)

// Trait is something that the members of a protocol do. A protocol declares its traits (protocol.Entry), and
// adversaries and defences say which traits they need. So none of them names a protocol, and a protocol that is added
// is attacked and defended like the others.
type Trait string

// The traits.
const (
	Tells      Trait = "tells"       // members tell one another the answers that they found alone
	Votes      Trait = "votes"       // equal answers are counted
	FirstVotes Trait = "first-votes" // the first answer of a member is its vote, whatever it hears
	Rounds     Trait = "rounds"      // members hear one another in several rounds, and may change their answers
	Reasons    Trait = "reasons"     // members read reasoning of others beside their answers
	Texts      Trait = "texts"       // answers are whole texts, which members read
	Lists      Trait = "lists"       // a prompt lists answers of several others
	Judges     Trait = "judges"      // models judge answers of others
	Grades     Trait = "grades"      // judgements are sent to others, and decide
	Solves     Trait = "solves"      // a judge can be asked for an answer of its own first (Guards.AnswerFirst)
	Trims      Trait = "trims"       // a member drops the F worst or most extreme of the answers that it hears
	Confides   Trait = "confidence"  // stated confidence gives an answer weight
	Learns     Trait = "learns"      // weights of members are learned from earlier questions
	Signs      Trait = "signs"       // messages are signed, because others pass them on
	Joins      Trait = "joins"       // members can say which answers mean the same (council key same: members)
	Bargains   Trait = "bargains"    // members propose numbers until they agree, and no answer is right
	HashTies   Trait = "hash-ties"   // a hash of the answers decides between equal ones
)

// Meaning says in a few words what a trait is, for people; "" if there is no such trait.
func (t Trait) Meaning() string {
	return map[Trait]string{
		Tells:      "members tell one another their first answers",
		Votes:      "equal answers are counted",
		FirstVotes: "first answers are the votes",
		Rounds:     "members hear one another in several rounds",
		Reasons:    "members read the reasoning of others",
		Texts:      "answers are texts that members read",
		Lists:      "prompts list answers of others",
		Judges:     "models judge answers of others",
		Grades:     "judgements are sent to others",
		Solves:     "judges can answer first",
		Trims:      "members drop the F worst or most extreme answers",
		Confides:   "stated confidence counts",
		Learns:     "weights are learned from earlier questions",
		Signs:      "messages are signed",
		Joins:      "members can say which answers mean the same",
		Bargains:   "members bargain for a number",
		HashTies:   "a hash decides between equal answers",
	}[t]
}

// Traits returns all traits in the order of documents.
func Traits() []Trait {
	return []Trait{Tells, Votes, FirstVotes, Rounds, Reasons, Texts, Lists, Judges, Grades, Solves, Trims, Confides,
		Learns, Signs, Joins, Bargains, HashTies}
}

// Where says in which protocols an adversary or a defence does something: those that have all traits of at least one
// of these lists. nil: it does not say, and may do something in all.
type Where [][]Trait

// Anywhere says that it does something in every protocol.
var Anywhere = Where{{}}

// With admits the protocols that have all of these traits.
func With(all ...Trait) Where { return Where{all} }

// Or admits the protocols that w admits, and those that have all of these traits.
func (w Where) Or(all ...Trait) Where { return append(slices.Clip(w), all) }

// Admits reports whether a protocol with these traits is admitted. A protocol that does not say (nil) may have any, so
// it is admitted.
func (w Where) Admits(traits []Trait) bool {
	return w == nil || traits == nil ||
		slices.ContainsFunc(w, func(all []Trait) bool { return len(lacking(all, traits)) == 0 })
}

// Lacks returns the fewest traits with which w would admit a protocol, of the first list if several lack as few; nil
// if w admits it.
func (w Where) Lacks(traits []Trait) (least []Trait) {
	if w.Admits(traits) {
		return nil
	}
	for _, all := range w {
		if l := lacking(all, traits); least == nil || len(l) < len(least) {
			least = l
		}
	}
	return least
}

func lacking(all, has []Trait) (lacks []Trait) {
	for _, t := range all {
		if !slices.Contains(has, t) {
			lacks = append(lacks, t)
		}
	}
	return lacks
}

// String returns the traits for people, such as "reasons and rounds, or bargains".
func (w Where) String() string {
	if w == nil {
		return "not declared"
	}
	lists := make([]string, len(w))
	for i, all := range w {
		names := make([]string, len(all))
		for k, t := range all {
			names[k] = string(t)
		}
		if lists[i] = strings.Join(names, " and "); len(all) == 0 {
			return "any"
		}
	}
	return strings.Join(lists, ", or ")
}
