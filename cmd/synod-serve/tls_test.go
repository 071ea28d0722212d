package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// certify writes a certificate with a serial number for 127.0.0.1, and adds it to what a client trusts.
func certify(t *testing.T, cert, key string, serial int64, trusted *x509.CertPool) {
	t.Helper()
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true,
		BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, secret.Public(), secret)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der},
		key: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	read, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	trusted.AddCert(read)
}

// The gateway answers over TLS with its own certificate, and over nothing older than TLS 1.2; a certificate that is
// renewed is used for the next connection, after SIGHUP or without it, and one that is broken is not.
func TestTLS(t *testing.T) {
	s := newSite(t)
	cert, key := filepath.Join(s.dir, "gate.pem"), filepath.Join(s.dir, "gate.key")
	trusted := x509.NewCertPool()
	certify(t, cert, key, 1, trusted)
	g := startGateway(t, "", append(s.args(filepath.Join(s.dir, "serve.db")), "--tls-cert", cert, "--tls-key", key)...)
	if !strings.HasPrefix(g.url, "https://") {
		t.Fatal(g.log)
	}
	waitFor(t, "the address of the page", func() bool {
		return strings.Contains(g.log.String(), "page of its owner: https://")
	})
	serial := func(config *tls.Config) (int64, error) {
		config.RootCAs = trusted
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}}
		defer client.CloseIdleConnections()
		res, err := client.Get(g.url + "/v1/models")
		if err != nil {
			return 0, err
		}
		defer res.Body.Close()
		if res.StatusCode != 200 || res.ProtoMajor != 1 {
			t.Errorf("%s %s", res.Status, res.Proto)
		}
		return res.TLS.PeerCertificates[0].SerialNumber.Int64(), nil
	}
	if n, err := serial(&tls.Config{}); n != 1 || err != nil {
		t.Error(n, err)
	}
	if _, err := serial(&tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}); err == nil {
		t.Error("TLS 1.1 is spoken")
	}
	certify(t, cert, key, 2, trusted)
	waitFor(t, "renewed", func() bool { n, err := serial(&tls.Config{}); return n == 2 && err == nil })
	if err := os.WriteFile(cert, []byte("broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "told", func() bool { return strings.Contains(g.log.String(), "cannot be read again") })
	if n, err := serial(&tls.Config{}); n != 2 || err != nil {
		t.Error(n, err)
	}
	certify(t, cert, key, 3, trusted)
	if err := g.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "renewed after SIGHUP", func() bool { n, err := serial(&tls.Config{}); return n == 3 && err == nil })
	g.end(syscall.SIGTERM)
	for _, args := range []string{"--tls-cert " + cert, "--tls-cert " + s.prices + " --tls-key " + key} {
		code, _, errs := command(t, append([]string{"serve", "--home", s.dir}, strings.Fields(args)...)...)
		if code != 2 || !strings.Contains(strings.ToLower(errs), "tls") {
			t.Errorf("%s: %d %s", args, code, errs)
		}
	}
}

// A gateway behind a proxy on its own machine does not take the whole world for that machine: with a name in --hosts
// it asks for keys, and without one it refuses what a proxy has passed on.
func TestBehindProxy(t *testing.T) {
	s := newSite(t)
	url := filepath.Join(s.dir, "serve.db")
	short, cancel := context.WithTimeout(t.Context(), 10*time.Second) // it would listen until then
	defer cancel()
	errs := &lockedBuffer{}
	if code := run(short, append([]string{"serve", "--listen", "127.0.0.1:0", "--hosts", "gate.example"},
		s.args(url)...), errs, errs); code != 2 || !strings.Contains(errs.String(), "keys new") {
		t.Errorf("%d %s", code, errs)
	}
	get := func(g *gatewayProcess, host, key string, headers ...string) int {
		req, err := http.NewRequest(http.MethodGet, g.url+"/v1/models", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host
		if key != "" {
			req.Header.Set("Authorization", "Bearer "+key)
		}
		for _, h := range headers {
			req.Header.Set(h, "203.0.113.7")
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res.StatusCode
	}
	g := startGateway(t, "", s.args(url)...)
	for _, header := range []string{"X-Forwarded-For", "Forwarded"} {
		if code := get(g, "localhost", "", header); code != 401 {
			t.Errorf("%s: %d", header, code)
		}
	}
	if code := get(g, "localhost", ""); code != 200 {
		t.Error(code)
	}
	g.end(syscall.SIGTERM)
	key := s.key(t, url, store.Key{Name: "alice"})
	g = startGateway(t, "", append(s.args(url), "--hosts", "gate.example")...)
	defer g.end(syscall.SIGTERM)
	for _, host := range []string{"gate.example", "localhost"} {
		if none, one := get(g, host, "", "X-Forwarded-For"), get(g, host, key, "X-Forwarded-For"); none != 401 ||
			one != 200 {
			t.Errorf("%s: %d without a key, %d with one", host, none, one)
		}
	}
}
