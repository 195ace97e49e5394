package http1

import (
	"testing"
	"time"
)

// kannelGet is a request of sendsms as ab sends it.
const kannelGet = "GET /cgi-bin/sendsms?username=load&password=secret&from=1234&to=491710000001&text=Hello+world%2C+how+are+you" +
	"&dlr-mask=31&dlr-url=http%3A%2F%2F127.0.0.1%3A9000%2Fdlr%3Fid%3D%25d HTTP/1.1\r\n" +
	"Host: 127.0.0.1:8080\r\nUser-Agent: ApacheBench/2.3\r\nAccept: */*\r\n\r\n"

// A request and its answer allocate nothing, nor do octets that are no request or the beginning of one.
func TestAllocations(t *testing.T) {
	var r Request
	var d Date
	var out, fields []byte
	id, body := []byte("r1-ABCDEFGHIJ"), []byte("0: Accepted for delivery")
	now := time.Date(2026, 12, 1, 16, 0, 0, 0, time.UTC)
	for _, octets := range []string{
		kannelGet, post + "Content-Length: 3\r\nConnection: close\r\n\r\nabc", kannelGet[:len(kannelGet)-1], "HEAD" + kannelGet,
	} {
		b := []byte(octets)
		visited := 0
		once := func() {
			if n, isForeign := Extent(b); isForeign || n > len(b) || !Read(&r, b[:n]) {
				return
			}
			value, n := r.Field("host")
			visited = len(value) + n
			for name := range r.Fields {
				visited += len(name)
			}
			now = now.Add(time.Second)
			fields = AppendField(fields[:0], "Content-Type", "text/html")
			fields = AppendField(fields, "Request-Id", id)
			out = AppendAnswer(out[:0], &Answer{Status: 202, Date: d.At(now), Fields: fields, Body: body, Close: r.Close})
			r.Reset()
		}
		once()
		if n := testing.AllocsPerRun(100, once); n != 0 {
			t.Errorf("%q: %v allocations", b, n)
		}
		if isTaken := b[0] != 'H' && b[len(b)-1] != '\r'; isTaken != (visited > 0) {
			t.Errorf("%q: %d octets of fields were visited", b, visited)
		}
	}
}

func BenchmarkRequest(b *testing.B) {
	octets := []byte(kannelGet)
	var r Request
	b.SetBytes(int64(len(octets)))
	for b.Loop() {
		if n, isForeign := Extent(octets); isForeign || !Read(&r, octets[:n]) {
			b.Fatal("the request is not taken")
		}
	}
}

func BenchmarkAnswer(b *testing.B) {
	var d Date
	var out, fields []byte
	now, body := time.Date(2026, 12, 1, 16, 0, 0, 0, time.UTC), []byte("0: Accepted for delivery")
	for b.Loop() {
		fields = AppendField(fields[:0], "Content-Type", "text/html")
		out = AppendAnswer(out[:0], &Answer{Status: 202, Date: d.At(now), Fields: fields, Body: body})
	}
}
