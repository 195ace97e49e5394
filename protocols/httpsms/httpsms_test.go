package httpsms

import (
	"reflect"
	"strings"
	"testing"

	"pmg/protocols"
	"pmg/sms"
)

// An order becomes a message with its addresses, its text behind the header, and what its client gets back.
func TestOrder(t *testing.T) {
	t.Parallel()
	o := Order{From: "Shop", To: "+46700000001", Header: []byte{2, 0x70, 0}, Text: []byte("hi"), Alphabet: sms.Binary, Notify: sms.NotifySuccess,
		Context: Context{Dialect: Kannel, Reference: "order 7", URL: "https://crm.example.net/dlr?id=7", Fields: []Field{{Name: Mask, Value: "31"}, {Name: Service, Value: "shop"}}}}
	var m sms.Message
	if code := o.Fill(&m); code != sms.OK {
		t.Fatal(code)
	}
	if s := m.Source(); string(s.Addr) != "Shop" || s.TON != 5 || s.NPI != 0 {
		t.Errorf("from %v", s)
	}
	if d := m.Dest(); string(d.Addr) != "46700000001" || d.TON != 1 || d.NPI != 1 || Number(d) != "+46700000001" {
		t.Errorf("to %v", d)
	}
	if string(m.Text()) != "\x02\x70\x00hi" || m.Flags != sms.HasHeader || m.Protocol() != protocols.HTTP {
		t.Errorf("text %q, flags %d, protocol %d", m.Text(), m.Flags, m.Protocol())
	}
	if c, ok := sms.ReadContext(m.Context()); !ok || !reflect.DeepEqual(c, o.Context) || c.Get(Service) != "shop" || c.Get(Batch) != "" {
		t.Errorf("context %+v", c)
	}
}

func TestOrderRefused(t *testing.T) {
	t.Parallel()
	f := func(o Order, want sms.Code) {
		t.Helper()
		var m sms.Message
		if code := o.Fill(&m); code != want {
			t.Errorf("%+v: %s, want %s", o, code, want)
		}
	}
	f(Order{To: "46700000001"}, sms.OK) // rules may give it a sender
	f(Order{From: "twelve chars", To: "1"}, sms.BadSource)
	f(Order{From: "+Shop", To: "1"}, sms.BadSource)
	f(Order{From: "1"}, sms.BadDestination)
	f(Order{From: "1", To: "+"}, sms.BadDestination)
	f(Order{From: "1", To: "4670 0"}, sms.BadDestination)
	f(Order{From: "1", To: strings.Repeat("1", 21)}, sms.BadDestination)
	f(Order{From: "1", To: "2", Header: []byte{5, 0}}, sms.BadParameter)
	f(Order{From: "1", To: "2", Text: make([]byte, maxText+1)}, sms.BadLength)
}

// Ids are read in both of their forms, and nothing else is.
func TestIDs(t *testing.T) {
	t.Parallel()
	for _, id := range []uint64{1, 0x1a1fb0c12c230d41, 1<<64 - 1} {
		for _, text := range []string{sms.FormatID(id), UUID(id), strings.ToUpper(UUID(id))} {
			if got, err := ParseID(text); err != nil || got != id {
				t.Errorf("%s: %x, %v", text, got, err)
			}
		}
	}
	for _, text := range []string{"", "7", "07033084-5cfd-4812-90a4-e4d24ffb6e3d", "1a1fb0c1-2c23-80d4-8001-706d67000001", "1a1fb0c1-2c23-80d4-8001-706d6700000", "----" + UUID(1)[:32]} {
		if id, err := ParseID(text); err == nil {
			t.Errorf("%q is %x", text, id)
		}
	}
}

// The log's lines of different requests differ, and texts are hidden where they must be.
func TestPDULog(t *testing.T) {
	t.Parallel()
	var p PDU
	p.Begin(Submit, 7, 0)
	p.Add("path", "/v1/messages")
	p.Add("from", "")
	p.AddText("text", []byte("hello"))
	if got := string(p.AppendLog(nil, true)); got != `http_submit seq=7 path="/v1/messages" text="hello"` {
		t.Error(got)
	}
	if got := string(p.AppendLog(nil, false)); strings.Contains(got, "hello") {
		t.Error(got)
	}
	p.Begin(SubmitAnswer, 7, 202)
	if got := string(p.AppendLog(nil, true)); got != `http_submit_resp seq=7 status=0(202-Accepted)` || !p.IsAnswer() {
		t.Error(got)
	}
	var q PDU
	if err := New().ParseLog(&q, []byte(`http_submit seq=7 from=Shop text="p\xc3\xa5 \"x"`)); err != protocols.ErrHidden {
		t.Error(err)
	}
	if text, ok := q.Text(); !ok || string(text.Octets) != `på "x` {
		t.Errorf("%q, %t", text.Octets, ok)
	}
	if err := New().ParseLog(&q, []byte(`http_submit_resp seq=7 status=0(202-Accepted)`)); err != protocols.ErrHidden || q.Kind != SubmitAnswer || q.Number != 7 {
		t.Errorf("%v, %+v", err, q)
	}
}

// A password of pages that no dialect of the connector has is a mistake.
func TestStatusPassword(t *testing.T) {
	t.Parallel()
	o := NewConnectorOptions()
	if o.CheckLogin("", "") != nil {
		t.Error("a connector without one is refused")
	}
	o.StatusPassword = "look"
	if p := o.CheckLogin("", ""); len(p) != 1 || p[0].Option != "status_password" || p[0].Warning {
		t.Errorf("%+v", p)
	}
	if o.Dialects = append(o.Dialects, "kannel"); o.CheckLogin("", "") != nil {
		t.Error("it is refused with the dialect")
	}
}

// Senders with control characters are refused, as SMSCs would read an empty one, or another; so are recipients that cannot be
// international.
func TestOrderAddresses(t *testing.T) {
	t.Parallel()
	for from, want := range map[string]sms.Code{
		"Shop": sms.OK, "Sh op": sms.OK, "Åäö": sms.OK, "": sms.OK, "+4670": sms.OK,
		"Sh\x00op": sms.BadSource, "\x00": sms.BadSource, "Sh\r\nop": sms.BadSource, "Sh\x1bop": sms.BadSource, "Sh\u009bop": sms.BadSource,
	} {
		var m sms.Message
		o := Order{From: from, To: "46700000001", Text: []byte("a")}
		if code := o.Fill(&m); code != want {
			t.Errorf("from %q: %v, want %v", from, code, want)
		}
	}
	for to, want := range map[string]sms.Code{"+46700000001": sms.OK, "0701234567": sms.OK, "+0701234567": sms.BadDestination, "+": sms.BadDestination} {
		var m sms.Message
		o := Order{From: "1", To: to, Text: []byte("a")}
		if code := o.Fill(&m); code != want {
			t.Errorf("to %q: %v, want %v", to, code, want)
		}
	}
}
