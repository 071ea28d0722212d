package adversary

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"synod.dev/synod"
)

// Learning is the setting of a council file without which adversaries that poison a history have no history.
const Learning = "trust.learn"

// poisons are the adversaries that poison the history from which weights are learned, beside copier.
func poisons() []Entry {
	facts := Facts{Place: AtSeat, Model: Synchronous, Where: synod.With(synod.Learns), Setting: Learning,
		Defence: "weights capped at the median; no decision against its own evidence; trust learned from audits",
		Kind:    Statistical, Source: "docs/research/cascade.md, what liars cost"}
	entry := func(p Poison, summary, about string, params func() any) Entry {
		return Entry{Entry: synod.Entry{Name: string(p), Summary: summary}, Facts: facts, About: about,
			New: func(given map[string]any) (Adversary, error) { return newPoisoner(p, given) }, Params: params}
	}
	return []Entry{
		entry(FollowDefect, "follows the plurality while trust is learned, and lies then",
			`Waits for the first answers of the others, and gives the most frequent of them as its own.
Following earns it the record of a plurality, which is better than that of most members.
Where it defects, it gives the most frequent wrong one, and an invented one if it hears none.
It takes its own model's answer for the right one; accomplices, which are all that have this
adversary, take the most frequent one that two others gave, so that they lie alike.

waits    how long it waits for the others, in milliseconds (one message's time)
defects  share of the questions on which it defects, 0 to 1 (0); synod attack has it defect
         on none of the history, and on all questions that are measured`,
			func() any { return &defectParams{} }),
		entry(LieToWin, "lies where the lie becomes the decision, and follows the plurality elsewhere",
			`Waits for the first answers of the others. If with its accomplices' votes the most frequent
wrong one of them has more than F votes and leads, it gives that one; elsewhere it gives the
most frequent answer. So it has the record of a plurality, and lies where that is worth most.
What it takes for wrong is as for follow-defect. It learns nothing from earlier questions.

waits  how long it waits for the others, in milliseconds (one message's time)`,
			func() any { return &waitParams{} }),
		entry(Constant, "gives the same answer to every question",
			`Gives the same answer to every question of a form with confidence 1.0, and never calls a
model: of choices the last option but one. Who learns from agreement alone may take it for a
member with a style of its own.

answer  its answer instead`, func() any { return &invention{} }),
		entry(Abstain, "gives an answer only where its lie becomes the decision",
			`Gives no answer while trust is learned, so that nothing is known against it, and later lies
where lie-to-win does, and gives no answer elsewhere.

waits    how long it waits for the others, in milliseconds (one message's time)
defects  share of the questions on which it may lie, 0 to 1 (0); synod attack has it lie on
         none of the history`, func() any { return &defectParams{} }),
		entry(Turns, "lies in every other block of questions, two of them alternately",
			`Follows the plurality in one block of questions, and lies in the next, as follow-defect does,
so that no change of its record lasts. Of several that have this adversary every second one
begins with lies.

waits  how long it waits for the others, in milliseconds (one message's time)
block  the number of the block, from 0; synod attack counts the blocks (0)`,
			func() any { return &turnParams{} }),
	}
}

type waitParams struct {
	Waits int `yaml:"waits" doc:"how long it waits for the messages of others; 0: the pace of a message" range:"0:600000" unit:"milliseconds"`
}

type defectParams struct {
	Waits   int     `yaml:"waits" doc:"how long it waits for the messages of others; 0: the pace of a message" range:"0:600000" unit:"milliseconds"`
	Defects float64 `yaml:"defects" doc:"share of the questions on which it defects" range:"0:1"`
}

type turnParams struct {
	Waits int `yaml:"waits" doc:"how long it waits for the messages of others; 0: the pace of a message" range:"0:600000" unit:"milliseconds"`
	Block int `yaml:"block" doc:"number of the block of questions" range:"0:1000000"`
}

// poisoner plays a Poison. It knows of earlier questions what its parameters say, because questions of a run are played
// in any order and at once.
type poisoner struct {
	poison  Poison
	copies  []seatName // whom CopyDefect copies; at most one
	waits   synod.Tick
	defects float64 // share of the questions that are not history
	block   int
	answer  invention
	lies    colluder       // what CopyDefect does when it lies
	among   []synod.NodeID // the seats that have the same adversary, ascending; nil: it knows of no other
}

func newPoisoner(p Poison, given map[string]any) (Adversary, error) {
	a, err := poisoner{poison: p, defects: 1}, error(nil)
	switch p {
	case Constant:
		err = decode(given, &a.answer)
	case Turns:
		var x turnParams
		err = decode(given, &x)
		a.waits, a.block = synod.Tick(x.Waits), x.Block
	case LieToWin:
		var x waitParams
		err = decode(given, &x)
		a.waits = synod.Tick(x.Waits)
	default:
		var x defectParams
		err = decode(given, &x)
		a.waits, a.defects = synod.Tick(x.Waits), x.Defects
	}
	return a, err
}

// Steady reports that its answer does not change once it is given.
func (poisoner) Steady() bool { return true }

// Found resolves the names of the seat that it copies and of its accomplices.
func (a poisoner) Found(seat func(string) (synod.NodeID, error)) (Adversary, error) {
	both, err := colluder{a.copies}.Found(seat)
	if err != nil {
		return nil, err
	}
	lies, err := a.lies.Found(seat)
	if err != nil {
		return nil, err
	}
	a.copies, a.lies = both.(colluder).with, lies.(colluder)
	return a, nil
}

// Among tells it who has the same adversary. They lie alike.
func (a poisoner) Among(seats []synod.NodeID) Adversary {
	a.among = seats
	return a
}

func (a poisoner) Corrupt(seat synod.Seat, honest synod.Machine) synod.Machine {
	if a.poison == Constant {
		one := seat
		one.Seed = 0 // the same answer to all questions
		b := &believer{mine: a.answer.choose(one)}
		m := &PromptAnswerer{Honest: honest, Answer: b.reply}
		return &certain{honest: m, question: seat.Question, mine: &b.mine}
	}
	w := &waiting{honest: honest, question: seat.Question, waits: a.waits, of: a.others(seat)}
	if w.waits == 0 {
		w.waits = seat.Pace.Within
	}
	now := Moment{Learning: drawn(seat.Question) >= a.defects, Block: a.block,
		Member: max(slices.Index(a.among, seat.Self), 0)}
	switch {
	case a.poison == Abstain && now.Learning:
		return silentMachine{}
	case a.poison == CopyDefect && !now.Learning:
		return a.lies.Corrupt(seat, honest)
	case a.poison == CopyDefect && len(a.copies) > 0:
		w.of = []synod.NodeID{a.copies[0].node()}
	case a.poison == CopyDefect && len(seat.Peers) > 0:
		w.of = seat.Peers[:1:1]
	}
	mine := synod.None // what it lies
	w.choose = func(own synod.Answer, heard []synod.Answer) (synod.Answer, bool) {
		top, right := Plurality(heard), own // what it takes for right
		if own == synod.None || len(a.among) > 1 && votes(heard, top) > 1 {
			right = top // for all accomplices the same
		}
		lie, n := Favourite(heard, right), max(len(a.among), 1)
		now.Wins = func() bool {
			return lie != synod.None && votes(heard, lie)+n > seat.F && Leads(heard, lie, n)
		}
		switch deed := a.poison.Deed(now); {
		case deed == Abstains:
			return synod.None, true
		case deed != Lies || right == synod.None:
			return top, false
		}
		mine = cmp.Or(lie, other(seat.Question, right))
		return mine, false
	}
	if a.poison == CopyDefect {
		return w
	}
	return &certain{honest: w, question: seat.Question, mine: &mine}
}

// others returns the neighbours that do not have the same adversary.
func (a poisoner) others(seat synod.Seat) []synod.NodeID {
	return slices.DeleteFunc(slices.Clone(seat.Peers), func(id synod.NodeID) bool {
		return slices.Contains(a.among, id)
	})
}

// drawn returns a number in [0,1) that is the same for all members, and differs between questions.
func drawn(q *synod.Question) float64 {
	sum := sha256.Sum256([]byte("copier\x00" + q.ID + "\x00" + q.Text))
	return float64(binary.BigEndian.Uint64(sum[:8])>>11) / (1 << 53)
}
