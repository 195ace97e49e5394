package pdulog

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

// The way of two messages, in the order of their times, over three files: a rotated and
// compressed one and two that are being written.
const (
	tracedOld = `2026-11-20T10:00:00.000001Z clients/3 < submit_sm seq=17 source_addr=acme destination_addr=+46700000002 short_message="hello" account=acme
2026-11-20T10:00:00.000002Z clients/3 < submit_sm seq=18 source_addr=acme destination_addr=46700000009 short_message="id=00000000000000aa" account=acme
2026-11-20T10:00:00.000003Z clients/3 > submit_sm_resp seq=17 status=0 message_id=00000000000000aa account=acme
2026-11-20T10:00:00.000004Z clients/3 > submit_sm_resp seq=18 status=0 message_id=0000002T id=00000000000000bb account=acme
2026-11-20T10:00:00.000005Z clients/3 < submit_sm seq=17 source_addr=acme destination_addr=1 account=acme
`
	tracedClients = `2026-11-20T11:00:00.000001Z clients/4 > deliver_sm seq=1 source_addr=46700000002 destination_addr=acme short_message="id:77 sub:001" id=00000000000000cc account=acme
2026-11-20T11:00:00.000002Z clients/4 < deliver_sm_resp seq=1 status=0 message_id="" id=00000000000000cc account=acme
`
	tracedOperator = `2026-11-20T10:00:01.000000Z operator/1 > submit_sm seq=5 destination_addr=0046700000002 short_message="hello" id=00000000000000aa account=acme
2026-11-20T10:00:01.000001Z operator/1 > submit_sm seq=6 destination_addr=46700000009 id=00000000000000bb account=acme
2026-11-20T10:00:01.000002Z operator/1 < submit_sm_resp seq=6 status=0 message_id=88 id=00000000000000bb account=acme
2026-11-20T10:00:01.000003Z operator/1 < submit_sm_resp seq=5 status=0x58(ESME_RTHROTTLED) message_id="" id=00000000000000aa account=acme
2026-11-20T10:00:02.000000Z operator/2 > submit_sm seq=5 destination_addr=0046700000002 short_message="hello" id=00000000000000aa account=acme
2026-11-20T10:00:02.000001Z operator/2 < submit_sm_resp seq=5 status=0 message_id=77 id=00000000000000aa account=acme
2026-11-20T10:59:59.000000Z operator/2 < deliver_sm seq=9 source_addr=46700000009 destination_addr=acme receipted_message_id=88 short_message="x"
2026-11-20T10:59:59.900000Z operator/2 < deliver_sm seq=7 source_addr=46700000002 destination_addr=acme short_message="id:77 sub:001"
2026-11-20T10:59:59.900001Z operator/2 > deliver_sm_resp seq=7 status=0 message_id="" id=00000000000000cc
`
)

// U7: the way of a message through all pdu logs, by any of its ids or its number.
func TestTrace(t *testing.T) {
	dir := t.TempDir()
	old, err := os.Create(filepath.Join(dir, "clients-20261120T103000.000000.log.zst"))
	if err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewWriter(old)
	if err != nil {
		t.Fatal(err)
	}
	_, err = z.Write([]byte(tracedOld))
	for _, err := range []error{err, z.Close(), old.Close(),
		os.WriteFile(filepath.Join(dir, "clients.log"), []byte(tracedClients), 0o600),
		os.WriteFile(filepath.Join(dir, "operator.log"), []byte(tracedOperator), 0o600)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	lines := strings.Split(strings.TrimSpace(tracedOld+tracedOperator+tracedClients), "\n")
	f := func(q Trace, want ...int) {
		t.Helper()
		got, err := q.Trace(context.Background(), dir)
		if err != nil {
			t.Fatal(err)
		}
		var wanted []string
		for _, n := range want {
			wanted = append(wanted, lines[n])
		}
		var all []string
		for _, line := range got {
			all = append(all, string(line))
		}
		if strings.Join(all, "\n") != strings.Join(wanted, "\n") {
			t.Errorf("%+v: got\n%s\nwant\n%s", q, strings.Join(all, "\n"), strings.Join(wanted, "\n"))
		}
	}
	aa := []int{0, 2, 5, 8, 9, 10, 12, 13, 14, 15}
	f(Trace{ID: "00000000000000aa"}, aa...)
	f(Trace{ID: "00000000000000AA"}, aa...)
	f(Trace{ID: "77"}, aa...) // the SMSC's id
	f(Trace{ID: "0000002T"}, 1, 3, 6, 7, 11)
	f(Trace{Number: "46700000009"}, 1, 3, 6, 7, 11)
	f(Trace{Number: "+46700000002"}, aa...)
	f(Trace{ID: "00000000000000dd"})
	f(Trace{Number: "1"}, 4)
}

// O3: all parts of a long message, an SMSC whose ids look like ours, receipts in another form and
// in our own name, and numbers in any form; but no other message that has a similar id.
func TestTraceFollows(t *testing.T) {
	dir := t.TempDir()
	const clients = `2026-11-20T10:00:00.000001Z clients/3 < submit_sm seq=17 source_addr=acme destination_addr=46700000002 short_message="long" account=acme
2026-11-20T10:00:00.000002Z clients/3 > submit_sm_resp seq=17 status=0 message_id=00000000000000a1 account=acme
2026-11-20T10:00:00.000002Z clients/3 < submit_sm seq=18 source_addr=acme destination_addr=46700000003 short_message="other" account=acme
2026-11-20T10:00:00.000003Z clients/3 > submit_sm_resp seq=18 status=0 message_id=00000000000000a4 account=acme
2026-11-20T10:09:00.000001Z clients/3 > deliver_sm seq=1 esm_class=4 source_addr=46700000002 destination_addr=acme short_message="id:00000000000000a1 sub:003 stat:EXPIRED" receipted_message_id="00000000000000a1\x00" id=00000000000000c1 account=acme
2026-11-20T10:09:00.000002Z clients/3 < deliver_sm_resp seq=1 status=0 message_id="" id=00000000000000c1 account=acme
`
	const operator = `2026-11-20T10:00:01.000001Z operator/1 > submit_sm seq=5 destination_addr=46700000002 esm_class=64 short_message="\x05\x00\x03\x07\x03\x01lo" id=00000000000000a1 account=acme
2026-11-20T10:00:01.000001Z operator/1 > submit_sm seq=6 destination_addr=46700000002 esm_class=64 short_message="\x05\x00\x03\x07\x03\x02n" id=00000000000000a2 account=acme
2026-11-20T10:00:01.000001Z operator/1 > submit_sm seq=7 destination_addr=46700000002 esm_class=64 short_message="\x05\x00\x03\x07\x03\x03g" id=00000000000000a3 account=acme
2026-11-20T10:00:01.000001Z operator/1 > submit_sm seq=8 destination_addr=46700000003 short_message="other" id=00000000000000a4 account=acme
2026-11-20T10:00:01.000002Z operator/1 < submit_sm_resp seq=5 status=0 message_id=10 id=00000000000000a1 account=acme
2026-11-20T10:00:01.000003Z operator/1 < submit_sm_resp seq=6 status=0 message_id=000000000000abcd id=00000000000000a2 account=acme
2026-11-20T10:00:01.000004Z operator/1 < submit_sm_resp seq=7 status=0 message_id=12 id=00000000000000a3 account=acme
2026-11-20T10:00:01.000005Z operator/1 < submit_sm_resp seq=8 status=0 message_id=16 id=00000000000000a4 account=acme
2026-11-20T10:00:02.000001Z operator/1 < deliver_sm seq=9 source_addr=+46700000002 destination_addr=acme short_message="id:16 stat:DELIVRD"
2026-11-20T10:00:02.000002Z operator/1 < deliver_sm seq=10 source_addr=46700000002 destination_addr=acme short_message="id:43981 stat:DELIVRD"
2026-11-20T10:00:02.000003Z operator/1 < deliver_sm seq=11 source_addr=46700000003 destination_addr=acme short_message="id:10 stat:DELIVRD"
2026-11-20T10:00:02.000004Z other/1 < deliver_sm seq=12 source_addr=46700000003 destination_addr=acme short_message="id:12 stat:DELIVRD"
`
	mustWrite(t, filepath.Join(dir, "clients.log"), clients)
	mustWrite(t, filepath.Join(dir, "operator.log"), operator)
	f := func(q Trace, want ...string) {
		t.Helper()
		lines, err := q.Trace(context.Background(), dir)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, line := range lines {
			e, _ := Parse(line)
			n, _ := e.Sequence()
			got = append(got, fmt.Sprintf("%s%d", map[bool]string{true: "<", false: ">"}[e.Received], n))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%+v: got %q, want %q", q, got, want)
		}
	}
	long := []string{"<17", ">17", ">5", ">6", ">7", "<5", "<6", "<7", "<9", "<10", ">1", "<1"}
	f(Trace{ID: "00000000000000a1"}, long...)
	f(Trace{ID: "00000000000000a3"}, long...)
	f(Trace{ID: "000000000000abcd"}, long...)
	f(Trace{ID: "00000000000000a4"}, "<18", ">18", ">8", "<8", "<11")
	for _, n := range []string{"+46700000003", "0046700000003", "0700000003"} {
		f(Trace{Number: n}, "<18", ">18", ">8", "<8", "<11", "<12")
	}
	f(Trace{Number: "0000003"})
}

func TestMessageID(t *testing.T) {
	for s, want := range map[string]bool{
		"1a1fb0c12c230d41": true, "1234567890123456": true, "0000002T": true, "acme-1": true,
		"46700000002": false, "+46700000002": false, "77": false,
	} {
		if MessageID(s) != want {
			t.Errorf("MessageID(%q) is %t", s, !want)
		}
	}
}

// O20: files that end before a message was accepted, and those that begin behind --until, are not
// even opened.
func TestTraceSkipsFiles(t *testing.T) {
	dir := t.TempDir()
	accepted := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	id := fmt.Sprintf("%016x", accepted.UnixMicro())
	line := "2026-11-20T10:00:00.500000Z operator/1 > submit_sm seq=5 destination_addr=46700000002 id=" + id + "\n"
	mustWrite(t, filepath.Join(dir, "operator-20261120T110000.000000.log"), line)
	for _, stamp := range []string{"20261120T080000.000000", "20261120T130000.000000"} { // not to be opened: they are no zstd files
		mustWrite(t, filepath.Join(dir, "operator-"+stamp+".log.zst"), "damaged")
	}
	q := Trace{ID: id}
	if _, err := q.Trace(context.Background(), dir); err == nil {
		t.Error("the test cannot fail: the damaged files are no error")
	}
	q.Filter.Until = accepted.Add(time.Minute)
	lines, err := q.Trace(context.Background(), dir)
	if err != nil || len(lines) != 1 {
		t.Errorf("%d lines, %v", len(lines), err)
	}
}

// Of the number of a busy sender the latest messages are found, and since when these are all.
func TestTraceOfBusyNumber(t *testing.T) {
	dir := t.TempDir()
	var b []byte
	for n := range 4 * maxTraced {
		at := fmt.Sprintf("2026-11-22T10:%02d:%02d.000000Z", n/60%60, n%60)
		b = fmt.Appendf(b, "%s clients/1 < submit_sm seq=%d source_addr=4670 destination_addr=467%05d account=acme\n", at, n, n)
		b = fmt.Appendf(b, "%s clients/1 > submit_sm_resp seq=%d status=0 message_id=%016x account=acme\n", at, n, 0x660d6aa2ff223+n)
	}
	if err := os.WriteFile(filepath.Join(dir, "clients.log"), b, 0o600); err != nil {
		t.Fatal(err)
	}
	tr := &Trace{Number: "4670"}
	lines, err := tr.Trace(t.Context(), dir)
	from := time.Date(2026, 11, 22, 10, 5, 0, 0, time.UTC)
	if err != nil || !tr.Cut || len(lines) != 2*maxTraced || !tr.From.Equal(from) || !strings.HasPrefix(string(lines[0]), "2026-11-22T10:05:00.000000Z clients/1 < submit_sm seq=300") {
		t.Errorf("%d lines, cut is %t, from %v, %v", len(lines), tr.Cut, tr.From, err)
	}
	one := &Trace{Number: "46700007"}
	if lines, err := one.Trace(t.Context(), dir); err != nil || one.Cut || len(lines) != 2 {
		t.Errorf("%d lines, cut is %t, %v", len(lines), one.Cut, err)
	}
}

// Receipts of a busy sender that come long after their messages are followed as far as they are about the latest messages.
// Where no line shows those, of the time for example, receipts show as many messages as may be followed.
func TestTraceOfBusyReceipts(t *testing.T) {
	dir := t.TempDir()
	const all = 4 * maxTraced
	var clients, operator []byte
	for n := range all {
		at := fmt.Sprintf("2026-11-22T10:%02d:%02d.000000Z", n/60, n%60)
		id := 0x660d6aa2ff223 + n
		clients = fmt.Appendf(clients, "%s clients/1 < submit_sm seq=%d source_addr=4670 destination_addr=467%05d account=acme\n", at, n, n)
		clients = fmt.Appendf(clients, "%s clients/1 > submit_sm_resp seq=%d status=0 message_id=%016x account=acme\n", at, n, id)
		operator = fmt.Appendf(operator, "%s operator/1 > submit_sm seq=%d source_addr=4670 destination_addr=467%05d id=%016x account=acme\n", at, n, n, id)
		operator = fmt.Appendf(operator, "%s operator/1 < submit_sm_resp seq=%d status=0 message_id=A%d id=%016x account=acme\n", at, n, n, id)
	}
	for n := range all {
		at, id := fmt.Sprintf("2026-11-22T11:%02d:%02d.000000Z", n/60, n%60), 0x660d6aa2ff223+n
		operator = fmt.Appendf(operator, "%s operator/1 < deliver_sm seq=%d source_addr=467%05d destination_addr=4670 short_message=\"id:A%d stat:UNDELIV\"\n", at, n, n, n)
		operator = fmt.Appendf(operator, "%s operator/1 > deliver_sm_resp seq=%d status=0 id=%016x\n", at, n, id+all)
		clients = fmt.Appendf(clients, "%s clients/1 > deliver_sm seq=%d source_addr=467%05d destination_addr=4670 short_message=\"id:%016x stat:UNDELIV\" id=%016x account=acme\n", at, n, n, id, id+all)
		clients = fmt.Appendf(clients, "%s clients/1 < deliver_sm_resp seq=%d status=0 id=%016x account=acme\n", at, n, id+all)
	}
	mustWrite(t, filepath.Join(dir, "clients.log"), string(clients))
	mustWrite(t, filepath.Join(dir, "operator.log"), string(operator))
	since := Filter{Since: time.Date(2026, 11, 22, 11, 0, 0, 0, time.UTC)}
	for name, c := range map[string]struct {
		trace Trace
		lines int
		cut   bool
	}{
		"number":       {Trace{Number: "4670"}, 8 * maxTraced, true},
		"receipts":     {Trace{Number: "4670", Filter: since}, 4 * maxTraced, true},
		"all receipts": {Trace{Number: "4670", Filter: since, Most: all}, 4 * all, false},
		"failed":       {Trace{Failed: true}, 8 * maxTraced, true},
	} {
		lines, err := c.trace.Trace(t.Context(), dir)
		if err != nil || len(lines) != c.lines || c.trace.Cut != c.cut {
			t.Errorf("%s: %d lines, not %d, cut %v, %v", name, len(lines), c.lines, c.trace.Cut, err)
		}
		for _, line := range lines {
			if e, err := Parse(line); err != nil {
				t.Error(err)
			} else if n, _ := e.Sequence(); c.cut && n < all-maxTraced {
				t.Fatalf("%s: %s", name, line)
			}
		}
	}
}

// A trace keeps no more octets of lines than it may, follows the messages of the wanted account alone, and finds a client's own
// reference. One that ends too early returns what it has found.
func TestTraceBounds(t *testing.T) {
	dir := t.TempDir()
	var text strings.Builder
	for i := range 90 {
		fmt.Fprintf(&text, "2026-11-20T10:00:%02d.000000Z clients/1 < submit_sm seq=%d destination_addr=46700000002 account=%s\n", i/2, i, []string{"acme", "other"}[i%2])
	}
	text.WriteString(`2026-11-20T10:01:00.000000Z clients/1 < http_submit seq=200 to=+46700000002 reference=r-1 text="r-2" account=acme
2026-11-20T10:01:00.000001Z clients/1 > http_submit_resp seq=200 status=0(202-Accepted) account=acme id=00000000000000aa
`)
	if err := os.WriteFile(filepath.Join(dir, "clients.log"), []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		trace Trace
		lines int
		cut   bool
	}{
		"all":       {Trace{Number: "46700000002"}, 92, false},
		"account":   {Trace{Number: "46700000002", Account: "other"}, 45, false},
		"room":      {Trace{Number: "46700000002", Room: 1000}, 10, true},
		"reference": {Trace{ID: "r-1"}, 2, false},
		"text":      {Trace{ID: "r-2"}, 0, false},
	} {
		lines, err := c.trace.Trace(t.Context(), dir)
		if err != nil || len(lines) != c.lines || c.trace.Cut != c.cut {
			t.Errorf("%s: %d lines, cut %v, %v", name, len(lines), c.trace.Cut, err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if lines, err := (&Trace{Number: "46700000002"}).Trace(ctx, dir); err != context.Canceled || len(lines) > 0 {
		t.Errorf("%v, %d lines", err, len(lines))
	}
}
