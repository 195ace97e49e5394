package http1

import (
	"net/http"
	"strconv"
	"time"
)

// An Answer is an answer to a Request.
type Answer struct {
	Status int    // from 200 on
	Date   []byte // time of the answer, as Date.At returns it
	Fields []byte // field lines, as AppendField writes them
	Body   []byte // the answer needs a Content-Type in Fields, too: unlike net/http, the package does not guess one
	Close  bool   // the connection is closed after the answer: Request.Close, or a decision of the caller
	HTTP10 bool   // the request was of HTTP/1.0
}

// AppendAnswer appends an answer, with the fields Date, Content-Length and Connection as net/http writes them. An answer that may
// have no body, with the status 204 or 304, has no Content-Length either.
func AppendAnswer(b []byte, a *Answer) []byte {
	if a.HTTP10 {
		b = append(b, "HTTP/1.0 "...)
	} else {
		b = append(b, "HTTP/1.1 "...)
	}
	b = strconv.AppendInt(b, int64(a.Status), 10)
	b = append(b, ' ')
	if text := http.StatusText(a.Status); text != "" {
		b = append(b, text...)
	} else {
		b = append(b, "status code "...)
		b = strconv.AppendInt(b, int64(a.Status), 10)
	}
	b = append(b, "\r\nDate: "...)
	b = append(b, a.Date...)
	b = append(b, "\r\n"...)
	b = append(b, a.Fields...)
	hasBody := a.Status != 204 && a.Status != 304
	if hasBody {
		b = append(b, "Content-Length: "...)
		b = strconv.AppendInt(b, int64(len(a.Body)), 10)
		b = append(b, "\r\n"...)
	}
	switch {
	case a.Close && !a.HTTP10: // HTTP/1.0 closes unless the answer says otherwise
		b = append(b, "Connection: close\r\n"...)
	case a.HTTP10 && !a.Close:
		b = append(b, "Connection: keep-alive\r\n"...)
	}
	b = append(b, "\r\n"...)
	if hasBody {
		b = append(b, a.Body...)
	}
	return b
}

// AppendField appends a field line. As net/http does, it writes blanks for line ends, so that no value can add a line.
func AppendField[T string | []byte](b []byte, name string, value T) []byte {
	b = append(b, name...)
	b = append(b, ": "...)
	from := len(b)
	b = append(b, value...)
	for i, c := range b[from:] {
		if c == '\r' || c == '\n' {
			b[from+i] = ' '
		}
	}
	return append(b, "\r\n"...)
}

// A Date formats the time of answers, once a second. The zero value is ready. It belongs to one goroutine.
type Date struct {
	second int64
	text   []byte
}

// At returns the time now for Answer.Date. The result is valid until the next call.
func (d *Date) At(now time.Time) []byte {
	if second := now.Unix(); len(d.text) == 0 || second != d.second {
		d.second = second
		d.text = now.UTC().AppendFormat(d.text[:0], "Mon, 02 Jan 2006 15:04:05 GMT")
	}
	return d.text
}
