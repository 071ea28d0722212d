package llm

import "os"

// Env is what providers may know of the machine and the study they run in. The
// zero value is usable.
type Env struct {
	Getenv  func(string) string // nil: the process environment
	Models  string              // folder of the model store; "": the user's own
	Cache   string              // folder of the reply cache, for models with cache: true
	Habits  string              // file with what servers do with a schema; "": each process learns it
	Record  *Recorder           // nil: replies are not recorded
	Prices  Prices              // what models cost; nil: Published
	Truth   Truth               // what simulated members may know of the questions; may be nil
	Permits Permits             // asked before each request to an endpoint leaves; nil: the limits of the pool are all
	Hidden  bool                // open members so that their hidden states can be read, where they have any
}

func (e Env) getenv(name string) string {
	if e.Getenv != nil {
		return e.Getenv(name)
	}
	return os.Getenv(name)
}

// prices returns the price table.
func (e Env) prices() Prices {
	if e.Prices == nil {
		return Published()
	}
	return e.Prices
}
