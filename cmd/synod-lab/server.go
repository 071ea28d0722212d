package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// connection is a hub's connection to NATS: to a server in this process, or to an existing cluster.
type connection struct {
	*nats.Conn
	server  *server.Server // nil: the cluster's
	address string         // where workers connect
	key     string         // file of the workers' key; "": none is needed
}

// close ends the connection and the server.
func (c *connection) close() {
	if c.Conn != nil {
		c.Conn.Close()
	}
	if c.server != nil {
		c.server.Shutdown()
		c.server.WaitForShutdown()
	}
}

// hubUser is the user of the hub at its own server. Its password is new for every start.
const (
	hubUser    = "hub"
	workerUser = "worker"
)

// startWithin is how long the server may take to read its queue and accept connections.
const startWithin = time.Minute

// serve starts a NATS server with JetStream in this process. Beyond loopback it wants TLS and the key of a worker. dir
// is the hub's folder; its folder queue may be deleted.
func serve(dir, listen string, n names) (c *connection, err error) {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return nil, err
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, err
	}
	var secret [16]byte
	if _, err := rand.Read(secret[:]); err != nil {
		return nil, err
	}
	password := hex.EncodeToString(secret[:])
	o := &server.Options{
		ServerName: serverName, Host: host, Port: int(number), NoSigs: true, NoLog: true, NoSystemAccount: true,
		JetStream: true, StoreDir: filepath.Join(dir, "queue"), SyncAlways: true, DisableJetStreamBanner: true,
		MaxConn: 2000, MaxPayload: server.MAX_PAYLOAD_SIZE, WriteDeadline: 10 * time.Second,
		Users: []*server.User{{Username: hubUser, Password: password}},
	}
	if number == 0 {
		o.Port = server.RANDOM_PORT
	}
	c = &connection{}
	if err := c.admit(o, dir, host, n); err != nil {
		return nil, err
	}
	if c.server, err = server.NewServer(o); err != nil {
		return nil, fmt.Errorf("the server of the queue: %w", err)
	}
	c.server.Start()
	if !c.server.ReadyForConnections(startWithin) {
		c.close()
		return nil, fmt.Errorf("the server of the queue does not listen on %s: is the port in use?", listen)
	}
	c.address = net.JoinHostPort(host, strconv.Itoa(c.server.Addr().(*net.TCPAddr).Port))
	c.Conn, err = nats.Connect("", nats.InProcessServer(c.server), nats.UserInfo(hubUser, password),
		nats.Name("synod bench hub"), nats.MaxReconnects(-1))
	if err != nil {
		c.close()
		return nil, fmt.Errorf("the server of the queue: %w", err)
	}
	return c, nil
}

// admit says who may connect: on loopback every user of this machine, elsewhere who has the key. Workers may ask the
// hub and take units, and nothing else.
func (c *connection) admit(o *server.Options, dir, host string, n names) error {
	units := n.stream() + "." + consumerName
	may := &server.Permissions{
		Publish: &server.SubjectPermission{Allow: []string{n.asking("*"), "$JS.API.CONSUMER.MSG.NEXT." + units,
			"$JS.API.CONSUMER.INFO." + units, "$JS.ACK." + units + ".>"}},
		Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX.>"}},
	}
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		o.Users = append(o.Users, &server.User{Username: workerUser, Permissions: may})
		o.NoAuthUser = workerUser
		return nil
	}
	keys, err := loadKeys(dir)
	if err != nil {
		return err
	}
	public, err := keys.Worker.public()
	if err != nil {
		return err
	}
	if o.TLSConfig, err = keys.serverTLS(); err != nil {
		return err
	}
	o.TLS, o.TLSTimeout = true, 5
	o.Nkeys = []*server.NkeyUser{{Nkey: public, Permissions: may}}
	c.key = filepath.Join(dir, workerKeyFile)
	return nil
}

// The pauses between attempts to reach a hub that does not answer.
const (
	shortestPause = 250 * time.Millisecond
	longestPause  = 15 * time.Second
)

// backOff returns the pause before an attempt, counted from 1.
func backOff(attempt int) time.Duration {
	return min(shortestPause<<min(attempt, 10), longestPause)
}

// pause waits; false if ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
