package terms_test

import (
	"crypto/ed25519"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/network/node/terms"
	"synod.dev/synod/network/roster"
)

// invitationOf returns an invitation to n seats.
func invitationOf(t testing.TB, n int) *terms.Invitation {
	t.Helper()
	spec, err := plan.Parse([]byte(fmt.Sprintf("council: some\nprotocol: {name: sac}\n"+
		"models: {d: {provider: simulated}}\nseats: [{id: a, model: d, count: %d}]\n", n)))
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	i, err := terms.Invite(p, terms.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func secretOf(t testing.TB, seed byte) sign.Secret {
	t.Helper()
	s, err := sign.Generate(rand.NewChaCha8([32]byte{seed}))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// end is the end of all openings: two of one seed are the same, also where a second has passed between them.
var end = time.Now().Add(time.Hour)

func openingOf(t testing.TB, i *terms.Invitation, seed byte) *terms.Opening {
	t.Helper()
	o, err := i.Open(secretOf(t, seed), "some", []string{"127.0.0.1:7400"}, end,
		rand.NewChaCha8([32]byte{seed + 1}))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// An opening is one line of text that can be read, and with any letter changed, removed or added it is refused.
func TestOpeningAsText(t *testing.T) {
	o := openingOf(t, invitationOf(t, 3), 1)
	text := o.Text()
	again, err := terms.ParseOpening(" " + text + "\n")
	if err != nil || again.Sum() != o.Sum() || !terms.IsOpening(text) {
		t.Fatalf("the text %s: %v", text, err)
	}
	if len(text) > terms.MaxOpening/2 || strings.ContainsFunc(text, func(c rune) bool { return c <= ' ' || c > '~' }) {
		t.Errorf("the text has %d letters: %s", len(text), text)
	}
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_ :\n="
	for i := range text {
		for _, c := range letters {
			if changed := text[:i] + string(c) + text[i+1:]; changed != text {
				if _, err := terms.ParseOpening(changed); err == nil && strings.TrimSpace(changed) != text {
					t.Fatalf("with letter %d changed to %q it is taken", i, c)
				}
			}
		}
		if _, err := terms.ParseOpening(text[:i]); err == nil {
			t.Fatalf("its first %d letters are taken", i)
		}
		if _, err := terms.ParseOpening(text[:i] + text[i+1:]); err == nil {
			t.Fatalf("without letter %d it is taken", i)
		}
	}
	if _, err := terms.ParseOpening(text + strings.Repeat("A", terms.MaxOpening)); err == nil {
		t.Error("a text without end is read")
	}
	long := []string{strings.Repeat("a", 250) + ":1", strings.Repeat("b", 250) + ":1", strings.Repeat("c", 250) + ":1"}
	if _, err := invitationOf(t, 3).Open(secretOf(t, 1), "some", long, time.Now(),
		rand.NewChaCha8([32]byte{2})); err == nil {
		t.Error("an opening that nobody would read was made")
	}
}

// An acceptance is one of one opening: also two openings of one invitation by one founder do not share them. An
// invitation that its founder has not signed, and one that has ended, are refused.
func TestOpeningsAreApart(t *testing.T) {
	i := invitationOf(t, 3)
	first, second := openingOf(t, i, 1), openingOf(t, i, 3)
	owner := secretOf(t, 9)
	a := first.Accept("a2", []string{"127.0.0.1:7400"}, owner)
	if err := first.Add(map[string]roster.Member{}, a); err != nil {
		t.Error(err)
	}
	for what, err := range map[string]error{
		"another opening": second.Add(map[string]roster.Member{}, a),
		"its invitation":  i.Add(map[string]roster.Member{}, a),
		"of a file":       first.Add(map[string]roster.Member{}, i.Accept("a2", a.Addresses, owner)),
	} {
		if err == nil || !strings.Contains(err.Error(), "of another invitation") {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, change := range map[string]func(*terms.Acceptance){
		"another seat":    func(a *terms.Acceptance) { a.Seat = "a1" },
		"another address": func(a *terms.Acceptance) { a.Addresses = []string{"127.0.0.1:1"} },
		"another key":     func(a *terms.Acceptance) { a.Key = secretOf(t, 10).PublicKey() },
	} {
		changed := *a
		change(&changed)
		if err := first.Add(map[string]roster.Member{}, &changed); err == nil {
			t.Errorf("an acceptance with %s was taken", what)
		}
	}
	if err := first.Check(invitationOf(t, 4), time.Now()); err == nil {
		t.Error("another invitation was taken")
	}
	if err := first.Check(i, time.Now()); err != nil {
		t.Error(err)
	}
	if err := first.Check(i, time.Now().Add(2*time.Hour)); err == nil || !strings.Contains(err.Error(), "ended at") {
		t.Errorf("after its end: %v", err)
	}
	if first.Guest().Equal(second.Guest()) || !first.Guest().Equal(openingOf(t, i, 1).Guest()) {
		t.Error("the keys of guests do not follow from their openings")
	}
	if len(first.Guest()) != ed25519.PrivateKeySize {
		t.Error("the key of a guest is none")
	}
}

// Whatever comes as an opening, reading it ends, and what is read has one text.
func FuzzOpening(f *testing.F) {
	f.Add(openingOf(f, invitationOf(f, 3), 1).Text())
	f.Add("synod-council:")
	f.Fuzz(func(t *testing.T, text string) {
		if o, err := terms.ParseOpening(text); err == nil && o.Text() != strings.TrimSpace(text) {
			t.Errorf("%q is one of two texts", text)
		}
	})
}
