package outcome

import (
	"encoding/json"
	"errors"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

// Account is a Record without its opinions, as nodes send it and journals keep it.
type Account struct {
	Decided    *synod.Answer `json:"decided"`
	Statuses   StatusCount   `json:"statuses"`
	Use        llm.Use       `json:"use"`
	Took       []int         `json:"took,omitempty"`
	Reported   []string      `json:"reported,omitempty"`
	Said       []Said        `json:"said,omitempty"`
	Unread     *Unread       `json:"unread,omitempty"`
	Rereads    int           `json:"rereads,omitempty"`
	Failure    string        `json:"failure,omitempty"`
	Misreports Misreports    `json:"misreports"`
	Late       []LateCall    `json:"late,omitempty"`
	Stopped    string        `json:"stopped"`
	Ticks      synod.Tick    `json:"ticks"`
	Elapsed    int           `json:"elapsed,omitempty"`
}

// Account returns all of the record but its opinions. It does not name the model: the plan does.
func (r *Record) Account() Account {
	a := Account{Decided: r.Decided, Statuses: r.Statuses, Use: r.Use, Took: r.Took, Reported: r.Reported, Said: r.Said,
		Failure: r.Failure, Misreports: r.Misreports, Late: r.Late, Stopped: r.Stopped, Ticks: r.Ticks,
		Elapsed: r.Elapsed, Rereads: r.Rereads}
	if r.Unread.Replies > 0 {
		u := r.Unread
		a.Unread = &u
	}
	a.Use.Model, a.Use.Info = "", llm.Info{}
	return a
}

// maxAccountCount bounds every number in an account.
const maxAccountCount = 1 << 40

var errAccount = errors.New("its record has a count or a time that is out of range")

// SetAccount takes an account that somebody else has written. It fails if the account has a number that
// could disturb a reader.
func (r *Record) SetAccount(a *Account) error {
	for _, n := range append([]int{a.Use.Calls, a.Use.Prompt, a.Use.Completion, int(a.Ticks), a.Misreports.Replies,
		a.Elapsed, a.Rereads, a.Use.Billed, a.Use.Bills}, append(a.Statuses[:], a.Took...)...) {
		if n < 0 || n > maxAccountCount {
			return errAccount
		}
	}
	r.Decided, r.Statuses, r.Use, r.Took, r.Reported, r.Said = a.Decided, a.Statuses, a.Use, a.Took, a.Reported, a.Said
	r.Failure, r.Misreports, r.Late, r.Stopped, r.Ticks = a.Failure, a.Misreports, a.Late, a.Stopped, a.Ticks
	r.Elapsed, r.Rereads = a.Elapsed, a.Rereads
	if u := a.Unread; u != nil {
		if min(u.Replies, u.Cut, u.Other) < 0 || max(u.Replies, u.Cut, u.Other) > maxAccountCount {
			return errAccount
		}
		r.Unread = Unread{Replies: u.Replies, Cut: u.Cut, Other: u.Other, Failed: u.Failed, End: endOf(u.End)}
	}
	return nil
}

// report takes the line of a journal in which a node's account was kept. One that cannot be read leaves the
// record as it is: journal.Load has checked that the file was not changed.
func (r *Record) report(line *journal.SeatReport) {
	var a Account
	if json.Unmarshal(line.Account, &a) == nil && r.SetAccount(&a) == nil {
		r.Instance = sign.Instance(line.Instance)
	}
}

// InstanceOf returns the question of the run in a journal with what identifies the run.
func InstanceOf(run *journal.Run) plan.Instance {
	in := plan.Instance{Question: run.Head.Question, Seed: run.Head.Seed}
	for i := range run.Reports {
		if id := run.Reports[i].Instance; id != "" {
			in.ID = sign.Instance(id)
		}
	}
	return in
}
