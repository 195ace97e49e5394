package journal

// A Fence judges the records of a journal to which several nodes append, one of which owns the work at a time. All nodes judge
// all records in their order, and come to the same.
//
// The Run of an ID is the epoch of an owner. Each owner's is higher than that of the owner before, and its first record makes
// it known: what comes behind that one from an earlier owner is void, as a whole. That owner has been deposed and does not
// know it yet; nobody was promised anything, because its append fails when it looks at what stands in front of it.
type Fence struct {
	Epoch  uint32 // the newest
	Node   uint32 // the owner that has it
	Number uint64 // of its last record that counts
}

// A Verdict is what becomes of a record.
type Verdict uint8

// The verdicts.
const (
	Counts   Verdict = iota
	Repeated         // it is there already
	Void             // it is of an owner that was deposed before
	Forged           // it is of a second node that has this epoch, or a record in front of it is missing
)

// Judge judges the next record.
func (f *Fence) Judge(id ID) Verdict {
	switch {
	case id.Run < f.Epoch:
		return Void
	case id.Run > f.Epoch:
		if id.Number != 1 {
			return Forged
		}
	case id.Node != f.Node:
		return Forged
	case id.Number <= f.Number:
		return Repeated
	case id.Number != f.Number+1:
		return Forged
	}
	f.Epoch, f.Node, f.Number = id.Run, id.Node, id.Number
	return Counts
}
