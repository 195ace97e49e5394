package httpsink

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

func FuzzReadMessage(f *testing.F) {
	f.Add([]byte(`{"from":"Shop","to":"+467","text":"hello","receipt":"all","callback_url":"http://a/","client_reference":"r","deduplicate":true}`))
	f.Add([]byte(`{"to":"467","binary":"QUI="}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		m, err := readMessage(body)
		if err == nil && (m.To == "" || len(m.To) > maxName || len(m.Reference) > maxName) {
			t.Errorf("%+v", m)
		}
	})
}

func FuzzReadSendsms(f *testing.F) {
	f.Add("username=a&password=b&to=467&text=c&dlr-mask=31&dlr-url=http%3A%2F%2Fa%2F%3Ftype%3D%25d")
	f.Fuzz(func(t *testing.T, query string) {
		q, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		m, err := readSendsms(q)
		if err == nil && (m.To == "" || len(m.To) > maxName || len(m.username) > maxName) {
			t.Errorf("%+v", m)
		}
	})
}

func FuzzFill(f *testing.F) {
	f.Add("http://a/?type=%d&to=%p&%25%")
	f.Fuzz(func(t *testing.T, template string) {
		filled := fill(template, "1", "stat:DELIVRD", "2", &message{From: "3", To: "4"}, time.Unix(0, 0))
		if strings.Contains(filled, "%d") && !strings.Contains(template, "%%") {
			t.Errorf("%q becomes %q", template, filled)
		}
		if !strings.Contains(template, "%") && filled != template {
			t.Errorf("%q becomes %q", template, filled)
		}
	})
}

func FuzzReadEvents(f *testing.F) {
	f.Add("b1", []byte(`{"type":"batch","data":[{"id":"e1","type":"a","data":{"id":"1"}}]}`))
	f.Fuzz(func(t *testing.T, id string, body []byte) {
		all, err := readEvents(id, body)
		if err != nil {
			return
		}
		for _, e := range all {
			if e.Type == "" || len(e.ID) > maxName || len(all) > maxEvents {
				t.Errorf("%+v", all)
			}
		}
	})
}

func FuzzSigned(f *testing.F) {
	f.Add("1614265330", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE= v1a,AAAA")
	k, err := readKey("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSx")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, timestamp, signature string) {
		h := http.Header{"Webhook-Id": {"id"}, "Webhook-Timestamp": {timestamp}, "Webhook-Signature": {signature}}
		if k.signed(h, []byte("{}"), time.Unix(1614265330, 0)) {
			t.Error("it is signed by chance")
		}
	})
}
