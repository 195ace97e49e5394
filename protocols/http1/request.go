package http1

// Limits of the requests that the package takes.
const (
	MaxHead   = 8 << 10  // octets of the request line and the fields, with the empty line behind them
	MaxFields = 64       // fields of a head
	MaxBody   = 64 << 10 // octets of a body
)

// A Request is a whole request. Its slices point into the octets that Read was given.
type Request struct {
	Post   bool   // the method is POST; otherwise GET
	HTTP10 bool   // the request is of HTTP/1.0; otherwise of HTTP/1.1
	Close  bool   // the connection is closed after the answer
	Path   []byte // path of the target, which has no percent-encoding
	Query  []byte // query of the target as it was sent, without the '?'
	Body   []byte

	head   []byte
	count  int // of fields
	fields [MaxFields]field
}

// A field is the place of a field in a head. MaxHead fits into 16 bits.
type field struct{ name, colon, from, to uint16 }

// Extent returns the length of the request at the beginning of b. A length above len(b) means that more octets are needed:
// len(b)+1 while the head is incomplete. With foreign the package does not take the request, whatever follows. Extent reads
// from the beginning each time, so a caller waits for the length once it is known.
func Extent(b []byte) (n int, foreign bool) {
	var h head
	switch h.read(b) {
	case incomplete:
		return len(b) + 1, false
	case whole:
		return h.end + h.length, false
	}
	return 0, true
}

// Read reads the request that fills b, for which Extent has returned len(b). It reports false, and r is empty, if b
// is anything else.
func Read(r *Request, b []byte) bool {
	h := head{fields: r.fields[:0]}
	if h.read(b) != whole || h.end+h.length != len(b) {
		r.Reset()
		return false
	}
	r.Post, r.HTTP10, r.Close = h.post, h.http10, h.close
	r.Path, r.Query, r.Body = b[h.path:h.query], nil, b[h.end:]
	if h.query < h.target {
		r.Query = b[h.query+1 : h.target]
	}
	r.head, r.count = b[:h.end], h.count
	return true
}

// Reset empties the request, which then refers to no octets.
func (r *Request) Reset() {
	r.Post, r.HTTP10, r.Close = false, false, false
	r.Path, r.Query, r.Body, r.head, r.count = nil, nil, nil, nil, 0
}

// Field returns the value of the first field with a name, which is given in lower case. n is the number of fields with that
// name.
func (r *Request) Field(name string) (value []byte, n int) {
	for _, f := range r.fields[:r.count] {
		if !isName(r.head[f.name:f.colon], name) {
			continue
		}
		if n++; n == 1 {
			value = r.head[f.from:f.to]
		}
	}
	return value, n
}

// Fields calls yield with the name as it was sent, and the value, of each field in order, until yield reports false. It is an
// iterator for range.
func (r *Request) Fields(yield func(name, value []byte) bool) {
	for _, f := range r.fields[:r.count] {
		if !yield(r.head[f.name:f.colon], r.head[f.from:f.to]) {
			return
		}
	}
}
