package campaign

import (
	"errors"
	"fmt"
	"maps"
	"os"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/protocol/check"
)

// inSegment is the parameter of executions in which the journals of several runs share a file.
const inSegment = "segment"

// journalDisk plays journals, each in a file of its own or all in a segment: replies are paid for, runs end, and
// processes die.
func journalDisk() *subject {
	return &subject{
		Subject: check.Subject{Name: journalName, Share: 2, States: []string{"file", "segment", "paid", "closed",
			"write failed", "resumed", "not resumed"}}, disk: playJournal,
		claims: claimsOf(claimCrash, claimPaid, claimLeaves, claimRead, claimSame),
		setup: func(c chance, x *Execution) {
			setupDisk(c, x)
			if c.IntN(2) == 0 {
				x.Params = inSegment
			}
		},
		horizon: diskHorizon,
	}
}

func playJournal(t *trace) {
	d := newDrive(t)
	t.State("segment", t.x.Params == inSegment)
	t.State("file", t.x.Params != inSegment)
	if t.x.Params == inSegment {
		playSegment(t, d)
	} else {
		playFiles(t, d)
	}
	t.calls, t.first = d.Calls, d.digest()
}

// replies are the texts of the replies of a run, by call.
type replies map[journal.Key]string

// account is what the owner of a run knows of its journal.
type account struct {
	id     string
	paid   replies // of which a journal says that they outlive the process
	wrote  replies // all that were given to it
	ended  bool    // Close was called
	digest string  // of a journal that was closed
	cut    int     // how often the power had been cut when it began, or was resumed
}

func newAccount(id string, d *drive) *account {
	return &account{id: id, paid: replies{}, wrote: replies{}, cut: d.cut}
}

// desk writes journals in files of their own, one after another.
type desk struct {
	t      *trace
	d      *drive
	w      *journal.Writer // nil: none is open
	now    *account
	safe   []*account // those that are on the disk
	calls  int
	failed bool // the open writer has failed
}

func (k *desk) path(id string) string { return "/data/runs/" + id + ".jsonl" }

func playFiles(t *trace, d *drive) {
	k := &desk{t: t, d: d}
	for range t.x.Operations {
		if k.w == nil {
			k.open()
		}
		if k.w != nil {
			k.operate()
		}
		if d.Dead() {
			k.restart()
		}
	}
	if k.w != nil {
		k.end()
	}
	d.crash = "power-cut"
	k.restart()
	d.faulty(false)
	k.check()
}

// restart ends the process and begins another one.
func (k *desk) restart() {
	if k.w != nil {
		_, _ = k.w.Abandon() // it fails after a kill
		k.w = nil
	}
	k.d.start()
}

// open goes on with the journal that was cut off, or begins another one.
func (k *desk) open() {
	if k.now != nil {
		k.resume()
	}
	if k.w != nil {
		return
	}
	if k.now == nil {
		k.calls++
		k.now = newAccount(fmt.Sprint("run-", k.calls), k.d)
	}
	w, err := journal.CreateOn(k.d, k.path(k.now.id), journal.Head{Program: "campaign", Seed: 1})
	if err != nil {
		k.now = nil // its name is not used again
		return
	}
	k.w, k.failed = w, false
}

// resume reads the journal that was cut off and goes on in its file.
func (k *desk) resume() {
	a := k.now
	var run *journal.Run
	err := k.d.again(func() (err error) {
		run, _, err = journal.ResumeOn(k.d, k.path(a.id))
		return err
	})
	k.t.State("resumed", err == nil)
	k.t.State("not resumed", err != nil)
	lost := k.d.cut > a.cut || k.d.rotten
	if err != nil {
		k.t.Claim(claimPaid, lost || len(a.paid) == 0, "%s has %d replies that were paid for, and cannot be resumed: "+
			"%v", a.id, len(a.paid), err)
		k.now = nil
		return
	}
	k.compare(a, run, lost)
	if run.End != nil { // closing it failed, and its end is there all the same
		k.now = nil
		return
	}
	a.paid, a.wrote, a.cut = texts(run.Replies), texts(run.Replies), k.d.cut
	head := run.Head
	head.Known, head.Unanswered = run.Answered(), run.Lost()
	if k.w, err = run.Continue(head); err != nil {
		k.w = nil
		return
	}
	k.failed = false
}

// compare compares what was read of a journal with what its owner knows. lost: replies may be missing.
func (k *desk) compare(a *account, run *journal.Run, lost bool) {
	read := texts(run.Replies)
	for key, text := range read {
		k.t.Claim(claimRead, a.wrote[key] == text, "%s has the reply %q of %v, which was not written", a.id, text, key)
	}
	k.t.Applies(claimRead)
	for key, text := range a.paid {
		k.t.Claim(claimPaid, lost || read[key] == text, "the reply of %v in %s was paid for: %q is read", key, a.id,
			read[key])
	}
	if run.End != nil {
		k.t.Claim(claimRead, a.ended && maps.Equal(read, a.wrote) && run.Digest() == a.digest,
			"%s has an end and the replies %v; written were %v", a.id, read, a.wrote)
	}
}

func texts(all journal.Replies) replies {
	m := replies{}
	for key, r := range all {
		m[key] = r.Text
	}
	return m
}

// operate uses the open journal once.
func (k *desk) operate() {
	switch n := k.d.rand.IntN(8); {
	case n < 5:
		k.calls++
		k.failed = ask(k.t, k.d, k.w, k.now, k.calls, k.failed)
	case n < 6:
		k.w.Event(synod.Tick(k.calls), 0, synod.Begin{})
	case n < 7:
		_, _ = k.w.Abandon() // the run was interrupted
		k.w = nil
		k.d.start()
	default:
		k.end()
	}
}

// ask makes a call and writes its reply. It reports whether the journal has failed.
func ask(t *trace, d *drive, w *journal.Writer, a *account, id int, failed bool) bool {
	key := journal.Key{ID: synod.ConsultID(id)}
	err := w.Asked(key.Node, key.ID, journal.Cost{Calls: 1})
	t.Claim(claimLeaves, err != nil || !failed, "a request leaves after the journal of %s has failed", a.id)
	if err != nil {
		t.State("write failed", true)
		return true
	}
	text := fmt.Sprint("reply ", id)
	if d.rand.IntN(4) == 0 { // longer than a sector
		text += fmt.Sprintf("%700d", id)
	}
	a.wrote[key] = text
	w.Reply(key.Node, key.ID, synod.Reply{Status: synod.OK, Text: text, Calls: 1})
	if w.Err() == nil {
		a.paid[key] = text
		t.State("paid", true)
	}
	return w.Err() != nil
}

// end closes the journal.
func (k *desk) end() {
	a := k.now
	a.ended = true
	digest, err := k.w.Close("rounds")
	a.digest, k.w = digest, nil
	if err != nil {
		return
	}
	k.t.Claim(claimLeaves, !k.failed, "%s counts as closed after its journal has failed", a.id)
	k.t.State("closed", true)
	k.safe, k.now = append(k.safe, a), nil
}

// check reads all journals that were closed.
func (k *desk) check() {
	for _, a := range k.safe {
		f, err := k.d.OpenFile(k.path(a.id), os.O_RDONLY, 0)
		var run *journal.Run
		if err == nil {
			run, err = journal.Read(f)
			err = errors.Join(err, f.Close())
		}
		if err != nil || run.End == nil {
			k.t.Claim(claimPaid, k.d.rotten, "%s was closed, and cannot be read whole: %v", a.id, err)
			continue
		}
		k.compare(a, run, false)
	}
}
