package e2e

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"pmg/protocols"
	"pmg/protocols/httpsms"
	"pmg/protocols/ucp"
	"pmg/sms"
)

// ucpOverHTTP is a payload whose body is an operation 51 of UCP. The login is that of the query: name:password.
func ucpOverHTTP() *httpsms.Payload {
	driver := ucp.New(ucp.Options{})
	return &httpsms.Payload{
		Dialect: "pmg", Path: "/ucp",
		Read: func(r *httpsms.Request, s *httpsms.Submission) bool {
			p := driver.NewPDU()
			if n, err := driver.Frame(r.Body); err != nil || n != len(r.Body) || driver.Decode(p, r.Body) != nil {
				return false
			}
			m := new(sms.Message)
			if driver.NewSession(protocols.SessionOptions{}).Message(0, p, m) != sms.OK {
				return false
			}
			s.Name, s.Password, _ = strings.Cut(r.Query, ":")
			s.Order = httpsms.Order{
				From: httpsms.Number(m.Source()), To: httpsms.Number(m.Dest()), Text: m.Text(), Alphabet: m.Alphabet,
			}
			return true
		},
		Answer: func(_ *httpsms.Submission, r httpsms.Result) *httpsms.Answer {
			return &httpsms.Answer{Status: http.StatusOK, ContentType: "text/plain", Body: []byte(r.Code.String())}
		},
		Denied: func(*httpsms.Submission) *httpsms.Answer { return &httpsms.Answer{Status: http.StatusForbidden} },
		Busy:   func() *httpsms.Answer { return &httpsms.Answer{Status: http.StatusServiceUnavailable} },
	}
}

// Another payload is one row of the driver's table: here the submits of UCP, whose answers are the names of codes.
func TestPayloadOfUCP(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), more: withAPI}
	g := start(t, s)
	smsc := s.operator.session()
	d := ucp.New(ucp.Options{})
	p := d.NewPDU()
	if err := d.ParseLog(p, []byte("op51 seq=1 AdC=4670000001 OAdC=1234 MT=3 AMsg=hello")); err != nil {
		t.Fatal(err)
	}
	post := func(login string) (int, string) {
		client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // another login is for another connection
		r, err := client.Post("http://"+g.addr("api")+"/ucp?"+login, "text/plain", strings.NewReader(string(p.AppendWire(nil))))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		return r.StatusCode, string(b)
	}
	if status, body := post("acme:s3cret"); status != 200 || body != sms.OK.String() {
		t.Errorf("%d %s", status, body)
	}
	submit := smsc.want("submit_sm")
	if field(submit, "destination_addr") != "4670000001" || !strings.Contains(submit, `"hello"`) {
		t.Errorf("%s", submit)
	}
	smsc.answer(0, field(submit, "seq"))
	if status, _ := post("acme:wrong"); status != 403 {
		t.Errorf("a wrong password: %d", status)
	}
}

// A client that sends no more still gets its answer, also where the message must be stored first, and the one to half a request.
func TestHTTPHalfClosed(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), more: withKannel}
	g := start(t, s)
	s.operator.session().serveAll()
	whole := "GET /cgi-bin/sendsms?username=acme&password=s3cret&from=Shop&to=46700000001&text=a HTTP/1.1\r\nHost: x\r\n\r\n"
	for octets, want := range map[string]string{
		whole: "202", whole + whole: "202 202", whole + "GET /v1/nothing HTTP/1.1\r\nHost: x\r\n\r\n": "202 404",
		whole + whole[:20]: "202 400", whole[:20]: "400",
	} {
		c, err := net.Dial("tcp", g.addr("api"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprint(c, octets)
		if err := c.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(c)
		var got []string
		for _, line := range strings.Split(string(b), "\r\n") {
			if i := strings.Index(line, "HTTP/1.1 "); i >= 0 {
				got = append(got, line[i+9:i+12])
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %s", octets, b, want)
		}
	}
}
