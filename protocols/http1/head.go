package http1

// A verdict is the result of reading octets that may be the beginning of a request.
type verdict uint8

const (
	whole      verdict = iota // what was to be read is complete
	incomplete                // the octets end before it is complete
	foreign                   // the package does not take it, whatever follows
)

// A head is what the head of a request says. Places are indices of its octets.
type head struct {
	post, http10, close bool

	path, query, target int // beginning of the path, end of the path, end of the target
	end                 int // end of the head
	length              int // octets of the body

	seen   [kinds]bool // kinds of fields that were read
	count  int         // of fields
	fields []field     // nil: the fields are not recorded
}

// read reads the head at the beginning of b. It decides that a head is foreign at the first octet that makes it so.
func (h *head) read(b []byte) verdict {
	long := len(b) > MaxHead
	if long {
		b = b[:MaxHead]
	}
	i, v := h.readLine(b)
	for v == whole {
		if v = literal(b[i:], "\r\n"); v == whole {
			h.end = i + 2
			return h.conclude()
		}
		if v == foreign {
			i, v = h.readField(b, i)
		}
	}
	if v == incomplete && long {
		return foreign
	}
	return v
}

// conclude decides at the end of the head what depends on all fields.
func (h *head) conclude() verdict {
	if !h.http10 && !h.seen[host] {
		return foreign
	}
	if h.http10 && !h.seen[connection] {
		h.close = true
	}
	return whole
}

// readLine reads the request line (§3), and returns its end.
func (h *head) readLine(b []byte) (int, verdict) {
	i, v := len("GET "), literal(b, "GET /")
	if v == foreign {
		i, v = len("POST "), literal(b, "POST /")
		h.post = true
	}
	if v != whole {
		return 0, v
	}
	h.path = i
	if i, v = readPath(b, i); v != whole {
		return 0, v
	}
	h.query = i
	if b[i] == '?' {
		i = skipQuery(b, i+1)
	}
	h.target = i
	if v = literal(b[i:], " HTTP/1.1\r\n"); v == foreign {
		v = literal(b[i:], " HTTP/1.0\r\n")
		h.http10 = true
	}
	return i + len(" HTTP/1.1\r\n"), v
}

// readPath reads a path, which begins with the '/' at place i, and returns its end. Paths that another program may clean are
// foreign: those with empty segments, except for the last one, and with segments of dots.
func readPath(b []byte, i int) (int, verdict) {
	for {
		i++
		segment := i
		for i < len(b) && classes[b[i]]&inPath != 0 {
			i++
		}
		if i == len(b) {
			return i, incomplete
		}
		if s := b[segment:i]; string(s) == "." || string(s) == ".." || len(s) == 0 && b[i] == '/' {
			return i, foreign
		}
		if b[i] != '/' {
			return i, whole
		}
	}
}

// readField reads the field line at place i (§5), and returns its end. The name is followed by the colon, and the line is not
// folded.
func (h *head) readField(b []byte, i int) (int, verdict) {
	f := field{name: uint16(i)}
	for i < len(b) && classes[b[i]]&inName != 0 {
		i++
	}
	if i == len(b) {
		return i, incomplete
	}
	if b[i] != ':' || i == int(f.name) || h.count == MaxFields {
		return i, foreign
	}
	f.colon = uint16(i)
	kind := kindOf(b[f.name:f.colon])
	if kind == refused || kind != plain && h.seen[kind] {
		return i, foreign
	}
	h.seen[kind] = true
	for i++; i < len(b) && isBlank(b[i]); i++ {
	}
	f.from = uint16(i)
	i = skipValue(b, i)
	if v := literal(b[i:], "\r\n"); v != whole {
		return i, v
	}
	f.to = uint16(i)
	for f.to > f.from && isBlank(b[f.to-1]) {
		f.to--
	}
	h.count++
	if h.fields != nil {
		h.fields = append(h.fields, f)
	}
	return i + 2, h.apply(kind, b[f.from:f.to])
}

// literal reports whether b begins with a text.
func literal(b []byte, text string) verdict {
	if len(b) >= len(text) {
		if string(b[:len(text)]) == text {
			return whole
		}
		return foreign
	}
	if string(b) == text[:len(b)] {
		return incomplete
	}
	return foreign
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// Classes of octets.
const (
	inPath  = 1 << iota // unreserved octets of a URI
	inQuery             // visible octets but '#'
	inName              // octets of a token (RFC 9110 §5.6.2)
	inValue             // visible octets and blanks
	inHost              // octets of a name or an IPv4 address
)

// classes are the classes of each octet.
var classes = makeClasses()

func makeClasses() (all [256]uint8) {
	add := func(class uint8, octets string) {
		for _, c := range []byte(octets) {
			all[c] |= class
		}
	}
	for c := '!'; c <= '~'; c++ {
		all[c] |= inQuery | inValue
	}
	all['#'] &^= inQuery
	add(inValue, " \t")
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	add(inPath, letters+"-._~")
	add(inName, letters+"!#$%&'*+-.^_`|~")
	add(inHost, letters+"-._")
	return all
}
