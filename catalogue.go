package synod

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Entry is what every line of a catalogue has: a unique name, and a summary in one
// line.
type Entry struct {
	Name    string `json:"name"`
	Summary string `json:"summary"`
}

// Line returns the entry itself, so that a struct that embeds Entry is Listed.
func (e Entry) Line() Entry { return e }

// Listed is implemented by everything that a Catalogue can hold.
type Listed interface{ Line() Entry }

// Catalogue is a table of things by name. Each package that offers things by name
// has one. The command line, configuration files and documents are derived from it.
//
// A program of another module adds its own entries with Add at the start of main.
type Catalogue[T Listed] struct {
	kind string
	all  []T // by name
}

// NewCatalogue returns a catalogue of the given entries. Error messages call an
// entry a kind, for example "protocol". It panics if two entries have one name.
func NewCatalogue[T Listed](kind string, entries ...T) *Catalogue[T] {
	c := &Catalogue[T]{kind: kind}
	c.Add(entries...)
	return c
}

// Add adds entries. It panics if an entry has no name or the name of another one.
// It must not be called at the same time as any other method; call it from main
// before anything else.
func (c *Catalogue[T]) Add(entries ...T) {
	byName := make(map[string]T, len(c.all)+len(entries))
	for _, e := range slices.Concat(c.all, entries) {
		name := e.Line().Name
		if name == "" {
			panic("synod: a " + c.kind + " has no name")
		}
		if _, taken := byName[name]; taken {
			panic("synod: two entries named " + name)
		}
		byName[name] = e
	}
	// Names are sorted, not entries: a sort compiled for each type of entry adds 0.3 MB to the program.
	c.all = nil
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		c.all = append(c.all, byName[name])
	}
}

// All returns the entries in the order of their names.
func (c *Catalogue[T]) All() []T { return slices.Clone(c.all) }

// Names returns the names in order.
func (c *Catalogue[T]) Names() []string {
	names := make([]string, len(c.all))
	for i, e := range c.all {
		names[i] = e.Line().Name
	}
	return names
}

// Find returns the entry with a name, or an error that suggests the nearest name.
func (c *Catalogue[T]) Find(name string) (T, error) {
	for _, e := range c.all {
		if e.Line().Name == name {
			return e, nil
		}
	}
	var none T
	return none, fmt.Errorf("no %s is called %q%s; there are: %s", c.kind, name, Hint(name, c.Names()),
		strings.Join(c.Names(), ", "))
}

// Hint returns " (did you mean …?)" with the known name that is nearest to got, or
// "" if none is near enough for a spelling mistake.
func Hint(got string, known []string) string {
	best, nearest := len(got)/3+2, ""
	for _, k := range known {
		d := distance(got, k)
		switch { // a name given by its first or last part is nearer than most misspellings
		case len(got) > 2 && strings.HasPrefix(k, got):
			d = min(d, 1)
		case len(got) > 2 && strings.HasSuffix(k, "-"+got):
			d = min(d, 2)
		}
		if d < best {
			best, nearest = d, k
		}
	}
	if nearest == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", nearest)
}

// distance returns the Levenshtein distance in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}

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
