package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"synod.dev/synod/cmd/synod-serve/internal/gateway"
	"synod.dev/synod/cmd/synod-serve/internal/store"
	"synod.dev/synod/cmd/synod-serve/internal/wire"
)

// ofRun returns what is known about a run.
func ofRun(run *gateway.Run) outcome {
	o := outcome{Status: running, Council: run.Model, Handle: run.ID, Request: run.Request,
		Deadline: run.Deadline.UTC().Format(time.RFC3339)}
	select {
	case <-run.Done():
	default:
		now, _ := run.Now()
		o.Progress = &now
		return o
	}
	a, e := run.Result()
	if e != nil {
		o = ofError(e)
		o.Council = run.Model
		return o
	}
	o = outcome{Status: a.Synod.Status, Council: run.Model, Refusal: a.Refusal, Synod: a.Synod}
	if len(a.Choices) > 0 && a.Refusal == "" {
		o.Answer = a.Choices[0].Text
	}
	return o
}

// ofError returns the outcome of a question without an answer. Its status is that of the council if one was asked.
func ofError(e *wire.Error) outcome {
	o := outcome{Status: failed, Error: &failure{Code: e.Code, Message: e.Message, Param: e.Param,
		Retry: e.RetryAfter.Seconds()}}
	if report, ok := e.Synod.(*gateway.Report); ok && report != nil {
		if o.Synod = report; e.Code == "no_consensus" || e.Code == "degraded" {
			o.Status = report.Status
		}
	}
	return o
}

// told returns an outcome as the result of a tool, with a text for clients that read no structured content. An
// outcome with an error is an error of the tool, so that no model takes its text for an answer.
func told(o outcome) (*mcp.CallToolResult, outcome, error) {
	var text strings.Builder
	switch {
	case o.Status == running:
		fmt.Fprintf(&text, "running: call the tool result with the handle %s; the run ends by %s", o.Handle, o.Deadline)
	case o.Error != nil:
		fmt.Fprintf(&text, "%s: %s: %s", o.Status, o.Error.Code, o.Error.Message)
	case o.Synod != nil:
		fmt.Fprintf(&text, "%s: %s", o.Status, o.Synod.Reason)
	default:
		text.WriteString(o.Status)
	}
	res := &mcp.CallToolResult{IsError: o.Error != nil, Content: []mcp.Content{&mcp.TextContent{Text: text.String()}}}
	if said := o.Answer + o.Refusal; said != "" {
		res.Content = append(res.Content, &mcp.TextContent{Text: said})
	}
	return res, o, nil
}

// keep goes on with a run after its call has ended. It is recorded before the client learns the handle.
func (s *Server) keep(run *gateway.Run) *wire.Error {
	o := ofRun(run)
	o.Progress = nil
	b, err := json.Marshal(o)
	if err == nil {
		err = s.o.Store.NewTask(run.ID, run.Caller(), b)
	}
	if err != nil {
		s.o.Log.Error("a handle cannot be kept", "request", run.ID, "error", err.Error())
		return &wire.Error{HTTP: 503, Code: "store_unavailable", RetryAfter: 5 * time.Second,
			Message: "the gateway cannot keep a handle now; see its log"}
	}
	s.mu.Lock()
	s.kept[run.ID] = run
	s.mu.Unlock()
	s.ends.Add(1)
	go s.finish(run)
	return nil
}

// finish keeps the outcome of a run when it has ended.
func (s *Server) finish(run *gateway.Run) {
	defer s.ends.Done()
	defer run.Leave()
	<-run.Done()
	o := ofRun(run)
	if run.Left() {
		o = outcome{Status: cancelled, Council: run.Model, Synod: o.Synod}
	}
	b, err := json.Marshal(o)
	if err == nil {
		_, err = s.o.Store.ChangeTask(run.ID, run.Caller(), 0, b)
	}
	if err != nil {
		s.o.Log.Error("the outcome of a handle cannot be kept", "request", run.ID, "error", err.Error())
		return // it is asked for in vain after a restart, and known until then
	}
	s.mu.Lock()
	delete(s.kept, run.ID)
	s.mu.Unlock()
}

// find returns the run of a handle if it goes on here, else its outcome.
func (s *Server) find(ctx context.Context, req *mcp.CallToolRequest, handle string) (*gateway.Run, outcome) {
	key, e := s.o.Gateway.Authorise(ctx, s.header(req.Extra))
	if e != nil {
		return nil, ofError(e)
	}
	caller := ""
	if key != nil {
		caller = key.ID
	}
	s.mu.Lock()
	run := s.kept[handle]
	s.mu.Unlock()
	if run != nil && run.Caller() == caller {
		return run, outcome{}
	}
	task, err := s.o.Store.Task(ctx, handle, caller)
	if errors.Is(err, store.ErrNoTask) {
		return nil, ofError(&wire.Error{Code: "unknown_handle", Message: "there is no such handle, it belongs to " +
			"another " +
			"key, or it is too old; a handle comes from the tool ask"})
	}
	var o outcome
	if err == nil {
		err = json.Unmarshal(task.Body, &o)
	}
	lost := false
	if err == nil && o.Status == running {
		lost, err = s.o.Store.Abandoned(ctx, o.Request)
	}
	switch {
	case err != nil:
		s.o.Log.Error("a handle cannot be read", "request", handle, "error", err.Error())
		return nil, ofError(&wire.Error{Code: "store_unavailable", RetryAfter: 5 * time.Second,
			Message: "the gateway cannot read its store now; see its log"})
	case lost:
		return nil, ofError(&wire.Error{Code: "run_lost", Message: "the gateway was ended while the run went on; ask " +
			"again"})
	}
	return nil, o
}

// byHandle names a run.
type byHandle struct {
	Handle      string   `json:"handle" jsonschema:"from the tool ask"`
	WaitSeconds *float64 `json:"wait_seconds,omitempty" jsonschema:"how long to wait for the end of the run; default: 45"`
}

func (s *Server) addResult(m *mcp.Server) {
	mcp.AddTool(m, &mcp.Tool{Name: "result", Title: "Get the result of a run", InputSchema: schemaOf[byHandle](),
		OutputSchema: schemaOf[outcome](), Description: "Returns the decision of a run that ask has returned a " +
			"handle " +
			"for, or how far the run is. Waits for its end for some time. It costs nothing.",
		Annotations: &mcp.ToolAnnotations{Title: "Get the result of a run", ReadOnlyHint: true,
			DestructiveHint: truth(false), IdempotentHint: true, OpenWorldHint: truth(false)}}, s.result)
}

func (s *Server) result(ctx context.Context, req *mcp.CallToolRequest, in byHandle) (*mcp.CallToolResult, outcome,
	error) {
	limit, err := patience(in.WaitSeconds, true)
	if err != nil {
		return nil, outcome{}, err
	}
	run, o := s.find(ctx, req, in.Handle)
	if run == nil {
		return told(o)
	}
	if _, err := s.await(ctx, req, run, limit); err != nil {
		return nil, outcome{}, err // the run goes on
	}
	return told(ofRun(run))
}

// toCancel names a run.
type toCancel struct {
	Handle string `json:"handle" jsonschema:"from the tool ask"`
}

func (s *Server) addCancel(m *mcp.Server) {
	mcp.AddTool(m, &mcp.Tool{Name: "cancel", Title: "Cancel a run", InputSchema: schemaOf[toCancel](),
		OutputSchema: schemaOf[outcome](), Description: "Stops a run that ask has returned a handle for, with the " +
			"calls " +
			"of its members. What they have cost is counted.",
		Annotations: &mcp.ToolAnnotations{Title: "Cancel a run", DestructiveHint: truth(true), IdempotentHint: true,
			OpenWorldHint: truth(false)}}, s.cancel)
}

func (s *Server) cancel(ctx context.Context, req *mcp.CallToolRequest, in toCancel) (*mcp.CallToolResult, outcome,
	error) {
	run, o := s.find(ctx, req, in.Handle)
	if run == nil && o.Status == running {
		return told(ofError(&wire.Error{Code: "run_elsewhere", Message: "another gateway plays the run; it ends by " +
			o.Deadline}))
	}
	if run == nil {
		return told(o)
	}
	run.Leave()
	return told(outcome{Status: cancelled, Council: run.Model})
}
