package peers

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"pmg/internal/capture"
	"pmg/internal/testkit/testutil"
)

// The gateway's ports in the capture, by protocol.
const (
	smppPort = 2775
	ucpPort  = 3700
)

// longest is how many octets of a connection are recorded.
const longest = 256 << 10

// A tape records what passes between libraries and gateways, for tshark.
type tape struct {
	mu       sync.Mutex
	segments []capture.Segment
	names    []string // of the connections
}

// relay listens between a gateway and a library, and returns its address. calls says that the
// gateway is the one that connects.
func (r *tape) relay(t testing.TB, name, protocol, to string, calls bool) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				in.Close() // the library is down
				continue
			}
			r.mu.Lock()
			s := capture.Segment{Peer: uint32(len(r.names)), Port: smppPort}
			if protocol == "ucp" {
				s.Port = ucpPort
			}
			r.names = append(r.names, name)
			r.mu.Unlock()
			theirs, ours := s, s
			theirs.Ours, ours.Ours = calls, !calls
			go r.copy(out, in, theirs)
			go r.copy(in, out, ours)
		}
	}()
	return l.Addr().String()
}

// copy passes on what one side writes, until either side has closed its connection.
func (r *tape) copy(to, from net.Conn, s capture.Segment) {
	defer to.Close()
	defer from.Close()
	b := make([]byte, 32<<10)
	for size := 0; ; {
		n, err := from.Read(b)
		if size += n; n > 0 && size < longest {
			s.Data = bytes.Clone(b[:n])
			r.mu.Lock()
			r.segments = append(r.segments, s)
			r.mu.Unlock()
		}
		if _, failed := to.Write(b[:n]); failed != nil || err == io.EOF || err != nil {
			return
		}
	}
}

// judge passes everything that the gateways wrote to tshark.
func (r *tape) judge(t *testing.T) {
	if _, err := exec.LookPath("tshark"); err != nil {
		t.Skip("tshark is not installed: apt-get install tshark")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	file := filepath.Join(t.TempDir(), "peers.pcap")
	if err := os.WriteFile(file, testutil.Capture(r.segments), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("tshark", "-n", "-r", file, "-d", fmt.Sprintf("tcp.port==%d,smpp", smppPort), "-d", fmt.Sprintf("tcp.port==%d,ucp", ucpPort),
		"-Y", fmt.Sprintf("(smpp || ucp) && (tcp.srcport == %d || tcp.srcport == %d)", smppPort, ucpPort),
		"-T", "fields", "-e", "tcp.dstport", "-e", "_ws.malformed", "-e", "_ws.expert.message", "-e", "_ws.col.Info")
	out, err := cmd.Output() // it warns of root on stderr
	if err != nil {
		t.Fatalf("tshark: %v", err)
	}
	frames := 0
	for line := range strings.Lines(string(out)) {
		frames++
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if f[1] == "" && f[2] == "" {
			continue
		}
		port, _ := strconv.Atoi(f[0])
		t.Errorf("%s: tshark says of what the gateway wrote: %s", r.names[port-capture.FirstPort], strings.Join(f[1:], " "))
	}
	if frames < 2*len(r.names) {
		t.Errorf("tshark has read %d frames of the gateway in %d connections", frames, len(r.names))
	}
	fmt.Printf("tshark has read %d frames of the gateway in %d connections\n", frames, len(r.names))
}
