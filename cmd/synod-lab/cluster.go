package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"synod.dev/synod/internal/durable"
)

// natsAccess is how hub and workers prove to an existing NATS server who they are, and know the server. User and
// password may also be in its URL.
type natsAccess struct {
	creds string // file with a user's credentials or the seed of an nkey; ""
	ca    string // file with the certificates that the server's must be signed with; "": those of the system
}

// errNoAccess is what hub and workers say to a NATS server that refuses them.
var errNoAccess = errors.New("the NATS server refuses these credentials: give --creds FILE with a user's credentials " +
	"or the seed of an nkey, or user and password in the URL, such as nats://user:password@queue.example:4222")

// options returns the options of a connection.
func (a natsAccess) options() (all []nats.Option, err error) {
	if a.ca != "" {
		all = append(all, nats.RootCAs(a.ca))
	}
	if a.creds == "" {
		return all, nil
	}
	text, err := durable.ReadFile(a.creds, maxKeyFile)
	if err != nil {
		return nil, fmt.Errorf("--creds: %w", err)
	}
	if bytes.Contains(text, []byte("BEGIN NATS USER JWT")) {
		return append(all, nats.UserCredentials(a.creds)), nil
	}
	seed, err := nats.NkeyOptionFromSeed(a.creds)
	if err != nil {
		return nil, fmt.Errorf("--creds: %s contains neither a user's credentials, as nsc writes them, nor the seed "+
			"of an nkey of a user (SU…)", a.creds)
	}
	return append(all, seed), nil
}

// isNATS reports whether the address that a worker was given is that of a NATS server, and not of a hub's own.
func isNATS(address string) bool { return strings.Contains(address, "://") }

// join connects a hub to an existing server or cluster: servers are URLs with commas between them.
func join(ctx context.Context, servers string, access natsAccess, n names) (*connection, error) {
	options, err := access.options()
	if err != nil {
		return nil, err
	}
	nc, err := nats.Connect(servers, append(options, nats.Name("synod bench hub"), nats.MaxReconnects(-1),
		nats.Timeout(10*time.Second), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))...)
	if refuses(err) {
		err = errNoAccess
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", redacted(servers), err)
	}
	c := &connection{Conn: nc, address: redacted(servers)}
	if err := checkJetStream(ctx, nc, n); err != nil {
		c.close()
		return nil, fmt.Errorf("%s: %w", redacted(servers), err)
	}
	return c, nil
}

// refuses reports whether a server has refused a user.
func refuses(err error) bool {
	for _, is := range []error{nats.ErrAuthorization, nats.ErrAuthExpired, nats.ErrAuthRevoked,
		nats.ErrAccountAuthExpired, nats.ErrNkeysNotSupported} {
		if errors.Is(err, is) {
			return true
		}
	}
	return false
}

// checkJetStream fails with the reason if a queue cannot be made.
func checkJetStream(ctx context.Context, nc *nats.Conn, n names) error {
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	_, err = js.AccountInfo(ctx)
	switch {
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return errors.New("the NATS server has no JetStream for this user: its operator can enable it (jetstream {} " +
			"in the server's configuration, and for the user's account), or leave out --nats")
	case err != nil && denied(nc) != nil:
		return fmt.Errorf("%w; a hub needs publish on $JS.API.>, %s, $KV.%s.> and _INBOX.>, and subscribe on %s and "+
			"_INBOX.>", denied(nc), n.work(), n.bucket(), n.asking("*"))
	case err != nil:
		return fmt.Errorf("JetStream does not answer: %w", err)
	}
	return nil
}

// denied returns what the server does not permit to the user of a connection; nil if it has refused nothing so far.
func denied(nc *nats.Conn) error {
	if err := nc.LastError(); errors.Is(err, nats.ErrPermissionViolation) {
		return err
	}
	return nil
}

// redacted returns the URLs of servers without passwords.
func redacted(servers string) string {
	all := strings.Split(servers, ",")
	for i, s := range all {
		s = strings.TrimSpace(s)
		if u, err := url.Parse(s); err == nil {
			s = u.Redacted()
		}
		all[i] = s
	}
	return strings.Join(all, ",")
}

// dial connects a worker. Once it was connected it reconnects with growing pauses, for ever.
func dial(address, key string, access natsAccess) (*nats.Conn, error) {
	options := []nats.Option{nats.Name("synod bench worker"), nats.MaxReconnects(-1), nats.Timeout(10 * time.Second),
		nats.CustomReconnectDelay(backOff), nats.ReconnectBufSize(-1),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})}
	var more []nats.Option
	var err error
	switch {
	case key != "" && access != natsAccess{}:
		err = errors.New("--key is for a hub's own server, --creds and --ca are for a NATS server; give one of them")
	case key != "":
		var k workerKey
		if k, err = readWorkerKey(key); err == nil {
			more, err = k.options()
		}
		if err != nil {
			err = fmt.Errorf("--key: %w", err)
		}
	default:
		more, err = access.options()
	}
	if err != nil {
		return nil, err
	}
	return nats.Connect(address, append(options, more...)...)
}
