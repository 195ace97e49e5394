package logfile_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"pmg/internal/logfile"
	"pmg/pdulog"
)

// logLines returns lines of the pdu logs of messages with receipts, 64 MiB of them.
func logLines() (b []byte) {
	const request = "source_addr_ton=1 source_addr_npi=1 source_addr=46700000001 dest_addr_ton=1 dest_addr_npi=1 " +
		"destination_addr=%d registered_delivery=1 short_message=%q"
	const receipt = "source_addr=%d destination_addr=46700000001 esm_class=4 short_message=\"id:%X sub:001 dlvrd:001 " +
		"submit date:2611241000 done date:2611241000 stat:DELIVRD err:000 text:%s\"\n"
	words := strings.Fields("Your code is valid for ten minutes order has left parcel tomorrow between and thank you")
	random, at := rand.New(rand.NewPCG(1, 2)), time.Date(2026, 11, 24, 10, 0, 0, 0, time.UTC)
	for n := 0; len(b) < 64<<20; n++ {
		text := fmt.Sprint(random.IntN(1e6))
		for range 8 {
			text += " " + words[random.IntN(len(words))]
		}
		at = at.Add(time.Duration(random.IntN(2000)) * time.Microsecond)
		when, id, peer := at.Format("2006-01-02T15:04:05.000000Z"), at.UnixMicro(), 0xA0000000+n
		session, number := random.IntN(64), 46700000000+random.IntN(1e8)
		b = fmt.Appendf(b, "%s clients/%d < submit_sm seq=%d "+request+" account=acme\n", when, session, n, number, text)
		b = fmt.Appendf(b, "%s clients/%d > submit_sm_resp seq=%d status=0 message_id=%016x account=acme\n", when, session, n, id)
		b = fmt.Appendf(b, "%s operator/1 > submit_sm seq=%d "+request+" id=%016x account=acme\n", when, n, number, text, id)
		b = fmt.Appendf(b, "%s operator/1 < submit_sm_resp seq=%d status=0 message_id=%X id=%016x account=acme\n", when, n, peer, id)
		b = fmt.Appendf(b, "%s operator/1 < deliver_sm seq=%d "+receipt, when, n, number, peer, text[:20])
		b = fmt.Appendf(b, "%s operator/1 > deliver_sm_resp seq=%d status=0 message_id=\"\" id=%016x\n", when, n, id+1<<32)
	}
	return b
}

// BenchmarkPack shows what compressing a file costs: as one stream, in blocks that can be read apart, and in blocks with
// their keys.
func BenchmarkPack(b *testing.B) {
	lines := logLines()
	for _, c := range []struct {
		name string
		keys logfile.Keyer
	}{
		{"stream", nil},
		{"blocks", func(_ []byte, keys []uint64) ([]uint64, int64) { return keys, 1 }},
		{"keys", pdulog.AppendKeys},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(lines)))
			var size counter
			for b.Loop() {
				size = 0
				w, err := logfile.NewWriter(&size, c.keys)
				if err != nil {
					b.Fatal(err)
				}
				for rest := lines; len(rest) > 0; {
					n := min(len(rest), 1<<20)
					if _, err := w.Write(rest[:n]); err != nil {
						b.Fatal(err)
					}
					rest = rest[n:]
				}
				if err := w.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(size)/float64(len(lines)), "size/size")
		})
	}
}

// A counter counts octets.
type counter int

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}
