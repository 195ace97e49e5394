package gateway

import (
	"hash/maphash"
	"sync/atomic"
	"time"

	"pmg/protocols"
	"pmg/sms"
	"pmg/sms/fit"
	"pmg/sms/userdata"
)

// parts returns how many parts the text of a message is sent in to the peers of a lane. It
// returns sms.BadLength if there would be too many.
func (g *Gateway) parts(f *fit.Form, m *sms.Message) (uint8, sms.Code) {
	c := g.converters.Get().(*fit.Converter)
	defer g.converters.Put(c)
	n, ok := c.Parts(f, m)
	if !ok || n > g.mostParts(m) {
		return 0, sms.BadLength
	}
	return uint8(n), sms.OK
}

// mostParts returns how many parts a message may be sent in. Those of an SMSC have no account.
func (g *Gateway) mostParts(m *sms.Message) int {
	if a := g.Account(m.Origin.Account); a != nil {
		return a.MaxParts
	}
	return userdata.MaxParts
}

// split puts the parts of each message that suit has found to be too long for its lane in the
// place of the message.
func (g *Gateway) split(first Accepted, more []Accepted) (Accepted, []Accepted) {
	all := make([]Accepted, 0, len(more)+int(first.Message.Parts)+1)
	all = g.appendParts(all, first)
	for _, a := range more {
		all = g.appendParts(all, a)
	}
	return all[0], all[1:]
}

func (g *Gateway) appendParts(all []Accepted, a Accepted) []Accepted {
	m := a.Message
	if m.Parts < 2 || a.Share == nil {
		m.Parts = 0
		return append(all, a)
	}
	c := g.converters.Get().(*fit.Converter)
	defer g.converters.Put(c)
	f := a.Share.Lane.Home().Form()
	n, ok := c.Parts(f, m) // again, because the options may have changed while it waited for room
	if m.Parts = 0; n < 2 || !ok {
		return append(all, a)
	}
	m.Parts = uint8(n)
	for _, p := range g.partsFor(f, m) {
		all = append(all, Accepted{p, a.Share})
	}
	return all
}

// partsFor returns the parts of a message, of which it says how many there are, and releases it.
func (g *Gateway) partsFor(f *fit.Form, m *sms.Message) []*sms.Message {
	c := g.converters.Get().(*fit.Converter)
	defer g.converters.Put(c)
	n := m.Parts
	m.Parts = 0
	parts := make([]*sms.Message, n)
	for i := range parts { // without the text, of which each has its part alone
		parts[i] = g.Messages.CopyBare(m)
	}
	ref := g.references.next(m.Dest().Addr)
	c.Split(f, m, ref, parts)
	m.Release()
	if namer := g.PartsOf(protocols.SMPP); namer != nil && f.Long == fit.SplitSAR {
		for i, m := range parts { // a reference of 8 bits leaves more room, because the SMS centre makes a header of it
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
	counters []atomic.Uint32 // by a hash of the destination
}

// destinations is how many counters there are. Destinations that share one have their
// references repeat sooner.
const destinations = 1 << 14

func newReferences() *references {
	return &references{seed: maphash.MakeSeed(), start: uint32(time.Now().UnixNano()), counters: make([]atomic.Uint32, destinations)}
}

func (r *references) next(dest []byte) uint16 {
	h := maphash.Bytes(r.seed, dest)
	return uint16(r.start + uint32(h>>32) + r.counters[h%destinations].Add(1))
}
