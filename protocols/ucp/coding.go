package ucp

import (
	"pmg/sms"
	"pmg/sms/charset"
)

// Data coding schemes that the driver itself writes (3GPP TS 23.038 §4).
const (
	dcsBinary     = 0x04
	dcsUCS2       = 0x08
	dcsClass      = 0x10 // group "general data coding", with a class in bits 1 and 0
	dcsClassGroup = 0xF0 // group "data coding/message class"
	dcsWaiting    = 0xC0 // first of the codings that mean a waiting message: 0xE0 to 0xEF have UCS-2
)

// coding returns the alphabet and the class of the text. XSer 02 overrides MCLs and MT; MCLs overrides MT. If a scheme has no
// class, MCLs sets it. exact reports whether the gateway would write XSer 02 in the same way.
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
			exact = false // the text is octets, whatever alphabet the scheme has
		default:
			a = said
		}
	}
	own, _ := dcsOf(a, c)
	return a, c, exact && own == dcs
}

// class returns the class in MCLs.
func (p *PDU) class() sms.Class {
	if p.SM.MCLs.n != 1 {
		return sms.NoClass
	}
	return sms.Class0 + sms.Class(p.text[p.SM.MCLs.at]-'0')&3
}

// isPacked reports whether a transparent text in the default alphabet can be decoded as packed septets. After a user data
// header the position of the first septet is not known.
func (p *PDU) isPacked() bool {
	header, _ := findXSer(p.get(p.SM.XSer), xserHeader)
	return len(header) == 0
}

// unpacked replaces the packed text at the end of p.buf, from an index on, by its septets. NB is the number of bits. If NB
// counts whole octets, or is missing, the last seven bits may be padding, and not '@'.
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

// dcsIn returns the data coding scheme in the extra services.
func dcsIn(xser []byte) (dcs uint8, found bool) {
	v, found := findXSer(xser, xserDCS)
	if !found || len(v) != 2 {
		return 0, false
	}
	return nibbles[v[0]]<<4 | nibbles[v[1]], true
}

// isWaiting reports whether a data coding scheme indicates waiting messages.
func isWaiting(dcs uint8) bool { return dcs >= dcsWaiting && dcs < dcsClassGroup }

// codingOf returns the alphabet and the class of a data coding scheme.
func codingOf(dcs uint8) (sms.Alphabet, sms.Class) {
	class := sms.NoClass
	switch {
	case dcs&0xE0 == 0: // general data coding, not compressed
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

// dcsOf returns the data coding scheme of an alphabet and a class. needed reports whether it must be in XSer, because MT and
// MCLs cannot express it.
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
