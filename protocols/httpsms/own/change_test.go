package own

import (
	"testing"
	"time"

	"pmg/protocols"
	"pmg/sms"
)

// waiting returns a message that waits, for an hour.
func waiting(flags sms.Flags) *sms.Message {
	m := &sms.Message{Alphabet: sms.Default, Flags: flags, Expires: noon.Add(time.Hour).UnixNano()}
	m.Set(sms.Address{Addr: []byte("1234")}, sms.Address{Addr: []byte("46700000001")}, []byte("hello"))
	m.SetNative(protocols.HTTP, []byte("context"))
	return m
}

// A change leaves what it does not name.
func TestChange(t *testing.T) {
	t.Parallel()
	f := func(body string, flags sms.Flags, code sms.Code, text string, deliver, expires time.Duration) {
		t.Helper()
		c, p := new(Reader).Change([]byte(body), noon)
		if p != nil {
			t.Fatalf("%s: %+v", body, p)
		}
		m := waiting(flags)
		after := func(at int64) time.Duration {
			if at == 0 {
				return 0
			}
			return time.Unix(0, at).Sub(noon)
		}
		if got := c.Apply(noon.UnixNano(), m); got != code || string(m.Text()) != text || after(m.DeliverAt) != deliver || after(m.Expires) != expires || string(m.Native(protocols.HTTP)) != "context" {
			t.Errorf("%s: %s, %q, %s, %s, %q", body, got, m.Text(), after(m.DeliverAt), after(m.Expires), m.Native(protocols.HTTP))
		}
	}
	f(`{"text":"new text"}`, 0, sms.OK, "new text", 0, time.Hour)
	f(`{"text":"\u041f"}`, 0, sms.OK, "\x04\x1f", 0, time.Hour)
	f(`{"text":"new"}`, sms.HasHeader, sms.BadLength, "hello", 0, time.Hour)
	f(`{"send_at":"2026-11-23T12:30:00Z"}`, sms.HasHeader, sms.OK, "hello", 30*time.Minute, time.Hour)
	f(`{"send_at":"2026-11-23T13:30:00Z"}`, 0, sms.BadValidity, "hello", 0, time.Hour)
	f(`{"send_at":"2026-11-23T13:30:00Z","validity":"1h"}`, 0, sms.OK, "hello", 90*time.Minute, 150*time.Minute)
	f(`{"expires_at":"2026-11-23T12:10:00Z"}`, 0, sms.OK, "hello", 0, 10*time.Minute)
}

func TestChangeRefused(t *testing.T) {
	t.Parallel()
	f := func(body, kind, pointer string) {
		t.Helper()
		_, p := new(Reader).Change([]byte(body), noon)
		if p == nil || p.Type != "/problems/"+kind || pointer != "-" && (len(p.Errors) != 1 || p.Errors[0].Pointer != pointer) {
			t.Errorf("%s: %+v", body, p)
		}
	}
	f(`{`, "malformed-json", "-")
	f(`{"text":"a"} x`, "malformed-json", "-")
	f(`{}`, "invalid-message", "")
	f(`[]`, "invalid-message", "-")
	f(`{"to":"1"}`, "invalid-message", "/to")
	f(`{"text":7}`, "invalid-message", "/text")
	f(`{"encoding":"ucs2"}`, "invalid-message", "/encoding")
	f(`{"text":"\u041f","encoding":"gsm7"}`, "invalid-message", "/text")
	f(`{"send_at":"noon"}`, "invalid-message", "/send_at")
}
