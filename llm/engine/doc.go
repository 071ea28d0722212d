// Package engine runs a language model on this machine, in a child process that
// runs the same binary: the embedded model.
//
// The parent calls [Start] and gets a [Client] with two methods. Generate samples
// text, if wanted by a grammar. Weigh returns the log-probability of given
// continuations. The child runs [Serve], as the hidden command `synod engine`. It
// loads the shared libraries of llama.cpp and a GGUF file. Both processes send
// length-prefixed JSON messages over the child's stdin and stdout.
//
// A separate process is used because llama.cpp reads model files, which may be
// hostile, with C++ code, and a failed assertion in it ends the process. The child
// has no API keys in its environment, no core dumps, a memory limit and a lower
// priority. If it ends, the caller gets a [DiedError] with the last lines of its
// stderr, and decides whether to start another. The child ends when its stdin
// ends, so it never outlives the parent.
//
// With Config.Hidden a request can ask for hidden states of any layers ([Capture]).
// The child records them during the computation, pools them, and sends them with the
// reply ([States]). [Position] defines the tokens that they belong to.
//
// Requests that arrive together are decoded together (continuous batching over
// Config.Seqs sequences) and share the key-value cells of a common prompt prefix.
// Package internal/batch describes when results are repeatable. Requests beyond
// Config.Seqs wait.
//
// Messages are rendered with the chat template in the model file if llama.cpp
// recognises it, and otherwise as a transcript ("User: …", ending in "Assistant:",
// with the stop string "User:"). [Info].Rendering reports which. Only the template
// can produce control tokens: the content of messages is tokenised as plain text,
// so that "<|im_end|>" in the answer of another member does not end a message.
//
//	c, err := engine.Start(ctx, engine.Config{LibDir: lib, ModelPath: gguf})
//	defer c.Close()
//	r, err := c.Generate(ctx, engine.Request{Prompt: "2 + 2 =", MaxTokens: 8})
package engine
