package loadtest

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"pmg/protocols"
)

// A wire reads and writes the PDUs of one protocol. It has storage of its own, so each
// connection has one, or two if two goroutines write to it. What it returns points into
// the PDU, or is valid until the next call.
type wire interface {
	// frame returns the length of the PDU at the beginning of b, or 0 if it is not whole.
	frame(b []byte) (int, error)
	header(pdu []byte) header
	// idsAreTimes reports whether a message id is a time and names a message together with
	// the recipient.
	idsAreTimes() bool
	// maxSequence is the highest sequence number; the lowest is 1.
	maxSequence() uint32
	statusName(status uint32) string
	// isThrottled reports whether a refused message may be sent again soon.
	isThrottled(status uint32) bool

	clientWire
	sinkWire
}

// A clientWire is the part of a wire that clients need.
type clientWire interface {
	appendLogin(b []byte, sequence uint32, l *loginRequest) []byte
	// appendLogout appends nothing if the protocol ends sessions by closing the connection.
	appendLogout(b []byte, sequence uint32) []byte
	newTemplate(o *LoadOptions) template
	// messageID returns the id in an answer that accepts a submit.
	messageID(pdu []byte) []byte
	// delivery reads a message or a receipt from the gateway.
	delivery(pdu []byte) (delivered, error)
	appendDeliverAnswer(b []byte, h header, pdu []byte) []byte
}

// A sinkWire is the part of a wire that sinks need.
type sinkWire interface {
	login(pdu []byte) (loginRequest, error)
	appendLoginAnswer(b []byte, h header, status uint32) []byte
	// submit reads a message. Its fields are valid until the PDU is overwritten.
	submit(pdu []byte, m *submitted) error
	appendAccepted(b []byte, h header, m *submitted, id messageID) []byte
	appendRefused(b []byte, h header, status uint32) []byte
	appendDelivery(b []byte, sequence uint32, d *delivery, o *ReceiptOptions) []byte
	appendKeepAliveAnswer(b []byte, h header) []byte
	appendLogoutAnswer(b []byte, h header) []byte
	appendNotUnderstood(b []byte, h header) []byte
	appendUnreadable(b []byte) []byte
	// isTemporary reports whether a delivery that was answered with a status is sent again.
	isTemporary(status uint32) bool
	// status returns the status for a reason to refuse a request.
	status(r refusal) uint32
}

// A template is a submit that was encoded once.
type template interface {
	// append appends the submit that carries the message with that number.
	append(b []byte, sequence uint32, number int64) []byte
}

// A kind is what a PDU is for.
type kind uint8

const (
	unknownRequest kind = iota
	unknownAnswer
	loginKind
	loginAnswer
	submitKind
	submitAnswer // or one that refuses a request without saying which kind it was of
	deliverKind
	deliverAnswer
	keepAlive
	logout
	logoutAnswer
)

// A header is the beginning of a PDU.
type header struct {
	kind     kind
	command  uint32
	status   uint32 // of an answer; 0: accepted
	sequence uint32 // from 1 on
}

// A refusal is a reason to refuse a request.
type refusal uint8

const (
	refuseLogin refusal = iota
	refuseSecondLogin
	refuseNotBound
	refuseMalformed
	refuseThrottled
	refuseQueueFull
	refuseSubmit
	refuseDestination
)

// A loginRequest is what a client logs in with.
type loginRequest struct {
	Account
	bind protocols.BindType
}

// An address is the address of a message, as it stands in a PDU.
type address struct {
	ton, npi uint8
	digits   []byte
}

// A submitted message is what a sink needs to know of a submit.
type submitted struct {
	source, destination address
	text                []byte // characters of the text that ASCII has
	octets              []byte // of the text, without a user data header; GSM 7-bit is unpacked
	header              []byte // user data header, with its length
	coding              Coding // of the octets
	wantsSuccess        bool   // a receipt if the message is delivered
	wantsFailure        bool   // a receipt if it is not
}

// A delivered message is what a client needs to know of a receipt, or of a message from
// the network.
type delivered struct {
	receipt bool
	final   bool   // a receipt that is the last one for its message
	id      []byte // of the message that a receipt is for
	state   state
	text    []byte // of the message; in a receipt, the beginning of its message's text
	to      []byte // digits of the destination
}

// wires are what speaks each protocol.
var wires = []struct {
	protocol string
	make     func() wire
}{
	{"smpp", func() wire { return &smppWire{} }},
	{"ucp", func() wire { return &ucpWire{} }},
}

// Protocols names the protocols that load and sink speak: "smpp or ucp". The first is the default.
func Protocols() string {
	names := make([]string, len(wires))
	for i, w := range wires {
		names[i] = w.protocol
	}
	return strings.Join(names, " or ")
}

func newWire(protocol string) (wire, error) {
	for _, w := range wires {
		if w.protocol == cmp.Or(protocol, wires[0].protocol) {
			return w.make(), nil
		}
	}
	return nil, fmt.Errorf("cannot speak protocol %q: use %s", protocol, Protocols())
}

// readBuffer is enough for the answers of a window of 500, or for 120 submits.
const readBuffer = 16 << 10

// A stream splits the octets of a connection into PDUs. One fill reads all that has
// arrived; then next is called until it returns nil.
type stream struct {
	r          io.Reader
	wire       wire
	buf        []byte
	start, end int // buf[start:end] was read and not yet returned
}

func newStream(r io.Reader, w wire) stream {
	return stream{r: r, wire: w, buf: make([]byte, readBuffer)}
}

// fill reads once. It overwrites PDUs that next has returned.
func (s *stream) fill() error {
	if s.start > 0 {
		s.end = copy(s.buf, s.buf[s.start:s.end])
		s.start = 0
	}
	if s.end == len(s.buf) { // a PDU is larger than the buffer; next has checked its length
		s.buf = append(s.buf, make([]byte, len(s.buf))...)
	}
	n, err := s.r.Read(s.buf[s.end:])
	s.end += n
	if n > 0 {
		return nil
	}
	return err
}

// next returns the next whole PDU, nil when more must be read.
func (s *stream) next() ([]byte, error) {
	n, err := s.wire.frame(s.buf[s.start:s.end])
	if n == 0 || err != nil {
		return nil, err
	}
	b := s.buf[s.start : s.start+n : s.start+n]
	s.start += n
	return b, nil
}
