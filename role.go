package synod

// Role says what a seat is for in protocols that tell seats apart. Its names
// belong to the protocol that reads them; most have none.
type Role string
