package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/time/rate"
	"synod.dev/synod/council"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
	"synod.dev/synod/network/link"
	"synod.dev/synod/network/node/terms"
)

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
	if n.roster.Draw != nil {
		n.peers = nil // it plays no run yet, and only proves draws
	}
	if a := plan.Linked(n.plan, n.seat); a != nil { // for experiments
		n.transport = &hostile{Transport: c.Transport, node: n, attack: a}
	}
	if n.model, err = council.OpenSeat(n.plan, n.seat, c.Model, council.Options{Env: c.Env}); err != nil {
		return nil, err
	}
	if err := checkKind(n); err != nil {
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
			perSecond: rate.NewLimiter(framesPerSecond, frameBurst), checks: newChecks(),
			size: rate.NewLimiter(bytesPerSecond, bytesBurst)}
	}
	if err := n.openLedger(); err != nil {
		return nil, errors.Join(err, n.closeShared())
	}
	return n, nil
}

// checkKind fails if the node's model is simulated or recorded and the roster does not say so: certificates say of each
// member what the roster says.
func checkKind(n *Node) error {
	kind, agreed := n.model.Info().Kind, n.roster.Members[n.seat].Kind
	if (kind == llm.Simulated || kind == llm.Recorded) && string(kind) != agreed {
		return fmt.Errorf("the model of this node is %s, and the roster says that it is %s: give another model with "+
			"--council FILE, or agree on another roster", kind, agreed)
	}
	return nil
}

// Run serves until ctx ends, and then closes everything. Runs that have not ended are resumed by the
// next process.
func (n *Node) Run(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() { n.transport.Close(); n.cancel() })()
	service{n}.resume()
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
		n.work.Go(func() { service{n}.serve(link.NewConn(s), key) })
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

// Drain makes the node take no new question, and waits until its runs have ended.
func (n *Node) Drain(ctx context.Context) error {
	n.draining.Store(true)
	for _, r := range n.active() {
		select {
		case <-r.ended:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func openShared(c *Config, now func() time.Time, log *slog.Logger) (s *shared, err error) {
	s = &shared{dir: c.Dir, keep: c.Keep, prunes: make(chan struct{}, 1), now: now, log: log}
	for _, dir := range []string{"runs", "records", "evidence"} {
		if err := os.MkdirAll(filepath.Join(c.Dir, dir), 0o700); err != nil {
			return nil, err
		}
	}
	if s.daily, err = openDaily(filepath.Join(c.Dir, "spent.json"), c.Caps, now, c.Env.Prices, log); err != nil {
		return nil, err
	}
	if s.slots, err = openSlots(filepath.Join(c.Dir, "slots")); err != nil {
		return nil, err
	}
	if err = s.openRetention(); err != nil {
		return nil, errors.Join(err, s.slots.close())
	}
	return s, nil
}

// closeShared closes what only this node has.
func (n *Node) closeShared() error {
	if n.config.shared != nil {
		return nil // its Host closes it
	}
	return n.shared.close()
}
