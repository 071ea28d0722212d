// Package witness has a public witness of ledgers, for tests and claims. It uses other libraries than the ledger.
package witness

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// Witness is a witness as c2sp.org/tlog-witness describes it, over other libraries than the ledger uses: it knows
// nothing of Synod but the verifier key of the log.
type Witness struct {
	Name   string
	Key    ed25519.PrivateKey
	log    note.Verifier
	mu     sync.Mutex
	Size   int64 // of the checkpoint that it has cosigned last
	root   tlog.Hash
	Lies   string // a signature line that it answers with in place of its own
	Shouts string // what it answers to everything
}

// New returns a witness that has seen nothing of a log. Its key follows from a text.
func New(text, logKey string) (*Witness, error) {
	v, err := note.NewVerifier(logKey)
	if err != nil {
		return nil, err
	}
	seed := sha256.Sum256([]byte(text))
	return &Witness{Name: "witness.example.com/w1", Key: ed25519.NewKeyFromSeed(seed[:]), log: v}, nil
}

// VerifierKey returns the witness's key as it would publish it.
func (w *Witness) VerifierKey() string {
	public := append([]byte{4}, w.Key.Public().(ed25519.PublicKey)...)
	return fmt.Sprintf("%s+%08x+%s", w.Name, w.id(), base64.StdEncoding.EncodeToString(public))
}

func (w *Witness) id() uint32 {
	sum := sha256.Sum256(append([]byte(w.Name+"\n\x04"), w.Key.Public().(ed25519.PublicKey)...))
	return binary.BigEndian.Uint32(sum[:])
}

// ServeHTTP implements http.Handler.
func (w *Witness) ServeHTTP(out http.ResponseWriter, q *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.Shouts != "" {
		io.WriteString(out, w.Shouts)
		return
	}
	body, _ := io.ReadAll(q.Body)
	head, checkpoint, _ := strings.Cut(string(body), "\n\n")
	lines := strings.Split(head, "\n")
	old, err := strconv.ParseInt(strings.TrimPrefix(lines[0], "old "), 10, 64)
	n, refused := note.Open([]byte(checkpoint), note.VerifierList(w.log))
	switch {
	case err != nil || q.URL.Path != "/add-checkpoint" || q.Method != http.MethodPost:
		out.WriteHeader(http.StatusBadRequest)
		return
	case refused != nil:
		out.WriteHeader(http.StatusForbidden)
		return
	}
	text := strings.Split(n.Text, "\n")
	size, _ := strconv.ParseInt(text[1], 10, 64)
	root, _ := tlog.ParseHash(text[2])
	path := tlog.TreeProof{}
	for _, line := range lines[1:] {
		h, _ := tlog.ParseHash(line)
		path = append(path, h)
	}
	switch {
	case old > size:
		out.WriteHeader(http.StatusBadRequest)
	case old != w.Size:
		out.Header().Set("Content-Type", "text/x.tlog.size")
		out.WriteHeader(http.StatusConflict)
		fmt.Fprintln(out, w.Size)
	case old == size && old > 0 && root != w.root:
		out.WriteHeader(http.StatusConflict)
	case old > 0 && old < size && tlog.CheckTree(path, size, root, old, w.root) != nil:
		out.WriteHeader(http.StatusUnprocessableEntity)
	default:
		w.Size, w.root = size, root
		io.WriteString(out, w.Cosign(n.Text))
	}
}

// Cosign returns the line with the cosignature of a text.
func (w *Witness) Cosign(text string) string {
	if w.Lies != "" {
		return w.Lies
	}
	const now = 1_700_000_000
	b := binary.BigEndian.AppendUint32(nil, w.id())
	b = binary.BigEndian.AppendUint64(b, now)
	b = append(b, ed25519.Sign(w.Key, fmt.Appendf(nil, "cosignature/v1\ntime %d\n%s", now, text))...)
	return fmt.Sprintf("— %s %s\n", w.Name, base64.StdEncoding.EncodeToString(b))
}
