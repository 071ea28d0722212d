package inspectai

// Sample is a question in one epoch, from 1.
type Sample struct {
	ID          string           `json:"id"`
	Epoch       int              `json:"epoch"`
	Input       string           `json:"input"`
	Choices     []string         `json:"choices,omitempty"`
	Target      string           `json:"target"`
	Messages    []Message        `json:"messages"`
	Output      Output           `json:"output"`
	Scores      map[string]Score `json:"scores"`
	Metadata    map[string]any   `json:"metadata"`
	Store       map[string]any   `json:"store"`
	Events      []struct{}       `json:"events"`
	ModelUsage  map[string]Usage `json:"model_usage"`
	StartedAt   string           `json:"started_at,omitempty"`
	CompletedAt string           `json:"completed_at,omitempty"`
	TotalTime   *float64         `json:"total_time,omitempty"` // seconds, all attempts
	Error       *Error           `json:"error,omitempty"`
	Attachments struct{}         `json:"attachments"`
}

// Message is what the council was asked, or what a member said.
type Message struct {
	ID       string         `json:"id"`
	Role     string         `json:"role"` // user | assistant
	Source   string         `json:"source"`
	Content  string         `json:"content"` // verbatim and untrusted
	Model    string         `json:"model,omitempty"`
	Metadata map[string]any `json:"metadata,omitempty"`
}

// The origins of a message.
const (
	User      = "user"
	Assistant = "assistant"
	Input     = "input"
	Generate  = "generate"
)

// Output is what the council decided: one choice, or none.
type Output struct {
	Model      string         `json:"model"`
	Choices    []Choice       `json:"choices"`
	Completion string         `json:"completion"`
	Usage      *Usage         `json:"usage,omitempty"`
	Metadata   map[string]any `json:"metadata,omitempty"`
}

// Choice is a decision.
type Choice struct {
	Message    Message `json:"message"`
	StopReason string  `json:"stop_reason"`
}

// Score is a grade.
type Score struct {
	Value       string         `json:"value"` // Correct or Incorrect
	Answer      string         `json:"answer"`
	Explanation string         `json:"explanation"`
	Metadata    map[string]any `json:"metadata,omitempty"`
}

// summary is what a list of samples shows of one.
type summary struct {
	ID          string           `json:"id"`
	Epoch       int              `json:"epoch"`
	Input       string           `json:"input"`
	Choices     []string         `json:"choices,omitempty"`
	Target      string           `json:"target"`
	Metadata    map[string]any   `json:"metadata"`
	Scores      map[string]Score `json:"scores"`
	ModelUsage  map[string]Usage `json:"model_usage"`
	StartedAt   string           `json:"started_at,omitempty"`
	CompletedAt string           `json:"completed_at,omitempty"`
	TotalTime   *float64         `json:"total_time,omitempty"`
	Error       *string          `json:"error,omitempty"`
	Completed   bool             `json:"completed"`
	Messages    int              `json:"message_count"`
}

func (s *Sample) summary() summary {
	out := summary{
		ID: s.ID, Epoch: s.Epoch, Input: s.Input, Choices: s.Choices, Target: s.Target, Metadata: s.Metadata, Scores: s.Scores,
		ModelUsage: s.ModelUsage, StartedAt: s.StartedAt, CompletedAt: s.CompletedAt, TotalTime: s.TotalTime,
		Completed: true, Messages: len(s.Messages),
	}
	if s.Error != nil {
		out.Error = &s.Error.Message
	}
	return out
}
