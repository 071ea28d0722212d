package a2aserver

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	"go.uber.org/goleak"

	"synod.dev/synod/cmd/cli/verification"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/llmtest"

	"synod.dev/synod/cmd/synod-serve/internal/gateway"
	"synod.dev/synod/cmd/synod-serve/internal/gatewaytest"
	"synod.dev/synod/cmd/synod-serve/internal/store"
)

func TestMain(m *testing.M) {
	progressGap = 5 * time.Millisecond
	goleak.VerifyTestMain(m)
}

// served is a gateway with the protocol.
type served struct {
	*gatewaytest.House
	secret sign.Secret
	a2a    *Server
}

const dice = `council: dice
protocol: {name: sac, rounds: 2}
graph: {family: complete}
f: 1
models: {dice: {provider: simulated, ability: 0.9, skill: 0.875, primacy: 0, shared: 0}}
seats: [{id: d, model: dice, count: 5}]
`

func serve(t *testing.T, files map[string]string, change ...func(*gateway.Options)) *served {
	t.Helper()
	h := &served{}
	var err error
	if h.secret, err = sign.Generate(rand.Reader); err != nil {
		t.Fatal(err)
	}
	needKey := false
	h.House = gatewaytest.Open(t, files, append(change, func(o *gateway.Options) {
		o.Owner = func() (sign.Secret, error) { return h.secret, nil }
		needKey = o.NeedKey
	})...)
	h.a2a = New(Options{Gateway: h.Gateway, Store: h.Store, Log: h.Log, Version: "test", NeedKey: needKey,
		Signer: func() (sign.Secret, bool, error) { return h.secret, true, nil }})
	h.a2a.Mount(h.Gateway)
	h.Start(t)
	t.Cleanup(func() {
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		h.Drain(ended)
		h.a2a.Wait()
	})
	return h
}

// connect is the official SDK as a client.
func (h *served) connect(t *testing.T) *a2aclient.Client {
	t.Helper()
	card, err := agentcard.DefaultResolver.Resolve(t.Context(), h.URL)
	if err != nil {
		t.Fatal(err)
	}
	c, err := a2aclient.NewFromCard(t.Context(), card)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Destroy() })
	return c
}

func ask(text string, options map[string]any) *a2a.SendMessageRequest {
	m := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(text))
	if options != nil {
		m.Metadata = map[string]any{"synod": options}
	}
	return &a2a.SendMessageRequest{Message: m}
}

func send(t *testing.T, c *a2aclient.Client, r *a2a.SendMessageRequest, params ...string) *a2a.Task {
	t.Helper()
	ctx := t.Context()
	if len(params) > 0 {
		ctx = a2aclient.AttachServiceParams(ctx, a2aclient.ServiceParams{params[0]: {params[1]}})
	}
	res, err := c.SendMessage(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	task, ok := res.(*a2a.Task)
	if !ok {
		t.Fatalf("%T", res)
	}
	return task
}

func said(m *a2a.Message) (all string) {
	if m == nil {
		return ""
	}
	for _, p := range m.Parts {
		all += p.Text()
	}
	return all
}

const sum = "What is 17 + 25?"

// The official client reads the card, whose signature is valid, and its question becomes a completed task with the
// decision and, where it has asked for the extension, the certificate.
func TestDecision(t *testing.T) {
	stub := gatewaytest.Watch(t, llmtest.Fixed("42", 0.9))
	h := serve(t, map[string]string{"seven": gatewaytest.Stubbed(stub.URL), "dice": dice})
	card, err := agentcard.DefaultResolver.Resolve(t.Context(), h.URL)
	if err != nil || len(card.SupportedInterfaces) != 1 || card.SupportedInterfaces[0].ProtocolVersion != "1.0" ||
		card.SupportedInterfaces[0].URL != h.URL+Path || len(card.Skills) == 0 || !card.Capabilities.Streaming {
		t.Fatalf("%v %+v", err, card)
	}
	payload, err := canonical(card)
	if err != nil || len(card.Signatures) != 1 {
		t.Fatal(err, card.Signatures)
	}
	coded := base64.RawURLEncoding
	sig, err := coded.DecodeString(card.Signatures[0].Signature)
	message := []byte(card.Signatures[0].Protected + "." + coded.EncodeToString(payload))
	if err != nil || !ed25519.Verify(h.secret.PublicKey(), message, sig) {
		t.Error("the signature of the card is not valid", err)
	}
	c := h.connect(t)
	task := send(t, c, ask(sum, map[string]any{"council": "seven", "deadline": "20s"}), a2a.SvcParamExtensions,
		CertificateURI)
	if task.Status.State != a2a.TaskStateCompleted || len(task.Artifacts) != 2 ||
		task.Artifacts[0].Parts[0].Text() != "42" || task.Artifacts[0].Metadata["synod"] == nil {
		t.Fatalf("%+v", task)
	}
	answer := "42"
	proof := task.Artifacts[1]
	if v := verification.VerifyCertificate([]byte(proof.Parts[0].Text()), nil, &answer); !v.Valid ||
		proof.Parts[0].MediaType != CertificateType || proof.Extensions[0] != CertificateURI {
		t.Errorf("%+v", v)
	}
	if task := send(t, c, ask(sum, map[string]any{"council": "seven"})); len(task.Artifacts) != 1 {
		t.Errorf("a certificate that nobody wants: %+v", task.Artifacts)
	}
	schema := map[string]any{"type": "object", "properties": map[string]any{"n": map[string]any{"type": "integer"},
		"list": map[string]any{"type": "array", "items": map[string]any{"type": "string"}, "maxItems": 0}},
		"required": []any{"n", "list"}, "additionalProperties": false}
	typed := send(t, c, ask(sum, map[string]any{"council": "dice", "schema": schema, "on_no_consensus": "best-effort"}))
	if typed.Status.State != a2a.TaskStateCompleted {
		t.Fatalf("%s", said(typed.Status.Message))
	}
	if p := typed.Artifacts[0].Parts[0]; p.MediaType != "application/json" || !strings.Contains(p.Text(), `"list":[]`) {
		t.Errorf("%+v", p)
	}
	if b, err := json.Marshal(typed.Artifacts[0].Metadata); err != nil || strings.Contains(string(b), ":null") {
		t.Errorf("%v %s", err, b)
	}
	got, err := c.GetTask(t.Context(), &a2a.GetTaskRequest{ID: task.ID})
	if err != nil || got.Status.State != a2a.TaskStateCompleted || len(got.Artifacts) != 2 {
		t.Errorf("%v %+v", err, got)
	}
	list, err := c.ListTasks(t.Context(), &a2a.ListTasksRequest{PageSize: 1})
	if err != nil || len(list.Tasks) != 1 || list.TotalSize != 3 || list.NextPageToken == "" {
		t.Errorf("%v %+v", err, list)
	}
	list, err = c.ListTasks(t.Context(), &a2a.ListTasksRequest{PageSize: 1, PageToken: list.NextPageToken})
	if err != nil || len(list.Tasks) != 1 || list.NextPageToken == "" {
		t.Errorf("%v %+v", err, list)
	}
	rows, err := h.Store.Recent(t.Context(), 10)
	if err != nil || len(rows) != 3 || rows[2].API != "a2a" || rows[2].Status != "agreed" {
		t.Errorf("%v %+v", err, rows)
	}
}

// A stream tells of the progress and ends with the decision.
func TestStream(t *testing.T) {
	stub := gatewaytest.Watch(t, llmtest.Fixed("42", 0.9))
	h := serve(t, map[string]string{"seven": gatewaytest.Stubbed(stub.URL)})
	release := stub.Hold()
	time.AfterFunc(50*time.Millisecond, release)
	var states []a2a.TaskState
	progress, text := 0, ""
	for event, err := range h.connect(t).SendStreamingMessage(t.Context(), ask(sum, nil)) {
		if err != nil {
			t.Fatal(err)
		}
		switch e := event.(type) {
		case *a2a.Task:
			states = append(states, e.Status.State)
		case *a2a.TaskStatusUpdateEvent:
			states = append(states, e.Status.State)
			if e.Metadata["synod"] != nil {
				progress++
			}
		case *a2a.TaskArtifactUpdateEvent:
			text += e.Artifact.Parts[0].Text()
		}
	}
	if len(states) < 3 || states[0] != a2a.TaskStateSubmitted || states[len(states)-1] != a2a.TaskStateCompleted ||
		progress == 0 || text != "42" {
		t.Errorf("%v %d %q", states, progress, text)
	}
}

// Without a decision a task asks for input, with the votes; the next message goes on with it.
func TestNoConsensus(t *testing.T) {
	stub := gatewaytest.Watch(t, gatewaytest.Split())
	h := serve(t, map[string]string{"split": gatewaytest.Stubbed(stub.URL) + "rule: {name: supermajority}\n"})
	c := h.connect(t)
	for _, policy := range []string{"error", "refuse"} {
		task := send(t, c, ask(sum, map[string]any{"form": "number", "on_no_consensus": policy}))
		if task.Status.State != a2a.TaskStateInputRequired || said(task.Status.Message) == "" ||
			task.Status.Message.Metadata["synod"] == nil {
			t.Fatalf("%s: %+v", policy, task.Status)
		}
		again := ask("What is 17 + 25? The leading answer is enough.", map[string]any{"form": "number",
			"on_no_consensus": "best-effort"})
		again.Message.TaskID, again.Message.ContextID = task.ID, task.ContextID
		if task = send(t, c, again); task.Status.State != a2a.TaskStateCompleted || len(task.Artifacts) != 1 ||
			!strings.HasPrefix(said(task.Status.Message), "undecided") {
			t.Errorf("%s: %+v", policy, task)
		}
	}
}

// A cancelled task cancels the calls of the members. A client that is gone does not: its task goes on.
func TestCancel(t *testing.T) {
	stub := gatewaytest.Watch(t, llmtest.Fixed("42", 0.9))
	h := serve(t, map[string]string{"seven": gatewaytest.Stubbed(stub.URL)})
	c := h.connect(t)
	release := stub.Hold()
	req := ask(sum, nil)
	req.Config = &a2a.SendMessageConfig{ReturnImmediately: true}
	task := send(t, c, req)
	gatewaytest.Until(t, 5*time.Second, "asked", func() bool { return stub.Open.Load() == 5 })
	got, err := c.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: task.ID})
	if err != nil || got.Status.State != a2a.TaskStateCanceled {
		t.Errorf("%v %+v", err, got)
	}
	gatewaytest.Until(t, time.Second, "cancelled", func() bool { return stub.Open.Load() == 0 })

	ctx, gone := context.WithCancel(t.Context())
	for event, err := range c.SendStreamingMessage(ctx, ask("What is 18 + 25?", nil)) {
		if err != nil {
			break
		}
		task.ID = event.TaskInfo().TaskID
		gone()
	}
	gone()
	release()
	gatewaytest.Until(t, 5*time.Second, "completed", func() bool {
		got, err := c.GetTask(t.Context(), &a2a.GetTaskRequest{ID: task.ID})
		return err == nil && got.Status.State == a2a.TaskStateCompleted
	})
}

// A question that cannot be asked is rejected with the reason; a council that fails has failed.
func TestMistakes(t *testing.T) {
	stub := gatewaytest.Watch(t, llmtest.Fixed("42", 0.9))
	h := serve(t, map[string]string{"seven": gatewaytest.Stubbed(stub.URL),
		"down": gatewaytest.Stubbed("http://127.0.0.1:1")})
	c := h.connect(t)
	for _, test := range []struct {
		options map[string]any
		state   a2a.TaskState
		want    string
	}{
		{map[string]any{"council": "absent"}, a2a.TaskStateRejected, "model_not_found"},
		{map[string]any{"council": "seven", "frm": "label"}, a2a.TaskStateRejected, "frm"},
		{map[string]any{"council": "down"}, a2a.TaskStateFailed, "all_members_failed"},
		{map[string]any{"council": "seven", "budget": map[string]any{"calls": 1}}, a2a.TaskStateFailed,
			"budget_exceeded"},
	} {
		task := send(t, c, ask(sum, test.options))
		if task.Status.State != test.state || !strings.Contains(said(task.Status.Message), test.want) {
			t.Errorf("%v: %s %s", test.options, task.Status.State, said(task.Status.Message))
		}
	}
	if _, err := c.GetTask(t.Context(), &a2a.GetTaskRequest{ID: "absent"}); err == nil {
		t.Error("a task that does not exist")
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.URL+Path, strings.NewReader(
		`{"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": "x"}}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set(a2a.SvcParamVersion, "0.3")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if b, err := io.ReadAll(res.Body); err != nil || !strings.Contains(string(b), "-32009") {
		t.Errorf("version 0.3: %v %s", err, b)
	}
}

// Tasks need a key where requests do, belong to it, and outlive the gateway that played them.
func TestKeysAndRestart(t *testing.T) {
	h := serve(t, map[string]string{"dice": dice}, func(o *gateway.Options) { o.NeedKey = true })
	secret, alice, err := h.Store.NewKey(store.Key{Name: "alice"})
	if err != nil {
		t.Fatal(err)
	}
	c := h.connect(t)
	if _, err := c.SendMessage(t.Context(), ask(sum, nil)); err == nil {
		t.Error("a question without a key")
	}
	task := send(t, c, ask(sum, map[string]any{"on_no_consensus": "best-effort"}), "Authorization", "Bearer "+secret)
	if task.Status.State != a2a.TaskStateCompleted {
		t.Fatalf("%+v", task)
	}
	later := New(h.a2a.o) // as after a restart
	get := func(id a2a.TaskID, key string) (*a2a.Task, error) {
		got, err := later.tasks.Get(context.WithValue(t.Context(), callerKey{}, caller{key: key}), id)
		if err != nil {
			return nil, err
		}
		return got.Task, nil
	}
	if got, err := get(task.ID, alice.ID); err != nil || got.Status.State != a2a.TaskStateCompleted {
		t.Errorf("%v %+v", err, got)
	}
	if _, err := get(task.ID, "other"); err == nil {
		t.Error("a task of another key")
	}
	left := a2a.Task{ID: "left", ContextID: "c", Status: a2a.TaskStatus{State: a2a.TaskStateWorking},
		Metadata: map[string]any{requestKey: "req-of-a-killed-gateway"}}
	b, _ := json.Marshal(left)
	if err := h.Store.NewTask(kind+"left", alice.ID, b); err != nil {
		t.Fatal(err)
	}
	if got, err := get("left", alice.ID); err != nil || got.Status.State != a2a.TaskStateFailed ||
		!strings.Contains(said(got.Status.Message), "run_lost") {
		t.Errorf("%v %+v", err, got)
	}
	res, err := http.Post(h.URL+Path, "application/json", strings.NewReader("{}"))
	if err != nil || res.StatusCode != 401 {
		t.Errorf("%v %v", err, res)
	}
	res.Body.Close()
}
