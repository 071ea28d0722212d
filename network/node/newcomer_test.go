package node_test

import (
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/internal/newcomer"
	"synod.dev/synod/protocol/catalog"
	"synod.dev/synod/record/certificate"
)

// A new protocol is played by nodes, and its decisions are certified, as its entry stands.
func TestNewProtocolOnNodes(t *testing.T) {
	catalog.Protocols.Add(newcomer.Protocol)
	net := convene(t, "protocol: {name: newcomer}\nf: 1\n"+pace+
		"models: {m: {provider: simulated, ability: 1}}\nseats: [{id: m, model: m, count: 4}]\n", 43)
	net.startAll()
	res, o := net.ask(sum)
	if o.Decision != synod.Answer("42") {
		t.Fatalf("the nodes decide %q", o.Decision)
	}
	s, err := res.Statement(net.signed.Roster, net.plan, sum, &o)
	if err != nil {
		t.Fatal(err)
	}
	made, err := net.client().Certify(t.Context(), &s)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := certificate.Verify(made, certificate.CouncilOf(net.signed.Roster)); err != nil {
		t.Error(err)
	}
}
