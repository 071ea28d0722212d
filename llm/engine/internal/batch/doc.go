// Package batch decodes several requests to one model together: continuous
// batching with shared prompt prefixes.
//
// A [Runner] is a state machine that is stepped: each [Runner.Step] admits
// waiting jobs to free sequences, makes one batch of everybody's next tokens,
// decodes it and takes each result up. It has no goroutine and no clock, so the
// tests drive it with a toy model.
//
// Sharing. A sequence that has decoded the same first tokens as a new job
// lends them: its key-value cells are given to the new sequence as well and
// not computed again. A job whose prefix is just being computed by another
// waits for it. Finished sequences keep their cells until the room is needed,
// so the next round of a conversation finds its beginning there.
//
// What repeats. A token is chosen from the model's scores by a race whose
// noise is a pure function of (seed, position, token): no generator state, no
// dependence on which other requests run. The scores themselves are not as
// clean: kernels round differently for batches of different shape, so the
// same seed gives the same text when the same jobs meet in the same waves, and
// nearly always, not always, otherwise. A wave (one call of [Runner.Submit])
// is put into a canonical order, so the order of arrival within it is nothing.
package batch
