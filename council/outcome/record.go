package outcome

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/order"
	"synod.dev/synod/llm"
	"synod.dev/synod/llm/read"
)

// Failed returns the number of calls that brought no reply, without those that were dropped
// because the run ended or a limit was reached.
func (c StatusCount) Failed() (n int) {
	for i := range c {
		if i != statusOK && i != statusUnreadable && i != statusDropped {
			n += c[i]
		}
	}
	return n
}

// Record is what one seat's run leaves behind: all that Judge looks at. A client that
// holds the records of enough seats can judge a run that it did not see.
type Record struct {
	Seat       synod.NodeID
	Opinions   []Noted        // in the order in which the seat noted them
	Opened     []synod.Given  // the first answers of others that the seat took (synod.Opened); nil: it opened none
	Decided    *synod.Answer  // the answer with which the seat's machine ended; nil if it had not ended
	Statuses   StatusCount    // how the seat's model calls ended
	Use        llm.Use        // calls and tokens of them
	Took       []int          // by call that was answered by a request: milliseconds, in any order
	Reported   []string       // the models that its server said it asked, as llm.AddReported keeps them
	Said       []Said         // the reasoning of its replies, in any order
	Unread     Unread         // replies that could not be read
	Passed     []synod.Answer // with commands among the checks: answers that passed them; nil: not known
	Needless   int            // requests of Use that began early for a member that was not asked then
	Rereads    int            // replies for which the member was asked a second time
	Failure    string         // why the first call that failed did, "" if none failed
	Misreports Misreports     // replies whose usage cannot be true
	Late       []LateCall     // calls of the seat that patience cut off, ascending by round
	Stopped    string         // why the run ended, such as "rounds"; "" if nobody knows, as when a process died
	Ticks      synod.Tick     // when it ended, in virtual time
	Elapsed    int            // milliseconds by the clock until its last opinion; 0: the time was virtual
	Instance   sign.Instance  // the run that a node has played; "" in a simulation
}

// Said is the reasoning that a seat's model gave for an answer. It is untrusted.
type Said struct {
	Round int // that the seat's next note is about
	ID    synod.ConsultID
	Text  string
	// Words is the whole text for the reader, where the form of the question was guessed.
	Words string `json:",omitempty"`
}

// maxReasoning bounds the reasoning of one reply, in bytes.
const maxReasoning = 8 << 10

// say keeps the reasoning of a reply with an answer to q.
func (r *Record) say(q *synod.Question, round int, id synod.ConsultID, purpose synod.Purpose, reply *synod.Reply) {
	if reply.Status != synod.OK || reply.Typed || reply.Text == "" || round < 0 ||
		purpose != synod.Answering && purpose != synod.Refining {
		return
	}
	said := Said{Round: round, ID: id, Text: read.Reasoning(reply, maxReasoning)}
	if q != nil && q.Guessed && purpose == synod.Answering {
		said.Words = read.Words(reply)
	}
	if said.Text != "" || said.Words != "" {
		r.Said = append(r.Said, said)
	}
}

// Reasoning returns the reasoning for the seat's answer of a round; "" if there is none.
func (r *Record) Reasoning(round int) string { return reasoning(r.Said, round) }

// reasoning returns the reasoning for the answer of a round, that of the last reply; "" if
// there is none.
func reasoning(said []Said, round int) (text string) {
	last := synod.ConsultID(0)
	for _, s := range said {
		if s.Round == round && (text == "" || s.ID > last) {
			text, last = s.Text, s.ID
		}
	}
	return text
}

// Noted is an opinion and when the seat noted it.
type Noted struct {
	Tick synod.Tick
	*synod.Opinion
}

// Misreports counts replies whose usage cannot be true, such as more tokens than the request
// could have. They are charged what was reserved for them.
type Misreports struct {
	Replies int    `json:"replies"`
	First   string `json:"first"` // what was wrong with the reply to the first such call, for people

	call synod.ConsultID // that First is about
}

// add counts a reply.
func (f *Misreports) add(id synod.ConsultID, r *synod.Reply) {
	if r.Fault == "" {
		return
	}
	if f.Replies == 0 || id < f.call {
		f.First, f.call = r.Fault, id
	}
	f.Replies++
}

// LateCall is a model call that patience cut off.
type LateCall struct {
	Round   int  // that the seat's next note is about
	Refined bool // whether the seat was to refine an answer that it has, and keeps
}

// Open keeps what the seat opened. A list that is empty is not nil.
func (r *Record) Open(first []synod.Given) {
	if r.Opened = first; first == nil {
		r.Opened = []synod.Given{}
	}
}

// Add adds a reply to the account of the seat. kind is that of its model, and round the one that its next note is
// about.
func (r *Record) Add(kind llm.Kind, round int, id synod.ConsultID, p *synod.Prompt, reply *synod.Reply) {
	r.count(reply)
	r.Misreports.add(id, reply)
	if reply.Needless {
		return
	}
	r.say(p.Question, round, id, p.Purpose, reply)
	r.unread(kind, p, id, reply)
	r.pass(p, reply)
	if reply.Late {
		r.late(LateCall{round, p.Purpose == synod.Refining})
	}
}

// Dead reports whether the seat's model was called and no call succeeded.
func (r *Record) Dead() bool {
	return r.Statuses.Of(synod.OK) == 0 && r.Statuses != StatusCount{}
}

// count adds a reply to the seat's account.
func (r *Record) count(reply *synod.Reply) {
	if reply.Needless {
		r.Use.Add(reply)
		r.Needless = synod.Sum(r.Needless, reply.Calls)
		return
	}
	r.Statuses.Count(reply.Status)
	r.Use.Add(reply)
	if reply.Status == synod.OK && reply.Took > 0 {
		r.Took = append(r.Took, reply.Took)
	}
	if reply.Reread != "" {
		r.Rereads++
	}
	if reply.Model != "" {
		r.Reported = llm.AddReported(r.Reported, reply.Model)
	}
}

// RecordsOf returns the records of the run in a journal. Judge makes the outcome of
// them that was printed when the run ended. For a run without an end in its journal,
// which was cut off, the reason is not known.
func RecordsOf(p *plan.Plan, run *journal.Run) []Record {
	records := RecordsOfParts(p, &journal.Summary{Noted: run.Opinions(), Opened: run.Opened(),
		Replies: run.Replies.List(), Unanswered: run.Unanswered, Reports: run.Reports, End: run.End})
	for _, asked := range run.Asked() {
		reply := run.Replies[asked.Key]
		if asked.Node >= 0 && int(asked.Node) < len(records) {
			records[asked.Node].say(&run.Head.Question, asked.Round, asked.ID, asked.Prompt.Purpose, &reply)
			records[asked.Node].unread(p.Seats()[asked.Node].Kind, asked.Prompt, asked.ID, &reply)
			records[asked.Node].pass(asked.Prompt, &reply)
		}
		if reply.Late && int(asked.Node) < len(records) {
			records[asked.Node].late(LateCall{asked.Round, asked.Prompt.Purpose == synod.Refining})
		}
	}
	return records
}

// late adds a call that was cut off. A round has no more than one entry of a kind.
func (r *Record) late(c LateCall) {
	if !slices.Contains(r.Late, c) {
		r.Late = append(r.Late, c)
		order.Sort(r.Late, func(a, b LateCall) int { return cmp.Compare(a.Round, b.Round) })
	}
}

// Faulty reports whether calls of the seat that were cut off make it one of the F
// faulty seats: in one round, or with round -1 in any. A seat that does not get to
// refine its answer keeps it, which is what an honest model may reply too.
func (r *Record) Faulty(round int) bool {
	return slices.ContainsFunc(r.Late, func(c LateCall) bool { return !c.Refined && (round < 0 || c.Round == round) })
}

// Unanswered reports whether the seat had no answer when it noted an opinion, because a
// call was late in this round or an earlier one.
func (r *Record) Unanswered(o *synod.Opinion) bool {
	return o.Answer == synod.None && slices.ContainsFunc(r.Late, func(c LateCall) bool { return c.Round <= o.Round })
}

// RecordsOfParts is RecordsOf for the parts of a journal that a reader of many
// journals keeps. The records have no late rounds.
func RecordsOfParts(p *plan.Plan, run *journal.Summary) []Record {
	records := make([]Record, len(p.Seats()))
	first := make([]synod.ConsultID, len(p.Seats()))
	for i := range records {
		records[i].Seat = synod.NodeID(i)
		if run.End != nil {
			records[i].Stopped, records[i].Ticks = run.End.Stopped, run.End.Ticks
		}
	}
	for i := range run.Noted {
		if n := &run.Noted[i]; n.Node >= 0 && int(n.Node) < len(records) {
			r := &records[n.Node]
			r.Opinions = append(r.Opinions, Noted{n.Tick, &n.Opinion})
		}
	}
	for _, o := range run.Opened {
		if o.Node >= 0 && int(o.Node) < len(records) {
			records[o.Node].Open(o.First)
		}
	}
	for _, u := range run.Unanswered {
		if u.Node >= 0 && int(u.Node) < len(records) {
			records[u.Node].Use.Lose(u.Calls)
		}
	}
	for i := range run.Replies {
		reply := &run.Replies[i]
		if reply.Node < 0 || int(reply.Node) >= len(records) {
			continue
		}
		r := &records[reply.Node]
		r.count(&reply.Reply)
		r.Misreports.add(reply.ID, &reply.Reply)
		if reply.Status != synod.OK && !reply.Needless && (r.Failure == "" || reply.ID < first[reply.Node]) {
			r.Failure, first[reply.Node] = reply.Detail, reply.ID
		}
	}
	for _, report := range run.Reports {
		if report.Node >= 0 && int(report.Node) < len(records) {
			records[report.Node].report(&report)
		}
	}
	return records
}

// StatusCount counts model calls by how they ended, in the order of synod.Statuses. In
// JSON it is an object with every status.
type StatusCount [8]int

var statuses = synod.Statuses()

// The places of statuses in a StatusCount.
var (
	statusOK         = statusIndex(synod.OK)
	statusUnreadable = statusIndex(synod.Unreadable)
	statusRefused    = statusIndex(synod.Refused)
	statusDropped    = statusIndex(synod.Dropped)
)

func statusIndex(s synod.Status) int {
	return slices.Index(statuses, s) // nearly all are the first
}

// Count counts a call that ended with a status. It ignores an unknown one: a journal may hold any text.
func (c *StatusCount) Count(s synod.Status) {
	if i := statusIndex(s); i >= 0 {
		c[i]++
	}
}

// Of returns the number of calls with a status, 0 for an unknown status.
func (c StatusCount) Of(s synod.Status) int {
	if i := statusIndex(s); i >= 0 {
		return c[i]
	}
	return 0
}

// MarshalJSON writes an object with one member for each status.
func (c StatusCount) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, n := range c {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, "%q:%d", statuses[i], n)
	}
	return append(b, '}'), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (c *StatusCount) UnmarshalJSON(b []byte) error {
	var byName map[synod.Status]int
	if err := json.Unmarshal(b, &byName); err != nil {
		return err
	}
	for i, s := range statuses {
		c[i] = byName[s]
	}
	return nil
}

// Scores are a member's scores of other members' answers, in the order of seats. In
// JSON they are an object by seat id.
type Scores []SeatScore

// SeatScore is the score of one seat's answer.
type SeatScore struct {
	ID    string
	Score synod.Score
}

// MarshalJSON writes an object by seat id.
func (s Scores) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, x := range s {
		id, err := json.Marshal(x.ID)
		if err != nil {
			return nil, err
		}
		score, err := x.Score.MarshalJSON()
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, id...), ':'), score...)
	}
	return append(b, '}'), nil
}

// UnmarshalJSON reads what MarshalJSON writes, in the order of ids.
func (s *Scores) UnmarshalJSON(b []byte) error {
	var byID map[string]synod.Score
	if err := json.Unmarshal(b, &byID); err != nil {
		return err
	}
	*s = (*s)[:0]
	for id, score := range byID {
		*s = append(*s, SeatScore{id, score})
	}
	slices.SortFunc(*s, func(a, b SeatScore) int { return cmp.Compare(a.ID, b.ID) })
	return nil
}
