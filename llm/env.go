package llm

import "os"

// Env is what providers may know of the machine they run on.
type Env struct {
	Getenv func(string) string // nil: the process environment
	Models string              // folder of the model store; "": the user's own
	Engine []string            // command that runs the engine; nil: this program's own
	Cache  string              // folder of the reply cache
}

func (e Env) getenv(name string) string {
	if e.Getenv != nil {
		return e.Getenv(name)
	}
	return os.Getenv(name)
}
