package lease

import (
	"encoding/binary"
	"errors"
	"fmt"
)

const (
	// MaxNode is the maximum length of a node's name, in octets.
	MaxNode = 64
	// MaxEpoch is the highest epoch that a cell may have.
	MaxEpoch = 1 << 62

	format = 1 // version of the encoding; the first octet
	vacant = 1 // the only flag
)

// ErrLaterFormat is the error of a value that a later version of PMG has written.
var ErrLaterFormat = errors.New("the cell was written by a later version of PMG: upgrade this node")

var errDamaged = errors.New("the value of the cell is damaged")

// A Value is what the cell says about the ownership. In octets:
//
//	format 1 | flags 1 | epoch 8 | run 8 | length 1, node | length 1, next
//
// Numbers are big endian. The format is 1. Flag 1 is Vacant, the others are 0.
type Value struct {
	Epoch  uint64 // at least 1; each owner's epoch is higher by one than the previous owner's
	Run    uint64 // a random number of the owner's Holder, not 0; a restarted node has a new number
	Node   string // the owner, or the last owner if Vacant
	Vacant bool   // the owner has handed over
	Next   string // the node that is to take over from an owner that has handed over; "": any node
}

// Append appends the encoded value to the slice to.
func (v Value) Append(to []byte) []byte {
	flags := byte(0)
	if v.Vacant {
		flags = vacant
	}
	to = append(to, format, flags)
	to = binary.BigEndian.AppendUint64(to, v.Epoch)
	to = binary.BigEndian.AppendUint64(to, v.Run)
	to = append(append(to, byte(len(v.Node))), v.Node...)
	return append(append(to, byte(len(v.Next))), v.Next...)
}

// Decode decodes the octets of a cell. The error is ErrLaterFormat, or another error for damaged
// octets.
func Decode(octets []byte) (v Value, err error) {
	if len(octets) > 0 && octets[0] > format {
		return v, ErrLaterFormat
	}
	if len(octets) < 18 || octets[0] != format || octets[1]&^vacant != 0 {
		return v, errDamaged
	}
	v.Vacant = octets[1] == vacant
	v.Epoch, v.Run = binary.BigEndian.Uint64(octets[2:]), binary.BigEndian.Uint64(octets[10:])
	rest, ok := octets[18:], false
	if v.Node, rest, ok = cutName(rest); !ok || v.Node == "" {
		return Value{}, errDamaged
	}
	if v.Next, rest, ok = cutName(rest); !ok || len(rest) > 0 || v.Next != "" && !v.Vacant {
		return Value{}, errDamaged
	}
	if v.Epoch == 0 || v.Epoch > MaxEpoch || v.Run == 0 {
		return Value{}, errDamaged
	}
	return v, nil
}

// cutName returns the name at the beginning of octets, which may be empty, and the octets that
// follow. ok is false if the octets are damaged.
func cutName(octets []byte) (name string, rest []byte, ok bool) {
	if len(octets) == 0 || int(octets[0]) >= len(octets) {
		return "", nil, false
	}
	n := int(octets[0]) + 1
	name = string(octets[1:n])
	return name, octets[n:], name == "" || CheckNode(name) == nil
}

// CheckNode returns an error if name is not valid for a node. A valid name has 1 to MaxNode visible
// characters of ASCII.
func CheckNode(name string) error {
	if len(name) == 0 || len(name) > MaxNode {
		return fmt.Errorf("the name of a node has 1 to %d characters, and %d are given", MaxNode, len(name))
	}
	for i := range len(name) {
		if name[i] <= ' ' || name[i] > '~' {
			return fmt.Errorf("the name of a node has visible characters of ASCII alone, and %q is given", name)
		}
	}
	return nil
}
