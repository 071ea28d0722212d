// Package node plays one seat of a council whose seats have different owners, as a daemon.
//
// A node has a key and a roster. It opens one stream to each neighbour and accepts one from each; it
// takes questions from members and from the callers of its roster, plays the machine of its seat in
// real time (schedule), and returns the signed record of its seat to who asked.
//
// A value is on disk before it is signed and sent, and a second value for its slot is never signed
// (slots). A node that was killed goes on from its journal.
//
// The package has rank 7: it plays the machines of a council's plan.
package node

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/canonical"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/llm"
	"synod.dev/synod/network/link"
	"synod.dev/synod/network/node/call"
	"synod.dev/synod/network/node/terms"
	"synod.dev/synod/network/roster"
	"synod.dev/synod/record/certificate"
	"synod.dev/synod/record/evidence"
)

// Config is what a node needs.
type Config struct {
	Roster    *roster.Signed // signed by those who must (Signed.Verify)
	Secret    sign.Secret    // of a member of the roster
	Dir       string         // the node's folder: journals, signed slots, evidence
	Transport link.Transport
	Model     plan.Params // the settings of its own model; nil: those of the roster's council file
	Env       llm.Env
	Caps      Caps
	Log       *slog.Logger // nil: nothing is logged
	Program   string       // for the heads of journals
	Observer  Observer     // nil: nobody is told
	// Addresses replaces those of the roster, by seat.
	Addresses map[synod.NodeID][]string
	// Stranger opens a transport under a key that an adversary invents (sybil-swarm); nil: TLS.
	Stranger func(sign.Secret) (link.Transport, error)
	Now      func() time.Time // the wall clock; nil: time.Now
	// Ledger opens the ledger of the roster for a node that is one of its replicas.
	Ledger func(*Node) (Recorder, error)
	Keep   Retention // how long journals and records are kept

	shared *shared // of the nodes of a Host; nil: the node opens its own
}

// Node is one seat as a daemon.
type Node struct {
	config     Config
	roster     *roster.Roster
	hash       [sha256.Size]byte
	committee  sign.Committee
	secret     sign.Secret
	plan       *plan.Plan
	seat       synod.NodeID
	peers      []synod.NodeID
	within     time.Duration
	callTicks  synod.Tick
	transport  link.Transport
	model      llm.Model
	shared     *shared
	slots      *slots // of shared, like daily
	forwards   forwards
	declined   declines
	recorder   Recorder // nil: this node keeps no ledger
	replicas   []int    // the seats that keep the ledger
	daily      *daily
	memory     memory // of runs that have not ended
	usual      usual
	log        *slog.Logger
	observer   Observer
	context    context.Context
	cancel     context.CancelFunc
	links      map[synod.NodeID]*peer
	wrongClock atomic.Bool
	draining   atomic.Bool
	replaced   atomic.Pointer[roster.Roster] // by which the council goes on; nil: by its own
	begun      time.Time
	opened     time.Time // the same by the clock of the node
	work       sync.WaitGroup

	figures sync.Mutex // guards stats and what follows
	stats   Stats
	older   []string // runs in which the key has signed what the folder does not have
	// callerChecks has what each caller may ask to be checked.
	callerChecks map[string]*link.Bucket

	// mu is locked before the mutex of a peer or of a run, never after it.
	mu    sync.Mutex
	runs  map[runKey]*run
	order []*run      // oldest first
	asked []time.Time // when questions came in the last hour
}

// Open checks everything, opens the model and the node's folder, and resumes runs that were cut off.
// Run makes the node talk to others.
func Open(c Config) (n *Node, err error) {
	if err := c.Roster.Verify(); err != nil {
		return nil, err
	}
	n = newNode(c)
	var ok bool
	if n.seat, ok = n.roster.Seat(c.Secret.PublicKey()); !ok {
		return nil, fmt.Errorf("no member of the roster has the key %x of this node", c.Secret.PublicKey())
	}
	if n.plan, err = terms.Plan(n.roster); err != nil {
		return nil, err
	}
	n.callTicks, n.peers = n.plan.CallTicks(), n.plan.Peers(n.seat)
	if a := plan.Linked(n.plan, n.seat); a != nil { // for experiments
		n.transport = &hostile{Transport: c.Transport, node: n, attack: a}
	}
	if n.model, err = council.OpenSeat(n.plan, n.seat, c.Model, council.Options{Env: c.Env}); err != nil {
		return nil, err
	}
	if err := n.checkKind(); err != nil {
		return nil, err
	}
	if n.shared = c.shared; n.shared == nil {
		if n.shared, err = openShared(&c, n.now, n.log); err != nil {
			return nil, err
		}
	}
	n.daily, n.slots = n.shared.daily, n.shared.slots
	if _, known := n.daily.prices.Of(n.model.Info()); c.Caps.DailyUSD+c.Caps.USD > 0 && !known {
		return nil, errors.Join(fmt.Errorf("a limit in US dollars needs the price of the model %s, which is in "+
			"no table; "+
			"give it with --prices FILE", n.model.Info().Name), n.closeShared())
	}
	n.context, n.cancel = context.WithCancel(context.Background())
	for _, id := range n.peers {
		n.links[id] = &peer{node: n, id: id, wake: make(chan struct{}, 1), cursor: map[*run]int{},
			perSecond: link.Bucket{Rate: framesPerSecond, Burst: frameBurst}, checks: newChecks(),
			size: link.Bucket{Rate: bytesPerSecond, Burst: bytesBurst}}
	}
	if err := n.openLedger(); err != nil {
		return nil, errors.Join(err, n.closeShared())
	}
	return n, nil
}

// checkKind fails if the node's model is simulated or recorded and the roster does not say so: certificates say of each
// member what the roster says.
func (n *Node) checkKind() error {
	kind, agreed := n.model.Info().Kind, n.roster.Members[n.seat].Kind
	if (kind == llm.Simulated || kind == llm.Recorded) && string(kind) != agreed {
		return fmt.Errorf("the model of this node is %s, and the roster says that it is %s: give another model with "+
			"--council FILE, or agree on another roster", kind, agreed)
	}
	return nil
}

// newNode returns a node that has opened nothing yet.
func newNode(c Config) *Node {
	n := &Node{config: c, roster: c.Roster.Roster, hash: c.Roster.Hash(), committee: c.Roster.Committee(),
		secret: c.Secret, transport: c.Transport, log: c.Log, links: map[synod.NodeID]*peer{}, begun: time.Now(),
		runs: map[runKey]*run{}, within: time.Duration(c.Roster.Within) * time.Millisecond,
		observer: c.Observer}
	n.opened = n.now()
	if n.observer == nil {
		n.observer = unobserved{}
	}
	if n.log == nil {
		n.log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	return n
}

// now is the wall clock.
func (n *Node) now() time.Time {
	if n.config.Now != nil {
		return n.config.Now()
	}
	return time.Now()
}

// Seat returns the id of the node's seat, and its place.
func (n *Node) Seat() (string, synod.NodeID) { return n.roster.Members[n.seat].ID, n.seat }

// Run serves until ctx ends, and then closes everything. Runs that have not ended are resumed by the
// next process.
func (n *Node) Run(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() { n.transport.Close(); n.cancel() })()
	n.resume()
	if n.config.shared == nil { // otherwise its Host prunes
		n.work.Go(func() { n.shared.pruneLoop(n.context, n.Prune) })
	}
	for _, p := range n.links {
		n.work.Go(func() { p.dialLoop(n.context) })
	}
	for {
		s, key, err := n.transport.Accept()
		if err != nil {
			break
		}
		n.work.Go(func() { n.serve(link.NewConn(s), key) })
	}
	n.cancel()
	n.work.Wait()
	var closing error
	if c, ok := n.model.(llm.Closer); ok {
		closing = c.Close()
	}
	if n.recorder != nil {
		closing = errors.Join(closing, n.recorder.Close())
	}
	return errors.Join(closing, n.closeShared())
}

// serve answers a stream that somebody has opened.
func (n *Node) serve(conn *link.Conn, key []byte) {
	defer conn.Close()
	defer context.AfterFunc(n.context, func() { conn.Close() })()
	var h call.Hello
	err := conn.Receive(call.MaxHello, &h, helloTime)
	if err == nil && h.Version != call.Version {
		n.refuseVersion(conn, key, h.Version)
		return
	}
	if err != nil || string(h.Roster) != string(n.hash[:]) {
		n.count(&n.stats.Strangers)
		return // it learns nothing
	}
	welcome := call.Welcome{Clock: n.now().UnixMicro(), Serial: n.roster.Serial, Head: n.latest()}
	switch h.Purpose {
	case call.ToLink:
		seat, member := n.roster.Seat(key)
		p := n.links[seat]
		if !member || p == nil {
			n.count(&n.stats.Strangers)
			return
		}
		leave, err := p.join()
		if err != nil {
			return
		}
		defer leave()
		if conn.Send(welcome, helloTime) == nil {
			if err := p.read(n.context, conn); err != nil {
				n.log.Debug("a neighbour's stream ended", "peer", n.roster.Members[seat].ID, "error", err)
			}
		}
	case call.ToLedger:
		n.serveReplica(conn, key, welcome)
	case call.ToAsk:
		if n.roster.MayAsk(key) && conn.Send(welcome, helloTime) == nil {
			for wait := helloTime; n.answer(conn, hex.EncodeToString(key), wait); wait = call.KeepOpen {
			}
		}
	case call.ToForward:
		if n.roster.MayAsk(key) && conn.Send(welcome, helloTime) == nil {
			n.serveForward(conn, key)
		}
	case call.ToCompare:
		if n.roster.MayAsk(key) && conn.Send(welcome, helloTime) == nil {
			n.serveReceipts(conn, hex.EncodeToString(key))
		}
	case call.ToSign:
		if n.roster.MayAsk(key) && conn.Send(welcome, helloTime) == nil {
			n.certify(conn, hex.EncodeToString(key))
		}
	}
}

// certify signs the statement of a certificate, if it is about an answer that this seat holds. The
// answer is on disk before it is signed, and a second one for the run is refused for ever.
func (n *Node) certify(conn *link.Conn, caller string) {
	if err := n.mayCheck(caller, 1+len(n.roster.Members)); err != nil { // before anything is read
		conn.Send(call.Signed{Refused: err.Error()}, helloTime)
		return
	}
	request, s, err := call.ReceiveSign(conn, helloTime)
	if err != nil {
		return
	}
	id := sign.Instance(request.Instance)
	reply := call.Signed{}
	q, f := n.questionOf(id), n.recordOf(id)
	if q == nil || f == nil {
		reply.Refused = "this node has no record of the run"
	} else {
		reply.Signature, err = n.signStatement(id, q, f, s)
	}
	if err != nil {
		reply.Refused, reply.Signature = err.Error(), nil
	}
	if err := conn.Send(reply, helloTime); err != nil {
		n.log.Debug("a caller did not take its signature", "error", err)
	}
}

func (n *Node) signStatement(id sign.Instance, q *synod.Question, f *call.Final,
	s *certificate.Statement) ([]byte, error) {
	own, err := call.OwnOf(n.roster, n.seat, q, f)
	if err != nil {
		return nil, err
	}
	return own.Sign(s, func(answer []byte) error {
		v := signing{slotKey{string(id), certified}, sha256.Sum256(answer)}
		return n.slots.commit([]signing{v})
	}, n.secret)
}

// questionOf returns the question of a run; nil if there is none.
func (n *Node) questionOf(id sign.Instance) *synod.Question {
	if !plainID(id) {
		return nil
	}
	b, err := durable.ReadFile(n.startPath(id), call.MaxStart)
	if k := n.keptOf(id); k != nil { // it has ended
		b, err = k.Start, nil
	}
	var s call.Start
	if err != nil || canonical.Decode(b, call.MaxStart, &s) != nil {
		return nil
	}
	q, err := s.Decode()
	if err != nil || n.roster.Instance(&q, s.Nonce, s.At) != id {
		return nil
	}
	return &q
}

// plainID reports whether an instance id is one: SHA-256 in hexadecimal. It becomes a part of paths.
func plainID(id sign.Instance) bool {
	b, err := hex.DecodeString(string(id))
	return err == nil && len(b) == sha256.Size
}

// answer takes one question, plays it, and returns the record. It reports whether another question may follow.
func (n *Node) answer(conn *link.Conn, caller string, wait time.Duration) (more bool) {
	var s call.Start
	if conn.Receive(n.config.Caps.largest(), &s, wait) != nil {
		return false
	}
	reply := call.Reply{Head: n.latest()}
	f, err := n.play(&s, caller)
	if err != nil {
		reply.Refused = err.Error()
	} else {
		reply.Final = call.Compress(canonical.Encode(f))
	}
	if err := conn.Send(reply, time.Minute); err != nil {
		n.log.Debug("a caller did not take its record", "error", err)
		return false
	}
	return reply.Refused == ""
}

// play plays a question to its end. A question that was played already has its record.
func (n *Node) play(s *call.Start, caller string) (*call.Final, error) {
	q, err := s.Decode()
	if err != nil {
		return nil, err
	}
	if err := s.CheckSalt(n.roster, &q); err != nil {
		return nil, err
	}
	id := n.roster.Instance(&q, s.Nonce, s.At)
	r, f, err := n.begin(q, id, s, caller)
	if r == nil || err != nil {
		return f, err
	}
	select {
	case <-r.ended:
	case <-n.context.Done():
		return nil, errors.New("the node is ending; it goes on with this run when it is started again")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.final, r.failed
}

// begin begins a run, or returns the one that plays, or its record.
func (n *Node) begin(q synod.Question, id sign.Instance, s *call.Start, caller string) (*run, *call.Final, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if r := n.runs[instanceKey(id)]; r != nil {
		return r, nil, nil
	}
	if f := n.recordOf(id); f != nil {
		return nil, f, nil
	}
	if err := n.admit(&q, s, caller); err != nil {
		n.count(&n.stats.Declined)
		n.decline(instanceKey(id))
		n.observer.Refused(RefusedQuestion, string(id), "", err)
		return nil, nil, err
	}
	if err := writeStart(n.startPath(id), canonical.Encode(s)); err != nil {
		return nil, nil, fmt.Errorf("the node cannot write to its folder: %w", err)
	}
	r, err := n.start(q, id, s, caller)
	return r, nil, err
}

// start starts the goroutine of a run. n.mu is held.
func (n *Node) start(q synod.Question, id sign.Instance, s *call.Start, caller string) (*run, error) {
	budget := n.daily.budget(s.Limits.Lower(n.plan.Spec().Limits), caller)
	r, err := n.newRun(q, id, caller, time.UnixMilli(s.At), budget)
	if err != nil {
		return nil, err
	}
	r.grow(int(runBytes(len(s.Question))))
	n.register(r)
	for _, id := range n.peers {
		p := n.links[id]
		r.schedule.peers[id].present = p.here()
		r.once(id, frame{Kind: isBegun})
	}
	n.count(&n.stats.Runs)
	n.work.Go(func() { r.loop(n.context) })
	n.log.Info("run begins", "run", r.short(), "form", q.Form, "in", -r.elapsed())
	return r, nil
}

// A node keeps so many runs in memory, and so many bytes of ended ones, to serve neighbours that come late.
const (
	maxRuns  = 64
	maxEnded = 32 << 20
)

// register adds a run, and frees the oldest of those that have ended. n.mu is held.
func (n *Node) register(r *run) {
	n.runs[r.key] = r
	n.order = append(n.order, r)
	ended := 0
	for _, old := range n.order {
		ended += old.left()
	}
	for i := 0; (len(n.order) > maxRuns || ended > maxEnded) && i < len(n.order); {
		if old := n.order[i]; old.over() {
			ended -= old.left()
			delete(n.runs, old.key)
			n.settle(old)
			n.order = slices.Delete(n.order, i, i+1)
		} else {
			i++
		}
	}
}

// left returns how many bytes are kept of a run that has ended.
func (r *run) left() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.size
}

func (r *run) over() bool {
	select {
	case <-r.ended:
		return true
	default:
		return false
	}
}

// resume goes on with the runs that the last process did not end.
func (n *Node) resume() {
	n.mu.Lock()
	defer n.mu.Unlock()
	files, _ := filepath.Glob(filepath.Join(n.config.Dir, "runs", "*.start"))
	for _, file := range files {
		b, err := durable.ReadFile(file, call.MaxStart)
		var s call.Start
		if err == nil {
			err = canonical.Decode(b, call.MaxStart, &s)
		}
		var q synod.Question
		if err == nil {
			q, err = s.Decode()
		}
		if err != nil {
			n.log.Error("a run cannot be resumed", "file", filepath.Base(file), "error", err)
			continue
		}
		id := n.roster.Instance(&q, s.Nonce, s.At)
		if filepath.Base(file) != string(id)+".start" || n.recordOf(id) != nil || n.slots.isElsewhere(string(id)) {
			continue // of another roster, or it has ended, or it must not go on
		}
		if n.now().Sub(time.UnixMilli(s.At)) > n.longest() || n.shared.horizon.covers(s.At) {
			continue // the others have long ended
		}
		if _, err := n.start(q, id, &s, ""); err != nil {
			n.log.Error("a run cannot be resumed", "run", string(id), "error", err)
			continue
		}
		n.count(&n.stats.Resumed)
	}
}

// longest is the longest time of a run.
func (n *Node) longest() time.Duration {
	if d := n.plan.Spec().Limits.Deadline; d > 0 {
		return d
	}
	return time.Hour
}

func (n *Node) startPath(id sign.Instance) string {
	return filepath.Join(n.config.Dir, "runs", string(id)+".start")
}

func (n *Node) finalPath(id sign.Instance) string {
	return finalPath(n.config.Dir, id)
}

// finalPath is where a folder has the record of a run.
func finalPath(dir string, id sign.Instance) string {
	return filepath.Join(dir, "records", string(id)+".cbor")
}

// recordOf returns the signed record of a run that has ended; nil if there is none.
func (n *Node) recordOf(id sign.Instance) *call.Final {
	k := n.keptOf(id)
	if k == nil {
		return nil
	}
	k.Final.Receipts = k.Receipts
	return &k.Final
}

// keptOf returns what is on disk of a run that has ended; nil if there is nothing.
func (n *Node) keptOf(id sign.Instance) *call.Kept {
	if !plainID(id) {
		return nil
	}
	b, err := durable.ReadFile(n.finalPath(id), call.MaxKept)
	k := new(call.Kept)
	if err != nil || canonical.Decode(b, call.MaxKept, k) != nil || k.Final.Check(n.roster, id, n.seat) != nil {
		return nil
	}
	return k
}

// writeStart writes a question as the journal of its run is written: it outlives the process. After a failure of the
// machine it may be missing, and the run is not resumed.
func writeStart(path string, b []byte) error {
	if err := os.WriteFile(path+".new", b, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// writeRecord writes a record and waits until it is on disk. It needs no second name, because a record that is torn
// has no valid signature.
func writeRecord(path string, b []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return durable.SyncDir(filepath.Dir(path))
}

// finalOf returns the record of the seat, unsigned.
func (n *Node) finalOf(id sign.Instance, record outcome.Record, digest string) (*call.Final, error) {
	text, err := call.EncodeRecord(record)
	if err != nil {
		return nil, err
	}
	return &call.Final{Roster: n.hash[:], Instance: string(id), Seat: uint64(n.seat), Record: text, Digest: digest,
		Skewed: n.wrongClock.Load()}, nil
}

// slip returns what a member signs about a message with this hash.
func (n *Node) slip(id sign.Instance, m *synod.Message, sum [sha256.Size]byte) roster.Slip {
	return roster.Slip{Roster: n.hash[:], Instance: string(id), From: uint64(m.From), Slot: m.Slot.Name,
		Round: uint64(max(m.Slot.Round, 0)), Sum: sum[:]}
}

// running returns the run with a key that is in memory; nil if there is none.
func (n *Node) running(key runKey) *run {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.runs[key]
}

// active returns all runs in memory.
func (n *Node) active() []*run {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.order)
}

// wake makes the streams send what is queued.
func (n *Node) wake() {
	for _, p := range n.links {
		p.signal()
	}
}

// present tells all runs that a neighbour's stream was opened or closed.
func (n *Node) present(id synod.NodeID) {
	for _, r := range n.active() {
		go r.put(input{from: id, presence: true})
	}
}

// convict keeps the proof that a member has equivocated, and passes it on to the neighbours.
func (n *Node) convict(e *call.Equivocation) {
	proof, err := e.Evidence(n.roster)
	if err != nil {
		return
	}
	path := n.evidencePath(proof)
	if _, err := os.Stat(path); err == nil {
		return
	}
	if err := durable.WriteFile(path, proof.File()); err != nil {
		n.log.Error("evidence cannot be written", "error", err)
	}
	n.count(&n.stats.Equivocations)
	n.log.Error("a member signed two values for one slot", "member", n.roster.Members[e.A.From].ID, "slot", e.A.Slot,
		"round", e.A.Round, "file", path)
	key := instanceKey(sign.Instance(e.Instance))
	for _, p := range n.links {
		p.once(key, frame{Kind: isReceipts, Receipts: []call.Receipt{e.A, e.B}})
	}
}

// evidencePath is the path of a proof. It has the seat and not the id of the member, which may be any text.
func (n *Node) evidencePath(e *evidence.Evidence) string {
	return filepath.Join(n.config.Dir, "evidence", fmt.Sprintf("%s-seat%d.pem", e.Instance, e.Seat))
}

// Evidence returns the proofs that the node has about members of its roster.
func (n *Node) Evidence() (all []*evidence.Evidence, err error) {
	files, err := filepath.Glob(filepath.Join(n.config.Dir, "evidence", "*.pem"))
	for _, file := range files {
		b, err := durable.ReadFile(file, evidence.MaxSize)
		if err != nil {
			return nil, err
		}
		e, err := evidence.Parse(b)
		if err == nil && !n.isAbout(e) {
			continue // of an earlier roster
		}
		if err == nil {
			_, err = e.Verify(n.hash[:])
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, e)
	}
	return all, err
}

// isAbout reports whether evidence is about the node's roster, or names none that can be read.
func (n *Node) isAbout(e *evidence.Evidence) bool {
	r, err := roster.Decode(e.Roster)
	return err != nil || r.Hash() == n.hash
}

// count adds one to a figure.
func (n *Node) count(figure *int) {
	n.figures.Lock()
	*figure++
	n.figures.Unlock()
}

// sortedPeers returns the streams in the order of seats.
func (n *Node) sortedPeers() (all []*peer) {
	for _, id := range slices.Sorted(maps.Keys(n.links)) {
		all = append(all, n.links[id])
	}
	return all
}
