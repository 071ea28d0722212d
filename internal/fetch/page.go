package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"time"
)

// Limits of Page.
const (
	maxPage      = 32 << 20 // bytes
	maxTries     = 8
	longestPause = time.Minute
)

// Page is a response of an API.
type Page struct {
	Body   []byte
	Header http.Header
}

// Get requests a URL and returns the whole response. It repeats a request that the server refused because of its rate
// limit (status 429) or could not answer (5xx, broken connection), up to 8 times in all: after the time that the server
// names in Retry-After, at most a minute, or else after 1, 2, 4, … seconds. It tells wait, if it is not nil, the reason
// and the length of each pause. A server that cannot be reached, and any other status than 200, is an error at once; it
// names the status and the server's error code.
func (c Client) Get(ctx context.Context, from string, wait func(reason error, pause time.Duration)) (*Page, error) {
	client := c.client()
	defer client.CloseIdleConnections()
	for try := 1; ; try++ {
		page, after, err := c.page(ctx, client, from)
		var passing *passingError
		if err == nil || try == maxTries || !errors.As(err, &passing) || ctx.Err() != nil {
			return page, err
		}
		if after == 0 {
			after = c.pause(try)
		}
		if wait != nil {
			wait(err, after)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(after):
		}
	}
}

// pause is the time before the next try: 1, 2, 4, … seconds.
func (c Client) pause(try int) time.Duration {
	unit := time.Second
	if c.Loopback {
		unit = time.Millisecond
	}
	return min(unit<<(try-1), longestPause)
}

// passingError is a failure that may pass.
type passingError struct{ error }

func (e *passingError) Unwrap() error { return e.error }

// page requests a URL once. The duration is what the server named in Retry-After, or 0.
func (c Client) page(ctx context.Context, client *http.Client, from string) (*Page, time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, stallTimeout)
	defer cancel()
	resp, err := c.get(ctx, client, from, 0)
	if err != nil {
		var op *net.OpError
		if c.allowed(from) != nil || errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect") {
			return nil, 0, err
		}
		return nil, 0, &passingError{err}
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		err := fmt.Errorf("the server answered %s%s", resp.Status, errorCode(resp.Header))
		if resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode >= 500 && resp.StatusCode != 501 {
			return nil, retryAfter(resp.Header), &passingError{err}
		}
		return nil, 0, err
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxPage+1))
	switch {
	case err != nil:
		return nil, 0, &passingError{err}
	case len(body) > maxPage:
		return nil, 0, fmt.Errorf("%w: more than %d bytes in one page", ErrDigest, maxPage)
	}
	return &Page{body, resp.Header}, 0, nil
}

var codeShape = regexp.MustCompile(`^[A-Za-z]{1,60}$`)

// errorCode returns the server's error code in brackets. Other words of the server are not repeated.
func errorCode(h http.Header) string {
	if code := h.Get("X-Error-Code"); codeShape.MatchString(code) {
		return " (" + code + ")"
	}
	return ""
}

// retryAfter returns the seconds of Retry-After, at most a minute; 0 if there are none.
func retryAfter(h http.Header) time.Duration {
	n, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || n <= 0 {
		return 0
	}
	return min(time.Duration(min(n, 3600))*time.Second, longestPause)
}
