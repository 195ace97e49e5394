package http1

import "bytes"

// A kind of field by its name.
type kind uint8

const (
	plain kind = iota // the reader gives it no meaning
	host
	contentLength
	connection
	refused // the request is foreign
	kinds
)

// kindOf returns the kind of a field by its name. Fields that change how net/http or a handler of the gateway reads or answers a
// request are refused, unless drivers read them with Request.Field.
func kindOf(name []byte) kind {
	is := func(text string) bool { return isName(name, text) }
	begins := func(text string) bool { return isPrefix(name, text) }
	refuse := false
	switch name[0] | 0x20 {
	case 'c':
		switch {
		case is("connection"):
			return connection
		case is("content-length"):
			return contentLength
		}
		refuse = is("cookie") || is("content-encoding")
	case 'e':
		refuse = is("expect")
	case 'h':
		if is("host") {
			return host
		}
		refuse = is("http2-settings")
	case 'i':
		refuse = begins("if-") || is("idempotency-key")
	case 'l':
		refuse = is("last-event-id")
	case 'o':
		refuse = is("origin") // of a browser
	case 'p':
		refuse = begins("proxy-")
	case 'r':
		refuse = is("range")
	case 's':
		refuse = begins("sec-") // of a browser
	case 't':
		refuse = is("te") || is("trailer") || is("transfer-encoding")
	case 'u':
		refuse = is("upgrade")
	}
	if refuse {
		return refused
	}
	return plain
}

// isName reports whether a field's name is a name in lower case.
func isName(sent []byte, name string) bool { return len(sent) == len(name) && isPrefix(sent, name) }

// isPrefix reports whether a field's name begins with a text in lower case.
func isPrefix(sent []byte, text string) bool {
	if len(sent) < len(text) {
		return false
	}
	for i := range len(text) {
		c := sent[i]
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		if c != text[i] {
			return false
		}
	}
	return true
}

// apply applies the value of a field to the request.
func (h *head) apply(k kind, value []byte) verdict {
	ok := true
	switch k {
	case host:
		ok = isHost(value)
	case contentLength:
		h.length, ok = number(value)
		ok = ok && h.length <= MaxBody && (h.post || h.length == 0)
	case connection:
		h.close = isName(value, "close")
		ok = h.close || isName(value, "keep-alive")
	}
	if !ok {
		return foreign
	}
	return whole
}

// number reads the digits of a length that is not far above MaxBody.
func number(digits []byte) (n int, ok bool) {
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, len(digits) > 0 && len(digits) <= len("65536")
}

// isHost reports whether a value is a name or an address, with a port or without (RFC 9110 §7.2). It is stricter than net/http,
// which looks for octets that a host cannot have.
func isHost(value []byte) bool {
	end := 0
	if len(value) > 0 && value[0] == '[' {
		if end = bytes.IndexByte(value, ']') + 1; end < len("[::]") {
			return false
		}
		for _, c := range value[1 : end-1] {
			if hex := c | 0x20; c != ':' && c != '.' && (c < '0' || c > '9') && (hex < 'a' || hex > 'f') {
				return false
			}
		}
	} else {
		for end < len(value) && classes[value[end]]&inHost != 0 {
			end++
		}
	}
	port := value[end:]
	if end == 0 || len(port) > 0 && port[0] != ':' {
		return false
	}
	for i := 1; i < len(port); i++ {
		if port[i] < '0' || port[i] > '9' {
			return false
		}
	}
	return true
}
