package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"synod.dev/synod"
	"synod.dev/synod/internal/jsonobject"
)

// firstReplies is how many replies of a model show whether its server holds them to a schema. Most of them must break
// it: a single one may be the fault of something between.
const firstReplies = 3

// Habit is what the server of a model does with a schema. Where it does not hold replies to one, short answers are
// asked for as text with the answer on the last line, a form that models break less often than JSON.
type Habit struct {
	Replies int  `json:"replies"`           // of the first ones: to prompts with a schema
	Broken  int  `json:"broken,omitempty"`  // of them: no JSON object with the members that the schema requires
	Refused bool `json:"refused,omitempty"` // the server does not take a schema

	// CompletionTokens is whether the server refuses max_tokens in bodies that are passed on, and takes
	// max_completion_tokens.
	CompletionTokens bool `json:"completion_tokens,omitempty"`
}

// Plain reports that answers are asked for as text. It is decided once and stays.
func (h Habit) Plain() bool { return h.Refused || h.decided() && 2*h.Broken > h.Replies }

func (h Habit) decided() bool { return h.Refused || h.Replies >= firstReplies }

// String says for people how short answers are asked for, and why.
func (h Habit) String() string {
	const plain = "short answers are asked for as text with a last line \"Answer: …\", because "
	switch {
	case h.Refused:
		return plain + "the server refuses a JSON schema"
	case h.Plain():
		return fmt.Sprintf(plain+"the server ignores the JSON schema (%d of the first %d replies broke it)", h.Broken,
			h.Replies)
	case h.decided():
		return "short answers are asked for as JSON, because replies keep to the schema"
	}
	return fmt.Sprintf("short answers are asked for as JSON; the first %d replies decide whether this stays "+
		"(%d so far)", firstReplies, h.Replies)
}

// habits are those of models by server and model, in a file that outlives the process.
type habits struct {
	mu   sync.Mutex
	path string // "": only known has them
	all  map[string]Habit
}

// openHabits reads the file, once. A file that cannot be read is begun again.
func openHabits(path string) *habits {
	h := &habits{path: path}
	h.load()
	return h
}

func (h *habits) load() {
	if b, err := os.ReadFile(h.path); h.path != "" && err == nil {
		var all map[string]Habit
		if json.Unmarshal(b, &all) == nil {
			h.all = all
		}
	}
	if h.all == nil {
		h.all = map[string]Habit{}
	}
}

func (h *habits) of(key string) Habit {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.all[key]
}

// learn changes the habit of a model that is not decided yet.
func (h *habits) learn(key string, change func(*Habit)) {
	h.change(key, func(now *Habit) {
		if !now.decided() {
			change(now)
		}
	})
}

// change changes the habit of a model. Another process may have written the file since.
func (h *habits) change(key string, change func(*Habit)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.load()
	old := h.all[key]
	now := old
	if change(&now); now == old {
		return
	}
	h.all[key] = now
	if b, err := json.MarshalIndent(h.all, "", "  "); h.path != "" && err == nil {
		_ = replaceFile(h.path, append(b, '\n')) // without the file this process knows it, and the next one learns it
	}
}

// mannered is the outermost layer of an endpoint: it asks for short answers in the way that fits the server.
type mannered struct {
	layered
	habits *habits
	key    string
}

// habit is the layer for the user of a client.
func habit(h *handle) layer {
	return func(m Model) Model {
		i := h.Info()
		return &mannered{layered{m}, h.habits, i.Server + " " + i.Model}
	}
}

func (l *mannered) Complete(ctx context.Context, r Request) (synod.Reply, error) {
	if r.Given != nil || r.Templates == nil {
		return l.Model.Complete(ctx, r)
	}
	known := l.habits.of(l.key)
	// A request for the answer alone goes on as the first one began.
	if r.Prompt.Unread == "" && known.Plain() && r.Templates.CanBePlain(r.Prompt) {
		asked := *r.Prompt
		asked.Plain = true
		r.Prompt, r.chat = &asked, nil
	}
	r = r.rendering()
	reply, err := l.Model.Complete(ctx, r)
	reply.Plain = r.Prompt.Plain
	if !known.decided() {
		l.learn(r, &reply, err)
	}
	return reply, err
}

// learn looks at one of the first replies. One that was cut off, or is typed because the schema was not sent, says
// nothing of the server.
func (l *mannered) learn(r Request, reply *synod.Reply, err error) {
	chat, bad := r.Chat()
	switch {
	case bad != nil || chat.Schema == nil || reply.Reused || reply.Typed:
	case l.RefusesSchema():
		l.habits.learn(l.key, func(h *Habit) { h.Refused = true })
	case err == nil && !reply.Cut && strings.TrimSpace(reply.Text) != "":
		l.habits.learn(l.key, func(h *Habit) {
			if h.Replies++; !follows(reply.Text, chat.Schema) {
				h.Broken++
			}
		})
	}
}

// follows reports that a reply is nothing but a JSON object with the members that a schema requires. Values are not
// compared: some servers take a schema without some of its rules.
func follows(reply string, schema json.RawMessage) bool {
	members, err := jsonobject.Members(bytes.TrimSpace([]byte(reply)))
	if err != nil {
		return false
	}
	var wanted struct{ Required []string }
	if json.Unmarshal(schema, &wanted) != nil {
		return false
	}
	for _, name := range wanted.Required {
		if !slices.ContainsFunc(members, func(m jsonobject.Member) bool { return m.Key == name }) {
			return false
		}
	}
	return true
}

// Adapted adds how answers are asked for.
func (l *mannered) Adapted() []string {
	all := l.layered.Adapted()
	if l.habits.of(l.key).Plain() {
		all = append(slices.Clone(all), "reasoning as text and a last line \"Answer: …\" in place of JSON")
	}
	return all
}

// Preflight adds how answers are asked for.
func (l *mannered) Preflight(ctx context.Context) (string, error) {
	found, err := l.layered.Preflight(ctx)
	if err != nil || found == "" {
		return found, err
	}
	return found + "; " + l.habits.of(l.key).String(), nil
}
