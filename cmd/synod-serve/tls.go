package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"
)

// certificate is the gateway's own TLS certificate, which is read again when its files change.
type certificate struct {
	cert, key string // files
	now       atomic.Pointer[tls.Certificate]
	stamps    [2]stamp // of the files when they were last read
}

// stamp tells whether a file has changed.
type stamp struct {
	at   time.Time
	size int64
}

// openCertificate reads a certificate; nil without files.
func openCertificate(cert, key string) (*certificate, error) {
	if cert == "" && key == "" {
		return nil, nil
	}
	if cert == "" || key == "" {
		return nil, errors.New("give both --tls-cert FILE and --tls-key FILE")
	}
	c := &certificate{cert: cert, key: key}
	if _, err := c.reload(true); err != nil {
		return nil, err
	}
	return c, nil
}

// reload reads the files if they have changed or if always is set, and reports whether it read them. After an error the
// certificate that was read before stays in use.
func (c *certificate) reload(always bool) (read bool, err error) {
	var stamps [2]stamp
	for i, name := range []string{c.cert, c.key} {
		info, err := os.Stat(name)
		if err != nil {
			return false, fmt.Errorf("TLS certificate: %w", err)
		}
		stamps[i] = stamp{info.ModTime(), info.Size()}
	}
	if stamps == c.stamps && !always {
		return false, nil
	}
	c.stamps = stamps
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return false, fmt.Errorf("TLS certificate: %w", err)
	}
	c.now.Store(&pair)
	return true, nil
}

// watch reads the files again when they change, and in any case for each value of hup, until ctx ends.
func (c *certificate) watch(ctx context.Context, hup <-chan os.Signal, log *slog.Logger) {
	t := time.NewTicker(watchEvery)
	defer t.Stop()
	for failed := false; ; {
		always := false
		select {
		case <-ctx.Done():
			return
		case <-hup:
			always = true
		case <-t.C:
		}
		read, err := c.reload(always)
		switch {
		case err != nil && (!failed || always):
			log.Error("the TLS certificate cannot be read again; the one that was read before is used on", "error",
				err.Error())
		case read:
			until := c.now.Load().Leaf.NotAfter.UTC().Format(time.DateOnly)
			log.Info("the TLS certificate was read again", "until", until)
		}
		failed = err != nil
	}
}

// config is that of a listener. Connections speak HTTP/1.1, with which all limits were tried.
func (c *certificate) config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.now.Load(), nil }}
}
