package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"
)

// What docs/measure/experiments.md says that the operator of a server has to permit for the queue "sweep".
var (
	hubMay = &server.Permissions{
		Publish: &server.SubjectPermission{Allow: []string{"$JS.API.>", "synod.sweep.work", "$KV.SYNOD_sweep_HUB.>",
			"_INBOX.>"}},
		Subscribe: &server.SubjectPermission{Allow: []string{"synod.sweep.hub.*", "_INBOX.>"}},
	}
	workersMay = &server.Permissions{
		Publish: &server.SubjectPermission{Allow: []string{"synod.sweep.hub.*",
			"$JS.API.CONSUMER.MSG.NEXT.SYNOD_sweep.workers", "$JS.API.CONSUMER.INFO.SYNOD_sweep.workers",
			"$JS.ACK.SYNOD_sweep.workers.>"}},
		Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX.>"}},
	}
)

// natsServer starts a NATS server on loopback.
func natsServer(t *testing.T, o server.Options) *server.Server {
	t.Helper()
	o.Host, o.Port, o.NoSigs, o.NoLog = "127.0.0.1", server.RANDOM_PORT, true, true
	if o.JetStream {
		o.StoreDir = t.TempDir()
	}
	s, err := server.NewServer(&o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(startWithin) {
		t.Fatal("no server")
	}
	return s
}

// nkey makes the key of a user and writes its seed to a file.
func nkey(t *testing.T, path string) (public string) {
	t.Helper()
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	seed, err := pair.Seed()
	if err != nil {
		t.Fatal(err)
	}
	if public, err = pair.PublicKey(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(seed, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	return public
}

// authority writes ca.pem and returns settings of a server whose certificate it has signed itself. The certificate is
// valid for a time before and after now.
func authority(t *testing.T, path string, valid time.Duration) *tls.Config {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IsCA: true,
		NotBefore: time.Now().Add(-valid), NotAfter: time.Now().Add(valid), BasicConstraintsValid: true,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, &c, &c, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: private}},
		MinVersion: tls.VersionTLS13}
}

// cluster starts three servers with JetStream and TLS. The hub, workers and an operator may connect.
func cluster(t *testing.T, dir string) (servers []*server.Server, urls string) {
	t.Helper()
	secure := authority(t, filepath.Join(dir, "ca.pem"), time.Hour)
	hub, workers := nkey(t, filepath.Join(dir, "hub.nk")), nkey(t, filepath.Join(dir, "worker.nk"))
	var all []string
	var routes []*url.URL
	ports := make([]int, 3)
	for i := range ports {
		var err error
		if ports[i], err = strconv.Atoi(freePort(t)); err != nil {
			t.Fatal(err)
		}
		routes = append(routes, &url.URL{Scheme: "nats", Host: fmt.Sprint("127.0.0.1:", ports[i])})
	}
	for i := range ports {
		o := server.Options{ServerName: fmt.Sprint("s", i), JetStream: true, TLSConfig: secure.Clone(), TLS: true,
			TLSTimeout: 5, Routes: routes,
			Cluster: server.ClusterOpts{Name: "three", Host: "127.0.0.1", Port: ports[i]},
			Users:   []*server.User{{Username: "operator", Password: "secret"}},
			Nkeys:   []*server.NkeyUser{{Nkey: hub, Permissions: hubMay}, {Nkey: workers, Permissions: workersMay}}}
		servers = append(servers, natsServer(t, o))
		all = append(all, "tls://"+servers[i].Addr().String())
	}
	for end := time.Now().Add(startWithin); ; time.Sleep(50 * time.Millisecond) {
		leaders, peers := 0, 0
		for _, s := range servers {
			if s.JetStreamIsLeader() {
				leaders, peers = leaders+1, len(s.JetStreamClusterPeers())
			}
		}
		if leaders == 1 && peers == 3 {
			return servers, strings.Join(all, ",")
		}
		if time.Now().After(end) {
			t.Fatalf("the cluster has %d leaders and %d peers", leaders, peers)
		}
	}
}

// leader returns the name of the server that leads the queue, and how many others have a copy.
func leader(t *testing.T, dir, urls string) (name string, others int) {
	t.Helper()
	nc, err := nats.Connect(urls, nats.RootCAs(filepath.Join(dir, "ca.pem")), nats.UserInfo("operator", "secret"))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(t.Context(), "SYNOD_sweep")
	if err != nil {
		t.Fatal(err)
	}
	of := stream.CachedInfo().Cluster
	return of.Leader, len(of.Replicas)
}

// TestCluster: the queue is in a cluster of three servers with TLS, nkeys and permissions. The server that leads the
// queue is stopped in the middle of the sweep; nothing is lost, and the table is that of one process.
func TestCluster(t *testing.T) {
	dir := study(t, simulated(*cellCount), 2)
	want := alone(t, dir)
	servers, urls := cluster(t, dir)
	ca := []string{"--ca", filepath.Join(dir, "ca.pem")}
	hub := startHub(t, dir, "", append(ca, "--nats", urls, "--creds", filepath.Join(dir, "hub.nk"))...)
	hub.expect("listening on", time.Minute)
	all := []*process{hub}
	for i := range 2 {
		all = append(all, runWorker(t, nil, dir, fmt.Sprint("w", i), urls, append(ca, "--parallel", "2", "--creds",
			filepath.Join(dir, "worker.nk"))...))
	}
	for end := time.Now().Add(time.Minute); finishedOf(t, dir) < *cellCount/2; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d questions:\n%s%s", finishedOf(t, dir), hub.output(), all[1].output())
		}
	}
	name, others := leader(t, dir, urls)
	if others != 2 {
		t.Errorf("%d servers have a copy of the queue, beside %s", others, name)
	}
	for _, s := range servers {
		if s.Name() == name {
			s.Shutdown()
		}
	}
	stopped := finishedOf(t, dir)
	for _, p := range all {
		if code := p.code(5 * time.Minute); code != 0 {
			t.Fatalf("%v ends with %d:\n%s", p.args, code, p.output())
		}
	}
	checkTable(t, dir, want, 2**cellCount)
	t.Logf("%s was stopped after %d questions\n%s", name, stopped, hub.output())
}

// credentials makes an operator, an account with JetStream and a user of it, as nsc does, and writes the user's
// credentials to a file.
func credentials(t *testing.T, path string) server.Options {
	t.Helper()
	pair := func(create func() (nkeys.KeyPair, error)) (nkeys.KeyPair, string) {
		k, err := create()
		if err != nil {
			t.Fatal(err)
		}
		public, err := k.PublicKey()
		if err != nil {
			t.Fatal(err)
		}
		return k, public
	}
	signed := func(c jwt.Claims, by nkeys.KeyPair) string {
		text, err := c.Encode(by)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	operator, operatorID := pair(nkeys.CreateOperator)
	account, accountID := pair(nkeys.CreateAccount)
	_, systemID := pair(nkeys.CreateAccount)
	user, userID := pair(nkeys.CreateUser)
	claims := jwt.NewAccountClaims(accountID)
	claims.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1, Streams: -1, Consumer: -1}
	resolver := &server.MemAccResolver{}
	for id, text := range map[string]string{accountID: signed(claims, operator),
		systemID: signed(jwt.NewAccountClaims(systemID), operator)} {
		if err := resolver.Store(id, text); err != nil {
			t.Fatal(err)
		}
	}
	seed, err := user.Seed()
	if err != nil {
		t.Fatal(err)
	}
	may := jwt.NewUserClaims(userID)
	may.Expires = time.Now().Add(30 * time.Minute).Unix()
	creds, err := jwt.FormatUserConfig(signed(may, account), seed)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, creds, 0o600); err != nil {
		t.Fatal(err)
	}
	return server.Options{JetStream: true, TrustedOperators: []*jwt.OperatorClaims{jwt.NewOperatorClaims(operatorID)},
		AccountResolver: resolver, SystemAccount: systemID}
}

// TestCredentials: hub and workers connect to an existing server with user and password, and with a file of
// credentials; wrong ones, a server without JetStream and a user without permissions are clear errors.
func TestCredentials(t *testing.T) {
	dir := study(t, simulated(2), 1)
	creds, wrong := filepath.Join(dir, "user.creds"), filepath.Join(dir, "wrong.nk")
	nkey(t, wrong)
	password := server.Options{JetStream: true, Users: []*server.User{{Username: "ann", Password: "s3cret"},
		{Username: "guest", Password: "x", Permissions: &server.Permissions{
			Publish:   &server.SubjectPermission{Allow: []string{"news"}},
			Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX.>"}}}}}}
	at := natsServer(t, password).Addr().String()
	signed := natsServer(t, credentials(t, creds)).ClientURL()
	plain := natsServer(t, server.Options{}).ClientURL()
	for name, c := range map[string]struct{ url, creds, says string }{
		"password":     {"nats://ann:wrong@" + at, "", "refuses these credentials: give --creds FILE"},
		"none":         {"nats://" + at, "", "refuses these credentials"},
		"nkey":         {"nats://" + at, wrong, "refuses these credentials"},
		"no JWT":       {signed, wrong, "refuses these credentials"},
		"no file":      {signed, filepath.Join(dir, "absent"), "--creds: "},
		"other file":   {signed, filepath.Join(dir, "study.yaml"), "contains neither a user's credentials"},
		"no JetStream": {plain, "", "has no JetStream"},
		"nobody":       {"nats://127.0.0.1:1", "", "no servers available"},
		"permissions":  {"nats://guest:x@" + at, "", "a hub needs publish on $JS.API.>"},
	} {
		more := []string{"--nats", c.url}
		if c.creds != "" {
			more = append(more, "--creds", c.creds)
		}
		p := startHub(t, dir, "", more...)
		if code := p.code(time.Minute); code != exitError || !strings.Contains(p.output(), c.says) {
			t.Errorf("%s: the hub ends with %d: %s", name, code, p.output())
		}
		if strings.Contains(p.output(), ":wrong@") {
			t.Errorf("%s: the hub prints the password", name)
		}
	}
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"password":    {[]string{"nats://ann:wrong@" + at}, "refuses these credentials"},
		"nkey":        {[]string{"nats://" + at, "--creds", wrong}, "refuses these credentials"},
		"permissions": {[]string{"nats://guest:x@" + at}, "ermissions"},
	} {
		p := runWorker(t, nil, dir, name, c.args[0], c.args[1:]...)
		if code := p.code(time.Minute); code != exitError || !strings.Contains(p.output(), c.says) ||
			strings.Contains(p.output(), ":wrong@") {
			t.Errorf("%s: the worker ends with %d: %s", name, code, p.output())
		}
	}
	for name, args := range map[string][]string{"user and password": {"nats://ann:s3cret@" + at},
		"credentials": {signed, "--creds", creds}} {
		dir := study(t, simulated(2), 1)
		hub := startHub(t, dir, "", append([]string{"--nats"}, args...)...)
		hub.expect("listening on", time.Minute)
		w := runWorker(t, nil, dir, "w", args[0], args[1:]...)
		if a, b := hub.code(time.Minute), w.code(time.Minute); a != 0 || b != 0 {
			t.Errorf("%s: exit codes %d and %d:\n%s\n%s", name, a, b, hub.output(), w.output())
		}
		if strings.Contains(hub.output()+w.output(), "s3cret") {
			t.Error("the password is printed")
		}
	}
}
