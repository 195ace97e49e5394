package e2e

import (
	"bytes"
	"fmt"
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
	"pmg/protocols"
	"pmg/protocols/prototest"
	"pmg/protocols/smpp"
	"pmg/protocols/ucp"
)

// A tape is a connection that records what goes through it, as the segments of a capture. The
// test needs no right to capture packets, and loses none.
type tape struct {
	net.Conn

	mu       sync.Mutex
	segments []capture.Segment
}

func (c *tape) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.record(true, b[:n])
	return n, err
}

func (c *tape) Write(b []byte) (int, error) {
	c.record(false, b)
	return c.Conn.Write(b)
}

func (c *tape) record(ours bool, b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(b) > 0 {
		c.segments = append(c.segments, capture.Segment{Port: ourPort, Ours: ours, Data: bytes.Clone(b)})
	}
}

// ourPort is the port of the gateway in a capture.
const ourPort = 3700

// tshark dissects segments of a protocol. It returns how many PDUs it has seen, and a line for
// each packet with something that is wrong.
func tshark(t *testing.T, protocol string, segments []capture.Segment) (pdus int, wrong []string) {
	t.Helper()
	if _, err := exec.LookPath("tshark"); err != nil {
		t.Skip("tshark is not installed: apt-get install tshark")
	}
	file := filepath.Join(t.TempDir(), "run.pcap")
	if err := os.WriteFile(file, testutil.Capture(segments), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("tshark", "-n", "-r", file, "-d", fmt.Sprintf("tcp.port==%d,%s", ourPort, protocol), "-T", "fields",
		"-e", "frame.number", "-e", "frame.protocols", "-e", "_ws.malformed", "-e", "_ws.expert.message")
	out, err := cmd.Output() // it warns of root on stderr
	if err != nil {
		t.Fatalf("tshark: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		pdus += strings.Count(f[1], ":"+protocol)
		if f[2] != "" || f[3] != "" {
			wrong = append(wrong, strings.Join(f, " "))
		}
	}
	return pdus, wrong
}

// dissectorsFaults are the vectors that tshark cannot read, and why. The number of PDUs that it
// does not know is under the name of the protocol.
func dissectorsFaults() map[string]string {
	return map[string]string{
		"smpp":                    "3", // the PDUs that only SMPP 3.3 has
		"deliver_sm_resp_no_body": "peers leave the body out; the gateway does not",
		"query_broadcast_sm_resp": "wants a NUL behind broadcast_end_time, which a peer has left out",
		"op03_alnum":              "wants the eight slots of ERMES; the EMI specification has seven",
	}
}

// Everything that the drivers write is what an independent dissector expects.
func TestTsharkVectors(t *testing.T) {
	t.Parallel()
	for _, d := range []protocols.SessionDriver{smpp.New(smpp.Options{}), ucp.New(ucp.Options{})} {
		t.Run(d.Name(), func(t *testing.T) {
			valid, _ := prototest.Vectors(t, "../../protocols/"+d.Name()+"/testdata")
			faults := dissectorsFaults()
			var segments []capture.Segment
			var names []string
			p := d.NewPDU()
			for _, v := range valid {
				if err := d.Decode(p, v.Octets(t)); err != nil {
					t.Fatalf("%s: %v", v.Name, err)
				}
				segments = append(segments, capture.Segment{Port: ourPort, Ours: true, Data: p.AppendWire(nil)})
				names = append(names, v.Name)
			}
			pdus, wrong := tshark(t, d.Name(), segments)
			unknown, _ := strconv.Atoi(faults[d.Name()])
			if pdus != len(segments)-unknown {
				t.Errorf("%d PDUs of %d", pdus, len(segments))
			}
			for _, w := range wrong {
				var n int
				if _, err := fmt.Sscan(w, &n); err != nil {
					t.Fatalf("%v: %s", err, w)
				}
				if faults[names[n-1]] == "" {
					t.Errorf("%s: %s", names[n-1], w)
				}
			}
		})
	}
}

// taped makes a peer's connection a tape.
func taped(conn *net.Conn) *tape {
	c := &tape{Conn: *conn}
	*conn = c
	return c
}

// What the gateway writes to clients and SMSCs of both protocols is dissected without a fault, from
// the login to the end.
func TestTsharkRun(t *testing.T) {
	parallel(t)
	operator, other := newSMSC(t), newSMSC(t)
	g := start(t, site{
		operator: operator, accounts: "{system_id: bcme, password: s3cret}",
		more: "{name: ucp, direction: in, address: \"127.0.0.1:0\", protocol: ucp}\n" +
			fmt.Sprintf("{name: other, direction: out, address: %q, system_id: pmg, password: secret, protocol: ucp}", other.addr()),
		routes: "{from: operator, to: {account: bcme}}\n{from: other, to: {account: acme}}\n{from: ucp, to: operator}\n{from: clients, to: other}",
	})
	smsc, ucpSMSC := operator.accept(), &ucpPeer{t: t, conn: other.accept().conn}
	client, ucpClient := g.dial("clients"), &ucpPeer{t: t, conn: g.dial("ucp").conn}
	tapes := map[string][]*tape{
		"smpp": {taped(&smsc.conn), taped(&client.conn)},
		"ucp":  {taped(&ucpSMSC.conn), taped(&ucpClient.conn)},
	}
	line := smsc.want("bind_transceiver")
	smsc.send("bind_transceiver_resp seq=" + field(line, "seq") + " status=0 system_id=SMSC sc_interface_version=52")
	ucpSMSC.want("op60 seq=0 OAdC=pmg OTON=6 ONPI=5 STYP=1 PWD=*** VERS=0100")
	ucpSMSC.send("op60_result seq=0 status=0")
	client.bind("transceiver", "acme", "s3cret")
	ucpClient.send("op60 seq=0 OAdC=bcme OTON=6 ONPI=5 STYP=1 PWD=733363726574 VERS=0100", "op31 seq=1 AdC=bcme PID=0539")
	ucpClient.want("op60_result seq=0 status=0")
	ucpClient.want("op31_result seq=1 status=0 SM=0000")

	var ids []string
	for i, m := range []string{ // from UCP to SMPP
		`AdC=0046700000001 OAdC=06D0E611 NRq=1 NT=7 VP=3112391300 RPID=0065 MT=3 AMsg="\x00hello" RPI=1 OTOA=5039`,
		`AdC=1 OAdC=1234 MT=4 NB=0048 TMsg="\x04\x14\x040\x00!" XSer=01060500037F0202020108`,
		`AdC=1 OAdC=1234 MT=4 NB=0016 TMsg="\x01\x02" MCLs=1`, `AdC=1 OAdC=1234 MT=2 Msg=12345`,
	} {
		ucpClient.send(fmt.Sprintf("op51 seq=%d %s", i, m))
		ucpClient.want(fmt.Sprintf("op51_result seq=%d status=0 SM=*", i))
		ids = append(ids, field(smsc.want("submit_sm"), "seq"))
		smsc.answer(0, ids[i])
	}
	ucpClient.send(`op51 seq=7 AdC= OAdC=1234 MT=3 AMsg="nobody"`)
	ucpClient.want("op51_result seq=7 status=0x6(adc_invalid)")
	for i, m := range []string{ // from SMPP to UCP
		`source_addr_ton=5 source_addr="A@_[1]" dest_addr_ton=1 dest_addr_npi=1 destination_addr=46700000001 protocol_id=65 priority_flag=1 validity_period=000001000000000R registered_delivery=17 short_message="\x00hello\x1be"`,
		`source_addr_ton=1 source_addr_npi=1 source_addr=46700000002 destination_addr=1 esm_class=64 data_coding=8 short_message="\x05\x00\x03\x7f\x02\x02\x04\x14\x040"`,
		`source_addr=1234 destination_addr=1 data_coding=245 short_message="\x01\xff\x03"`,
	} {
		client.send(fmt.Sprintf("submit_sm seq=%d %s", 2+i, m))
		client.accepted(2+i, 2+i)
		line, err := ucpSMSC.next()
		if err != nil || !strings.HasPrefix(line, "op51 ") {
			t.Fatal(line, err)
		}
		ucpSMSC.send(fmt.Sprintf("op51_result seq=%s status=0 SM=46700000001:01012600000%d", field(line, "seq"), i))
	}
	smsc.send(`deliver_sm seq=5 source_addr_ton=1 source_addr=46700000001 destination_addr=1234 short_message="\x00 home"`,
		`deliver_sm seq=6 source_addr_ton=1 source_addr=46700000001 destination_addr=1234 esm_class=4 short_message="id:`+ids[0]+` sub:001 dlvrd:001 submit date:2611201200 done date:2611201200 stat:DELIVRD err:000 text:"`)
	for range 2 {
		smsc.want("deliver_sm_resp", "status=0")
		line, err := ucpClient.next()
		if err != nil {
			t.Fatal(err)
		}
		command, _, _ := strings.Cut(line, " ")
		ucpClient.send(command + "_result seq=" + field(line, "seq") + " status=0")
	}
	ucpSMSC.send(`op52 seq=1 AdC=1234 OAdC=46700000001 SCTS=200126000000 MT=3 AMsg="home" OTOA=1139`,
		`op53 seq=2 AdC=1234 OAdC=46700000001 SCTS=010126000000 Dst=2 Rsn=107 DSCTS=010126000001 MT=3 AMsg="absent"`)
	for i := range 2 {
		ucpSMSC.want(fmt.Sprintf("op5%d_result seq=%d status=0", 2+i, 1+i))
		client.send("deliver_sm_resp seq=" + field(client.want("deliver_sm"), "seq") + " status=0 message_id=")
	}
	client.send("unbind seq=99")
	client.want("unbind_resp", "seq=99")
	client.wantClosed()
	testutil.Eventually(t, "nothing is under way", func() bool { return g.stats("ucp").InFlight.Load() == 0 })

	for protocol, runs := range tapes {
		for _, run := range runs {
			pdus, wrong := tshark(t, protocol, run.segments)
			if pdus < 10 || len(wrong) > 0 {
				t.Errorf("%s: %d PDUs, %q", protocol, pdus, wrong)
			}
		}
	}
}
