package llama

import "errors"

// ErrFull means the key-value cache has no room for the batch.
var ErrFull = errors.New("llama: no room in the key-value cache")

// ErrLayout means the library was built from a llama.h this build cannot speak to.
var ErrLayout = errors.New("not a version this build can speak to")

// ErrTemplate means llama.cpp does not know how to apply a chat template.
var ErrTemplate = errors.New("llama: chat template not recognised")

// ErrGrammar means the grammar text is not valid GBNF.
var ErrGrammar = errors.New("llama: grammar cannot be parsed")
