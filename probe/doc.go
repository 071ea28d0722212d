// Package probe estimates a model's confidence from its hidden states: the
// hidden-level confidence probe of CP-WBFT (Eq. 2 and 3; requirement CP-2). It only
// computes. Package llm/engine records the states, and package probe/collect collects
// graded answers.
//
// A probe is a PCA with at most 256 components, a z-score, and a logistic regression
// with L2 penalty, C = 1 and balanced classes. Its confidence is the sigmoid. The
// three are combined to one linear function of the state, which is saved.
//
// Train splits the answers by question, so that all answers to one question are in
// the same part. It chooses layer, position and number of components on the
// validation questions, fits again on training and validation questions together, and
// uses the test questions once. It differs from the paper in three points: the
// reference code chooses the training epoch on test data, Train does not; Newton's
// method finds the optimum of the convex loss, instead of liblinear with early
// stopping; and the intercept is not penalised.
//
// Every figure has the number of answers and a 95 % interval, a bootstrap over
// questions that is widened where it would be too narrow (see Figure).
//
//	report, p, err := probe.Train(data, probe.Defaults())
//	confidence := p.Confidence(state)
package probe
