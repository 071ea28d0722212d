package node_test

import (
	"context"
	"encoding/binary"
	"flag"
	"strings"
	"syscall"
	"testing"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/network/link"
	"synod.dev/synod/network/node"
	"synod.dev/synod/network/node/call"
)

var attackFor = flag.Duration("attack", 300*time.Millisecond, "how long TestAttackCost attacks in each way")

// byzantine is a member that sends frames of its own making to a node. It opens its stream again when it is closed.
type byzantine struct {
	net  *network
	seat int
	conn *link.Conn
}

// write sends a frame; false: the node does not read it now.
func (b *byzantine) write(frame []byte) bool {
	if b.conn == nil && !b.open() {
		return false
	}
	if b.conn.SendBytes(frame, time.Second) != nil {
		b.conn.Close()
		b.conn = nil
		return false
	}
	return true
}

func (b *byzantine) open() bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	s, err := b.net.memory.Dialer(b.net.secrets[b.seat].PublicKey()).Dial(ctx, b.net.secrets[0].PublicKey(), nil)
	if err != nil {
		return false
	}
	conn := link.NewConn(s)
	hash := b.net.signed.Hash()
	hello := call.Hello{Version: call.Version, Purpose: call.ToLink, Roster: hash[:], Clock: time.Now().UnixMicro()}
	var w call.Welcome
	if conn.Send(hello, time.Second) != nil || conn.Receive(call.MaxWelcome, &w, time.Second) != nil {
		conn.Close()
		return false
	}
	b.conn = conn
	return true
}

// attackNames are the ways of attacks. In the first one nothing is sent.
var attackNames = []string{"nothing", "receipts of the node", "receipts of another", "votes", "one message", "begins",
	"many messages"}

// framesOf are the frames that one of the attacks sends again and again, to make a node work on a run. have is a
// receipt that the node has of another member.
func framesOf(name string, net *network, id sign.Instance, have call.Receipt) (frames [][]byte) {
	garbage := func(from uint64, slot string, round uint64, i int) call.Receipt {
		return call.Receipt{From: from, Slot: slot, Round: round, Signature: make([]byte, 64),
			Sum: node.SumOf(binary.BigEndian.AppendUint64(nil, uint64(i)))}
	}
	lists := func(from uint64, slot string, round uint64) (frames [][]byte) {
		for i := range 20 {
			var list []call.Receipt
			for k := range node.ReceiptsAtOnce {
				list = append(list, garbage(from, slot, round, i*node.ReceiptsAtOnce+k))
			}
			frames = append(frames, node.ReceiptsFrame(id, list))
		}
		return frames
	}
	signed := func(slot string, round int) []byte {
		m := &synod.Message{From: attacker, Slot: synod.Slot{Name: slot, Round: round}, Body: []byte("x")}
		slip := net.signed.SlipOf(id, m)
		return node.MessageFrame(id, m, slip.Sign(net.secrets[attacker]))
	}
	switch name {
	case "receipts of the node":
		return lists(0, have.Slot, have.Round)
	case "receipts of another":
		return lists(have.From, have.Slot, have.Round)
	case "votes":
		return lists(attacker, node.VoteSlot, 0)
	case "one message":
		return [][]byte{signed(have.Slot, 0)}
	case "begins":
		return [][]byte{node.BegunFrame(id)}
	case "many messages":
		for round := range 20_000 {
			frames = append(frames, signed(have.Slot, round))
		}
	}
	return frames
}

const attacker = 1 // the seat

// A Byzantine neighbour cannot make a node check more signatures than its budget, in whatever way it asks, and whether
// it opens its stream again or not (finding 9: 309 frames with receipts took 2.1 s of processor time).
func TestAttackCost(t *testing.T) {
	names := attackNames
	if testing.Short() {
		names = []string{"receipts of another", "one message"}
	}
	for i, name := range names {
		t.Run(name, func(t *testing.T) { attacked(t, name, byte(170+i)) })
	}
}

// attacked attacks the first of four nodes in one way, in the name of the second, while a run waits for the last one.
func attacked(t *testing.T, name string, seed byte) {
	net := convene(t, "protocol: {name: sac, rounds: 2}\nf: 1\npace: {think: 30s, within: 600ms}\n"+
		"models: {m: {provider: simulated, ability: 1}}\nseats: [{id: a, model: m, count: 4}]\n", seed)
	for seat := range 3 {
		net.start(seat)
	}
	id, have := playingRun(t, net)
	frames := framesOf(name, net, id, have)
	b := &byzantine{net: net, seat: attacker}
	before, began, sent := processor(t), time.Now(), 0
	checks, _ := checksOf(net.nodes[0], "a2")
	for i := 0; time.Since(began) < *attackFor; i++ {
		if len(frames) > 0 && b.write(frames[i%len(frames)]) {
			sent++
		} else {
			time.Sleep(time.Millisecond)
		}
	}
	took := time.Since(began).Seconds()
	t.Logf("%8.0f frames a second, %.2f s of processor time a second", float64(sent)/took,
		(processor(t)-before).Seconds()/took)
	now, strikes := checksOf(net.nodes[0], "a2")
	made := now - checks
	if float64(made) > 4000+1000*took+300 { // a burst, what it may cause a second, and honest messages
		t.Errorf("the node checked %d signatures in %.1f s", made, took)
	}
	forged := strings.HasPrefix(name, "receipts") || name == "votes"
	if forged && strikes == 0 {
		t.Error("a neighbour that passes on forged signatures is not excluded")
	}
	if name == "one message" && made > 500 {
		t.Errorf("one message was checked %d times", made)
	}
	if b.conn != nil {
		b.conn.Close()
	}
}

// playingRun begins a run that waits for a member, and returns it with a receipt that the first node has of the third.
func playingRun(t *testing.T, net *network) (id sign.Instance, have call.Receipt) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	go net.client().Ask(ctx, sum)
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		for _, r := range net.nodes[0].Status().Runs {
			id = sign.Instance(r.Run)
			if all := node.ReceiptsOf(net.nodes[0], id, 2); len(all) > 0 {
				return id, all[0]
			}
		}
	}
	t.Fatal("no run begins")
	return id, have
}

// checksOf is how many signatures a node has checked for a neighbour, and how often it has excluded it.
func checksOf(n *node.Node, id string) (checks uint64, strikes int) {
	for _, p := range n.Status().Peers {
		if p.ID == id {
			return p.Checks, p.Strikes
		}
	}
	return 0, 0
}

// processor is the processor time of the process.
func processor(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
