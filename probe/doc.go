// Package probe reads a model's confidence off its hidden states: the hidden-level
// confidence probe of CP-WBFT (Eq. 2 and 3; requirement CP-2). It is the mathematics
// only: numbers in, numbers out. Capturing states is package llm/engine's, collecting
// graded answers package probe/collect's.
//
// A probe is PCA to at most 256 components, a z-score, and a logistic regression
// with L2 penalty, C = 1 and balanced classes; its confidence is the sigmoid. Once
// fitted the three are one linear form in the state, and that is what is saved.
//
// Train splits by question, so that two answers to one question never stand on both
// sides; it chooses layer, position and number of components on the validation
// questions, fits once more on training and validation together, and looks at the
// test questions once. Where we deviate from the paper: its reference picks the
// training epoch on test data, which Train does not; the optimum of the convex loss
// is found by Newton's method instead of liblinear's steps with early stopping; and
// the intercept is not penalised.
//
// Every figure carries N and a 95 % interval from a bootstrap over questions.
//
//	report, p, err := probe.Train(data, probe.Defaults())
//	confidence := p.Confidence(state)
package probe
