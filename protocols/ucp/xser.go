package ucp

// The extra services that the driver itself reads or writes.
const (
	xserHeader = 0x01 // user data header, with its length
	xserDCS    = 0x02 // data coding scheme
)

// A service is one row of the table of extra services.
type service struct {
	number      uint8
	name        string
	least, most uint8 // octets
	repeats     bool  // only the first counts
}

// services lists the extra services. From 0E on only their names are used.
var services = [...]service{
	{xserHeader, "user data header", 1, 140, false},
	{xserDCS, "data coding scheme", 1, 1, false},
	{0x03, "message type", 1, 1, false},
	{0x04, "message reference", 2, 2, false},
	{0x05, "privacy indicator", 1, 1, false},
	{0x06, "urgency indicator", 1, 1, false},
	{0x07, "acknowledgement request", 1, 1, false},
	{0x08, "message updating", 1, 1, false},
	{0x09, "call back number", 0, 255, true},
	{0x0A, "response code", 1, 1, false},
	{0x0B, "teleservice identification", 1, 1, false},
	{0x0C, "billing identifier", 0, 20, false},
	{0x0D, "single shot", 1, 1, false},
	{0x0E, "originator TON", 0, 255, false},
	{0x0F, "originator NPI", 0, 255, false},
	{0x10, "recipient TON", 0, 255, false},
	{0x11, "recipient NPI", 0, 255, false},
	{0x12, "original submission time", 0, 255, false},
	{0x13, "destination network type", 0, 255, false},
}

// cutXSer cuts the first service off the digits of an XSer: its number, its octets as digits, and the rest. It reports false
// if the first service is incomplete.
func cutXSer(b []byte) (number uint8, digits, rest []byte, ok bool) {
	if len(b) < 4 || !isHex(b[:4]) {
		return 0, nil, nil, false
	}
	number = nibbles[b[0]]<<4 | nibbles[b[1]]
	n := 4 + 2*int(nibbles[b[2]]<<4|nibbles[b[3]])
	if n > len(b) || !isHex(b[4:n]) {
		return 0, nil, nil, false
	}
	return number, b[4:n], b[n:], true
}

// findXSer returns the octets of the first service with a number, as digits.
func findXSer(b []byte, number uint8) (digits []byte, found bool) {
	for len(b) > 0 {
		n, v, rest, ok := cutXSer(b)
		if !ok {
			return nil, false
		}
		if n == number {
			return v, true
		}
		b = rest
	}
	return nil, false
}

// appendWithout appends the services in b to dst, except those with a number.
func appendWithout(dst, b []byte, number uint8) []byte {
	for len(b) > 0 {
		n, _, rest, ok := cutXSer(b)
		if !ok {
			break
		}
		if n != number {
			dst = append(dst, b[:len(b)-len(rest)]...)
		}
		b = rest
	}
	return dst
}

// isXSer reports whether b consists of complete services.
func isXSer(b []byte) bool {
	for len(b) > 0 {
		_, _, rest, ok := cutXSer(b)
		if !ok {
			return false
		}
		b = rest
	}
	return true
}

// badXSer reports whether a client's message must be refused because of its extra services: a service has an invalid length,
// or occurs twice.
func badXSer(b []byte) bool {
	var seen [256 / 64]uint64
	for len(b) > 0 {
		n, v, rest, ok := cutXSer(b)
		if !ok {
			return true
		}
		again := seen[n/64]&(1<<(n%64)) != 0
		seen[n/64] |= 1 << (n % 64)
		if s := findService(n); s != nil && (len(v)/2 < int(s.least) || len(v)/2 > int(s.most) || again && !s.repeats) {
			return true
		}
		b = rest
	}
	return false
}

func findService(number uint8) *service {
	if n := int(number) - 1; n >= 0 && n < len(services) {
		return &services[n]
	}
	return nil
}

// appendXSer appends a service with up to 255 octets.
func appendXSer(b []byte, number uint8, octets []byte) []byte {
	b = append(b, upper[number>>4], upper[number&15], upper[len(octets)>>4&15], upper[len(octets)&15])
	return appendHex(b, octets)
}
