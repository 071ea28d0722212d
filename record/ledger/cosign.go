package ledger

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"synod.dev/synod/internal/durable"
)

// checkpointFile has the last checkpoint that a public witness has cosigned, with all its signatures.
const checkpointFile = "checkpoint"

// The limits of what is read from a witness, and of a checkpoint.
const (
	maxReply      = 64 << 10
	maxCheckpoint = 256 << 10
)

// RefusedError reports a head that a public witness refuses. The witness has cosigned another head of the log, of Size
// entries, which this one does not extend: the log was replaced by an older copy, or forked.
type RefusedError struct {
	Witness string
	Size    uint64
	Head    *SignedHead
}

// Error says what the witness has and what it was asked.
func (e *RefusedError) Error() string {
	what := "it does not extend them"
	if e.Size > e.Head.Head.Size {
		what = "an older copy has taken the place of the log"
	}
	return fmt.Sprintf("ledger: the witness %s refuses the head of %d entries of the log %x: it has cosigned %d, "+
		"and %s", e.Witness, e.Head.Head.Size, e.Head.Head.Log, e.Size, what)
}

// Cosign asks a public witness at a URL for its cosignature of the head of a log (c2sp.org/tlog-witness), and returns
// the checkpoint with it. A refusal is a *RefusedError.
func Cosign(ctx context.Context, url string, w *Cosigner, l Ledger) ([]byte, error) {
	head := l.Head()
	checkpoint, err := head.Checkpoint()
	if err != nil {
		return nil, err
	}
	last := uint64(0)
	for range 3 { // the witness says what it has cosigned last, which may grow while it is asked
		status, kind, body, err := ask(ctx, url, l, last, checkpoint)
		if err != nil {
			return nil, err
		}
		switch {
		case status == http.StatusOK:
			return withCosignature(checkpoint, body, w)
		case status == http.StatusConflict && kind == "text/x.tlog.size":
			size, err := strconv.ParseUint(strings.TrimSuffix(string(body), "\n"), 10, 64)
			if err != nil {
				return nil, fmt.Errorf("ledger: the witness %s does not say which size it has: %w", w.Name(), err)
			}
			if size > head.Head.Size || size == last {
				return nil, &RefusedError{w.Name(), size, head}
			}
			last = size
		case status == http.StatusConflict, status == http.StatusUnprocessableEntity:
			return nil, &RefusedError{w.Name(), last, head}
		default:
			return nil, fmt.Errorf("ledger: the witness %s answers with the status %d: %.200q", w.Name(), status, body)
		}
	}
	return nil, fmt.Errorf("ledger: the witness %s has cosigned another size each time it was asked", w.Name())
}

// ask sends one request to a witness.
func ask(ctx context.Context, url string, l Ledger, last uint64, checkpoint []byte) (status int, kind string,
	body []byte, err error) {
	q := fmt.Appendf(nil, "old %d\n", last)
	if last > 0 {
		path, err := l.Consistency(last)
		if err != nil {
			return 0, "", nil, err
		}
		for _, hash := range path {
			q = fmt.Appendf(q, "%s\n", base64.StdEncoding.EncodeToString(hash))
		}
	}
	q = append(append(q, '\n'), checkpoint...)
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(url, "/")+"/add-checkpoint",
		bytes.NewReader(q))
	if err != nil {
		return 0, "", nil, fmt.Errorf("ledger: %w", err)
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, "", nil, fmt.Errorf("ledger: %w", err)
	}
	defer reply.Body.Close()
	if body, err = io.ReadAll(io.LimitReader(reply.Body, maxReply)); err != nil {
		return 0, "", nil, fmt.Errorf("ledger: %w", err)
	}
	return reply.StatusCode, reply.Header.Get("Content-Type"), body, nil
}

// withCosignature adds those lines of a reply to a checkpoint that are valid cosignatures of a witness.
func withCosignature(checkpoint, lines []byte, w *Cosigner) ([]byte, error) {
	n, err := note.Open(append(bytes.Clone(checkpoint), lines...), note.VerifierList(w))
	if err != nil {
		return nil, fmt.Errorf("ledger: the cosignature of the witness %s is not valid: %w", w.Name(), err)
	}
	b := bytes.Clone(checkpoint)
	for _, s := range n.Sigs {
		b = fmt.Appendf(b, "— %s %s\n", s.Name, s.Base64)
	}
	return b, nil
}

// KeepCheckpoint stores a cosigned checkpoint beside the log: its lines are added to those that are stored for the same
// text. Only one checkpoint is stored, that of the most entries. The caller has verified its cosignatures.
func (l *Log) KeepCheckpoint(checkpoint []byte) error {
	text, lines, _ := bytes.Cut(checkpoint, []byte("\n\n"))
	h, err := parseText(string(text) + "\n")
	if err != nil {
		return err
	}
	if err := l.holds(&h); err != nil {
		return err
	}
	stored, err := l.CosignedCheckpoint()
	if err != nil {
		return err
	}
	before, rest, _ := bytes.Cut(stored, []byte("\n\n"))
	if last, err := parseText(string(before) + "\n"); err == nil && last.Size > h.Size {
		return nil
	}
	if bytes.Equal(before, text) {
		checkpoint = stored
		for line := range bytes.Lines(lines) {
			if !bytes.Contains(rest, line) {
				checkpoint = append(checkpoint, line...)
			}
		}
	}
	if err := durable.WriteFileOn(l.disk, filepath.Join(l.dir, checkpointFile), checkpoint); err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	return nil
}

// CosignedCheckpoint returns the checkpoint that KeepCheckpoint stored last; nil: there is none. It is of this log, and
// its entries are the first ones of the log, or the error is ErrDamaged; its signatures are not checked
// (Cosignatures).
func (l *Log) CosignedCheckpoint() ([]byte, error) {
	b, err := durable.ReadFileOn(l.disk, filepath.Join(l.dir, checkpointFile), maxCheckpoint)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	text, _, _ := bytes.Cut(b, []byte("\n\n"))
	h, err := parseText(string(text) + "\n")
	if err != nil {
		return nil, err
	}
	return b, l.holds(&h)
}

// holds checks that the entries of a head are the first ones of the log.
func (l *Log) holds(h *Head) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !bytes.Equal(h.Log, l.head.Head.Log) {
		return fmt.Errorf("ledger: the checkpoint is of the log %x, and this is %x", h.Log, l.head.Head.Log)
	}
	if h.Size > uint64(len(l.at)) {
		return fmt.Errorf("%w: it has %d entries, and a witness has cosigned %d", ErrDamaged, len(l.at), h.Size)
	}
	root, err := l.rootOf(h.Size)
	if err != nil {
		return err
	}
	if !bytes.Equal(root, h.Root) {
		return fmt.Errorf("%w: its first %d entries do not have the root that a witness has cosigned", ErrDamaged,
			h.Size)
	}
	return nil
}
