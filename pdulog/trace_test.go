package pdulog

import (
	"compress/gzip"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The way of two messages, in the order of their times, over three files: a rotated and
// compressed one and two that are being written.
const (
	tracedOld = `2026-11-20T10:00:00.000001Z clients/3 < submit_sm seq=17 source_addr=acme destination_addr=+46700000002 short_message="hello" account=acme
2026-11-20T10:00:00.000002Z clients/3 < submit_sm seq=18 source_addr=acme destination_addr=46700000009 short_message="id=00000000000000aa" account=acme
2026-11-20T10:00:00.000003Z clients/3 > submit_sm_resp seq=17 status=0 message_id=00000000000000aa account=acme
2026-11-20T10:00:00.000004Z clients/3 > submit_sm_resp seq=18 status=0 message_id=0000002T account=acme
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
2026-11-20T10:59:59.000000Z operator/2 < deliver_sm seq=9 source_addr=46700000003 destination_addr=acme receipted_message_id=88 short_message="x"
2026-11-20T10:59:59.900000Z operator/2 < deliver_sm seq=7 source_addr=46700000002 destination_addr=acme short_message="id:77 sub:001"
2026-11-20T10:59:59.900001Z operator/2 > deliver_sm_resp seq=7 status=0 message_id="" id=00000000000000cc
`
)

// U7: the way of a message through all pdu logs, by any of its ids or its number.
func TestTrace(t *testing.T) {
	dir := t.TempDir()
	old, err := os.Create(filepath.Join(dir, "clients-20261120T103000.000000.log.gz"))
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(old)
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
		q.Short = func(id uint64) string {
			if id == 0xbb {
				return "0000002T"
			}
			return ""
		}
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
