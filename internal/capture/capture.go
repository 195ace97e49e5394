// Package capture writes pieces of conversations as a capture file (pcapng, of IPv4 packets), which tshark and Wireshark read.
//
// Start reading with Writer in capture.go.
package capture

import (
	"encoding/binary"
	"io"
	"time"
)

// A Segment is a piece of data that one side of a connection has written.
type Segment struct {
	Time    time.Time
	Peer    uint32 // number of the connection, from 0, from which the address and the port of the other side are made
	Port    uint16 // port of the gateway's side, or of the side that it connects to, which identifies the protocol
	Ours    bool   // the side with the port has written the data
	Data    []byte
	Comment string // shown beside the packet; "": none
}

// A Writer writes segments to a file.
type Writer struct {
	out  io.Writer
	next map[way]uint32 // sequence numbers
	buf  []byte
}

// A way is a direction of a connection.
type way struct {
	peer uint32
	port uint16
	ours bool
}

// FirstPort is the port of the other side of the first connection.
const FirstPort = 1024

// Sizes of a packet, and the parts of a block (draft-ietf-opsawg-pcapng).
const (
	headers  = 20 + 20               // IPv4 and TCP
	mostData = 1<<16 - 1 - headers   // octets of a packet
	ipv4     = 228                   // LINKTYPE_IPV4
	section  = 0x0A0D0D0A            // Section Header Block
	describe = 1                     // Interface Description Block
	packet   = 6                     // Enhanced Packet Block
	ports    = 1<<16 - FirstPort - 1 // ports of peers with one address
)

// NewWriter begins a file.
func NewWriter(out io.Writer) (*Writer, error) {
	w := &Writer{out: out, next: map[way]uint32{}}
	w.begin(section)
	w.number(0x1A2B3C4D)              // byte order
	w.buf = append(w.buf, 1, 0, 0, 0) // version 1.0
	for range 8 {                     // length of the section: not known
		w.buf = append(w.buf, 0xFF)
	}
	if err := w.end(); err != nil {
		return nil, err
	}
	w.begin(describe)
	w.buf = append(w.buf, ipv4, 0, 0, 0)
	w.number(0)                                               // no limit of a packet
	w.buf = append(w.buf, 9, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0) // times are in nanoseconds; end of the options
	return w, w.end()
}

// Write writes a segment, as several packets if it is too long for one.
func (w *Writer) Write(s Segment) error {
	for rest := s.Data; ; {
		n := min(len(rest), mostData)
		s.Data = rest[:n]
		if err := w.write(&s); err != nil {
			return err
		}
		if rest = rest[n:]; len(rest) == 0 {
			return nil
		}
		s.Comment = ""
	}
}

func (w *Writer) write(s *Segment) error {
	at, size := uint64(s.Time.UnixNano()), headers+len(s.Data)
	w.begin(packet)
	// the interface, the time in two halves, and how many octets were captured and sent
	for _, n := range []uint32{0, uint32(at >> 32), uint32(at), uint32(size), uint32(size)} {
		w.number(n)
	}
	w.packet(s, size)
	w.pad()
	if s.Comment != "" {
		w.buf = binary.LittleEndian.AppendUint16(append(w.buf, 1, 0), uint16(len(s.Comment)))
		w.buf = append(w.buf, s.Comment...)
		w.pad()
		w.number(0) // end of the options
	}
	return w.end()
}

// packet appends a packet: both addresses are of this host, and checksums are 0, as a network card would fill them in.
func (w *Writer) packet(s *Segment, size int) {
	be := binary.BigEndian
	host, peer := uint32(127<<24|1), uint32(127<<24|2)+s.Peer/ports
	port, peerPort := s.Port, uint16(FirstPort+s.Peer%ports)
	if !s.Ours {
		host, peer, port, peerPort = peer, host, peerPort, port
	}
	there, back := way{s.Peer, s.Port, s.Ours}, way{s.Peer, s.Port, !s.Ours}
	b := append(w.buf, 0x45, 0)
	b = be.AppendUint16(b, uint16(size))
	b = append(b, 0, 0, 0, 0, 64, 6, 0, 0)
	b = be.AppendUint32(be.AppendUint32(b, host), peer)
	b = be.AppendUint16(be.AppendUint16(b, port), peerPort)
	b = be.AppendUint32(be.AppendUint32(b, w.next[there]), w.next[back])
	b = append(b, 0x50, 0x18, 0xFF, 0xFF, 0, 0, 0, 0)
	w.buf = append(b, s.Data...)
	w.next[there] += uint32(len(s.Data))
}

// begin begins a block of a kind.
func (w *Writer) begin(kind uint32) {
	w.buf = w.buf[:0]
	w.number(kind)
	w.number(0) // the length, which end sets
}

// end writes the block.
func (w *Writer) end() error {
	size := uint32(len(w.buf) + 4)
	binary.LittleEndian.PutUint32(w.buf[4:], size)
	w.number(size)
	_, err := w.out.Write(w.buf)
	return err
}

func (w *Writer) number(n uint32) { w.buf = binary.LittleEndian.AppendUint32(w.buf, n) }

// pad fills the last word of the block.
func (w *Writer) pad() {
	for len(w.buf)%4 != 0 {
		w.buf = append(w.buf, 0)
	}
}
