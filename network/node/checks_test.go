package node_test

import (
	"slices"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/record/certificate"
)

// A certificate of nodes names the checks of the question that the answer passes. No node signs another one.
func TestCertifiedChecksOfNodes(t *testing.T) {
	net := convene(t, "protocol: {name: majority}\nf: 1\n"+pace+
		"models: {m: {provider: simulated, ability: 1}}\nseats: [{id: m, model: m, count: 4}]\n", 47)
	net.startAll()
	q := sum
	q.Checks = []synod.Check{{Name: "small", CEL: "self < 50.0"}, {Name: "digits", Regex: "^[0-9]+$"}}
	res, o := net.ask(q)
	s, err := res.Statement(net.signed.Roster, net.plan, q, &o)
	if err != nil {
		t.Fatal(err)
	}
	made, err := net.client().Certify(t.Context(), &s)
	if err != nil {
		t.Fatal(err)
	}
	r, err := certificate.Verify(made, certificate.CouncilOf(net.signed.Roster))
	if said := strings.Join(r.Claims, "\n"); err != nil || !strings.Contains(said,
		"each signer states that the answer passes the checks in code small (cel, ") || !strings.Contains(said,
		", digits (regex, ") {
		t.Errorf("%v, %s", err, said)
	}
	s.Checks = slices.Clone(s.Checks)
	s.Checks[0].Name = "large"
	if _, err := net.client().Certify(t.Context(), &s); err == nil || !strings.Contains(err.Error(),
		`the question has no check "large"`) {
		t.Errorf("nodes sign a check that the question does not have: %v", err)
	}
}
