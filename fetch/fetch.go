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
)

// Time-outs: an unreachable hub must cost seconds, a slow one may take its time.
const (
	connectTimeout = 3 * time.Second
	headerTimeout  = 8 * time.Second
	stallTimeout   = 30 * time.Second
)

// maxDownload bounds a download whose size is not pinned.
const maxDownload = 16 << 30

// ErrDigest means that bytes are not those that are pinned.
var ErrDigest = errors.New("wrong content")

// Want is what is known of a file beforehand.
type Want struct {
	Bytes  int64  // 0: unknown
	SHA256 string // "": unknown
}

// Client fetches files. The zero Client takes https only.
type Client struct {
	// Loopback lets tests fetch from a loopback server without TLS.
	Loopback bool
}

// Download fetches a URL into the file part, going on where an earlier try
// stopped, and tells of bytes done of total (0: unknown) if tell is not nil. Bytes
// that are not the wanted ones are an ErrDigest, and are removed. If the whole has
// the wrong digest, it may be an old part's fault: then it is fetched once more
// from the beginning.
func (c Client) Download(ctx context.Context, from, part string, want Want, tell func(done, total int64)) error {
	for {
		had, _ := fileSize(part)
		if err := c.fetch(ctx, from, part, want, tell); err != nil {
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
			return fmt.Errorf("%w: %d bytes with SHA-256 %s, pinned are %d with %s", ErrDigest, size, sum, want.Bytes, want.SHA256)
		}
	}
}

// Digest is the size and the SHA-256 of a file.
func Digest(path string) (size int64, sum string, err error) {
	f, err := os.Open(path)
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

// fetch appends to part what is still missing of it.
func (c Client) fetch(ctx context.Context, from, part string, want Want, tell func(done, total int64)) error {
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
			return fmt.Errorf("the server sent another range than asked for: %q", resp.Header.Get("Content-Range"))
		}
	case http.StatusOK:
		had = 0
	case http.StatusRequestedRangeNotSatisfiable: // the old part is not of this file
		if err := os.Remove(part); err != nil {
			return err
		}
		return c.fetch(ctx, from, part, want, tell)
	default:
		return fmt.Errorf("the server answered %s", resp.Status)
	}
	if total == 0 && resp.ContentLength > 0 {
		total = had + resp.ContentLength
	}
	return save(resp.Body, part, had, total, cancel, tell)
}

// save writes body into part from position at on. The stall timer cancels a
// connection that has gone silent.
func save(body io.Reader, part string, at, total int64, cancel func(), tell func(done, total int64)) error {
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
	m := &meter{r: io.LimitReader(body, limit-at+1), done: at, total: total, tell: func(done, total int64) {
		stall.Reset(stallTimeout)
		if tell != nil {
			tell(done, total)
		}
	}}
	_, err = io.Copy(f, m)
	switch {
	case err != nil:
		return fmt.Errorf("after %d bytes: %w (what has come is kept)", m.done, err)
	case m.done > limit:
		return errors.Join(fmt.Errorf("%w: more than the %d bytes it should have", ErrDigest, limit), f.Truncate(0))
	case total > 0 && m.done < total:
		return fmt.Errorf("after %d of %d bytes: %w (what has come is kept)", m.done, total, io.ErrUnexpectedEOF)
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
		return nil, inner.Err // the caller names the URL already
	}
	return resp, err
}

// allowed refuses anything but https: bytes are pinned, but who asks for what
// is nobody else's business.
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
			DisableCompression:    true, // ranges are of the bytes as they are
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

// Metered is r, telling of bytes read of total.
func Metered(r io.Reader, total int64, tell func(done, total int64)) io.Reader {
	return &meter{r: r, total: total, tell: tell}
}

// meter counts what is read through it.
type meter struct {
	r           io.Reader
	done, total int64
	tell        func(done, total int64)
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	m.done += int64(n)
	if n > 0 && m.tell != nil {
		m.tell(m.done, m.total)
	}
	return n, err
}
