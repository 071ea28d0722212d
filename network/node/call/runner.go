package call

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/keyfile"
	"synod.dev/synod/internal/order"
	"synod.dev/synod/llm"
	"synod.dev/synod/network/link"
	"synod.dev/synod/network/node/terms"
	"synod.dev/synod/network/roster"
)

// Register lets council.Open open council files with runner: {name: nodes}. It may be called more than once.
func Register() {
	council.RegisterNodes(func(p *plan.Plan, _ llm.Env) (council.Runner, error) { return Open(p) })
}

// Runner is a council.Runner whose seats are nodes. It may play many questions at once.
type Runner struct {
	Client *Client
	asker  plan.Runner // the council file's
}

// Open returns the runner of a plan whose council file names the nodes of a roster. The caller closes it.
func Open(p *plan.Plan) (*Runner, error) {
	spec := p.Spec()
	r := spec.Runner
	signed, err := plan.ReadRoster(r.Roster)
	if err != nil {
		return nil, err
	}
	if signed.Draw != nil {
		return nil, fmt.Errorf("%s: %w", r.Roster, terms.ErrDraws)
	}
	if _, err := terms.Plan(signed.Roster); err != nil {
		return nil, fmt.Errorf("%s: %w", r.Roster, err)
	}
	r.Keys = nil
	now, err := plan.New(plan.Spec{Runner: r})
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(now.Record(), p.Record()) { // the plan is one of a record
		return nil, fmt.Errorf("the roster %s is not the one that the run was begun with: its members or their "+
			"council have changed", r.Roster)
	}
	if r.Key == "" {
		return nil, errors.New("key is absent; give the key file of a member or a caller of the roster")
	}
	secret, err := keyfile.Read(r.Key, passphrase)
	if err != nil {
		return nil, err
	}
	if !signed.MayAsk(secret.PublicKey()) {
		return nil, fmt.Errorf("the roster does not let the key %x of %s ask: neither a member nor a caller has it; "+
			"give another one with key", secret.PublicKey(), r.Key)
	}
	transport, err := link.NewTLS(secret.LinkKey())
	if err != nil {
		return nil, err
	}
	c := &Client{Roster: signed.Roster, Transport: transport, Secret: &secret}
	if c.Addresses, err = addresses(signed.Roster, r.Via); err != nil {
		return nil, err
	}
	return &Runner{c, spec.Runner}, nil
}

func passphrase() ([]byte, error) {
	if p := os.Getenv("SYNOD_PASSPHRASE"); p != "" {
		return []byte(p), nil
	}
	return nil, errors.New("the key needs a passphrase: set SYNOD_PASSPHRASE")
}

// addresses reads where nodes are reached: HOST:PORT of the roster, or ID=HOST:PORT of any other address.
func addresses(r *roster.Roster, via []string) (map[synod.NodeID][]string, error) {
	all := map[synod.NodeID][]string{}
	for _, text := range via {
		id, address, other := strings.Cut(text, "=")
		if !other {
			address = text
		}
		if err := roster.CheckAddress(address); err != nil {
			return nil, fmt.Errorf("via: %w", err)
		}
		at := slices.IndexFunc(r.Members, func(m roster.Member) bool {
			return other && m.ID == id || !other && slices.Contains(m.Addresses, address)
		})
		if at < 0 {
			return nil, fmt.Errorf("via is %s, which the roster has no member for; give ID=HOST:PORT", text)
		}
		all[synod.NodeID(at)] = append(all[synod.NodeID(at)], address)
	}
	return all, nil
}

// Close ends the connections.
func (r *Runner) Close() error {
	r.Client.Close()
	return r.Client.Transport.Close()
}

// Identity names the roster, the key that asks and where the nodes are reached.
func (r *Runner) Identity() string {
	return r.Client.Roster.HexHash() + "\n" + r.asker.Key + "\n" + strings.Join(r.asker.Via, ",")
}

// Play asks the members. The models are not used: every member calls its own. A member whose node
// returned no record has a record that says why, and no opinion.
func (r *Runner) Play(ctx context.Context, _ *plan.Plan, run council.Run, _ council.Models) (council.Played, error) {
	limits := Share(run.Limits, len(r.Client.Roster.Members))
	res, err := r.Client.AskWithin(ctx, run.Instance.Question, limits)
	if err != nil {
		return council.Played{}, err
	}
	return council.Played{Records: res.all(ctx), Proof: &Proof{r.Client, res}}, nil
}

// all returns the records with one for each member that returned none.
func (r *Result) all(ctx context.Context) []outcome.Record {
	stopped := ""
	switch {
	case len(r.Records) > 0:
	case ctx.Err() == nil:
		stopped = outcome.Preflight
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		stopped = outcome.PastTime
	}
	records := slices.Clone(r.Records)
	for seat, why := range r.Missing {
		m := outcome.Record{Seat: synod.NodeID(seat), Instance: r.Instance, Failure: why, Stopped: stopped}
		m.Statuses.Count(synod.Unavailable)
		records = append(records, m)
	}
	order.Sort(records, func(a, b outcome.Record) int { return int(a.Seat) - int(b.Seat) })
	return records
}
