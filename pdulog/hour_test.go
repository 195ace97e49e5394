package pdulog

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/rs/zerolog"

	"pmg/internal/logfile"
	"pmg/internal/testkit/testutil"
)

// hourStart is the time of the first message of writeHour.
func hourStart() time.Time { return time.Date(2026, 11, 24, 10, 0, 0, 0, time.UTC) }

// writeHour writes the pdu logs of messages with receipts, evenly over an hour: 8 lines of a message, about a kilobyte. All are from
// 46700000001; the recipients count from 46710000000. Files are rotated at a size, and wait to be compressed.
func writeHour(t testing.TB, dir string, messages, maxSize int) {
	t.Helper()
	first := hourStart().UnixMicro()
	logs := map[string]*hourLog{"clients": {t: t, dir: dir, name: "clients", max: maxSize}, "telia": {t: t, dir: dir, name: "telia", max: maxSize}}
	for n := range messages + messages/1800 { // a receipt comes two seconds later
		at := hourStart().Add(time.Duration(n) * time.Hour / time.Duration(messages))
		c, o := logs["clients"], logs["telia"]
		if n < messages {
			id, to := first+int64(n), 46710000000+n
			c.line(at, "<", "submit_sm seq=%d source_addr_ton=1 source_addr_npi=1 source_addr=46700000001 dest_addr_ton=1 dest_addr_npi=1 destination_addr=%d esm_class=0 registered_delivery=1 data_coding=0 short_message=\"Your code is %06d, valid for ten minutes\" account=acme", n, to, n)
			c.line(at, ">", "submit_sm_resp seq=%d status=0 message_id=%016x account=acme", n, id)
			o.line(at, ">", "submit_sm seq=%d source_addr_ton=1 source_addr_npi=1 source_addr=46700000001 dest_addr_ton=1 dest_addr_npi=1 destination_addr=%d esm_class=0 registered_delivery=1 data_coding=0 short_message=\"Your code is %06d, valid for ten minutes\" id=%016x account=acme", n, to, n, id)
			o.line(at.Add(time.Microsecond), "<", "submit_sm_resp seq=%d status=0 message_id=%X id=%016x account=acme", n, 0xA0000000+n, id)
		}
		if r := n - messages/1800; r >= 0 {
			id, receipt, to := first+int64(r), first+int64(messages+r), 46710000000+r
			text := fmt.Sprintf("id:%%s sub:001 dlvrd:001 submit date:2611241000 done date:2611241000 stat:DELIVRD err:000 text:Your code is")
			o.line(at.Add(2*time.Microsecond), "<", "deliver_sm seq=%d source_addr_ton=1 source_addr_npi=1 source_addr=%d destination_addr=46700000001 esm_class=4 short_message=\""+text+"\"", r, to, fmt.Sprintf("%X", 0xA0000000+r))
			o.line(at.Add(3*time.Microsecond), ">", "deliver_sm_resp seq=%d status=0 message_id=\"\" id=%016x", r, receipt)
			c.line(at.Add(3*time.Microsecond), ">", "deliver_sm seq=%d source_addr_ton=1 source_addr_npi=1 source_addr=%d destination_addr=46700000001 esm_class=4 short_message=\""+text+"\" id=%016x account=acme", r, to, fmt.Sprintf("%016x", id), receipt)
			c.line(at.Add(4*time.Microsecond), "<", "deliver_sm_resp seq=%d status=0 message_id=\"\" id=%016x account=acme", r, receipt)
		}
	}
	for _, l := range logs {
		l.close("")
	}
}

// An hourLog is a log of writeHour.
type hourLog struct {
	t         testing.TB
	dir, name string
	max, size int
	file      *os.File
	w         *bufio.Writer
}

func (l *hourLog) line(at time.Time, way, format string, args ...any) {
	if l.file == nil {
		var err error
		if l.file, err = os.Create(filepath.Join(l.dir, l.name+".log")); err != nil {
			l.t.Fatal(err)
		}
		l.w = bufio.NewWriterSize(l.file, 1<<20)
	}
	n, _ := fmt.Fprintf(l.w, "%s %s/1 %s "+format+"\n", append([]any{at.UTC().Format(timeLayout), l.name, way}, args...)...)
	if l.size += n; l.size >= l.max {
		l.close(at.Add(time.Second).UTC().Format(logfile.StampLayout))
	}
}

// close ends a file, and with a stamp rotates it.
func (l *hourLog) close(stamp string) {
	if l.file == nil {
		return
	}
	if err := l.w.Flush(); err != nil {
		l.t.Fatal(err)
	}
	l.file.Close()
	if stamp != "" {
		if err := os.Rename(l.file.Name(), strings.TrimSuffix(l.file.Name(), ".log")+"-"+stamp+".log"); err != nil {
			l.t.Fatal(err)
		}
	}
	l.file, l.size = nil, 0
}

// A search reads little of what the files have: the blocks that an index names, the latest first. The index of compressed files is at their
// ends, that of others is made by the first search and remembered.
func TestTraceReadsLittle(t *testing.T) {
	const messages = 8_000
	dir := t.TempDir()
	writeHour(t, dir, messages, 3<<20)
	logs := &logfile.Logs{}
	f := func(q Trace, least, most int, mib int64, cut bool) {
		t.Helper()
		q.Logs = logs
		lines, err := q.Trace(t.Context(), dir)
		if err != nil || len(lines) < least || len(lines) > most || q.Cut != cut || q.Read > mib<<20 {
			t.Errorf("%+v: %v, %d lines, %d octets were read", q, err, len(lines), q.Read)
		}
	}
	all := func() {
		t.Helper()
		f(Trace{Number: "46710004000"}, 8, 8, 3, false)
		f(Trace{ID: fmt.Sprintf("%016x", hourStart().UnixMicro()+4000)}, 8, 8, 3, false)
		f(Trace{ID: "A0000FA0"}, 8, 8, 3, false) // the SMSC's id of the same message
		f(Trace{Number: "46999999999"}, 0, 0, 1, false)
		f(Trace{Number: "46700000001", Most: 20}, 100, 240, 3, true)
		f(Trace{Account: "acme", Most: 20}, 100, 160, 3, true)
		f(Trace{Most: 20}, 100, 160, 3, true)
		f(Trace{Failed: true}, 0, 0, 1, false)
	}
	f(Trace{Number: "46710004000"}, 8, 8, 64, false) // it makes the index
	all()
	for _, name := range []string{"clients", "telia"} {
		file := mustOpen(t, dir, name, Options{Options: logfile.Options{Compress: true}, Log: zerolog.New(t.Output())})
		testutil.Eventually(t, "the files are compressed", func() bool {
			plain, _ := filepath.Glob(filepath.Join(dir, name+"-*.log"))
			return len(plain) == 0
		})
		mustClose(t, file)
	}
	all()
	logs = &logfile.Logs{}
	f(Trace{Number: "46710004000"}, 8, 8, 16, false) // of the files that are not full yet it makes the index
	all()
}

// An SMSC's ids may begin again. Then its PDUs about another message, or earlier ones, are no part of a story. Messages
// to the same number are distinguished by the time.
func TestTraceOfIDsThatBeginAgain(t *testing.T) {
	dir := t.TempDir()
	var log strings.Builder
	for n, to := range []string{"46700000001", "46700000002", "46700000001"} {
		at := func(s int) string { return hourStart().Add(time.Duration(3600*n+s) * time.Second).Format(timeLayout) }
		fmt.Fprintf(&log, "%s telia/1 > submit_sm seq=5 destination_addr=%s id=%016x account=a%d\n", at(0), to, 0xa0+n, n)
		fmt.Fprintf(&log, "%s telia/1 < submit_sm_resp seq=5 status=0 message_id=7 id=%016x account=a%d\n", at(1), 0xa0+n, n)
		fmt.Fprintf(&log, "%s telia/1 < deliver_sm seq=%d source_addr=%s short_message=\"id:7 stat:DELIVRD\"\n", at(2), 9+n, to)
		fmt.Fprintf(&log, "%s telia/1 > deliver_sm_resp seq=%d status=0 id=%016x\n", at(3), 9+n, 0xb0+n)
	}
	mustWrite(t, filepath.Join(dir, "telia.log"), log.String())
	all := strings.SplitAfter(log.String(), "\n")
	for n := range 3 {
		lines, err := (&Trace{ID: fmt.Sprintf("%016x", 0xa0+n)}).Trace(t.Context(), dir)
		got := ""
		for _, line := range lines {
			got += string(line) + "\n"
		}
		if want := strings.Join(all[4*n:4*n+4], ""); err != nil || got != want {
			t.Errorf("%v, got\n%swant\n%s", err, got, want)
		}
	}
}

// A file of an older version, which has no index, is read as it is.
func TestTraceWithoutIndex(t *testing.T) {
	dir := t.TempDir()
	writeHour(t, dir, 2_000, 1<<20)
	plain, _ := filepath.Glob(filepath.Join(dir, "*-*.log"))
	for _, path := range plain {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		z, err := zstd.NewWriter(nil)
		if err != nil {
			t.Fatal(err)
		}
		mustWrite(t, path+".zst", string(z.EncodeAll(b, nil)))
		os.Remove(path)
	}
	for n := range 5 {
		if lines, err := (&Trace{Number: fmt.Sprint(46710000000 + 400*n)}).Trace(t.Context(), dir); err != nil || len(lines) != 8 {
			t.Errorf("%d: %d lines, %v", n, len(lines), err)
		}
	}
}
