package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"synod.dev/synod/internal/durable"
)

// serverName is the name in the certificate of a hub. Workers trust the certificate itself, so the name says nothing.
const serverName = "synod-lab-hub"

// The certificate has no end, and is checked at a fixed time: a clock that is wrong keeps no worker away.
var (
	certificateBegins = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	certificateEnds   = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
	certificateNow    = func() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }
)

// workerKey is the file with which a worker proves to the hub that it may work, and knows the hub.
type workerKey struct {
	Seed        string `json:"seed"`        // nkey of the workers
	Certificate string `json:"certificate"` // of the hub, PEM
}

// hubKeys are the keys of a hub, in its folder.
type hubKeys struct {
	Worker      workerKey `json:"worker"`
	Certificate string    `json:"certificate_key"` // PEM
}

const (
	hubKeyFile    = "hub.key"
	workerKeyFile = "worker.key"
	maxKeyFile    = 64 << 10
)

// loadKeys reads the keys of the hub in a folder, and makes them if there are none. Whoever has worker.key may work.
func loadKeys(dir string) (k hubKeys, err error) {
	b, err := durable.ReadFile(filepath.Join(dir, hubKeyFile), maxKeyFile)
	if errors.Is(err, os.ErrNotExist) {
		return makeKeys(dir)
	}
	if err == nil {
		err = json.Unmarshal(b, &k)
	}
	if err != nil {
		return k, fmt.Errorf("the keys of the hub: %w; remove %s to make new ones", err, filepath.Join(dir, hubKeyFile))
	}
	return k, nil
}

func makeKeys(dir string) (k hubKeys, err error) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return k, err
	}
	seed, err := pair.Seed()
	if err != nil {
		return k, err
	}
	k.Worker.Seed = string(seed)
	if k.Worker.Certificate, k.Certificate, err = certify(); err != nil {
		return k, err
	}
	for name, content := range map[string]any{workerKeyFile: k.Worker, hubKeyFile: k} {
		b, err := json.MarshalIndent(content, "", "  ")
		if err != nil {
			return k, err
		}
		if err := durable.WriteFile(filepath.Join(dir, name), append(b, '\n')); err != nil {
			return k, err
		}
	}
	return k, nil
}

// certify makes a certificate that signs itself, and its key.
func certify() (certificate, key string, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", "", err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return "", "", err
	}
	c := x509.Certificate{SerialNumber: serial, Subject: pkix.Name{CommonName: serverName},
		DNSNames: []string{serverName}, NotBefore: certificateBegins, NotAfter: certificateEnds, IsCA: true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, &c, &c, private.Public(), private)
	if err != nil {
		return "", "", err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return "", "", err
	}
	text := func(kind string, b []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}))
	}
	return text("CERTIFICATE", der), text("PRIVATE KEY", secret), nil
}

// serverTLS returns the settings of a hub's server.
func (k *hubKeys) serverTLS() (*tls.Config, error) {
	pair, err := tls.X509KeyPair([]byte(k.Worker.Certificate), []byte(k.Certificate))
	if err != nil {
		return nil, fmt.Errorf("the certificate of the hub: %w", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS13}, nil
}

// public returns the public part of the workers' nkey.
func (k *workerKey) public() (string, error) {
	pair, err := nkeys.FromSeed([]byte(k.Seed))
	if err != nil {
		return "", fmt.Errorf("the key of the workers: %w", err)
	}
	return pair.PublicKey()
}

// options returns how a worker with this key connects.
func (k *workerKey) options() ([]nats.Option, error) {
	pair, err := nkeys.FromSeed([]byte(k.Seed))
	if err != nil {
		return nil, errors.New("it contains no key of a worker; use the file worker.key of the hub's folder")
	}
	public, err := pair.PublicKey()
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM([]byte(k.Certificate)) {
		return nil, errors.New("it contains no certificate; use the file worker.key of the hub's folder")
	}
	secure := &tls.Config{RootCAs: pool, ServerName: serverName, MinVersion: tls.VersionTLS13, Time: certificateNow}
	return []nats.Option{nats.Nkey(public, pair.Sign), nats.Secure(secure)}, nil
}

// readWorkerKey reads worker.key.
func readWorkerKey(path string) (k workerKey, err error) {
	b, err := durable.ReadFile(path, maxKeyFile)
	if err != nil {
		return k, err
	}
	if err := json.Unmarshal(b, &k); err != nil {
		return k, fmt.Errorf("%s is no key of a worker: use the file worker.key of the hub's folder", path)
	}
	return k, nil
}
