package convert

import (
	"hash/maphash"
	"sync/atomic"
	"time"

	"pmg/protocols"
	"pmg/sms"
	"pmg/sms/fit"
	"pmg/sms/userdata"
)

// parts returns how many parts the text of a message needs for the peers of a lane. It returns
// sms.BadLength if it needs too many.
func (d *Converter) parts(f *fit.Form, m *sms.Message) (uint8, sms.Code) {
	c := d.converters.Get().(*fit.Converter)
	defer d.converters.Put(c)
	n, ok := c.Parts(f, m)
	if !ok || n > d.mostParts(m) {
		return 0, sms.BadLength
	}
	return uint8(n), sms.OK
}

// mostParts returns the maximum number of parts of a message. Messages of an SMSC have no account's
// limit.
func (d *Converter) mostParts(m *sms.Message) int {
	if a := d.table.Account(m.Origin.Account); a != nil {
		return a.MaxParts
	}
	return userdata.MaxParts
}

// Split returns the parts of a message that Fit has found too long, and releases the message. It
// returns nil if the message stays whole after all, because the options changed while it waited for
// room.
func (d *Converter) Split(f *fit.Form, m *sms.Message) []*sms.Message {
	c := d.converters.Get().(*fit.Converter)
	n, ok := c.Parts(f, m)
	d.converters.Put(c)
	if m.Parts = 0; n < 2 || !ok {
		return nil
	}
	m.Parts = uint8(n)
	return d.partsFor(f, m)
}

// partsFor returns the parts of a message whose number of parts is set, and releases the message.
func (d *Converter) partsFor(f *fit.Form, m *sms.Message) []*sms.Message {
	c := d.converters.Get().(*fit.Converter)
	defer d.converters.Put(c)
	n := m.Parts
	m.Parts = 0
	parts := make([]*sms.Message, n)
	for i := range parts { // copies without the text: each part gets only its own part of the text
		parts[i] = d.node.Messages.CopyBare(m)
	}
	ref := d.references.next(m.Dest().Addr)
	c.Split(f, m, ref, parts)
	m.Release()
	if namer := d.table.PartsOf(protocols.SMPP); namer != nil && f.Long == fit.SplitSAR {
		for i, m := range parts { // a reference of 8 bits leaves more room, because the SMSC writes the header
			namer.SetPart(m, userdata.Part{Reference: ref & 0xFF, Number: uint8(i + 1), Total: n})
		}
	}
	return parts
}

// references gives long messages their references. Those of one destination follow each
// other, so that a reference of 8 bits repeats only after 256 messages to it, and begin
// anywhere after a restart. It is safe for concurrent use.
type references struct {
	seed     maphash.Seed
	start    uint32
	counters []atomic.Uint32 // counters, by a hash of the destination number
}

// destinations is the number of counters. If destinations share a counter, their references repeat
// sooner.
const destinations = 1 << 14

func newReferences() *references {
	return &references{
		seed: maphash.MakeSeed(), start: uint32(time.Now().UnixNano()), counters: make([]atomic.Uint32, destinations),
	}
}

func (r *references) next(dest []byte) uint16 {
	h := maphash.Bytes(r.seed, dest)
	return uint16(r.start + uint32(h>>32) + r.counters[h%destinations].Add(1))
}
