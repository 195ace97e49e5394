package protocols

// A PartReader is a Driver of a protocol in which a message can be a part of a long one without
// a user data header that says so.
type PartReader interface {
	// PartOf returns the reference that the parts of one long message have in common. native is
	// the native part of a message. It reports false if the message is whole.
	PartOf(native []byte) (reference uint16, ok bool)
}
