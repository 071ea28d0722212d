package campaign

import (
	"bytes"
	"slices"
	"strconv"

	"synod.dev/synod"
	"synod.dev/synod/core/script"
	"synod.dev/synod/protocol/broadcast"
	"synod.dev/synod/protocol/check"
)

// broadcastCampaign is how campaigns try broadcast.
var broadcastCampaign = check.Subject{
	Name: broadcastName, Place: 2, Signs: true, Share: 20, Watch: check.KeepDiary,
	Claims: claimsOf("BB-1", "BB-2", "BB-3", "BB-4", "BB-5", "BB-6", "BB-7", "BB-8", "BB-8a", "BB-D"),
	Never:  []string{check.FailedCalls},
	Also:   []string{"silent", "late-revealer", "replayer", "malformed", "selective-silence"},
	States: []string{"value of the honest", "no value of a Byzantine sender", "value of a Byzantine sender", "evidence",
		"unsafe", "disagreement when late", "outside sender", "f = 0"},
	Trials: []check.Trial{{Claim: check.Claim{ID: "BB-T", Model: check.Any, Source: "own", Property: "a group is " +
		"accepted exactly if its parties are in order, an honest member is left, and the largest messages of a round " +
		"fit"}, Kind: check.Rules, Try: broadcast.TryGroup}},
}

func broadcastSubject() *subject {
	return &subject{
		Subject: broadcastCampaign, claims: allClaims(&broadcastCampaign), counts: true,
		setup: func(c chance, x *Execution) {
			x.N = 2 + c.IntN(5)
			if c.IntN(2) == 0 {
				x.Outside = 1 + c.IntN(3)
			}
			x.F = c.IntN(min(x.N-1, 4))
		},
		horizon: func(x *Execution) synod.Tick { g := groupOf(x); return g.End() },
		build:   func(p *ExecutionPlayer, _ string) (synod.Protocol, error) { return &caster{p}, nil },
		check:   checkBroadcast,
		own:     func(x *Execution) any { return make([]*cast, x.N) },
	}
}

// shortValue is the largest value of most groups, whose messages have the chains of all senders.
const shortValue = 64

// groupOf returns the group of an execution: without seats outside every member is a sender.
func groupOf(x *Execution) broadcast.Group {
	g := broadcast.Group{Protocol: "campaign/1", Name: "values", F: x.F, Start: 2, Within: check.Pace.Within,
		MaxValue: shortValue}
	if x.sampled(8) { // the chains of three senders fit into one message
		g.MaxValue = synod.MaxBody / 7
	}
	for i := range x.Total() {
		if i < x.N {
			g.Members = append(g.Members, synod.NodeID(i))
		}
		if i >= x.N || x.Outside == 0 {
			g.Senders = append(g.Senders, synod.NodeID(i))
		}
	}
	return g
}

// believed changes what members believe of their group, in tests that plant a bug.
var believed = func(*broadcast.Group) {}

// caster makes members that take part in one broadcast.
type caster struct{ p *ExecutionPlayer }

// cast is what one member holds after it.
type cast struct {
	at        synod.Tick
	broken    bool
	delivered []broadcast.Delivery
	later     []broadcast.Delivery // where delays have no bound: when everything has arrived
}

// linger is the tick at which everything has arrived.
const linger = 500

// Join implements synod.Protocol. Two copies of a member, which have different seeds, send different values.
func (c *caster) Join(seat synod.Seat) synod.Machine {
	return script.New(seat, script.Options{}, func(me *script.Agent) synod.Answer {
		seat, t := me.Seat(), c.p.trace
		g := groupOf(t.x)
		var mine []byte
		if slices.Contains(g.Senders, seat.Self) {
			mine = valueOf(t.x, seat)
		}
		believed(&g)
		out := broadcast.Run(me, g, mine)
		held := t.own.([]*cast)
		if int(seat.Self) >= t.x.N || held[seat.Self] != nil {
			return ""
		}
		h := &cast{at: me.Now(), broken: out.Broken(), delivered: slices.Clone(out.Deliveries)}
		held[seat.Self] = h
		if t.x.Regime == Asynchronous {
			script.Collect[synod.Response](me, "idle", 0, script.Until{At: linger})
			out.Recheck()
			h.later = slices.Clone(out.Deliveries)
		}
		return ""
	})
}

// valueOf returns what a sender sends: some are silent, and a copy with another seed says something else.
func valueOf(x *Execution, seat *synod.Seat) []byte {
	if check.Mix(x.Seed^uint64(seat.Self))%8 == 0 {
		return nil
	}
	return append([]byte("value "), strconv.FormatUint(check.Mix(seat.Seed)%1000, 10)...)
}

func checkBroadcast(t *trace) {
	g, held := groupOf(t.x), t.own.([]*cast)
	t.State("outside sender", t.x.Outside > 0)
	t.State("f = 0", t.x.F == 0)
	var members []*cast
	var ids []synod.NodeID
	for i, h := range held {
		id := synod.NodeID(i)
		if h == nil || !t.Plain(id) {
			continue
		}
		members, ids = append(members, h), append(ids, id)
		t.Claim("BB-3", h.at == g.End() && len(h.delivered) == len(g.Senders), "n%d has %d deliveries at tick %d, "+
			"not %d at tick %d", id, len(h.delivered), h.at, len(g.Senders), g.End())
		for k, d := range h.delivered {
			t.delivery(id, g.Senders[k], &d)
		}
		bound := g.Rounds(g.Senders[0])
		if g.MaxValue > shortValue {
			bound *= (len(g.Senders) + 2) / 3
		}
		t.Claim("BB-6", t.sentBy(id) <= bound, "n%d sends %d messages; the bound is %d", id, t.sentBy(id), bound)
		t.Margin("BB-6", float64(bound-t.sentBy(id)))
		t.deliverAgain(&g, id, h)
		if t.Synchronous() {
			t.Claim("BB-8", !h.broken, "n%d is sure that delays are not within the bound", id)
		}
	}
	for k, sender := range g.Senders {
		t.agreement(k, sender, ids, members)
		t.foreign(k, sender, members)
	}
}

// deliverAgain compares what a member delivers and passes on with the reference.
func (t *trace) deliverAgain(g *broadcast.Group, id synod.NodeID, h *cast) {
	seat := synod.Seat{Self: id, Seed: script.Derive(t.x.Seed, uint64(id))}
	var mine []byte
	if slices.Contains(g.Senders, id) {
		mine = valueOf(t.x, &seat)
	}
	b, ok := broadcast.Again(&t.Trace, "BB-D", g, id, mine, 0)
	if !ok {
		return
	}
	broadcast.Delivers(&t.Trace, "BB-D", b, h.delivered)
	broadcast.Relays(&t.Trace, "BB-D", g, b)
	t.Claim("BB-D", h.broken == b.Broken(), "n%d is sure that delays are too long: %v; late values are signed by %v",
		id, h.broken, b.LateSigners)
	if h.later == nil {
		return
	}
	if b, ok = broadcast.Again(&t.Trace, "BB-D", g, id, mine, linger); ok {
		broadcast.Delivers(&t.Trace, "BB-D", b, h.later)
	}
}

// foreign checks that nobody delivers a value of a sender all of whose signatures are for another run or committee.
func (t *trace) foreign(k int, sender synod.NodeID, members []*cast) {
	at := slices.IndexFunc(t.x.Events, func(e ScheduledFault) bool { return e.Node == sender && onHost(e.kind) })
	if at < 0 { // its process, of which the first event decides, is in order
		return
	}
	if kind := t.x.Events[at].Kind; kind != "replay-run" && kind != "replay-committee" ||
		slices.ContainsFunc(t.x.Seats, func(a Seated) bool { return a.Seat == sender }) {
		return
	}
	for _, h := range members {
		for _, all := range [][]broadcast.Delivery{h.delivered, h.later} {
			if len(all) > 0 {
				t.Claim("BB-7", all[k].Signed == nil, "%s of n%d is delivered, which has signed for another run or "+
					"committee", shown(&all[k]), sender)
			}
		}
	}
}

// delivery checks one delivery by itself.
func (t *trace) delivery(id, sender synod.NodeID, d *broadcast.Delivery) {
	ok := d.Sender == sender && (d.Signed == nil || d.Signed.Sender == sender && d.Signed.Verify(t.Verifier))
	t.Claim("BB-4", ok, "n%d delivers %+v of n%d", id, d, sender)
	if d.Evidence != nil {
		t.Claim("BB-5", t.x.bad(sender) && d.Evidence.Sender == sender && d.Evidence.Verify(t.Verifier),
			"n%d has evidence against n%d: %+v", id, sender, d.Evidence)
	}
	t.Applies("BB-5")
	t.State("evidence", d.Evidence != nil)
	t.State("unsafe", d.Unsafe)
	t.State("value of the honest", d.Signed != nil && !t.x.bad(sender))
	t.State("value of a Byzantine sender", d.Signed != nil && t.x.bad(sender))
	t.State("no value of a Byzantine sender", d.Signed == nil && t.x.bad(sender))
}

// agreement compares what honest members deliver of one sender.
func (t *trace) agreement(k int, sender synod.NodeID, ids []synod.NodeID, members []*cast) {
	same, safe := true, true
	for i, h := range members {
		d, first := &h.delivered[k], &members[0].delivered[k]
		equal := (d.Signed == nil) == (first.Signed == nil) && d.Equivocated == first.Equivocated &&
			(d.Signed == nil || bytes.Equal(d.Signed.Value, first.Signed.Value))
		same, safe = same && equal, safe && !d.Unsafe
		if h.later != nil {
			late := &h.later[k]
			safe = safe && !late.Unsafe
			t.Claim("BB-3", shown(late) == shown(d), "a late message changes what n%d delivers: %s, then %s",
				ids[i], shown(d),
				shown(late))
			t.delivery(ids[i], sender, late)
		}
		if !t.Synchronous() {
			continue
		}
		t.Claim("BB-1", equal, "of n%d, n%d delivers %s and n%d %s", sender, ids[0], shown(first), ids[i], shown(d))
		if t.Plain(sender) {
			seat := synod.Seat{Self: sender, Seed: script.Derive(t.x.Seed, uint64(sender))}
			want := valueOf(t.x, &seat)
			t.Claim("BB-2", (d.Signed == nil) == (want == nil) && (want == nil || bytes.Equal(d.Signed.Value, want)),
				"honest n%d sends %q, and n%d delivers %s", sender, want, ids[i], shown(d))
		}
	}
	t.State("disagreement when late", !same && !t.x.Above)
	if !t.x.Above && !t.loses() {
		t.Claim("BB-8a", same || !safe, "members deliver different values of n%d, and none marks it as unsafe", sender)
	}
}

func shown(d *broadcast.Delivery) string {
	switch {
	case d.Equivocated:
		return "nothing of two values"
	case d.Signed == nil:
		return "nothing"
	}
	return strconv.Quote(string(d.Signed.Value))
}

// loses reports whether messages of honest members may be lost, or members stop.
func (t *trace) loses() bool {
	return slices.ContainsFunc(t.x.Events, func(e ScheduledFault) bool {
		return kinds[e.kind].Charge == Omission && t.x.Regime == Asynchronous
	})
}
