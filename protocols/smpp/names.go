package smpp

import (
	"pmg/sms"
	"pmg/sms/charset"
)

// Values of Names.
const (
	namesUTF8 = "utf-8"
	namesGSM  = "gsm7"
)

// tonAlphanumeric is the type of a name.
const tonAlphanumeric = 5

// addressOf returns an address of a peer. A name is UTF-8 within the gateway; other addresses have nothing but ASCII.
func (o *ConnectorOptions) addressOf(ton, npi uint8, octets []byte) sms.Address {
	switch {
	case o.Names == namesGSM && ton == tonAlphanumeric:
		if text, ok := (charset.Charset{}).Decode(nil, octets); ok {
			octets = text
		}
	case !charset.IsASCII(octets):
		octets = charset.FromName(octets)
	}
	return sms.Address{TON: ton, NPI: npi, Addr: octets}
}

// octetsOf returns an address in the peer's charset. It reports false if the charset lacks a character, which becomes '?'.
func (o *ConnectorOptions) octetsOf(a sms.Address) (octets []byte, ok bool) {
	c := charset.Charset{Coding: charset.Latin1}
	switch {
	case o.Names == namesGSM && a.TON == tonAlphanumeric:
		c = charset.Charset{}
	case charset.IsASCII(a.Addr), o.Names == namesUTF8:
		return a.Addr, true
	}
	octets, loss := c.Encode(nil, charset.FromName(a.Addr), charset.Transliterate)
	return octets, loss.Count == 0
}

// written returns an address in the peer's charset, if it fits into a field of that many octets.
func (o *ConnectorOptions) written(a sms.Address, size int) []byte {
	octets, _ := o.octetsOf(a)
	return fit(octets, size)
}
