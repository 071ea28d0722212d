//go:build !race

package decentllms

// raced reports the race detector. An execution takes ten times as long under it, so
// that most councils drawn by chance are small ones.
const raced = false

// detector is what go test must be told to draw the same councils.
const detector = ""
