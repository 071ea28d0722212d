package plan

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/adversary/defence"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/graph"
	"synod.dev/synod/llm"
)

// Spec is a council file. Absent keys have the values of Default.
type Spec struct {
	Council     string            `yaml:"council" json:"council" doc:"name of the council, shown in outputs" example:"seven"`
	Protocol    Params            `yaml:"protocol" json:"protocol" doc:"the protocol's name, with its parameters beside it" example:"{name: sac, rounds: 6}"`
	Runner      Runner            `yaml:"runner,omitempty" json:"runner,omitzero" doc:"where the seats are played"`
	Exact       string            `yaml:"exact" json:"exact" doc:"paper: no reuse and no early stop; the paper's parsers and sampling" enum:"|paper"`
	Graph       Params            `yaml:"graph" json:"graph" doc:"who hears whom: a family with its parameters, edges, a file, or a schedule of these" example:"{family: merg}"`
	F           int               `yaml:"f" json:"f" doc:"F, the most Byzantine neighbours of a member that the run claims to tolerate" range:"0:" unit:"members"`
	Claims      bool              `yaml:"claims,omitempty" json:"claims,omitempty" doc:"prose only: the members judge single claims of the answer (protocol panel)"`
	Same        string            `yaml:"same,omitempty" json:"same,omitempty" doc:"text only: members: short answers are counted as one if more than F members other than their authors say that they mean the same (protocol majority)" default:"off" enum:"off|members" example:"members"`
	Rule        Rule              `yaml:"rule" json:"rule" doc:"how the last answers become a decision"`
	Voices      string            `yaml:"voices,omitempty" json:"voices,omitempty" doc:"what counts as one voice in support, withstands and the bound: a model at a server, a server, the maker of a model, or a seat; with exact: paper seats; simulated members are always one each" default:"models" enum:"models|servers|makers|seats" example:"makers"`
	Form        synod.Form        `yaml:"form,omitempty" json:"form,omitempty" doc:"form of the answers; default: guessed from the question" enum:"|number|choice|bool|math|text|stance|prose|json|action" example:"json"`
	Schema      string            `yaml:"schema,omitempty" json:"schema,omitempty" doc:"with form: json, the file with the JSON schema of the answers" example:"invoice.schema.json"`
	Tools       string            `yaml:"tools,omitempty" json:"tools,omitempty" doc:"with form: action, the JSON file with the list of tools that may be called" example:"tools.json"`
	Compose     string            `yaml:"compose,omitempty" json:"compose,omitempty" doc:"with form: json, whether a value may be decided that no member gave, made of parts that enough members gave; never: no decision then" default:"fields" enum:"fields|never" example:"never"`
	Reread      string            `yaml:"reread,omitempty" json:"reread,omitempty" doc:"once: a reply that cannot be read is followed by one short request to the same member for its answer alone, which is paid for like every call; never: it counts as unreadable at once, as always with exact: paper" default:"once" enum:"once|never" example:"never"`
	Checks      []synod.Check     `yaml:"checks,omitempty" json:"checks,omitempty" doc:"conditions in code that an answer must meet to be a candidate; a member whose answer fails is asked once more with the reason" example:"[{name: positive, cel: self > 0}]"`
	Prompts     string            `yaml:"prompts,omitempty" json:"prompts,omitempty" doc:"folder of NAME.tmpl files that replace the protocol's prompts; they may be in a folder in it that has the name of the protocol" example:"prompts/paper"`
	Models      map[string]Params `yaml:"models" json:"models" doc:"models by name: a provider and its settings" example:"{strong: {provider: openai, model: gpt-4o-mini}}"`
	Seats       []SeatSpec        `yaml:"seats" json:"seats" doc:"the seats, in order" example:"[{id: a, model: strong, count: 4}]"`
	Adversaries Adversaries       `yaml:"adversaries,omitempty" json:"adversaries,omitzero" doc:"puts an adversary at several seats, listed or picked from the graph; for experiments"`
	Pace        Pace              `yaml:"pace,omitempty" json:"pace,omitzero" doc:"how long a model call and a message may take"`
	Patience    Patience          `yaml:"patience,omitempty" json:"patience,omitzero" doc:"when to stop waiting for the slowest model calls"`
	Hedge       string            `yaml:"hedge,omitempty" json:"hedge,omitempty" doc:"send a call a second time when it is slower than this percentile of its model's calls; both are paid for" example:"p95"`
	Limits      Limits            `yaml:"limits" json:"limits" doc:"what one question may cost"`
	Breakers    Breakers          `yaml:"breakers,omitempty" json:"breakers,omitzero" doc:"when to stop a run that makes no progress"`
	Defences    defence.Settings  `yaml:"defences,omitempty" json:"defences,omitempty" doc:"switches of the defences against adversaries among the members, on or off by name" example:"{fence: on, echo-detector: off}"`
	Trust       Trust             `yaml:"trust,omitempty" json:"trust,omitzero" doc:"how the reliability of members is learned from the council's own questions"`
	Reference   ReferenceModel    `yaml:"reference,omitempty" json:"reference,omitzero" doc:"the model that you would ask alone without a council; outcomes say what that would have cost"`
	Ledger      Ledger            `yaml:"ledger,omitempty" json:"ledger,omitzero" doc:"where decisions are recorded so that nobody can change one unnoticed"`
	Faults      Faults            `yaml:"faults,omitempty" json:"faults,omitzero" doc:"network faults to simulate; for experiments"`
}

// SeatSpec is one seat, or Count seats of one kind named id1, id2, ….
type SeatSpec struct {
	ID        string `yaml:"id" json:"id" doc:"name of the seat; with count the seats are id1, id2, …" example:"a"`
	Model     string `yaml:"model" json:"model" doc:"a name under models" example:"strong"`
	Count     int    `yaml:"count,omitempty" json:"count,omitempty" doc:"seats of this kind; 0: one seat that keeps the id" range:"0:16384"`
	Adversary Params `yaml:"adversary,omitempty" json:"adversary,omitempty" doc:"makes the seat Byzantine: an adversary's name and parameters; for experiments" example:"{name: replay}"`
	Role      string `yaml:"role,omitempty" json:"role,omitempty" doc:"role in a protocol with roles" example:"evaluator"`
	Group     string `yaml:"group,omitempty" json:"group,omitempty" doc:"the experimenter's label, reported by the bench; members do not see it" enum:"weak|strong"`
}

// Limits bound one attempt at a question. Replies that a resumed run finds in its
// journal count too. Zero is no limit.
type Limits struct {
	Calls    int           `yaml:"calls" json:"calls" doc:"requests of a question that leave, repeated ones and second copies (hedge) too; 0: no limit" range:"0:1000000000" unit:"calls" example:"500"`
	Tokens   int           `yaml:"tokens" json:"tokens" doc:"tokens of prompts and replies of a question; 0: no limit" range:"0:1000000000000" unit:"tokens" example:"1000000"`
	USD      float64       `yaml:"usd,omitempty" json:"usd,omitempty" doc:"money for a question; every model's price must be known; 0: no limit" range:"0:1000000000" unit:"US dollars" example:"0.50"`
	Deadline time.Duration `yaml:"deadline" json:"deadline" doc:"time for a question, at most 720h; 0s: no limit" range:"0s:720h" example:"90s"`
}

// Lowered returns the limits, each lowered to that of l where l has a lower one.
func (x Limits) Lowered(l Limits) Limits {
	return Limits{Calls: lower(x.Calls, l.Calls), Tokens: lower(x.Tokens, l.Tokens), USD: lower(x.USD, l.USD),
		Deadline: lower(x.Deadline, l.Deadline)}
}

// lower returns the lower of two limits, of which 0 is none.
func lower[T cmp.Ordered](a, b T) T {
	var none T
	if a == none || b != none && b < a {
		return b
	}
	return a
}

// Pace separates thinking time from network time. Protocols compute the ends of
// their rounds from both. One tick of virtual time is a millisecond.
type Pace struct {
	Think  time.Duration `yaml:"think,omitempty" json:"think,omitzero" doc:"time that a model may take for one call, 1ms to 24h" default:"60s" example:"2m"`
	Within time.Duration `yaml:"within,omitempty" json:"within,omitzero" doc:"time that a message may take, 1ms to 1h" default:"2s" example:"500ms"`
}

// Patience determines when the slowest calls of a batch are cancelled: when all but Spare
// of its calls have returned, and After times the median time of those has passed.
// The seats that made the calls are late; they use up as many of F.
type Patience struct {
	Spare *int   `yaml:"spare,omitempty" json:"spare,omitempty" doc:"seats, at most f, that may be late in a batch of calls; 0: wait for all; absent: f, and with f: 0 those without which the rule decides" range:"0:" unit:"seats" example:"1"`
	After Factor `yaml:"after,omitempty" json:"after,omitzero" doc:"how long to wait for them, as a multiple of the median time of the calls that returned, 1x to 100x; without spare and this key: half as long again as the others took, and half a second" default:"2x" example:"3x"`
}

// spare returns the number that is set; 0 if none is.
func (p Patience) spare() int {
	if p.Spare == nil {
		return 0
	}
	return *p.Spare
}

// Factor is a multiple. In a council file it is written 2x.
type Factor float64

// UnmarshalYAML reads 2x, 1.5x or 2.
func (f *Factor) UnmarshalYAML(text []byte) error {
	s := strings.Trim(strings.TrimSpace(string(text)), `"'`)
	v, err := strconv.ParseFloat(strings.TrimSuffix(s, "x"), 64)
	if err != nil {
		return fmt.Errorf("%q is not a multiple such as 2x", s)
	}
	if v == 0 { // which means the default, and is hardly what was meant
		return fmt.Errorf("%q is no multiple; it must be between 1x and 100x", s)
	}
	*f = Factor(v)
	return nil
}

// MarshalYAML writes 2x.
func (f Factor) MarshalYAML() ([]byte, error) { return []byte(f.String()), nil }

// MarshalText writes 2x.
func (f Factor) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// String is the multiple as it is written in a council file, such as 2x.
func (f Factor) String() string { return strconv.FormatFloat(float64(f), 'g', -1, 64) + "x" }

// Faults are network faults that a simulation plays. All times are whole
// milliseconds; those of partitions and crashes count from the start of a run.
type Faults struct {
	Delay      Delay       `yaml:"delay,omitempty" json:"delay,omitzero" doc:"of every message"`
	Loss       float64     `yaml:"loss,omitempty" json:"loss,omitempty" doc:"probability that a message to one receiver is lost" range:"0:1"`
	Partitions []Partition `yaml:"partitions,omitempty" json:"partitions,omitempty" doc:"times in which groups of seats are cut off from one another"`
	Crashes    []Crash     `yaml:"crashes,omitempty" json:"crashes,omitempty" doc:"times in which a seat is down"`
}

// Delay is drawn uniformly for every message and receiver.
type Delay struct {
	Min time.Duration `yaml:"min,omitempty" json:"min,omitzero" doc:"shortest delay" range:"0s:24h" example:"10ms"`
	Max time.Duration `yaml:"max,omitempty" json:"max,omitzero" doc:"longest delay, at most 24h" range:"0s:24h" example:"50ms"`
}

// Partition cuts every link between seats of different groups from From until To.
// A seat in no group is alone. Seats are numbered from 0.
type Partition struct {
	From   time.Duration    `yaml:"from,omitempty" json:"from,omitzero" doc:"start, from the start of the run" range:"0s:8760h" example:"1s"`
	To     time.Duration    `yaml:"to" json:"to" doc:"end" range:"0s:8760h" example:"5s"`
	Groups [][]synod.NodeID `yaml:"groups" json:"groups" doc:"seats by index from 0; a seat in no group is alone" example:"[[0, 1], [2, 3]]"`
}

// Crash makes a seat lose every event from At until To; To 0 is for ever.
type Crash struct {
	Node synod.NodeID  `yaml:"node" json:"node" doc:"index of the seat, from 0" range:"0:"`
	At   time.Duration `yaml:"at,omitempty" json:"at,omitzero" doc:"start of the crash" range:"0s:8760h" example:"1s"`
	To   time.Duration `yaml:"to,omitempty" json:"to,omitzero" doc:"end of the crash; 0s: for ever" range:"0s:8760h" example:"5s"`
}

// Default is the Spec that a council file is read into.
func Default() Spec {
	return Spec{
		Council:  "council",
		Protocol: Params{"name": DefaultProtocol},
		Graph:    Params{"family": "complete"},
		F:        1,
		Limits:   Limits{Calls: 2000, Tokens: 4_000_000, Deadline: 10 * time.Minute},
	}
}

// The pace of a council that names none.
const (
	defaultThink  = time.Minute
	defaultWithin = 2 * time.Second
)

func (p Pace) validate() error {
	switch {
	case p.Think < time.Millisecond || p.Think > 24*time.Hour:
		return fmt.Errorf("think is %v; it must be between 1ms and 24h", p.Think)
	case p.Within < time.Millisecond || p.Within > time.Hour:
		return fmt.Errorf("within is %v; it must be between 1ms and 1h", p.Within)
	case p.Think%time.Millisecond != 0 || p.Within%time.Millisecond != 0:
		return errors.New("think and within must be whole milliseconds")
	}
	return nil
}

// or fills in absent times.
func (p Pace) or(think, within time.Duration) Pace {
	return Pace{Think: cmp.Or(p.Think, think), Within: cmp.Or(p.Within, within)}
}

func (p Patience) validate(f int, exact string) error {
	switch {
	case p.spare() < 0 || p.spare() > f:
		return fmt.Errorf("spare is %d; it must be between 0 and f, %d, because a late seat uses up one of F",
			p.spare(), f)
	case p.spare() > 0 && exact != "":
		return fmt.Errorf("spare is %d; exact: %s waits for every call, so it must be 0", p.spare(), exact)
	case p.After != 0 && !(p.After >= 1 && p.After <= 100):
		return fmt.Errorf("after is %v; it must be between 1x and 100x", p.After)
	}
	return nil
}

// ticks converts faults whose times are in range for a simulation of n seats, and reports
// the first that cannot be simulated.
func (f Faults) ticks(n int) (sim.Faults, error) {
	var bad error
	ticks := func(what string, d time.Duration) synod.Tick {
		if d%time.Millisecond != 0 {
			bad = cmp.Or(bad, fmt.Errorf("%s is %v; it must be whole milliseconds, such as 50ms", what, d))
		}
		return synod.Tick(d / time.Millisecond)
	}
	out := sim.Faults{Delay: sim.Delay{Min: ticks("delay.min", f.Delay.Min), Max: ticks("delay.max", f.Delay.Max)},
		Loss: f.Loss}
	for i, p := range f.Partitions {
		key := fmt.Sprintf("partitions[%d].", i)
		out.Partitions = append(out.Partitions, sim.Partition{From: ticks(key+"from", p.From),
			To: ticks(key+"to", p.To), Groups: p.Groups})
		if p.To <= p.From {
			bad = cmp.Or(bad, fmt.Errorf("%sto is %v; it must be later than from, %v", key, p.To, p.From))
		}
	}
	for i, c := range f.Crashes {
		key := fmt.Sprintf("crashes[%d].", i)
		out.Crashes = append(out.Crashes, sim.Crash{Node: c.Node, At: ticks(key+"at", c.At),
			To: ticks(key+"to", c.To)})
		if c.Node < 0 || int(c.Node) >= n {
			bad = cmp.Or(bad, fmt.Errorf("%snode is %d; the seats are numbered 0 to %d", key, c.Node, n-1))
		}
	}
	if f.Delay.Max < f.Delay.Min {
		bad = cmp.Or(bad, fmt.Errorf("delay.min is %v; it must not be longer than delay.max, %v (example: {min: 10ms, "+
			"max: 50ms})", f.Delay.Min, f.Delay.Max))
	}
	if bad != nil {
		return sim.Faults{}, bad
	}
	if err := out.Validate(n); err != nil {
		return sim.Faults{}, errors.New(strings.TrimPrefix(err.Error(), "sim: "))
	}
	return out, nil
}

// Seat is one seat of a council after counts are expanded. Identity, Server and
// Served are known only once the models are open (Council.Seats).
type Seat struct {
	ID        string     `json:"id"`
	Model     string     `json:"model"` // its name in the council file
	Kind      llm.Kind   `json:"kind"`
	Group     string     `json:"group,omitempty"`     // weak | strong: the experimenter's label
	Fooling   string     `json:"fooling,omitempty"`   // of a simulated member: what fools it (llm.Fooling)
	Adversary string     `json:"adversary,omitempty"` // the name of the adversary that controls it
	Role      synod.Role `json:"role,omitempty"`
	NonVoting bool       `json:"mute,omitempty"`
	Unasked   bool       `json:"-"`                // the protocol never asks it for an answer of its own
	Identity  string     `json:"identity"`         // of the model: everything about it that changes an answer
	Server    string     `json:"server,omitempty"` // of an endpoint: its host
	Served    string     `json:"served,omitempty"` // of an endpoint: the model's name there
}

// breaksLine reports whether a character would let a name begin a line or a column of its own
// where it is shown.
func breaksLine(r rune) bool { return strings.ContainsRune("\n\r\t\v\f\u0085\u2028\u2029", r) }

// expand returns the seats with counts written out, and the adversary parameters of
// each: {id: a, count: 4} makes a1 … a4; a single seat keeps its id.
func (s *Spec) expand() (seats []Seat, adversaries []Params, err error) {
	taken := map[string]bool{}
	for i, spec := range s.Seats {
		switch {
		case spec.ID == "":
			return nil, nil, fmt.Errorf("seat %d of the list has no id (example: {id: a, model: %s})", i+1,
				cmp.Or(spec.Model, "strong"))
		case strings.ContainsFunc(spec.ID, breaksLine):
			return nil, nil, fmt.Errorf("seat %d of the list is called %q; an id must have no line break and no tab",
				i+1, spec.ID)
		case spec.Count < 0 || spec.Count > graph.MaxNodes:
			return nil, nil, fmt.Errorf("seats.%s.count is %d; it must be between 0 and %d (example: count: 3)",
				spec.ID, spec.Count, graph.MaxNodes)
		case spec.Group != "" && spec.Group != "weak" && spec.Group != "strong":
			return nil, nil, fmt.Errorf("seats.%s.group is %q; it must be weak or strong", spec.ID, spec.Group)
		}
		for k := range max(spec.Count, 1) {
			id := spec.ID
			if spec.Count > 0 {
				id += strconv.Itoa(k + 1)
			}
			if taken[id] {
				return nil, nil, fmt.Errorf("two seats are called %q; give them other ids, or one entry with count: 2",
					id)
			}
			taken[id] = true
			seat := Seat{ID: id, Model: spec.Model, Group: spec.Group, Role: synod.Role(spec.Role)}
			if len(spec.Adversary) > 0 {
				if seat.Adversary, _, err = spec.Adversary.split(); err != nil {
					return nil, nil, fmt.Errorf("seat %s: adversary: %w", id, err)
				}
			}
			seats, adversaries = append(seats, seat), append(adversaries, spec.Adversary)
		}
	}
	if len(seats) == 0 {
		return nil, nil, errors.New("the council has no seats (example: seats: [{id: a, model: strong, count: 4}])")
	}
	return seats, adversaries, nil
}
