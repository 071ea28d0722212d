package node_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/network/node"
	"synod.dev/synod/network/node/call"
	"synod.dev/synod/network/roster"
	"synod.dev/synod/record/certificate"
)

// opposed is a council of five that know the answer and two that do not.
const opposed = "protocol: {name: majority}\nf: 1\n" + pace +
	"models: {yes: {provider: simulated, ability: 1}, no: {provider: simulated, ability: 0}}\n" +
	"seats: [{id: a, model: yes, count: 5}, {id: b, model: no, count: 2}]\n"

// A hostile caller gets no certificate of what the minority said, whatever it writes about voters, F and rule: the
// members take that from their roster, and not from the caller (finding 1).
func TestCallerWritesVoters(t *testing.T) {
	net := convene(t, opposed, 40)
	net.startAll()
	res, o := net.ask(sum)
	if o.Decision == synod.None || len(o.Votes) < 2 {
		t.Fatalf("the council does not disagree: %+v", o.Votes)
	}
	record, err := res.Finals[6].SeatRecord()
	if err != nil {
		t.Fatal(err)
	}
	_, minority := call.Answers(&record)
	honest, err := res.Statement(net.signed.Roster, net.plan, sum, &o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client := net.client()
	for name, change := range map[string]func(r *roster.Roster){
		"nothing":      func(*roster.Roster) {},
		"voters":       func(r *roster.Roster) { only(r, "b1", "b2") },
		"F":            func(r *roster.Roster) { r.F = 0 },
		"rule":         func(r *roster.Roster) { r.Rule.Name = "protocol" },
		"voters and F": func(r *roster.Roster) { only(r, "b1", "b2"); r.F = 0; r.Rule.Name = "plurality" },
	} {
		for _, hide := range []bool{false, true} {
			s, r := honest, *net.signed.Roster
			s.Members = slices.Clone(s.Members)
			r.Members = slices.Clone(r.Members)
			change(&r)
			s.Answer = minority
			for i := range s.Members {
				if hide && string(s.Members[i].Final) != string(minority) {
					m := &s.Members[i]
					m.First, m.Final, m.Signature = []byte{}, []byte{}, []byte{}
				}
			}
			if err := s.SetRoster(&r); err != nil {
				t.Fatal(err)
			}
			if made, err := client.Certify(ctx, &s); err == nil {
				t.Errorf("%s, others hidden: %v: there is a certificate of the minority's answer by %d", name, hide,
					len(made.Signatures))
			}
		}
	}
	made, err := client.Certify(ctx, &honest)
	if err != nil {
		t.Fatal(err)
	}
	report, err := certificate.Verify(made, certificate.CouncilOf(net.signed.Roster))
	if text := strings.Join(report.Claims, "\n"); err != nil || strings.Contains(text, "no second") ||
		!strings.Contains(text, "5 of 7 voters signed that they ended on this answer") {
		t.Errorf("%s %v", text, err)
	}
	if text := strings.Join(report.NotProved, "\n"); !strings.Contains(text, "7 of 7 members were simulated") {
		t.Errorf("what is simulated is not said: %s", text)
	}
}

func only(r *roster.Roster, ids ...string) {
	for i := range r.Members {
		r.Members[i].Voter = slices.Contains(ids, r.Members[i].ID)
	}
}

// A node signs one decision of a run, also if the process that signed was killed: what it signed is on disk before.
func TestOneDecisionOfARun(t *testing.T) {
	net := convene(t, opposed, 41)
	net.startAll()
	res, o := net.ask(sum)
	s, err := res.Statement(net.signed.Roster, net.plan, sum, &o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	const first, second = 0, 1
	if _, err := net.client().Certify(ctx, &s); err != nil {
		t.Fatal(err)
	}
	line := func(answer []byte) string {
		text := fmt.Sprintf("%s 0 %x \"certificate\"", res.Instance, sha256.Sum256(answer))
		sum := crc32.Checksum([]byte(text), crc32.MakeTable(crc32.Castagnoli))
		return fmt.Sprintf("%s %08x\n", text, sum)
	}
	slots := filepath.Join(net.dirs[first], "slots")
	if b, err := os.ReadFile(slots); err != nil || !strings.Contains(string(b), line(s.Answer)) {
		t.Fatalf("the decision is not on disk: %v\n%s", err, b)
	}
	for _, seat := range []int{first, second} {
		net.stop[seat]()
	}
	// The second seat had signed another decision when it was killed.
	b, err := os.ReadFile(filepath.Join(net.dirs[second], "slots"))
	if err != nil {
		t.Fatal(err)
	}
	other := strings.Replace(string(b), line(s.Answer), line(certificate.AnswerHash("another")), 1)
	if err := os.WriteFile(filepath.Join(net.dirs[second], "slots"), []byte(other), 0o600); err != nil {
		t.Fatal(err)
	}
	net.start(first)
	net.start(second)
	made, err := net.client().Certify(ctx, &s)
	if err != nil {
		t.Fatal(err)
	}
	signers := map[string]bool{}
	for _, sig := range made.Signatures {
		signers[string(sig.Key)] = true
	}
	if !signers[string(net.secrets[first].PublicKey())] || signers[string(net.secrets[second].PublicKey())] {
		t.Errorf("after a restart %d signed; the first must sign the same again, and the second nothing else",
			len(made.Signatures))
	}
}

// A node with a simulated model does not play for a roster that says otherwise: its certificates would not say it.
func TestSimulatedNodeIsRefused(t *testing.T) {
	net := convene(t, "protocol: {name: majority}\nf: 0\n"+pace+
		"models: {m: {provider: openai, url: 'http://127.0.0.1:1', model: x}}\nseats: [{id: a, model: m, count: "+
		"2}]\n", 42)
	_, err := node.Open(node.Config{Roster: net.signed, Secret: net.secrets[0], Dir: t.TempDir(), Program: "test",
		Model:     plan.Params{"provider": "simulated", "ability": 1},
		Transport: net.memory.Join(net.secrets[0].PublicKey(), net.signed.MayAsk)})
	if err == nil || !strings.Contains(err.Error(), "the roster says that it is endpoint") {
		t.Errorf("a simulated node of an endpoint's seat: %v", err)
	}
}
