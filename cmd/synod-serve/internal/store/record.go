package store

import (
	"encoding/json"
	"strconv"
	"time"
)

// record is a line of the log: a request that has begun, or one that has ended.
type record struct {
	ID    string `json:"id"`
	Key   string `json:"key,omitempty"`
	API   string `json:"api,omitempty"`
	Model string `json:"model"`
	Kept  string `json:"kept,omitempty"`
	// Question is kept for searches.
	Question string `json:"question,omitempty"`
	Want     Money  `json:"want,omitempty"`
	Tokens   int64  `json:"tokens,omitempty"` // with Want: what is reserved
	Drawn    bool   `json:"drawn,omitempty"`  // Want and Tokens are not those of the beginning
	// Counted says that the sums of the key have what is reserved.
	Counted bool    `json:"counted,omitempty"`
	Begun   int64   `json:"begun"`
	Ended   int64   `json:"ended,omitempty"`
	Result  *Result `json:"result,omitempty"` // nil: it has begun
}

func (r *record) want() Amount { return Amount{r.Want, r.Tokens} }

func (r *record) day() int64 { return day(time.UnixMilli(r.Begun)) }

// entry is a request on its way into the database.
type entry struct {
	record
	stored bool // the database has its beginning
	queued bool // it is in fresh
}

// taken is an entry as it was when a flush began.
type taken struct {
	*entry
	now    record
	stored bool
}

// append appends a record as encoding/json does, but for the order of keys, without reflection.
func (r *record) append(b []byte) []byte {
	b = append(appendString(append(b, `{"id":`...), r.ID), `,"model":`...)
	b = appendString(b, r.Model)
	for _, m := range []struct{ key, value string }{{"key", r.Key}, {"api", r.API}, {"kept", r.Kept},
		{"question", r.Question}} {
		if m.value != "" {
			b = appendString(appendKey(b, m.key), m.value)
		}
	}
	b = appendInt(b, "want", int64(r.Want))
	b = appendInt(b, "tokens", r.Tokens)
	if r.Drawn {
		b = append(appendKey(b, "drawn"), "true"...)
	}
	if r.Counted {
		b = append(appendKey(b, "counted"), "true"...)
	}
	b = strconv.AppendInt(appendKey(b, "begun"), r.Begun, 10)
	b = appendInt(b, "ended", r.Ended)
	if r.Result != nil {
		b = r.Result.append(appendKey(b, "result"))
	}
	return append(b, '}')
}

func (r *Result) append(b []byte) []byte {
	b = appendString(append(b, `{"Status":`...), r.Status)
	for _, m := range []struct {
		key   string
		value int64
	}{{"HTTP", int64(r.HTTP)}, {"Spent", int64(r.Spent)}, {"Tokens", r.Tokens}, {"Calls", int64(r.Calls)},
		{"Prompt", int64(r.Prompt)}, {"Completion", int64(r.Completion)}, {"Bytes", r.Bytes},
		{"Alone", int64(r.Alone)}} {
		b = appendInt(b, m.key, m.value)
	}
	if r.Unpriced {
		b = append(appendKey(b, "Unpriced"), "true"...)
	}
	if r.Compared {
		b = append(appendKey(b, "Compared"), "true"...)
	}
	for _, m := range []struct{ key, value string }{{"Journal", r.Journal}, {"Answer", r.Answer}} {
		if m.value != "" {
			b = appendString(appendKey(b, m.key), m.value)
		}
	}
	return append(b, '}')
}

func appendKey(b []byte, key string) []byte {
	return append(append(append(b, ',', '"'), key...), '"', ':')
}

// appendInt appends a member that is not 0.
func appendInt(b []byte, key string, n int64) []byte {
	if n == 0 {
		return b
	}
	return strconv.AppendInt(appendKey(b, key), n, 10)
}

func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			q, err := json.Marshal(s)
			if err != nil { // a text can always be encoded
				return strconv.AppendQuoteToASCII(b, s)
			}
			return append(b, q...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}
