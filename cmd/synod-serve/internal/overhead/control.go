package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"
)

// control serves what any gateway must do at least, by net/http and encoding/json alone: it decodes the body of a
// request, names the model as the server at the URL knows it, encodes the body again, passes it on, and does the same
// with the reply. It checks, counts, reserves and logs nothing. Its processor time is the measure of synod-serve's.
func control(ctx context.Context, url string) error {
	client := &http.Client{Transport: &http.Transport{MaxIdleConns: 1024, MaxIdleConnsPerHost: 1024,
		DisableCompression: true}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		reply, err := passOn(r.Context(), client, url+r.URL.Path, r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(reply) // the client may be gone
	})
	return listen(ctx, mux)
}

// passOn sends a body on under the name that the model has at the server, and returns the reply under its name here.
func passOn(ctx context.Context, client *http.Client, url string, in io.Reader) ([]byte, error) {
	body, err := renamed(in, "stub")
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, errors.New(res.Status)
	}
	return renamed(res.Body, "one")
}

// renamed decodes a JSON object and encodes it again with another model.
func renamed(in io.Reader, model string) ([]byte, error) {
	b, err := io.ReadAll(in)
	if err != nil {
		return nil, err
	}
	var all map[string]any
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, err
	}
	all["model"] = model
	return json.Marshal(all)
}

// listen serves on a free port of loopback until ctx ends, and prints where.
func listen(ctx context.Context, h http.Handler) error {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { _ = srv.Close() })()
	fmt.Fprintf(os.Stdout, "listening on http://%s\n", ln.Addr())
	if err = srv.Serve(ln); errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}
