package llm

// layered is what every layer embeds: it hands on Info and the optional powers
// of the model within, so that no layer hides them.
type layered struct{ Model }

// Close closes the model within.
func (l layered) Close() error {
	if c, ok := l.Model.(Closer); ok {
		return c.Close()
	}
	return nil
}

// CanWeigh asks the model within.
func (l layered) CanWeigh() bool {
	w, ok := l.Model.(Weigher)
	return ok && w.CanWeigh()
}

// CanConfide asks the model within.
func (l layered) CanConfide() bool {
	c, ok := l.Model.(Confider)
	return ok && c.CanConfide()
}

// Within is the model within.
func (l layered) Within() Model { return l.Model }

// Adapter is a Model that tells what it left out because its server refuses it,
// so that nobody takes its replies for what the council file asks for.
type Adapter interface{ Adapted() []string }

// Adapted asks the model within.
func (l layered) Adapted() []string {
	if a, ok := l.Model.(Adapter); ok {
		return a.Adapted()
	}
	return nil
}
