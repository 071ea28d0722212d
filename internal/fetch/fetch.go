// Package fetch downloads files from public hubs and checks them against a known size and digest.
// Packages models and task use it.
//
// It uses https only, also after redirects, and never reads more than the known size. If a
// connection breaks, what has been downloaded is kept, and the next attempt continues there. The
// caller renames the file to its final name after Download has returned, while it holds the Lock,
// so that no reader sees half a file and no two processes write the same one.
//
//	err := fetch.Client{}.Download(ctx, url, name+".part", fetch.Want{Bytes: 749738, SHA256: "3730…"}, nil)
//
// Its rank is 0.
package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"synod.dev/synod/internal/durable"
	"synod.dev/synod/internal/filelock"
)

// Timeouts. An unreachable hub costs a few seconds only; a slow one may take as long as it keeps sending.
const (
	connectTimeout = 3 * time.Second
	headerTimeout  = 8 * time.Second
	stallTimeout   = 30 * time.Second
)

// maxDownload is the largest download in bytes if the size is not known.
const maxDownload = 16 << 30

// ErrDigest means that a file has another size or digest than it should have.
var ErrDigest = errors.New("wrong content")

// Want has the known size and digest of a file.
type Want struct {
	Bytes  int64  // 0: unknown
	SHA256 string // "": unknown
}

// Client downloads files. The zero Client is ready for use.
type Client struct {
	// Loopback allows http to 127.0.0.1, for tests.
	Loopback bool
}

// Download downloads a URL into the file part and continues where an earlier attempt stopped. It
// calls progress, if it is not nil, with the number of bytes so far and the total (0: unknown). It
// removes a file with another size or digest than wanted and returns ErrDigest. If such a file
// began with an older part, it first downloads everything again.
func (c Client) Download(ctx context.Context, from, part string, want Want, progress func(done, total int64)) error {
	for {
		had, _ := fileSize(part)
		if err := c.fetch(ctx, from, part, want, progress); err != nil {
			return err
		}
		size, sum, err := Digest(part)
		if err != nil {
			return err
		}
		if (want.SHA256 == "" || sum == want.SHA256) && (want.Bytes == 0 || size == want.Bytes) {
			return nil
		}
		if err := os.Remove(part); err != nil {
			return err
		}
		if had == 0 {
			return fmt.Errorf("%w: %d bytes with SHA-256 %s; expected %d with %s", ErrDigest, size, sum, want.Bytes,
				want.SHA256)
		}
	}
}

// Digest returns the size of a file in bytes and its SHA-256 in hexadecimal.
func Digest(path string) (size int64, sum string, err error) {
	f, err := durable.Open(path)
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	h := sha256.New()
	if size, err = io.Copy(h, f); err != nil {
		return 0, "", err
	}
	return size, hex.EncodeToString(h.Sum(nil)), nil
}

func fileSize(path string) (int64, error) {
	st, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return st.Size(), nil
}

// fetch appends the missing bytes to part.
func (c Client) fetch(ctx context.Context, from, part string, want Want, progress func(done, total int64)) error {
	had, _ := fileSize(part)
	if want.Bytes > 0 && had == want.Bytes {
		return nil
	}
	if want.Bytes > 0 && had > want.Bytes {
		had = 0
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	client := c.client()
	defer client.CloseIdleConnections()
	resp, err := c.get(ctx, client, from, had)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	total := want.Bytes
	switch resp.StatusCode {
	case http.StatusPartialContent:
		if start, ok := rangeStart(resp.Header.Get("Content-Range")); !ok || start != had {
			return fmt.Errorf("the server sent a range that was not requested: %q", resp.Header.Get("Content-Range"))
		}
	case http.StatusOK:
		had = 0
	case http.StatusRequestedRangeNotSatisfiable: // the part belongs to another file
		if err := os.Remove(part); err != nil {
			return err
		}
		return c.fetch(ctx, from, part, want, progress)
	default:
		return fmt.Errorf("the server answered %s", resp.Status)
	}
	if total == 0 && resp.ContentLength > 0 {
		total = had + resp.ContentLength
	}
	return save(resp.Body, part, had, total, cancel, progress)
}

// save writes body into part from the position at. It cancels the connection if nothing arrives for stallTimeout.
func save(body io.Reader, part string, at, total int64, cancel func(), progress func(done, total int64)) error {
	f, err := os.OpenFile(part, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Truncate(at); err != nil {
		return err
	}
	if _, err := f.Seek(at, io.SeekStart); err != nil {
		return err
	}
	limit := total
	if limit == 0 {
		limit = maxDownload
	}
	stall := time.AfterFunc(stallTimeout, cancel)
	defer stall.Stop()
	m := &meter{r: io.LimitReader(body, limit-at+1), done: at, total: total, progress: func(done, total int64) {
		stall.Reset(stallTimeout)
		if progress != nil {
			progress(done, total)
		}
	}}
	_, err = io.Copy(f, m)
	switch {
	case err != nil:
		return fmt.Errorf("after %d bytes: %w (the part is kept)", m.done, err)
	case m.done > limit:
		return errors.Join(fmt.Errorf("%w: more than the expected %d bytes", ErrDigest, limit), f.Truncate(0))
	case total > 0 && m.done < total:
		return fmt.Errorf("after %d of %d bytes: %w (the part is kept)", m.done, total, io.ErrUnexpectedEOF)
	}
	return f.Sync()
}

func (c Client) get(ctx context.Context, client *http.Client, from string, had int64) (*http.Response, error) {
	if err := c.allowed(from); err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "synod")
	if had > 0 {
		req.Header.Set("Range", "bytes="+strconv.FormatInt(had, 10)+"-")
	}
	resp, err := client.Do(req)
	var inner *url.Error
	if errors.As(err, &inner) {
		return nil, inner.Err // the caller adds the URL
	}
	return resp, err
}

// allowed returns an error for anything but https. Digests protect the content, but requests should be private too.
func (c Client) allowed(u string) error {
	if strings.HasPrefix(u, "https://") || (c.Loopback && strings.HasPrefix(u, "http://127.0.0.1:")) {
		return nil
	}
	return errors.New("only https is allowed")
}

func (c Client) client() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			DialContext:           (&net.Dialer{Timeout: connectTimeout}).DialContext,
			TLSHandshakeTimeout:   connectTimeout,
			ResponseHeaderTimeout: headerTimeout,
			DisableCompression:    true, // ranges count bytes of the file itself
		},
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			if len(via) > 5 {
				return errors.New("too many redirects")
			}
			return c.allowed(req.URL.String())
		},
	}
}

// rangeStart reads the first number of "bytes 5-9/10".
func rangeStart(h string) (int64, bool) {
	first, _, ok := strings.Cut(strings.TrimPrefix(h, "bytes "), "-")
	n, err := strconv.ParseInt(first, 10, 64)
	return n, ok && err == nil
}

// WithProgress returns a reader that calls progress after each read with the number of bytes so far and the total.
func WithProgress(r io.Reader, total int64, progress func(done, total int64)) io.Reader {
	return &meter{r: r, total: total, progress: progress}
}

// meter is a reader that counts bytes.
type meter struct {
	r           io.Reader
	done, total int64
	progress    func(done, total int64)
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	m.done += int64(n)
	if n > 0 && m.progress != nil {
		m.progress(m.done, m.total)
	}
	return n, err
}

// Lock locks a file, so that only one process at a time downloads into a folder. It waits until the lock is free or ctx
// ends. The returned function releases the lock.
func Lock(ctx context.Context, path string) (unlock func(), err error) {
	for {
		f, err := filelock.Lock(path)
		if err == nil {
			return func() { _ = f.Close() }, nil // closing releases the lock
		}
		if !errors.Is(err, filelock.ErrHeld) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}
