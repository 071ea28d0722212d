package newcomer_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/adversary"
	"synod.dev/synod/bench/attack"
	"synod.dev/synod/bench/campaign"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/cmd/cli"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/newcomer"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/catalog"
	"synod.dev/synod/record/certificate"
)

// roles is a protocol with roles whose entry does not say how many seats have which.
type roles struct{ protocol.Protocol }

func (roles) Roles() []synod.Role { return []synod.Role{"reader", "writer"} }

func TestMain(m *testing.M) {
	casting := newcomer.Protocol
	casting.Name, casting.New = "newcomer-roles", func() protocol.Protocol { return roles{newcomer.Protocol.New()} }
	catalog.Protocols.Add(newcomer.Protocol, casting)
	adversary.Catalogue.Add(newcomer.Adversary)
	task.Catalogue.Add(newcomer.Task)
	os.Exit(m.Run())
}

// file writes a council of five simulated members that know the answer.
func file(t *testing.T, protocol string) string {
	path := filepath.Join(t.TempDir(), "council.yaml")
	text := "protocol: {name: " + protocol + "}\nf: 1\ngraph: {family: complete}\n" +
		"models: {m: {provider: simulated, ability: 1}}\nseats: [{id: m, model: m, count: 5}]\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// command runs the command line.
func command(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs strings.Builder
	if code := cli.Run(t.Context(), append(args, "--home", t.TempDir()), nil, &out, &errs); code != 0 {
		t.Fatalf("synod %v: exit %d: %s", args, code, errs.String())
	}
	return out.String()
}

// attackers returns who attacks a protocol.
func attackers(t *testing.T, protocol string) []string {
	spec, err := plan.Load(file(t, protocol))
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	return attack.Applicable(p, false)
}

// A new protocol is attacked by every adversary that its traits admit.
func TestProtocolIsAttacked(t *testing.T) {
	names := attackers(t, newcomer.Protocol.Name)
	for _, e := range adversary.Seated(false) {
		if slices.Contains(names, e.Name) != e.Where.Admits(newcomer.Protocol.Traits) {
			t.Errorf("%s attacks: %v", e.Name, !e.Where.Admits(newcomer.Protocol.Traits))
		}
	}
	if len(names) < 10 {
		t.Errorf("only %v attack", names)
	}
}

// Its runs are journals that can be verified, and a verifier of certificates knows what is claimed of it. Tests of
// nodes
// and of the page make certificates of its decisions.
func TestProtocolIsCertified(t *testing.T) {
	if claim, known := certificate.ClaimOf(newcomer.Protocol.Name, 1, 3); claim != certificate.None || !known {
		t.Errorf("it claims %q, known: %v", claim, known)
	}
	path := filepath.Join(t.TempDir(), "run.jsonl")
	out := command(t, "ask", "-c", file(t, newcomer.Protocol.Name), "--seed", "1", "--journal", path,
		"What is 17 + 25?")
	if strings.TrimSpace(out) != "42" {
		t.Errorf("it answers %q", out)
	}
	command(t, "verify", path)
}

// Campaigns try it for the claims that all protocols have, with its adversaries, and say which protocol they
// cannot try.
func TestProtocolIsTried(t *testing.T) {
	name := newcomer.Protocol.Name
	if !slices.Contains(campaign.Subjects(), name) {
		t.Fatalf("campaigns have %v", campaign.Subjects())
	}
	s, err := campaign.Run(t.Context(), campaign.Options{Executions: 500, Protocols: []string{name}, Seed: 1},
		campaign.Setup{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range s.Failures {
		t.Errorf("execution %d: %s", f.Number, f.Violation)
	}
	if got := campaign.Adversaries(name); len(got) < 10 || slices.Contains(got, newcomer.Adversary.Name) {
		t.Errorf("campaigns seat %v", got)
	}
	_, err = campaign.Run(t.Context(), campaign.Options{Executions: 1, Protocols: []string{"newcomer-roles"}},
		campaign.Setup{})
	const want = "protocol newcomer-roles has the roles [reader writer], and its entry does not say which seats"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("a protocol that cannot be tried: %v", err)
	}
}

// A new adversary attacks the protocols that its traits admit, and campaigns seat it there.
func TestAdversary(t *testing.T) {
	for _, e := range catalog.Protocols.All() {
		want := slices.Contains(e.Traits, synod.Confides)
		if got := slices.Contains(campaign.Adversaries(e.Name), newcomer.Adversary.Name); got != want {
			t.Errorf("campaigns seat it in %s: %v", e.Name, got)
		}
	}
	for protocol, want := range map[string]bool{"weighted-majority": true, newcomer.Protocol.Name: false} {
		if got := slices.Contains(attackers(t, protocol), newcomer.Adversary.Name); got != want {
			t.Errorf("it attacks %s: %v", protocol, got)
		}
	}
	if out := command(t, "explain", newcomer.Adversary.Name); !strings.Contains(out, "certain") {
		t.Errorf("it is explained as %q", out)
	}
}

// A new task is run, graded and listed.
func TestTask(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	command(t, "bench", "run", newcomer.Task.Name, "-c", file(t, newcomer.Protocol.Name), "-o", dir)
	var report struct{ Questions int }
	out := command(t, "bench", "report", dir, "--json")
	if err := json.Unmarshal([]byte(out), &report); err != nil || report.Questions != newcomer.Task.Items {
		t.Errorf("%d questions, %v: %s", report.Questions, err, out)
	}
	if out := command(t, "list", "tasks"); !strings.Contains(out, newcomer.Task.Name) {
		t.Errorf("tasks are %s", out)
	}
}
