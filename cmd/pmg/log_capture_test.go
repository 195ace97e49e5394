package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pmg/pdulog"
	"pmg/protocols"
	"pmg/protocols/smpp"
	"pmg/protocols/ucp"
)

// captured is how many PDUs of a protocol TestLogCapture writes.
const captured = 20_000

// writeLog writes lines to the log of a connector, again and again, one of two sessions after the other.
func writeLog(t *testing.T, dir, connector string, d protocols.SessionDriver, lines ...string) {
	t.Helper()
	f, err := pdulog.NewDir(dir, pdulog.Options{Text: true}).Open(connector)
	if err != nil {
		t.Fatal(err)
	}
	pdu := d.NewPDU()
	now := time.Date(2026, 11, 20, 19, 5, 22, 0, time.UTC).UnixNano()
	for i := range captured {
		line := lines[i%len(lines)]
		if err := d.ParseLog(pdu, []byte(line)); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		f.Line(now+int64(i)*1e5, i/len(lines)%2, !strings.Contains(line, "_resp") && !strings.Contains(line, "_result"), pdu, pdulog.LoggedIn, pdulog.About{})
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// An independent dissector decodes every PDU of a log, of both protocols and of more than one packet, at the ports of the connectors.
func TestLogCapture(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("tshark"); err != nil {
		t.Skip("tshark is not installed: apt-get install tshark")
	}
	dir := t.TempDir()
	logs, config := filepath.Join(dir, "log"), filepath.Join(dir, "pmg.yaml")
	text := fmt.Sprintf(`pdulog: {dir: %q}
connectors:
  - {name: clients, direction: in, address: "127.0.0.1:3701"}
  - {name: other, direction: out, protocol: ucp, address: "127.0.0.1:3700", system_id: x}
accounts: []
`, logs)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(logs, 0o700); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("0123456789abcdef", 4091) // more than a packet has; tshark takes 64 KiB
	writeLog(t, logs, "clients", smpp.New(smpp.Options{}),
		`submit_sm seq=7 source_addr=1234 dest_addr_ton=1 dest_addr_npi=1 destination_addr=46700000001 registered_delivery=1 data_coding=8 short_message="\x04\x14\x040"`,
		"submit_sm_resp seq=7 status=0 message_id=0006618409f86367", "enquire_link seq=8", "enquire_link_resp seq=8 status=0",
		`deliver_sm seq=9 source_addr=46700000001 destination_addr=1234 esm_class=4 short_message="id:1 stat:DELIVRD err:000"`, "deliver_sm_resp seq=9 status=0 message_id=",
		`submit_sm seq=10 source_addr=1234 destination_addr=46700000001 message_payload="`+long+`"`, "submit_sm_resp seq=10 status=0x58",
	)
	writeLog(t, logs, "other", ucp.New(ucp.Options{}),
		`op51 seq=7 AdC=46700000001 OAdC=1234 NRq=1 NT=7 MT=3 AMsg="hello"`, "op51_result seq=7 status=0 SM=46700000001:010126000000",
	)
	file := filepath.Join(dir, "all.pcapng")
	var out bytes.Buffer
	if err := runLog(context.Background(), &out, "-c", config, "-n", "-1", "--pcap", file); err != nil || out.Len() > 0 {
		t.Fatal(err, out.String())
	}
	if st, err := os.Stat(file); err != nil || st.Mode().Perm() != 0o600 {
		t.Error(st, err)
	}
	cmd := exec.Command("tshark", "-n", "-r", file, "-d", "tcp.port==3701,smpp", "-d", "tcp.port==3700,ucp", "-T", "fields",
		"-e", "frame.protocols", "-e", "_ws.malformed", "-e", "_ws.expert.message", "-e", "frame.comment", "-e", "frame.time_epoch", "-e", "tcp.srcport")
	seen, err := cmd.Output() // it warns of root on stderr
	if err != nil {
		t.Fatal(err)
	}
	pdus := map[string]int{}
	for line := range strings.Lines(string(seen)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		for _, name := range []string{"smpp", "ucp"} {
			pdus[name] += strings.Count(f[0], ":"+name)
		}
		if f[1] != "" || f[2] != f[3] { // the comment is an expert message, too
			t.Fatalf("tshark says %q", f)
		}
	}
	if pdus["smpp"] != captured || pdus["ucp"] != captured {
		t.Errorf("tshark has seen %v of %d each", pdus, captured)
	}
	first, _, _ := strings.Cut(string(seen), "\n")
	if !strings.Contains(first, "clients/0") || !strings.Contains(first, "1795201522.000000000") || !strings.HasSuffix(first, "\t1024") {
		t.Errorf("the first packet is %q", first)
	}
	checkMasked(t, config, dir)
	out.Reset()
	if err := runLog(context.Background(), &out, "-c", config, "-n", "2", "--pcap", "-"); err != nil || !bytes.HasPrefix(out.Bytes(), []byte{0x0A, 0x0D, 0x0D, 0x0A}) {
		t.Errorf("%v %q", err, out.Bytes())
	}
	if err := runLog(context.Background(), &out, "-c", config, "--pcap", filepath.Join(dir, "none", "x")); err == nil || !strings.Contains(err.Error(), "cannot write the capture") {
		t.Error(err)
	}
}

// checkMasked compares captures of the last lines of the same logs, with texts and without.
func checkMasked(t *testing.T, config, dir string) {
	t.Helper()
	dissect := func(name string, arguments ...string) (texts, others string) {
		file := filepath.Join(dir, name)
		var out bytes.Buffer
		if err := runLog(context.Background(), &out, append([]string{"-c", config, "-n", "64", "--pcap", file}, arguments...)...); err != nil {
			t.Fatal(err)
		}
		fields := func(names ...string) string {
			c := exec.Command("tshark", "-n", "-r", file, "-d", "tcp.port==3701,smpp", "-d", "tcp.port==3700,ucp", "-T", "fields")
			for _, name := range names {
				c.Args = append(c.Args, "-e", name)
			}
			b, err := c.Output()
			if err != nil {
				t.Fatal(err)
			}
			return string(b)
		}
		return fields("smpp.message"), fields("frame.len", "smpp.destination_addr", "smpp.sequence_number", "_ws.malformed")
	}
	openTexts, openOthers := dissect("open.pcapng")
	texts, others := dissect("masked.pcapng", "--mask-texts")
	if others != openOthers || len(texts) != len(openTexts) {
		t.Error("the masked capture has other lengths, addresses or sequence numbers")
	}
	for plain, mask := range map[string]string{"04140430": "04160436", "69643a31": "78783a30"} {
		if !strings.Contains(openTexts, plain) || strings.Contains(texts, plain) || !strings.Contains(texts, mask) {
			t.Errorf("the text %s is shown, or not masked:\n%.900s\n%.900s", plain, openTexts, texts)
		}
	}
	if err := runLog(context.Background(), io.Discard, "-c", config, "--mask-texts"); err == nil {
		t.Error("texts of lines are not masked, and nothing says so")
	}
}
