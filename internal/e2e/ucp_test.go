package e2e

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pmg/internal/testkit/testutil"
	"pmg/protocols"
	"pmg/protocols/prototest"
	"pmg/protocols/ucp"
)

// A ucpPeer is one connection to the gateway that speaks UCP.
type ucpPeer struct {
	t    testing.TB
	conn net.Conn
	in   []byte
	last []byte // the octets of the PDU that was read last
}

// ucpClient connects to "clients" and logs in as acme.
func (g *gw) ucpClient() *ucpPeer {
	g.t.Helper()
	p := &ucpPeer{t: g.t, conn: g.dial("clients").conn}
	p.send("op60 seq=0 OAdC=acme OTON=6 ONPI=5 STYP=1 PWD=733363726574 VERS=0100")
	p.want("op60_result seq=0 status=0")
	return p
}

// ucpSession takes the gateway's next connection and accepts its login.
func (s *smsc) ucpSession() *ucpPeer {
	s.t.Helper()
	p := &ucpPeer{t: s.t, conn: s.accept().conn}
	p.want("op60 seq=0 OAdC=pmg OTON=6 ONPI=5 STYP=1 PWD=*** VERS=0100")
	p.send("op60_result seq=0 status=0")
	return p
}

// send sends PDUs, each as the pdu log prints it, in one segment.
func (p *ucpPeer) send(lines ...string) {
	p.t.Helper()
	var b []byte
	for _, line := range lines {
		var pdu ucp.PDU
		if err := pdu.ParseLog([]byte(line)); err != nil {
			p.t.Fatalf("%s: %v", line, err)
		}
		b = pdu.AppendWire(b)
	}
	p.write(b)
}

func (p *ucpPeer) write(b []byte) {
	p.t.Helper()
	if _, err := p.conn.Write(b); err != nil {
		p.t.Fatal(err)
	}
}

// next returns the next PDU as the pdu log prints it.
func (p *ucpPeer) next() (string, error) {
	d := ucp.New(ucp.Options{})
	var b [4096]byte
	for {
		n, err := d.Frame(p.in)
		if err != nil {
			return "", err
		}
		if n <= len(p.in) {
			var pdu ucp.PDU
			err := pdu.Decode(p.in[:n])
			p.last, p.in = p.in[:n:n], p.in[n:]
			return string(pdu.AppendLog(nil, true)), err
		}
		_ = p.conn.SetReadDeadline(time.Now().Add(testutil.Patience))
		if n, err = p.conn.Read(b[:]); n == 0 {
			return "", err
		}
		p.in = append(p.in, b[:n]...)
	}
}

// want reads one PDU and compares it with a line, in which "=*" is any value.
func (p *ucpPeer) want(line string) string {
	p.t.Helper()
	got, err := p.next()
	if err != nil {
		p.t.Fatalf("want %s, got %v", line, err)
	}
	w, g := strings.Fields(line), strings.Fields(got)
	same := len(w) == len(g)
	for i := 0; same && i < len(w); i++ {
		prefix, open := strings.CutSuffix(w[i], "=*")
		same = w[i] == g[i] || open && prefix != "PWD" && strings.HasPrefix(g[i], prefix+"=")
	}
	if !same {
		p.t.Fatalf("want %s, got %s", line, got)
	}
	return got
}

// UCP on both sides, with full windows: every message arrives once and is answered,
// whatever the order of the answers.
func TestUCPToUCP(t *testing.T) {
	parallel(t)
	const messages, window = 1000, 99
	operator := newSMSC(t)
	g := start(t, site{
		operator: operator, clients: "protocol: ucp, window: 99", out: "protocol: ucp, window: 99",
		routes: "{from: operator, to: clients}\n{to: operator}",
	})
	smsc := operator.ucpSession()
	client := g.ucpClient()

	ids := map[string]bool{}
	answered := func() {
		line := client.want("op51_result seq=* status=0 SM=*")
		if id := field(line, "SM"); ids[id] {
			t.Fatalf("%s is the id of two messages", id)
		} else {
			ids[id] = true
		}
	}
	done := make(chan []int)
	go func() { done <- smsc.serveBackwards(messages, window) }()
	for n := range messages {
		if n >= window {
			answered()
		}
		client.send(fmt.Sprintf("op51 seq=%d AdC=0046700000001 OAdC=1234 NRq=1 NT=3 MT=3 AMsg=\"%d\"", n%100, n))
	}
	for range window {
		answered()
	}
	got := <-done
	slices.Sort(got)
	for n := range messages {
		if len(got) != messages || got[n] != n {
			t.Fatalf("%d messages arrived: %v", len(got), got)
		}
	}

	// The other way.
	smsc.send(`op52 seq=7 AdC=1234 OAdC=46700000001 SCTS=010203040506 MT=3 AMsg="hello"`,
		`op53 seq=8 AdC=1234 OAdC=46700000001 SCTS=000000000999 Dst=0 Rsn=000 DSCTS=010136000001 MT=3 AMsg="delivered"`)
	smsc.want("op52_result seq=7 status=0")
	smsc.want("op53_result seq=8 status=0")
	line := client.want(`op52 seq=* AdC=1234 OAdC=46700000001 SCTS=010203040506 MT=3 AMsg="hello"`)
	client.send("op52_result seq=" + field(line, "seq") + " status=0")
	if line, _ = client.next(); !containsAll(line, []string{"op53 ", " AdC=1234 OAdC=0046700000001 SCTS=", " Dst=0 Rsn=000 DSCTS=010136000001 MT=3 AMsg="}) {
		t.Error(line)
	}
	client.send("op53_result seq=" + field(line, "seq") + " status=0")
	testutil.Eventually(t, "nothing is under way", func() bool { return g.stats("clients").InFlight.Load() == 0 })

	g.stop() // there is no logout but the end of the connection
	for _, p := range []*ucpPeer{client, smsc} {
		if line, err := p.next(); err == nil {
			t.Errorf("want the end, got %s", line)
		}
	}
}

// serveBackwards takes messages, as many at a time as a window has, and accepts those
// that came last first. It returns the numbers that they carry.
func (p *ucpPeer) serveBackwards(messages, window int) (numbers []int) {
	for len(numbers) < messages {
		under := map[string]bool{}
		var results []string
		for range min(window/2, messages-len(numbers)) {
			line, err := p.next()
			seq := field(line, "seq")
			if err != nil || !strings.HasPrefix(line, "op51 ") || under[seq] {
				p.t.Errorf("got %s, %v", line, err)
				return numbers
			}
			under[seq] = true
			n, _ := strconv.Atoi(strings.Trim(field(line, "AMsg"), `"`))
			numbers = append(numbers, n)
			results = append(results, fmt.Sprintf("op51_result seq=%s status=0 SM=0046700000001:%012d", seq, n))
		}
		slices.Reverse(results)
		p.send(results...)
	}
	return numbers
}

// What a client of UCP submits reaches a smsc of SMPP, with the same octets, and
// what that says of it comes back.
func TestUCPToSMPP(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, clients: "protocol: ucp", routes: "{from: operator, to: clients}\n{to: operator}"})
	smsc := operator.session()
	client := g.ucpClient()
	var ids []string
	for i, m := range [][2]string{
		{`AdC=0046700000001 OAdC=06D0E611 NRq=1 NT=3 MT=3 AMsg="\x00hello" OTOA=5039`,
			`source_addr_ton=5 source_addr=PMG dest_addr_ton=1 dest_addr_npi=1 destination_addr=46700000001 registered_delivery=1 short_message="\x00hello"`},
		{`AdC=1 OAdC=1234 MT=4 NB=0048 TMsg="\x04\x14\x040\x00!" XSer=01060500037F0202020108`,
			`source_addr=1234 destination_addr=1 esm_class=64 data_coding=8 short_message="\x05\x00\x03\x7f\x02\x02\x04\x14\x040\x00!"`},
		{`AdC=1 OAdC=1234 MT=4 NB=0016 TMsg="\x01\x02" MCLs=1`, `source_addr=1234 destination_addr=1 data_coding=245 short_message="\x01\x02"`},
	} {
		client.send(fmt.Sprintf("op51 seq=%d %s", i, m[0]))
		client.want(fmt.Sprintf("op51_result seq=%d status=0 SM=*", i))
		line := smsc.want("submit_sm")
		if _, fields, _ := strings.Cut(strings.TrimPrefix(line, "submit_sm "), " "); fields != m[1] {
			t.Errorf("got %s, want %s", fields, m[1])
		}
		ids = append(ids, field(line, "seq"))
		smsc.answer(0, ids[i])
	}
	smsc.send(`deliver_sm seq=5 source_addr_ton=1 source_addr=46700000001 destination_addr=1234 esm_class=4 short_message="id:` + ids[0] + ` submit date:2611201159 done date:3611201200 stat:DELIVRD err:000"`)
	smsc.want("deliver_sm_resp", "seq=5", "status=0")
	line, _ := client.next()
	if !containsAll(line, []string{"op53 ", " AdC=06D0E611 OAdC=0046700000001 SCTS=", " Dst=0 Rsn=000 DSCTS=201136120000 MT=3 AMsg=\"Message for 0046700000001, with identification ", " has been delivered on 2036-11-20 at 12:00:00"}) {
		t.Error(line)
	}
	client.send("op53_result seq=" + field(line, "seq") + " status=0")
}

// And the other way round.
func TestSMPPToUCP(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, out: "protocol: ucp, window: 1", routes: "{from: operator, to: clients}\n{to: operator}"})
	smsc := operator.ucpSession()
	client := g.bind("transceiver")
	client.send(submitLine(2, "registered_delivery=1"), submitLine(3))
	known := field(client.want("submit_sm_resp", "seq=2", "status=0"), "message_id")
	client.accepted(3, 3)
	smsc.want(`op51 seq=1 AdC=46700000001 OAdC=1234 NRq=1 NT=3 MT=3 AMsg="2"`)
	smsc.send("op51_result seq=1 status=0 SM=46700000001:010126000000")
	smsc.want(`op51 seq=2 AdC=46700000001 OAdC=1234 MT=3 AMsg="3"`)
	smsc.send("op51_result seq=2 status=0x6", `op53 seq=1 AdC=1234 OAdC=46700000001 SCTS=010126000000 Dst=2 Rsn=107 DSCTS=010136000001 MT=3`)
	smsc.want("op53_result seq=1 status=0")
	line := client.want("deliver_sm", "esm_class=4", "source_addr=46700000001", "destination_addr=1234")
	if !strings.Contains(line, "id:"+known+" ") || !strings.Contains(line, " stat:UNDELIV err:107 ") {
		t.Error(line)
	}
	client.send("deliver_sm_resp seq=" + field(line, "seq") + " status=0")
	client.fence()
}

// The driver's transcripts, played to the whole gateway, with the same left out as of
// those of SMPP, and those that the gateway ends before it has read all: what it has
// sent may be lost then.
func TestUCPTranscripts(t *testing.T) {
	all, err := filepath.Glob("../../protocols/ucp/testdata/*.txt")
	if err != nil || len(all) == 0 {
		t.Fatal("no transcripts", err)
	}
	left := regexp.MustCompile(`(?m)^(wait|message|bound|unbind|> op53)\b`) // a notification is answered when it is stored, behind what comes later
	all = slices.DeleteFunc(all, func(path string) bool {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return left.Match(b) || strings.HasPrefix(filepath.Base(path), "early") || strings.Contains(filepath.Base(path), "flood")
	})
	parallel(t)
	options := func() protocols.Options { return ucp.NewConnectorOptions() }
	prototest.Run(t, ucp.New(ucp.Options{}), options, all, func(t *testing.T, o protocols.SessionOptions) prototest.Subject {
		return newUCPSubject(t, o)
	})
}

// A ucpSubject is a subject that speaks UCP.
type ucpSubject struct {
	*subject
	peer *ucpPeer
}

func newUCPSubject(t *testing.T, o protocols.SessionOptions) *ucpSubject {
	parallel(t)
	operator := newSMSC(t)
	s := &ucpSubject{subject: &subject{name: "clients"}}
	s.g = start(t, site{
		operator: operator,
		clients:  fmt.Sprintf("protocol: ucp, system_id: %s", o.Name),
		out:      fmt.Sprintf("protocol: ucp, static: %v", o.Role == protocols.Client && !o.Accepted),
		more:     listening(o, "protocol: ucp, traffic: "+o.Options.BindType().String()),
	})
	if o.Role == protocols.Server {
		s.p = s.g.dial("clients")
	} else if o.Accepted {
		s.name, s.p = "smsc", s.g.dial("smsc")
	} else {
		s.name, s.p = "operator", operator.accept()
	}
	s.peer = &ucpPeer{t: t, conn: s.p.conn}
	return s
}

// Read implements prototest.Subject. The result of an alert of its own shows that
// everything has come which there was to come.
func (s *ucpSubject) Read() (all []byte) {
	if s.over {
		return nil
	}
	var fence ucp.PDU
	if err := fence.ParseLog([]byte("op31 seq=98 AdC=1 PID=0539")); err != nil {
		s.g.t.Fatal(err)
	}
	s.Write(fence.AppendWire(nil))
	for {
		line, err := s.peer.next()
		switch {
		case err != nil:
			s.ended()
			return all
		case strings.HasPrefix(line, "op31_result seq=98 "):
			return all
		}
		all = append(all, s.peer.last...)
	}
}
