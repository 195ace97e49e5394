package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"pmg/internal/testkit/smpppeer"
	"pmg/internal/testkit/testutil"
	"pmg/pdulog"
	"pmg/protocols/smpp"
	"pmg/protocols/ucp"
)

// replayed are the lines of a session, and what behind the command must come to the SMSC.
var replayed = []string{
	`bind_transmitter seq=1 system_id=acme interface_version=52`,
	`submit_sm seq=2 source_addr=1234 dest_addr_ton=1 dest_addr_npi=1 destination_addr=46700000001 registered_delivery=1 short_message="Code 4711"`,
	`enquire_link seq=3`,
	`submit_sm seq=4 source_addr_ton=5 source_addr=Shop dest_addr_ton=1 dest_addr_npi=1 destination_addr=46700000002 esm_class=64 data_coding=8 short_message="\x05\x00\x03\xcc\x02\x01\x04\x14\x040"`,
	`submit_sm seq=5 source_addr_ton=5 source_addr=Shop dest_addr_ton=1 dest_addr_npi=1 destination_addr=46700000002 esm_class=64 data_coding=8 short_message="\x05\x00\x03\xcc\x02\x02\x040"`,
	`submit_sm seq=6 source_addr=1234 dest_addr_ton=1 dest_addr_npi=1 destination_addr=46700000003 data_coding=4 short_message="\x00\xff\x80"`,
}

// writeSession writes lines to the log of the connector clients, a second after each other.
func writeSession(t *testing.T, dir string, lines []string) {
	t.Helper()
	writeFrom(t, dir, time.Date(2026, 11, 20, 19, 5, 0, 0, time.UTC), lines)
}

func writeFrom(t *testing.T, dir string, began time.Time, lines []string) {
	t.Helper()
	d := smpp.New(smpp.Options{})
	f, err := pdulog.NewDir(dir, pdulog.Options{Text: true}).Open("clients")
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range lines {
		pdu := d.NewPDU()
		if err := d.ParseLog(pdu, []byte(line)); err != nil && !strings.HasPrefix(line, "bind") {
			t.Fatal(line, err)
		}
		account := []string{"acme", "shop"}[i/4%2]
		f.Line(began.Add(time.Duration(i)*time.Second).UnixNano(), 3, true, pdu, pdulog.LoggedIn, pdulog.About{Account: account})
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// runReplay runs pmg replay with the password of a file.
func runReplay(t *testing.T, password string, args ...string) (string, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte(password+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := newReplayCommand()
	var out bytes.Buffer
	cmd.SetArgs(append(args, "--password-file", file))
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SilenceUsage = true
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

// The submits of a session come to the SMSC of another gateway as they were, with the credentials of another account, and with
// other texts if that is wanted. Refusals are counted, and are an error.
func TestReplay(t *testing.T) {
	t.Parallel()
	sink := smpppeer.StartSMSC(t, "secret", false)
	dir := t.TempDir()
	logs, theirs := filepath.Join(dir, "logs"), filepath.Join(dir, "theirs")
	if err := os.Mkdir(logs, 0o700); err != nil {
		t.Fatal(err)
	}
	writeSession(t, logs, replayed)
	r := runServer(t, fmt.Sprintf(`store: {dir: %s/store}
pdulog: {dir: %s}
connectors:
  - {name: clients, direction: in, address: "127.0.0.1:0"}
  - {name: operator, direction: out, address: %q, system_id: pmg, password: secret}
accounts: [{system_id: other, password: secret}, {system_id: poor, password: secret}]
routes: [{to: operator, account: other}]
`, dir, theirs, sink.Addr()))
	to := []string{"--to", r.engine.Addresses(r.gateway.Table.Connector("clients"))[0].String(), "--dir", logs, "--connector", "clients", "--instance", "3"}
	play := func(want string, args ...string) {
		t.Helper()
		out, err := runReplay(t, "secret", append(append(to, "--system-id", "other"), args...)...)
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("%q: %v\n%s", args, err, out)
		}
	}
	play("sent 4 submits", "--speed", "max")
	play("4 accepted, 0 refused, 0 not answered", "--speed", "100", "--mask-texts", "--window", "1")
	play("sent 1 submits", "--speed", "max", "--account", "shop", "--grep", "Shop")
	for what, args := range map[string][]string{
		"nothing was sent":                 {"--system-id", "other", "--until", "2026-11-20T19:05:00"},
		"login of other":                   {"--system-id", "other", "--tls=false", "--password-file", "/dev/null"},
		"use 1 to 40":                      {"--system-id", "other", "--window", "41"},
		"--speed 0":                        {"--system-id", "other", "--speed", "0"},
		"no pdu log":                       {"--system-id", "other", "--connector", "none"},
		"smpp or ucp":                      {"--system-id", "other", "--protocol", "http"},
		"4 of 4 submits were not accepted": {"--system-id", "poor", "--speed", "max"},
	} {
		cmd := newReplayCommand()
		var out bytes.Buffer
		password := filepath.Join(t.TempDir(), "password")
		if err := os.WriteFile(password, []byte("secret"), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd.SetArgs(append(append(append([]string{}, to...), "--password-file", password), args...))
		cmd.SetOut(&out)
		cmd.SetErr(&out)
		cmd.SilenceUsage = true
		if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(out.String()+err.Error(), what) {
			t.Errorf("%q: %v\n%s", args, err, out.String())
		}
	}
	want := func(line string) string { return line[strings.Index(line, " source_addr"):] }
	var seen string
	testutil.Eventually(t, "the SMSC has all messages", func() bool {
		var out bytes.Buffer
		if err := runLog(t.Context(), &out, "--dir", theirs, "--connector", "operator", "--command", "submit_sm", "-n", "-1", "--decode=false"); err != nil {
			return false
		}
		seen = regexp.MustCompile(`(?m) (id|account)=.*$`).ReplaceAllString(out.String(), "\n")
		return strings.Count(seen, "submit_sm seq=") >= 9
	})
	mask := strings.NewReplacer("Code 4711", "Xxxx 0000", `\x04\x14\x040`, `\x04\x16\x046`, `\x02\x02\x040`, `\x02\x02\x046`, `\x00\xff\x80`, `\x00\x00\x00`)
	for _, line := range replayed {
		if strings.HasPrefix(line, "submit_sm") && (!strings.Contains(seen, want(line)+"\n") || !strings.Contains(seen, mask.Replace(want(line))+"\n")) {
			t.Errorf("the SMSC lacks %s\nof\n%s", want(line), seen)
		}
	}
}

// What a gateway logs because of a replay is not replayed: otherwise a replay of its own log would have no end.
func TestReplayOwn(t *testing.T) {
	t.Parallel()
	sink := smpppeer.StartSMSC(t, "secret", false)
	logs := t.TempDir()
	writeSession(t, logs, replayed[:2])
	writeFrom(t, logs, time.Now().Add(time.Minute), replayed[:2])
	for _, until := range []string{"", time.Now().Add(time.Hour).UTC().Format(time.RFC3339)} {
		out, err := runReplay(t, "secret", "--to", sink.Addr(), "--system-id", "pmg", "--dir", logs, "--speed", "max", "--until", until)
		if err != nil || !strings.Contains(out, "sent 1 submits") {
			t.Errorf("%q: %v\n%s", until, err, out)
		}
	}
}

// The submits of a client of UCP are sent again, too.
func TestReplayUCP(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	logs := filepath.Join(dir, "logs")
	if err := os.Mkdir(logs, 0o700); err != nil {
		t.Fatal(err)
	}
	d := ucp.New(ucp.Options{})
	f, err := pdulog.NewDir(logs, pdulog.Options{Text: true}).Open("ucps")
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{
		`op51 seq=7 AdC=46700000001 OAdC=1234 MT=3 AMsg="hello 1"`,
		`op51 seq=8 AdC=46700000001 OAdC=1234 MT=4 NB=0048 TMsg="\x04\x14\x040\x00!" XSer=01060500037F0202020108`,
	}
	for i, line := range lines {
		pdu := d.NewPDU()
		if err := d.ParseLog(pdu, []byte(line)); err != nil {
			t.Fatal(line, err)
		}
		f.Line(time.Date(2026, 11, 20, 19, 5, i, 0, time.UTC).UnixNano(), 1, true, pdu, pdulog.LoggedIn, pdulog.About{Account: "1234"})
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	r := runServer(t, fmt.Sprintf(`store: {dir: %s/store}
pdulog: {dir: %s/theirs}
connectors:
  - {name: clients, direction: in, protocol: ucp, address: "127.0.0.1:0"}
  - {name: sandbox, direction: out, protocol: test}
accounts: [{system_id: "555", password: secret}]
routes: [{to: sandbox}]
`, dir, dir))
	to := r.engine.Addresses(r.gateway.Table.Connector("clients"))[0].String()
	out, err := runReplay(t, "secret", "--to", to, "--dir", logs, "--protocol", "ucp", "--system-id", "555", "--speed", "max")
	if err != nil || !strings.Contains(out, "2 accepted") {
		t.Fatal(err, out)
	}
	testutil.Eventually(t, "the gateway has logged both", func() bool {
		var seen bytes.Buffer
		err := runLog(t.Context(), &seen, "--dir", filepath.Join(dir, "theirs"), "--command", "op51", "-n", "-1", "--decode=false")
		return err == nil && strings.Contains(seen.String(), strings.TrimPrefix(lines[0], "op51 seq=7 ")) && strings.Contains(seen.String(), strings.TrimPrefix(lines[1], "op51 seq=8 "))
	})
}
