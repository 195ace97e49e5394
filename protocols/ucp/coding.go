package ucp

import (
	"pmg/sms"
	"pmg/sms/charset"
)

// Data coding schemes that the driver itself writes (3GPP TS 23.038 §4).
const (
	dcsBinary     = 0x04
	dcsUCS2       = 0x08
	dcsClass      = 0x10 // in the group of general schemes: a class stands in bits 1 and 0
	dcsClassGroup = 0xF0 // the group of schemes with a class
	dcsWaiting    = 0xC0 // first of the codings that mean a waiting message: 0xE0 to 0xEF have UCS-2
)

// coding reads how to read the text of a message: XSer 02 before MCLs, and MT
// before both. A scheme that names no class leaves that to MCLs. exact reports whether the
// gateway itself would write XSer 02 like this.
func (p *PDU) coding() (a sms.Alphabet, c sms.Class, exact bool) {
	transparent := p.isType('4') && p.OT != Transfer
	if transparent {
		a = sms.Binary
	}
	dcs, found := dcsIn(p.get(p.SM.XSer))
	if !found {
		return a, p.class(), true
	}
	said, c := codingOf(dcs)
	if c == sms.NoClass && said != sms.Other {
		c = p.class()
	}
	exact = true
	if transparent {
		switch {
		case said == sms.Default && p.isPacked():
			a = said
		case said == sms.Default || said == sms.Other:
			exact = false // octets whatever the scheme says
		default:
			a = said
		}
	}
	own, _ := dcsOf(a, c)
	return a, c, exact && own == dcs
}

// class returns the class that MCLs says.
func (p *PDU) class() sms.Class {
	if p.SM.MCLs.n != 1 {
		return sms.NoClass
	}
	return sms.Class0 + sms.Class(p.text[p.SM.MCLs.at]-'0')&3
}

// isPacked reports whether a transparent text whose scheme is the default alphabet can be read:
// it has seven octets for eight septets. Behind a user data header nobody says where the first
// septet begins.
func (p *PDU) isPacked() bool {
	header, _ := findXSer(p.get(p.SM.XSer), xserHeader)
	return len(header) == 0
}

// unpacked replaces the octets of p.buf from there on, which are a packed text, by its septets. NB
// says how many bits they are. Where it counts whole octets, or is missing, seven bits may be
// left over, which are no '@'.
func (p *PDU) unpacked(from int) {
	octets := p.buf[from:]
	bits := 8 * len(octets)
	if nb := digits(p.get(p.SM.NB)); nb > 0 {
		bits = min(bits, nb)
	}
	var room [(maxMsg/2*8 + 6) / 7]byte
	s := charset.AppendUnpacked(room[:0], octets, 0, bits/7)
	if n := len(s); n > 0 && n%8 == 0 && bits == 8*len(octets) && s[n-1] == 0 {
		s = s[:n-1]
	}
	p.buf = append(p.buf[:from], s...)
}

// dcsIn returns the data coding scheme in extra services.
func dcsIn(xser []byte) (dcs uint8, found bool) {
	v, found := findXSer(xser, xserDCS)
	if !found || len(v) != 2 {
		return 0, false
	}
	return nibbles[v[0]]<<4 | nibbles[v[1]], true
}

// isWaiting reports whether a data coding scheme says that a message waits.
func isWaiting(dcs uint8) bool { return dcs >= dcsWaiting && dcs < dcsClassGroup }

// codingOf reads a data coding scheme.
func codingOf(dcs uint8) (sms.Alphabet, sms.Class) {
	class := sms.NoClass
	switch {
	case dcs&0xE0 == 0: // general, not compressed
		if dcs&dcsClass != 0 {
			class = sms.Class0 + sms.Class(dcs&3)
		} else if dcs&3 != 0 {
			return sms.Other, sms.NoClass
		}
		return [...]sms.Alphabet{sms.Default, sms.Binary, sms.UCS2, sms.Other}[dcs>>2&3], class
	case dcs&0xF8 == dcsClassGroup:
		if dcs&4 != 0 {
			return sms.Binary, sms.Class0 + sms.Class(dcs&3)
		}
		return sms.Default, sms.Class0 + sms.Class(dcs&3)
	case isWaiting(dcs) && dcs >= dcsWaiting|0x20:
		return sms.UCS2, sms.NoClass
	case isWaiting(dcs):
		return sms.Default, sms.NoClass
	}
	return sms.Other, sms.NoClass
}

// dcsOf is codingOf the other way round. It reports whether the scheme must stand in
// XSer, because neither MT nor MCLs says it.
func dcsOf(a sms.Alphabet, c sms.Class) (dcs uint8, needed bool) {
	class := uint8(0)
	if c != sms.NoClass {
		class = uint8(c - sms.Class0)
	}
	switch {
	case a == sms.UCS2 && c == sms.NoClass:
		return dcsUCS2, true
	case a == sms.UCS2:
		return dcsUCS2 | dcsClass | class, true
	case a == sms.Binary || a == sms.Other:
		if c == sms.NoClass {
			return dcsBinary, true
		}
		return dcsClassGroup | dcsBinary | class, false
	case c == sms.NoClass:
		return 0, false
	}
	return dcsClassGroup | class, false
}
