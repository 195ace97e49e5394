package http1

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"slices"
	"testing"
	"time"
)

func TestAppendAnswer(t *testing.T) {
	fields := AppendField(nil, "Content-Type", "text/plain")
	for _, want := range []struct {
		answer Answer
		octets string
	}{
		{Answer{Status: 202, Fields: fields, Body: []byte("ok")},
			"HTTP/1.1 202 Accepted\r\nDate: D\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok"},
		{Answer{Status: 200, Close: true}, "HTTP/1.1 200 OK\r\nDate: D\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"},
		{Answer{Status: 200, HTTP10: true}, "HTTP/1.0 200 OK\r\nDate: D\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n"},
		{Answer{Status: 200, HTTP10: true, Close: true}, "HTTP/1.0 200 OK\r\nDate: D\r\nContent-Length: 0\r\n\r\n"},
		{Answer{Status: 204, Body: []byte("no")}, "HTTP/1.1 204 No Content\r\nDate: D\r\n\r\n"},
		{Answer{Status: 304, Body: []byte("no")}, "HTTP/1.1 304 Not Modified\r\nDate: D\r\n\r\n"},
		{Answer{Status: 599}, "HTTP/1.1 599 status code 599\r\nDate: D\r\nContent-Length: 0\r\n\r\n"},
	} {
		want.answer.Date = []byte("D")
		if got := string(AppendAnswer([]byte("before "), &want.answer)); got != "before "+want.octets {
			t.Errorf("%+v\n got %q\nwant %q", want.answer, got, want.octets)
		}
	}
}

// net/http reads each answer back, and another one behind it.
func TestAnswersReadBack(t *testing.T) {
	var d Date
	now := time.Unix(1_796_140_800, 0)
	for status := 200; status < 600; status++ {
		for _, body := range []string{"", "x", string(bytes.Repeat([]byte("abc\r\n\r\n"), 10_000))} {
			fields := AppendField(nil, "X-A", "1, 2")
			fields = AppendField(fields, "x-b", []byte(""))
			fields = AppendField(fields, "X-A", "3")
			a := &Answer{Status: status, Date: d.At(now), Fields: fields, Body: []byte(body)}
			in := bufio.NewReader(bytes.NewReader(AppendAnswer(AppendAnswer(nil, a), a)))
			for range 2 {
				checkReadBack(t, in, a)
			}
			if rest, err := io.ReadAll(in); len(rest) > 0 || err != nil {
				t.Fatalf("%d: %d octets behind the answers, %v", status, len(rest), err)
			}
		}
	}
}

func checkReadBack(t *testing.T, in *bufio.Reader, want *Answer) {
	t.Helper()
	a, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	if want.Status == 204 || want.Status == 304 {
		want.Body = nil
	} else if a.ContentLength != int64(len(want.Body)) {
		t.Errorf("%d: length %d of %d", want.Status, a.ContentLength, len(want.Body))
	}
	if a.StatusCode != want.Status || !bytes.Equal(body, want.Body) || a.Close || a.Header.Get("Date") != string(want.Date) ||
		!slices.Equal(a.Header["X-A"], []string{"1, 2", "3"}) || !slices.Equal(a.Header["X-B"], []string{""}) {
		t.Errorf("%d: %+v, body of %d octets", want.Status, a, len(body))
	}
}

// No value of a field ends its line.
func TestAppendField(t *testing.T) {
	for value, want := range map[string]string{
		"": "before A: \r\n", "b": "before A: b\r\n", "b\r\nSet-Cookie: c": "before A: b  Set-Cookie: c\r\n", "\n": "before A:  \r\n",
	} {
		if got := string(AppendField([]byte("before "), "A", value)); got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
		if got := string(AppendField([]byte("before "), "A", []byte(value))); got != want {
			t.Errorf("octets %q: %q, want %q", value, got, want)
		}
	}
}

func TestDate(t *testing.T) {
	var d Date
	start := time.Date(2026, 12, 1, 23, 59, 58, 5e8, time.FixedZone("", -3600))
	for _, after := range []time.Duration{0, 400 * time.Millisecond, 600 * time.Millisecond, time.Second, 36 * time.Hour, 0} {
		now := start.Add(after)
		if got, want := string(d.At(now)), now.UTC().Format(http.TimeFormat); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got := string(new(Date).At(time.Unix(0, 0))); got != "Thu, 01 Jan 1970 00:00:00 GMT" {
		t.Errorf("the first second: %s", got)
	}
}
