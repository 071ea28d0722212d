package campaign

import (
	"fmt"
	"maps"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/internal/faultdisk"
)

// diarySubject writes journals without faults of the disk: runs are interrupted, go on, are dropped and begun anew. It
// compares replies and costs with those that were written, and replays what a machine did.
func diarySubject() *subject {
	return pieceSubject(diaryName, .2, []string{"a file", "a segment", "interrupted", "dropped", "taken", "forgotten",
		"begun anew", "a replay", "a false replay"}, playDiary, claimCosts, claimAgain)
}

func playDiary(p *piece) {
	switch p.rand.IntN(4) {
	case 0:
		p.replay()
	case 1:
		p.State("a file", true)
		p.diary(&fileKeeper{disk: faultdisk.New()})
	default:
		p.State("a segment", true)
		p.diary(newSegmentKeeper())
	}
}

// keeper is a file or a segment that holds the journal of a run.
type keeper interface {
	begin(head journal.Head) (*journal.Writer, error) // from nothing, or after what was interrupted
	read() (*journal.Run, error)
	end() error // of the run that was closed
}

// diary is what must be in a journal.
type diary struct {
	*piece
	keeper
	w       *journal.Writer
	replies journal.Replies
	asked   map[journal.Key]journal.Cost
	lost    map[synod.NodeID]journal.Cost // of earlier attempts
	next    synod.ConsultID
}

// diary plays a run with interruptions.
func (p *piece) diary(k keeper) {
	d := &diary{piece: p, keeper: k, lost: map[synod.NodeID]journal.Cost{}}
	head := journal.Head{Program: "campaign", Seed: 7}
	for range 1 + p.rand.IntN(4) {
		var err error
		if d.w, err = k.begin(head); err != nil {
			p.Fail(claimCosts, "a journal cannot be begun: %v", err)
			return
		}
		d.replies, d.asked = maps.Clone(head.Known), map[journal.Key]journal.Cost{}
		if d.replies == nil {
			d.replies = journal.Replies{}
		}
		for range 1 + p.rand.IntN(5) {
			d.call()
		}
		if p.one(4) {
			break
		}
		p.State("interrupted", true)
		_, _ = d.w.Abandon()
		d.w = nil
		run := d.check("was interrupted")
		if run == nil {
			return
		}
		head.Known, head.Unanswered = run.Answered(), run.Lost()
		d.lose()
		if s, ok := k.(*segmentKeeper); ok && p.one(3) {
			head = d.drop(s)
		}
	}
	if d.w == nil {
		return
	}
	if _, err := d.w.Close("rounds"); err != nil {
		p.Fail(claimCosts, "a journal cannot be closed: %v", err)
	} else if err := k.end(); err != nil {
		p.Fail(claimCosts, "a run cannot be ended: %v", err)
	} else {
		d.check("has ended")
		if s, ok := k.(*segmentKeeper); ok {
			d.anew(s, head)
		}
	}
}

// anew begins a run once more that was taken.
func (d *diary) anew(s *segmentKeeper, head journal.Head) {
	s.reopen(d.piece)
	d.State("taken", true)
	d.Claim(claimCosts, s.segment.Finished(diaryRun), "a run that was taken is not finished")
	if d.one(2) {
		d.forget(s)
		return
	}
	d.State("begun anew", true)
	w, err := s.begin(head)
	if err == nil {
		err = w.Asked(0, d.next, journal.Cost{Calls: 1})
	}
	if err != nil {
		d.Fail(claimCosts, "a run cannot be begun anew: %v", err)
		return
	}
	d.Claim(claimCosts, !s.segment.Finished(diaryRun), "a run that is asked anew counts as finished")
	_, _ = w.Abandon()
}

// forget forgets a run that was taken, mostly beside another one that was not.
func (d *diary) forget(s *segmentKeeper) {
	d.State("forgotten", true)
	var left []string
	if !d.one(3) {
		w, err := s.segment.Create("other", journal.Head{Program: "campaign", Seed: 8})
		if err == nil {
			err = w.Asked(0, 0, journal.Cost{Calls: 1})
		}
		if err != nil {
			d.Fail(claimCosts, "a run cannot be begun beside another one: %v", err)
			return
		}
		_, _ = w.Abandon()
		left = []string{"other"}
	}
	if err := s.segment.Forget(diaryRun); err != nil {
		d.Fail(claimCosts, "a run cannot be forgotten: %v", err)
	}
	for _, when := range []string{"at once", "when the segment was closed", "when it was closed again"} {
		size := len(s.disk.Backup()[segmentPath])
		d.Claim(claimCosts, slices.Equal(s.segment.IDs(), left) && (size == 0) == (left == nil), "a run was "+
			"forgotten, and %s the segment of %d bytes holds %q, and not %q", when, size, s.segment.IDs(), left)
		if left != nil {
			run, err := s.segment.Load(left[0])
			d.Claim(claimCosts, err == nil && len(run.Lost()) == 1, "%s the other run cannot be read: %v", when, err)
		}
		err := s.segment.Close()
		d.Claim(claimCosts, err == nil, "a segment cannot be closed: %v", err)
		s.open()
	}
}

// call asks a model, and mostly gets a reply.
func (d *diary) call() {
	key := journal.Key{Node: synod.NodeID(d.rand.IntN(3)), ID: d.next}
	d.next++
	cost := journal.Cost{Calls: 1 + d.rand.IntN(2), Usage: synod.Usage{Prompt: d.rand.IntN(50)}}
	if err := d.w.Asked(key.Node, key.ID, cost); err != nil {
		d.Fail(claimCosts, "a request is not written: %v", err)
	}
	d.asked[key] = d.asked[key].Plus(cost)
	if d.one(4) {
		return
	}
	r := synod.Reply{Status: among(d.piece, synod.OK, synod.OK, synod.Dropped), Text: fmt.Sprint("reply ", key.ID),
		Calls: cost.Calls, Usage: synod.Usage{Prompt: d.rand.IntN(50), Completion: 1}}
	d.w.Reply(key.Node, key.ID, r)
	d.replies[key] = r
	delete(d.asked, key)
}

// costs returns what was paid for without a reply that may be used, by seat.
func (d *diary) costs() map[synod.NodeID]journal.Cost {
	all := maps.Clone(d.lost)
	for key, c := range d.asked {
		all[key.Node] = all[key.Node].Plus(c)
	}
	for key, r := range d.replies {
		if r.Status == synod.Dropped {
			all[key.Node] = all[key.Node].Plus(journal.Cost{Calls: r.Calls, Usage: r.Usage})
		}
	}
	return all
}

// lose keeps these costs for the next attempt.
func (d *diary) lose() { d.lost = d.costs() }

// drop forgets the replies of a run, and keeps what they cost.
func (d *diary) drop(s *segmentKeeper) journal.Head {
	d.State("dropped", true)
	if err := s.segment.Drop(diaryRun); err != nil {
		d.Fail(claimCosts, "a run cannot be dropped: %v", err)
	}
	for key, r := range d.replies {
		if r.Status != synod.Dropped {
			d.lost[key.Node] = d.lost[key.Node].Plus(journal.Cost{Calls: r.Calls, Usage: r.Usage})
		}
	}
	d.replies, d.asked = journal.Replies{}, map[journal.Key]journal.Cost{}
	s.reopen(d.piece)
	head := journal.Head{Program: "campaign", Seed: 7}
	if run := d.check("was dropped"); run != nil {
		head.Unanswered = run.Lost()
	}
	return head
}

// check compares a journal with what must be in it.
func (d *diary) check(what string) *journal.Run {
	run, err := d.read()
	if err != nil {
		d.Claim(claimCosts, len(d.costs()) == 0 && len(d.replies) == 0, "a run that %s cannot be read: %v", what, err)
		return nil
	}
	got := map[synod.NodeID]journal.Cost{}
	for _, u := range run.Lost() {
		got[u.Node] = u.Cost
	}
	d.Claim(claimCosts, maps.Equal(got, d.costs()), "a run %s and lost %v; its journal says %v", what, d.costs(), got)
	useful := func(all journal.Replies) map[journal.Key]string {
		m := map[journal.Key]string{}
		for key, r := range all {
			if r.Status != synod.Dropped {
				m[key] = fmt.Sprint(r.Status, r.Text, r.Calls, r.Usage)
			}
		}
		return m
	}
	d.Claim(claimCosts, maps.Equal(useful(run.Answered()), useful(d.replies)) &&
		len(run.Answered()) == len(useful(d.replies)), "a run that %s has the replies %v; written were %v", what,
		run.Answered(), d.replies)
	return run
}

const diaryRun = "run"

// fileKeeper keeps a journal in a file.
type fileKeeper struct {
	disk *faultdisk.Disk
	held *journal.Run
}

func (k *fileKeeper) begin(head journal.Head) (*journal.Writer, error) {
	if k.held != nil {
		return k.held.Continue(head)
	}
	return journal.CreateOn(k.disk, "/data/run.jsonl", head)
}

func (k *fileKeeper) read() (run *journal.Run, err error) {
	k.held, _, err = journal.ResumeOn(k.disk, "/data/run.jsonl")
	return k.held, err
}

func (k *fileKeeper) end() error { return nil }

// segmentKeeper keeps it in a segment, beside that of another run.
type segmentKeeper struct {
	disk    *faultdisk.Disk
	segment *journal.Segment
}

func newSegmentKeeper() *segmentKeeper {
	k := &segmentKeeper{disk: folders()}
	k.open()
	return k
}

func (k *segmentKeeper) open() {
	var err error
	if k.segment, err = journal.OpenSegmentOn(k.disk, segmentPath); err != nil {
		panic(err)
	}
}

// reopen closes the segment and opens it again, sometimes.
func (k *segmentKeeper) reopen(p *piece) {
	if p.one(2) {
		_ = k.segment.Close()
		k.open()
	}
}

func (k *segmentKeeper) begin(head journal.Head) (*journal.Writer, error) {
	return k.segment.Create(diaryRun, head)
}

func (k *segmentKeeper) read() (*journal.Run, error) { return k.segment.Load(diaryRun) }

func (k *segmentKeeper) end() error {
	f, err := k.segment.Take(diaryRun)
	if err == nil {
		f.Release()
	}
	return err
}
