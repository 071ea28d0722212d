// Package engine runs a language model on this machine, in a child process of
// our own binary: "the model in the box".
//
// The parent side is [Start] and the [Client] it returns: Generate (sampled
// text, optionally held to a grammar) and Likelihood (the log-probability of
// given continuations). The child side is [Serve], which the CLI runs as its
// hidden verb `synod engine`; it loads llama.cpp's shared libraries and a GGUF
// file. They speak length-prefixed JSON over the child's stdin and stdout.
//
// Why a child: the loader of model files is C++ that reads attacker-shaped
// bytes, and a failed assertion there ends the process. Here it ends a child
// with no keys in its environment, no core dumps, bounded memory and a lower
// priority; the caller gets a [DiedError] that quotes its last words. Whether to
// start another is the caller's business. The child ends when its stdin does,
// so it never outlives the parent.
//
// With Config.Hidden a request may ask for hidden states of any layers ([Capture]):
// they are taken while it is computed, pooled in the child and come with the reply
// ([States]); [Position] says exactly which tokens they are of.
//
// Requests that arrive together are decoded together (continuous batching over
// Config.Seqs sequences) and share the cells of a common prompt prefix; what is
// repeatable about that is said in internal/batch. Requests beyond Seqs wait.
//
// Messages are rendered by the chat template in the model file, as far as
// llama.cpp recognises it; else as a plain transcript ("User: …", ending in
// "Assistant:", stopped at the next "User:"). [Info].Rendering says which. Only the
// template's own words can become control tokens: the content of messages is
// tokenised as plain text, so another agent's "<|im_end|>" closes nothing.
//
//	c, err := engine.Start(ctx, engine.Config{LibDir: lib, ModelPath: gguf})
//	defer c.Close()
//	r, err := c.Generate(ctx, engine.Request{Prompt: "2 + 2 =", MaxTokens: 8})
package engine
