package journal

// A Fence judges the records of a journal to which several nodes append, one of which owns the work
// at a time. All nodes judge all records in the same order, with the same results.
//
// The Run of an ID is the epoch of an owner. Each owner's epoch is higher than the previous
// owner's, and the owner's first record makes the epoch known. All later records of earlier owners
// are void. An earlier owner that still appends was deposed and does not know it yet. Its append
// fails when it reads the records in front of its own, so no peer was given an answer that relies
// on the void record.
type Fence struct {
	Epoch  uint32 // the newest epoch
	Node   uint32 // the owner with this epoch
	Number uint64 // number of the owner's last valid record
}

// A Verdict is the judgement about a record.
type Verdict uint8

// The verdicts.
const (
	Counts   Verdict = iota
	Repeated         // the journal already has this record
	Void             // the record's owner was deposed before
	Forged           // the record is of a second node with the same epoch, or a record in front of it is missing
)

// Judge judges the next record of the journal.
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
