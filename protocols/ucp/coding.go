package ucp

import "pmg/sms"

// Data coding schemes that the driver itself writes (3GPP TS 23.038 §4).
const (
	dcsBinary     = 0x04
	dcsUCS2       = 0x08
	dcsClass      = 0x10 // in the group of general schemes: a class stands in bits 1 and 0
	dcsClassGroup = 0xF0 // the group of schemes with a class
)

// coding reads how the text of a message is to be read: XSer 02 before MCLs, and MT
// before both. exact reports whether that says all that there is.
func (p *PDU) coding() (a sms.Alphabet, c sms.Class, exact bool) {
	m := &p.SM
	a, exact = sms.Default, true
	if p.isType('4') && p.OT != Transfer {
		a = sms.Binary
	}
	v, found := findXSer(p.get(m.XSer), xserDCS)
	if !found || len(v) != 2 {
		if m.MCLs.n == 1 {
			c = sms.Class0 + sms.Class(p.text[m.MCLs.at]-'0')&3
		}
		return a, c, true
	}
	dcs := nibbles[v[0]]<<4 | nibbles[v[1]]
	said, class := codingOf(dcs)
	if a == sms.Binary {
		a = said
		if said == sms.Default || said == sms.Other {
			a, exact = sms.Binary, false // octets whatever the scheme says
		}
	}
	own, _ := dcsOf(a, class)
	return a, class, exact && own == dcs
}

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
