package llm

// Kind is the kind of a model. Every output shows it, so that a recorded or
// simulated member never passes for a live one.
type Kind string

// The kinds of model.
const (
	Endpoint  Kind = "endpoint"  // behind a network API
	Embedded  Kind = "embedded"  // a process on this machine
	Recorded  Kind = "recorded"  // replays a file
	Simulated Kind = "simulated" // a documented stochastic model
)

// Info identifies a model.
type Info struct {
	Kind     Kind
	Name     string // for people, for example "gpt-4o-mini"
	Identity string // everything about provider and settings that changes an answer; holds no secret
	Server   string // of an endpoint: host, with the port unless it is the scheme's default
	Model    string // of an endpoint: the model's name at the server
}
