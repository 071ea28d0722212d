package call

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/canonical"
	"synod.dev/synod/network/link"
	"synod.dev/synod/network/node/terms"
	"synod.dev/synod/network/roster"
)

// Client asks the members of one roster.
type Client struct {
	Roster    *roster.Roster
	Transport link.Transport
	// Addresses replaces those of the roster, by seat; a missing one keeps the roster's.
	Addresses map[synod.NodeID][]string
	Lead      time.Duration // from the announcement of a run to its start; 0: as the round trips need
	Now       func() time.Time
	// Secret is the caller's key. With it, members that cannot be reached are asked through others; nil: they are not.
	Secret *sign.Secret

	mu   sync.Mutex
	idle map[synod.NodeID]*opening // streams that are open and not used, at most one to a member
}

// The bounds of how long before its start a run is announced: the longest round trip. A member whom the question
// reaches later begins later, and the others wait for it.
const (
	minLead  = 2 * time.Millisecond
	maxLead  = time.Second
	lateness = 10 * time.Millisecond // by which a start is late on a busy machine
)

// How long the connections are waited for before a run is announced: at most openTime, and openRest once
// all members but F are connected. Those who come later are told what the others were told.
const (
	openTime = 2 * time.Second
	openRest = 100 * time.Millisecond
)

// Result is what the members returned to one question.
type Result struct {
	Question synod.Question
	Instance sign.Instance
	Start    time.Time
	Finals   []*Final         // by seat; nil: none came
	Missing  map[int]string   // by seat: why there is no final record
	Records  []outcome.Record // of the seats that returned one
	Proofs   []Equivocation   // members that signed two messages for one slot

	failed []error // by seat: why there is no final record; nil: there is one, or the seat was not waited for
}

// refusal is a node's reason not to take part. The node has written the text.
type refusal string

func (r refusal) Error() string { return "it refused: " + string(r) }

// unasked is the error of a member to which no question was sent.
type unasked struct{ error }

func (u unasked) Unwrap() error { return u.error }

// allLate reports whether the start had passed for every member that was asked, by the errors of all members. Then
// no member has begun the run.
func allLate(failed []error) bool {
	late := 0
	for _, err := range failed {
		var why refusal
		switch {
		case errors.As(err, &why) && strings.HasPrefix(string(why), LateStart):
			late++
		case !errors.As(err, new(unasked)):
			return false
		}
	}
	return late > 0
}

// Ask puts a question to all members and waits for their signed records: for all of them or, once
// all but F have come, for the time of one model call and one message more. It returns at the end of
// ctx with what has come.
//
// If the start had passed for every member that could be asked, none has begun anything, and the question is asked
// once more, as another run with the longest lead.
func (c *Client) Ask(ctx context.Context, q synod.Question) (*Result, error) {
	return c.AskWithin(ctx, q, Limits{})
}

// AskWithin is Ask with limits of what each member may spend.
func (c *Client) AskWithin(ctx context.Context, q synod.Question, l Limits) (*Result, error) {
	res, err := c.askAll(ctx, q, l, 0)
	if err == nil && allLate(res.failed) && ctx.Err() == nil {
		return c.askAll(ctx, q, l, maxLead)
	}
	return res, err
}

// askAll puts a question as one run, whose nonce no other run has. least bounds from below how long before its
// start it is announced.
func (c *Client) askAll(ctx context.Context, q synod.Question, l Limits, least time.Duration) (*Result,
	error) {
	now := time.Now
	if c.Now != nil {
		now = c.Now
	}
	nonce := make([]byte, nonceSize)
	if _, err := rand.Read(nonce); err != nil {
		return nil, err
	}
	start := Start{Nonce: nonce, Limits: l, Head: make([]byte, MaxWelcome)} // the longest that it can be
	if err := start.put(&q); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	open, lead := c.openAll(ctx)
	start.Head = c.latest(open, &q)
	if err := start.put(&q); err != nil {
		return nil, err
	}
	if c.Lead > 0 {
		lead = c.Lead
	}
	start.At = now().Add(max(lead, least)).UnixMilli()
	in := c.Roster.Instance(&q, nonce, start.At)
	return c.collect(ctx, start, open, &Result{Question: q, Instance: in, Start: time.UnixMilli(start.At),
		Finals: make([]*Final, len(c.Roster.Members)), Missing: map[int]string{},
		failed: make([]error, len(c.Roster.Members))}), nil
}

// put encodes the question.
func (s *Start) put(q *synod.Question) (err error) {
	if s.Question, err = json.Marshal(q); err != nil {
		return fmt.Errorf("the question cannot be encoded: %w", err)
	}
	if n := len(canonical.Encode(s)); n > MaxStart {
		return fmt.Errorf("the question has %d bytes; nodes read at most %d", n, MaxStart)
	}
	return nil
}

// opening is a connection to a member that is being opened.
type opening struct {
	done chan struct{} // closed when the other fields are set
	conn *link.Conn
	trip time.Duration // of the first frame and its reply
	head []byte        // of the ledger, as the member has it
	err  error
	used time.Time // when it was last used for a question; zero: never
}

// fresh opens a stream to a member in the background.
func (c *Client) fresh(ctx context.Context, seat synod.NodeID) *opening {
	o := &opening{done: make(chan struct{})}
	go func() {
		defer close(o.done)
		o.conn, o.trip, o.head, o.err = c.openFor(ctx, seat, ToAsk)
	}()
	return o
}

// kept returns a stream to a member that an earlier question has used; nil if there is none that the node can be
// expected to read.
func (c *Client) kept(seat synod.NodeID) *opening {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := c.idle[seat]
	delete(c.idle, seat)
	if o != nil && time.Since(o.used) > KeepOpen/2 {
		o.conn.Close()
		return nil
	}
	return o
}

// keep keeps a stream for the next question.
func (c *Client) keep(seat synod.NodeID, o *opening) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.idle == nil {
		c.idle = map[synod.NodeID]*opening{}
	}
	if c.idle[seat] != nil {
		o.conn.Close()
		return
	}
	o.used = time.Now()
	c.idle[seat] = o
}

// Close closes the streams that are kept for the next question.
func (c *Client) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, o := range c.idle {
		o.conn.Close()
	}
	c.idle = nil
}

// openAll opens connections to all members. It returns as soon as enough of them are open, and how long
// before its start a run is to be announced.
func (c *Client) openAll(ctx context.Context) (all []*opening, lead time.Duration) {
	n := len(c.Roster.Members)
	ended := make(chan *opening, n)
	for i := range n {
		o := c.kept(synod.NodeID(i))
		if o == nil {
			o = c.fresh(ctx, synod.NodeID(i))
		}
		all = append(all, o)
		go func() { <-o.done; ended <- o }()
	}
	longest, connected := time.Duration(0), 0
	most, rest := time.After(openTime), (<-chan time.Time)(nil)
	for range n {
		select {
		case o := <-ended:
			if o.err == nil {
				connected++
				longest = max(longest, o.trip)
			}
			if connected >= n-int(c.Roster.F) && rest == nil {
				rest = time.After(openRest)
			}
			continue
		case <-rest:
		case <-most:
		case <-ctx.Done():
		}
		break
	}
	slack := time.Duration(c.Roster.Within) * time.Millisecond / 4 // by which a start may be late
	return all, min(max(longest, minLead)+max(lateness-slack, 0), maxLead)
}

// latest makes the latest head of the ledger that members have shown the salt of a question, and returns it. All
// members of the run get the same.
func (c *Client) latest(open []*opening, q *synod.Question) (b []byte) {
	q.Salt, b = "", []byte{}
	g, err := terms.Group(c.Roster)
	if g == nil || err != nil {
		return b
	}
	size := uint64(0)
	for _, o := range open {
		select {
		case <-o.done:
		default:
			continue // it is not connected yet
		}
		if h, err := Latest(g, o.head); o.err == nil && err == nil && h.Head.Size > size {
			size, b, q.Salt = h.Head.Size, o.head, hex.EncodeToString(h.Head.Root)
		}
	}
	return b
}

func (c *Client) collect(ctx context.Context, start Start, open []*opening, res *Result) *Result {
	n := len(c.Roster.Members)
	var mu sync.Mutex
	done := make(chan struct{}, n)
	for i := range n {
		go func() {
			f, err := c.askOne(ctx, synod.NodeID(i), open, start, res.Instance)
			mu.Lock()
			if err != nil {
				res.Missing[i], res.failed[i] = err.Error(), err
			} else {
				res.Finals[i] = f
			}
			mu.Unlock()
			done <- struct{}{}
		}()
	}
	var enough <-chan time.Time
	for came := 0; came < n; came++ {
		if came >= n-int(c.Roster.F) && enough == nil {
			enough = time.After(time.Duration(c.Roster.Think+c.Roster.Within) * time.Millisecond)
		}
		select {
		case <-done:
			continue
		case <-enough:
		case <-ctx.Done():
		}
		break
	}
	mu.Lock()
	out := *res // goroutines that end later write to the old maps
	out.Finals, out.Missing, out.failed = make([]*Final, n), map[int]string{}, slices.Clone(res.failed)
	for i := range n {
		switch why := res.Missing[i]; {
		case res.Finals[i] != nil:
			out.take(i, res.Finals[i])
		case why != "":
			out.Missing[i] = why
		default:
			out.Missing[i] = "no record came in time"
		}
	}
	mu.Unlock()
	c.pullReceipts(ctx, &out)
	out.Proofs = FindEquivocations(c.Roster, res.Instance, out.Finals)
	return &out
}

// take keeps the record of a seat, if it can be read.
func (r *Result) take(seat int, f *Final) {
	record, err := f.SeatRecord()
	if err != nil {
		r.Missing[seat] = err.Error()
		return
	}
	r.Finals[seat] = f
	r.Records = append(r.Records, record)
}

// askOne gives a question to a member and waits for its record. On a stream of an earlier question that the node has
// closed meanwhile it asks once more on a new one: a node plays a question once.
func (c *Client) askOne(
	ctx context.Context, seat synod.NodeID, all []*opening, start Start, in sign.Instance,
) (*Final, error) {
	reply, err := c.replyOf(ctx, seat, all, start)
	if err != nil {
		return nil, err
	}
	if reply.Refused != "" {
		return nil, refusal(reply.Refused)
	}
	f := new(Final)
	b, err := expand(reply.Final)
	if err == nil {
		err = canonical.Decode(b, MaxRecord, f)
	}
	if err != nil {
		return nil, fmt.Errorf("its record: %w", err)
	}
	if err := f.Check(c.Roster, in, seat); err != nil {
		return nil, fmt.Errorf("its record: %w", err)
	}
	return f, nil
}

// replyOf gives a question to a member directly and, if it is not connected when the run is announced, through others:
// the first reply counts. A member plays a question once.
func (c *Client) replyOf(ctx context.Context, seat synod.NodeID, all []*opening, start Start) (RunReply, error) {
	select {
	case <-all[seat].done:
		if all[seat].err == nil {
			return c.askDirectly(ctx, seat, all[seat], start)
		}
	default:
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type answer struct {
		reply RunReply
		err   error
		way   *error // why this way gave no reply
	}
	var direct, through error
	came := make(chan answer, 2)
	go func() {
		r, err := c.askDirectly(ctx, seat, all[seat], start)
		came <- answer{r, err, &direct}
	}()
	go func() {
		r, err := c.askThrough(ctx, seat, all, start)
		came <- answer{r, err, &through}
	}()
	for range 2 {
		a := <-came
		if a.err == nil {
			return a.reply, nil
		}
		*a.way = a.err
	}
	return RunReply{}, noReply(direct, through)
}

// noReply returns why a member gave no reply: first why it gave none directly, then why it gave none through others. It
// is unasked if the question was not sent directly.
func noReply(direct, through error) error {
	if errors.Is(through, errNoCarrier) {
		return direct
	}
	return fmt.Errorf("%w; %w", direct, through)
}

// askDirectly gives a question to a member on a stream to it.
func (c *Client) askDirectly(ctx context.Context, seat synod.NodeID, open *opening, start Start) (RunReply, error) {
	<-open.done // openFor ends with ctx
	if open.err != nil {
		return RunReply{}, unasked{open.err}
	}
	again := !open.used.IsZero()
	reply, err := c.exchange(ctx, seat, open, start)
	if err != nil && again && ctx.Err() == nil {
		open = c.fresh(ctx, seat)
		if <-open.done; open.err != nil {
			return reply, open.err
		}
		reply, err = c.exchange(ctx, seat, open, start)
	}
	return reply, err
}

// exchange sends a question on a stream and waits for the reply. It keeps the stream or closes it.
func (c *Client) exchange(ctx context.Context, seat synod.NodeID, open *opening, start Start) (
	reply RunReply, err error,
) {
	conn := open.conn
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer func() {
		if stop() && err == nil && reply.Refused == "" {
			open.head = reply.Head
			c.keep(seat, open)
			return
		}
		conn.Close()
	}()
	if err = conn.Send(start, answerTime); err != nil {
		return reply, fmt.Errorf("it could not be asked: %w", err)
	}
	if err = conn.Receive(MaxRecord, &reply, 720*time.Hour); err != nil { // ctx ends it
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return reply, fmt.Errorf("no record came: %w", err)
	}
	return reply, nil
}

// answerTime is how long a peer may take for a frame that it need not think about.
const answerTime = 5 * time.Second

// openFor opens a stream for one request. trip is how long its first frame and the reply took.
func (c *Client) openFor(
	ctx context.Context, seat synod.NodeID, purpose string,
) (conn *link.Conn, trip time.Duration, head []byte, err error) {
	m := c.Roster.Members[seat]
	addresses := m.Addresses
	if a, ok := c.Addresses[seat]; ok {
		addresses = a
	}
	if c.Roster.Links == roster.Libp2p {
		own := []string{}
		for _, a := range addresses {
			if next, err := roster.CallerAddress(a); err == nil {
				own = append(own, next)
			}
		}
		addresses = own
	}
	hash := c.Roster.Hash()
	dial, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	s, err := c.Transport.Dial(dial, m.Key, addresses)
	if err != nil {
		return nil, 0, nil, fmt.Errorf("it cannot be reached: %w", err)
	}
	conn = link.NewConn(s)
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	sent := time.Now()
	hello := Hello{Version: Version, Purpose: purpose, Roster: hash[:], Clock: time.Now().UnixMicro()}
	var w Welcome
	if err = conn.Send(hello, answerTime); err == nil {
		err = conn.Receive(MaxWelcome, &w, answerTime)
	}
	if err == nil && w.Refused != "" {
		err = errors.New(w.Refused)
	}
	if err != nil {
		conn.Close()
		return nil, 0, nil, fmt.Errorf("it does not admit this caller, or has another roster or version: %w", err)
	}
	return conn, time.Since(sent), w.Head, nil
}

// Judge returns the outcome of what the members of a roster returned.
func (r *Result) Judge(of *roster.Roster, p *plan.Plan, q synod.Question) outcome.Outcome {
	return outcome.Judge(p, plan.Instance{Question: q, Check: of.Committee().Verifier(r.Instance)}, r.Records)
}
