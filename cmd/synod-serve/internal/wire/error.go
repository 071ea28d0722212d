// Package wire is what clients send and get: the requests of three APIs read into one form, and errors in the
// shapes that their SDKs expect.
package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// Error is an error as a client gets it. Its text may be shown to the client.
type Error struct {
	HTTP       int           // status of the response
	Type       string        // OpenAI's class of errors; "": that of the status
	Code       string        // what programs tell errors apart by
	Param      string        // the key of the body that is wrong; "": none
	Message    string        // what happened and what to do
	RetryAfter time.Duration // 0: not known
	Final      bool          // a repeated request would only cost more: SDKs are told not to repeat it
	Synod      any           // the outcome of the council, if one was asked; nil: none was
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Invalid is the error of a key of the body.
func Invalid(param, format string, args ...any) *Error {
	return &Error{HTTP: http.StatusBadRequest, Code: "invalid_value", Param: param,
		Message: fmt.Sprintf(format, args...)}
}

// Unsupported is the error of a key that is known and cannot be honoured. It is never ignored in silence.
func Unsupported(param, format string, args ...any) *Error {
	e := Invalid(param, format, args...)
	e.Code = "unsupported_parameter"
	return e
}

// Class is OpenAI's class of errors for the status.
func (e *Error) Class() string {
	switch {
	case e.Type != "":
		return e.Type
	case e.HTTP == http.StatusUnauthorized:
		return "authentication_error"
	case e.HTTP == http.StatusForbidden:
		return "permission_error"
	case e.HTTP == http.StatusTooManyRequests:
		return "rate_limit_error"
	case e.HTTP >= 500:
		return "server_error"
	}
	return "invalid_request_error"
}

// Body is the error in OpenAI's shape.
func (e *Error) Body() any {
	optional := func(s string) any {
		if s == "" {
			return nil
		}
		return s
	}
	body := map[string]any{"error": map[string]any{"message": e.Message, "type": e.Class(),
		"param": optional(e.Param), "code": optional(e.Code)}}
	if e.Synod != nil {
		body["synod"] = e.Outcome()
	}
	return body
}

// Outcome returns the outcome of the council for a body. Counts of zero rate-limited calls are left out: LiteLLM
// takes an error with "rate_limit" anywhere in its text for one, and repeats the request.
func (e *Error) Outcome() any {
	b, err := json.Marshal(e.Synod)
	if err != nil {
		return e.Synod
	}
	b = bytes.ReplaceAll(b, []byte(`"rate_limited":0,`), nil) // quotes within texts are escaped
	return json.RawMessage(bytes.ReplaceAll(b, []byte(`,"rate_limited":0}`), []byte("}")))
}
