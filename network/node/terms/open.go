package terms

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/canonical"
	"synod.dev/synod/network/roster"
)

// Opening is how the founder of a council lets the owners of its seats join over the network: as one line of text,
// which fits into a message. It does not have the invitation, which the founder's process sends, but its hash.
//
// Whoever has the line may take a free seat, so it is for those only who are invited.
type Opening struct {
	_          struct{} `cbor:",toarray"`
	Council    string   // its name
	Founder    []byte   // key
	Addresses  []string // where the founder's process takes acceptances, HOST:PORT
	Invitation []byte   // SHA-256 of the Invitation
	Token      []byte   // of 16 bytes; it makes this opening differ from all others
	Expires    int64    // seconds since 1970
	Signature  []byte   // by the founder, under all of the above
}

// OpeningType is the type of what the signature of an Opening covers.
const OpeningType = "application/vnd.synod.opening+cbor"

const (
	openingPrefix = "synod-council:"
	tokenSize     = 16
)

// MaxOpening bounds the text of an Opening, in bytes.
const MaxOpening = 1024

// Open returns an opening of an invitation, signed by its founder. random is read for its token.
func (i *Invitation) Open(founder sign.Secret, name string, addresses []string, expires time.Time,
	random io.Reader) (*Opening, error) {
	sum := i.sum()
	o := &Opening{Council: name, Founder: founder.PublicKey(), Addresses: addresses, Invitation: sum[:],
		Token: make([]byte, tokenSize), Expires: expires.Unix()}
	if _, err := io.ReadFull(random, o.Token); err != nil {
		return nil, err
	}
	o.Signature = founder.SignEnvelope(OpeningType, o.unsigned())
	_, err := ParseOpening(o.Text())
	return o, err
}

// unsigned returns what is signed.
func (o *Opening) unsigned() []byte {
	u := *o
	u.Signature = nil
	return canonical.Encode(u)
}

// Text returns the opening as one line.
func (o *Opening) Text() string {
	return openingPrefix + base64.RawURLEncoding.EncodeToString(canonical.Encode(o))
}

// IsOpening reports whether a text looks like one of Text.
func IsOpening(text string) bool { return strings.HasPrefix(strings.TrimSpace(text), openingPrefix) }

// ParseOpening reads what Text returns, with white space around it, and checks its founder's signature. Every changed
// letter is found.
func ParseOpening(text string) (*Opening, error) {
	text = strings.TrimSpace(text)
	if len(text) > MaxOpening {
		return nil, fmt.Errorf("the invitation has %d letters; at most %d are read", len(text), MaxOpening)
	}
	rest, ok := strings.CutPrefix(text, openingPrefix)
	if !ok {
		return nil, fmt.Errorf("the invitation does not begin with %q, as one in a line of text does", openingPrefix)
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(rest)
	if err != nil {
		return nil, errors.New("the invitation was changed or cut on its way: it has letters that are none of its own")
	}
	o := new(Opening)
	if err := canonical.Decode(b, MaxOpening, o); err != nil {
		return nil, fmt.Errorf("the invitation was changed or cut on its way: %w", err)
	}
	if !sign.VerifyEnvelope(o.Founder, OpeningType, o.unsigned(), o.Signature) {
		return nil, errors.New("the invitation was changed on its way: its founder's signature is not valid")
	}
	for _, a := range o.Addresses {
		if err := roster.CheckAddress(a); err != nil {
			return nil, err
		}
	}
	if len(o.Token) != tokenSize || len(o.Invitation) != sha256.Size || len(o.Addresses) == 0 {
		return nil, errors.New("the invitation has no address, no token or no hash")
	}
	return o, nil
}

// Sum identifies the opening. Acceptances are bound to it.
func (o *Opening) Sum() [sha256.Size]byte { return sha256.Sum256(canonical.Encode(o)) }

// Guest returns the key under which whoever has the opening connects to its founder.
func (o *Opening) Guest() ed25519.PrivateKey {
	seed := sha256.Sum256(append([]byte("synod/guest/1"), canonical.Encode(o)...))
	return ed25519.NewKeyFromSeed(seed[:])
}

// Check fails if the opening has expired, or if an invitation is not the one that it is of.
func (o *Opening) Check(i *Invitation, now time.Time) error {
	sum := i.sum()
	switch {
	case !bytes.Equal(o.Invitation, sum[:]):
		return errors.New("this is not the invitation whose hash its founder has signed")
	case now.Unix() > o.Expires:
		return fmt.Errorf("the invitation ended at %s; ask for another one",
			time.Unix(o.Expires, 0).UTC().Format(time.RFC3339))
	}
	return nil
}

// Accept accepts a seat of the opening.
func (o *Opening) Accept(seat string, addresses []string, secret sign.Secret) *Acceptance {
	return accept(o.Sum(), seat, addresses, secret)
}

// Add checks an acceptance of this opening and adds its member.
func (o *Opening) Add(members map[string]roster.Member, a *Acceptance) error {
	return add(o.Sum(), members, a)
}

// Roster returns the roster that follows from acceptances of the opening, without signatures. It is the same for all
// who have the same acceptances, in any order.
func (o *Opening) Roster(i *Invitation, acceptances []*Acceptance) (*roster.Roster, error) {
	p, err := i.Plan()
	if err != nil {
		return nil, err
	}
	options := i.Options()
	options.Members = map[string]roster.Member{}
	for _, a := range acceptances {
		if err := o.Add(options.Members, a); err != nil {
			return nil, err
		}
	}
	return New(p, options)
}

// Fingerprint returns the beginning of a key as its owner can read it out.
func Fingerprint(key []byte) string { return hex.EncodeToString(key)[:16] }
