package llm

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"synod.dev/synod"
)

// errPrivate refuses a private address that the settings do not name.
var errPrivate = errors.New("is not a public address")

// newTransport returns the connection pool of one model. It follows no redirect
// (RoundTrip never does), asks for no compression (so there is nothing to unpack
// without bound), and ignores proxies in the environment unless the settings say
// otherwise. It keeps as many connections open as a bench of councils uses at
// once: thirty councils of seven seats make 1,470 calls together, and to open a
// connection again costs more than a call. Idle connections are closed.
func newTransport(c OpenAIConfig, base *url.URL) (*http.Transport, error) {
	proxy, err := proxyFor(c.Proxy)
	if err != nil {
		return nil, err
	}
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	if proxy == nil && !c.Private {
		dialer.Control = connectOnlyTo(base.Hostname())
	}
	return &http.Transport{
		Proxy:                  proxy,
		DialContext:            dialer.DialContext,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: c.roots},
		TLSHandshakeTimeout:    10 * time.Second,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxIdleConns:           0,
		MaxIdleConnsPerHost:    4096,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}, nil
}

// PlainTransport returns a transport that follows the rules of model addresses: it uses no
// proxy from the environment, and TLS 1.2 or later with valid certificates. It connects to
// any address, which the user must have chosen.
func PlainTransport() *http.Transport {
	t, _ := newTransport(OpenAIConfig{Private: true}, nil) // it fails for a proxy only
	return t
}

func proxyFor(setting string) (func(*http.Request) (*url.URL, error), error) {
	switch setting {
	case "":
		return nil, nil
	case "env":
		return http.ProxyFromEnvironment, nil
	}
	u, err := url.Parse(setting)
	if err != nil || u.Host == "" {
		return nil, errors.New("llm: proxy: cannot be read as a URL")
	}
	return http.ProxyURL(u), nil
}

// connectOnlyTo returns a check of the address that is really dialled (SC-10): a
// name in a council file must not lead, through a hostile DNS server, to this
// machine, its network or a cloud's metadata service. Literal addresses and
// localhost are allowed.
func connectOnlyTo(host string) func(context, address string, _ syscall.RawConn) error {
	_, err := netip.ParseAddr(host)
	literal := err == nil
	local := strings.EqualFold(host, "localhost")
	return func(_, address string, _ syscall.RawConn) error {
		ap, err := netip.ParseAddrPort(address)
		if err != nil {
			return fmt.Errorf("address %w", errPrivate)
		}
		a := ap.Addr().Unmap().WithZone("")
		if literal || (local && a.IsLoopback()) || public(a) {
			return nil
		}
		return fmt.Errorf("%s %w: write the address itself in the url, or set private: true for this model",
			a, errPrivate)
	}
}

var carrierNet = netip.MustParsePrefix("100.64.0.0/10") // inner networks of carriers and clouds (RFC 6598)

func public(a netip.Addr) bool {
	return a.IsGlobalUnicast() && !a.IsPrivate() && !carrierNet.Contains(a)
}

// transportFailure classifies an error before there was a reply. Errors of
// net/http contain no URL here, because no http.Client wraps them.
func transportFailure(err error) *Failure {
	f := &Failure{Status: synod.Unavailable, Retryable: true}
	var dns *net.DNSError
	var cert *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var slow net.Error
	switch {
	case errors.Is(err, errPrivate):
		f.Retryable, f.Lasting, f.Err = false, true, fmt.Errorf("refused to connect: %s", tail(err))
	case errors.As(err, &dns):
		f.Retryable, f.Lasting = !dns.IsNotFound, dns.IsNotFound
		f.Err = fmt.Errorf("the name %s cannot be resolved", oneLine(dns.Name))
	case errors.As(err, &cert):
		f.Retryable, f.Lasting, f.Err = false, true, fmt.Errorf("TLS: the certificate is not valid: %s",
			oneLine(cert.Err.Error()))
	case errors.As(err, &record):
		f.Retryable, f.Lasting, f.Err = false, true, errors.New("TLS: the server does not use TLS (is the url "+
			"meant to be http://?)")
	case errors.Is(err, syscall.ECONNREFUSED):
		f.Lasting, f.Err = true, errors.New("connection refused: no server listens there")
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		f.begun, f.Err = true, errors.New("the server closed the connection without a reply")
	case errors.As(err, &slow) && slow.Timeout():
		f.Status, f.Err = synod.Timeout, errors.New("no connection within 10s")
	case strings.Contains(err.Error(), "malformed HTTP"): // the rest of the text quotes the server
		f.Retryable, f.Lasting, f.Err = false, true, errors.New("the server there does not use HTTP")
	default:
		f.Err = fmt.Errorf("no reply: %s", oneLine(err.Error()))
	}
	return f
}

// tail returns the innermost message of a dial error, without "dial tcp …:".
func tail(err error) string {
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Err != nil {
		return oneLine(op.Err.Error())
	}
	return oneLine(err.Error())
}
