package node_test

import (
	"testing"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/network/node"
)

const aDecline = 11

// A member that declines a question costs no time, because it says so: the journals of the others are those of the
// simulator without it. One that declines and does not say so costs two messages' time.
func TestDecline(t *testing.T) {
	for name, says := range map[string]bool{"says so": true, "says nothing": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			net := convene(t, "protocol: {name: sac, rounds: 3}\nf: 1\npace: {think: 8s, within: 4s}\n"+fourModels, 47)
			last := len(net.nodes) - 1
			net.change = func(seat int, c *node.Config) {
				if seat != last {
					return
				}
				c.Caps.Forms = []synod.Form{synod.Prose}
				own := net.memory.Join(c.Secret.PublicKey(), net.signed.MayAsk)
				c.Transport = &tamper{own, func(_ []byte, f *sent) bool { return says || f.Kind != aDecline }}
			}
			net.startAll()
			best := time.Hour
			var differ []string
			for try := 0; try < 3 && (try == 0 || says); try++ { // on a busy machine messages come late
				begun := time.Now()
				differ, _ = net.withoutOne(t, last)
				best = min(best, time.Since(begun))
			}
			const notBegun = 8 * time.Second // twice the bound on a message
			if fast := best < notBegun; fast != says {
				t.Errorf("it took %v", best)
			}
			if says && len(differ) > 0 {
				t.Error(differ)
			}
		})
	}
}

// Where a process has ended, its connections are refused, and the others do not wait for it as for one whose link has
// broken, also before they have learned how long a question takes.
func TestEndedProcess(t *testing.T) {
	t.Parallel()
	text := "protocol: {name: decentllms}\nf: 1\npace: {think: 20s, within: 600ms}\n" +
		"models: {d: {provider: simulated, ability: 0.7}}\n" +
		"seats: [{id: w, model: d, count: 2, role: worker}, {id: e, model: d, count: 4, role: evaluator}]\n"
	net := conveneAt(t, text, 48, apart)
	net.overTLS()
	net.startAll()
	client := net.overTLSClient()
	defer client.Close()
	net.stop[5]()
	begun := time.Now()
	res, err := client.Ask(t.Context(), sum)
	if err != nil {
		t.Fatal(err)
	}
	o := res.Judge(net.signed.Roster, net.plan, sum)
	if took := time.Since(begun); o.Answer == nil || took > 15*time.Second {
		t.Errorf("%s: %s; it took %v, and the patience for a link is 20.6s", o.Status, o.Reason, took)
	} else {
		t.Logf("%s in %v", o.Status, took)
	}
}
