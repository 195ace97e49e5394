package rewrite

import (
	"bytes"

	"pmg/sms"
)

// Addresses are the addresses of a message while rules are applied. New addresses are stored in Addresses, or in the rules. It
// can be reused, for one message at a time.
type Addresses struct {
	Source, Dest sms.Address

	// Tell is called for each rule that has an effect, and for each list. The addresses of a Step are valid
	// during the call. Tell is usually nil.
	Tell func(Step)

	given [2 * maxGiven]byte
	rooms [2][2][MaxAddress]byte // two for each address, used in turn
	inUse [2]uint8               // index of the buffer that contains the address
}

// maxGiven is the maximum length of a message's address.
const maxGiven = 255

// Set copies the addresses of a message.
func (a *Addresses) Set(source, dest sms.Address) {
	n := copy(a.given[:maxGiven], source.Addr)
	source.Addr = a.given[:n]
	dest.Addr = a.given[n : n+copy(a.given[n:n+maxGiven], dest.Addr)]
	a.Source, a.Dest = source, dest
}

// Apply applies the rules in order. A rule that refuses the message, because of a list or of
// the length of an address, changes nothing. Apply returns the first refusal.
func (r *Rules) Apply(a *Addresses) (refusal sms.Code) {
	for i := range r.rules {
		var code sms.Code
		if a.Tell == nil {
			_, code = r.rules[i].apply(a)
		} else {
			code = r.tell(a, &r.rules[i])
		}
		if refusal == sms.OK {
			refusal = code
		}
	}
	return refusal
}

// A Step is a rule that had an effect, or a list.
type Step struct {
	Rules         *Rules
	Rule          int  // index of the rule in the configuration
	Source        bool // the rule is for the source
	List          bool // the rule is a list
	Before, After sms.Address
	Code          sms.Code // reason of the refusal; OK: the message is not refused
}

// tell applies a rule, and calls Tell with its effect.
func (r *Rules) tell(a *Addresses, rule *rule) sms.Code {
	s := Step{Rules: r, Rule: rule.number, Source: rule.source, List: rule.allow != nil || rule.deny != nil, Before: *rule.of(a)}
	fired, code := rule.apply(a)
	if s.After, s.Code = *rule.of(a), code; fired {
		a.Tell(s)
	}
	return code
}

func (r *rule) of(a *Addresses) *sms.Address {
	if r.source {
		return &a.Source
	}
	return &a.Dest
}

// apply applies one rule, and reports whether its conditions were met.
func (r *rule) apply(a *Addresses) (fired bool, code sms.Code) {
	to := r.of(a)
	if r.allow != nil && !r.allow.has(to.Addr) || r.deny != nil && r.deny.has(to.Addr) {
		return true, r.refusal()
	}
	if r.absent && len(to.Addr) > 0 || !bytes.HasPrefix(to.Addr, r.strip) {
		return false, sms.OK
	}
	if r.prefixes != nil {
		return r.unify(a)
	}
	next, fits := to.Addr[len(r.strip):], true
	if r.condition != nil {
		groups := r.condition.FindSubmatchIndex(to.Addr)
		if groups == nil {
			return false, sms.OK
		}
		if r.replace != nil {
			next, fits = r.expand(a.room(r.source), to.Addr, groups)
		}
	}
	switch {
	case r.set != nil:
		next = r.set
	case r.add != nil:
		b := a.room(r.source)
		if fits = len(r.add)+len(next) <= MaxAddress; fits {
			next = append(append(b, r.add...), next...)
		}
	}
	if !fits || len(next) > MaxAddress && len(r.strip) > 0 || len(next) == 0 && !r.source && len(to.Addr) > 0 {
		return true, r.refusal()
	}
	to.Addr = next
	r.retype(to)
	return true, sms.OK
}

// unify applies a rule with prefixes.
func (r *rule) unify(a *Addresses) (fired bool, code sms.Code) {
	to := r.of(a)
	made := *to
	found, fits := unify(r.prefixes, &made, a.room(r.source))
	switch {
	case !found:
		return false, sms.OK
	case !fits || len(made.Addr) == 0 && !r.source && len(to.Addr) > 0:
		return true, r.refusal()
	}
	*to = made
	r.retype(to)
	return true, sms.OK
}

// refusal returns the code for a message whose address the rule refuses.
func (r *rule) refusal() sms.Code {
	if r.source {
		return sms.BadSource
	}
	return sms.BadDestination
}

// retype sets the type and the plan of an address.
func (r *rule) retype(a *sms.Address) {
	if r.auto {
		*a = Auto(a.Addr)
	}
	if r.ton >= 0 {
		a.TON = uint8(r.ton)
	}
	if r.npi >= 0 {
		a.NPI = uint8(r.npi)
	}
}

// maxShortCode is the maximum length of a short code.
const maxShortCode = 6

// TON and NPI values of 3GPP TS 23.040 §9.1.2.5.
const (
	tonUnknown       = 0
	tonInternational = 1
	tonSpecific      = 3
	tonAlphanumeric  = 5

	npiUnknown = 0
	npiISDN    = 1
)

// Auto returns an address with the TON and NPI that its form implies. The leading '+' of an international number is removed.
func Auto(address []byte) sms.Address {
	digits := address
	if len(address) > 1 && address[0] == '+' {
		digits = address[1:]
	}
	switch {
	case len(address) == 0:
		return sms.Address{Addr: address}
	case !isNumber(digits):
		return sms.Address{TON: tonAlphanumeric, NPI: npiUnknown, Addr: address}
	case len(digits) < len(address):
		return sms.Address{TON: tonInternational, NPI: npiISDN, Addr: digits}
	case digits[0] == '0':
		return sms.Address{TON: tonUnknown, NPI: npiISDN, Addr: digits}
	case len(digits) <= maxShortCode:
		return sms.Address{TON: tonSpecific, NPI: npiUnknown, Addr: digits}
	}
	return sms.Address{TON: tonInternational, NPI: npiISDN, Addr: digits}
}

// isNumber reports whether an address has only characters that can be dialled.
func isNumber(address []byte) bool {
	for _, c := range address {
		if (c < '0' || c > '9') && c != '*' && c != '#' {
			return false
		}
	}
	return true
}

// expand appends the replacement of an address. It returns false if the replacement is too long.
func (r *rule) expand(b, whole []byte, groups []int) ([]byte, bool) {
	for _, p := range r.replace {
		var group []byte
		if p.group >= 0 && groups[2*p.group] >= 0 {
			group = whole[groups[2*p.group]:groups[2*p.group+1]]
		}
		if len(b)+len(p.text)+len(group) > MaxAddress {
			return nil, false
		}
		b = append(append(b, p.text...), group...)
	}
	return b, true
}

// room returns empty storage for an address, other than the storage of the present address.
func (a *Addresses) room(source bool) []byte {
	i := 0
	if source {
		i = 1
	}
	a.inUse[i] ^= 1
	return a.rooms[i][a.inUse[i]][:0]
}
