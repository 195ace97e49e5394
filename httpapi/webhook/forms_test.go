package webhook

import (
	"fmt"
	"strings"
	"testing"

	"pmg/httpapi/apitest"
	"pmg/sms"
)

// Messages from mobiles are brought as Kannel and Jasmin bring them, until they are taken; what a server of Kannel's kind replies
// is sent to the mobile, once.
func TestInboundForms(t *testing.T) {
	t.Parallel()
	for _, of := range []struct{ form, pattern, method, path, body, says, reply string }{
		{"kannel-get", "/mo?from=%p&to=%P&key=%k&rest=%r", "GET", "/mo?from=%2B46700000001&to=1234&key=vote&rest=42", "", "Thanks", "Thanks"},
		{"kannel-post", "/mo", "POST", "/mo", "vote 42", "", ""},
		{"jasmin-post", "/mo", "POST", "/mo", "content=vote+42", "ACK/Jasmin", ""},
		{"jasmin-get", "/mo?x=1", "GET", "/mo?x=1&binary=766f7465203432", "", "ACK/Jasmin", ""},
	} {
		t.Run(of.form, func(t *testing.T) {
			t.Parallel()
			h := apitest.NewHook(t)
			h.Answers(500, "no", "Content-Type: text/plain")
			r := newRig(t, h, "", "{from: operator, to: {account: mo}}, {to: operator}", fmt.Sprintf(
				`{system_id: mo, password: secret, bind: [transmitter], webhook: "%s%s", webhook_form: %s, webhook_reply: %t}`, h.URL, of.pattern, of.form, of.reply != "",
			))
			r.SMSC.Deliver("vote 42")
			eventually(t, "it is tried again", func() bool { return len(h.Calls(of.path)) > 2 })
			h.Answers(200, of.says, "Content-Type: text/plain")
			eventually(t, "it is taken", func() bool { return len(h.Took(of.path)) == 1 })
			for _, c := range h.Calls() {
				if c.Method != of.method || !strings.HasPrefix(c.Path, of.path) || !strings.Contains(c.Body, of.body) {
					t.Errorf("%+v, want %+v", c, of)
				}
			}
			if of.reply != "" {
				one := r.SMSC.Take()
				if m := one.Message; string(m.Text()) != of.reply || string(m.Source().Addr) != "1234" || string(m.Dest().Addr) != "46700000001" {
					t.Errorf("%q from %s to %s", m.Text(), m.Source().Addr, m.Dest().Addr)
				}
				one.Answer(sms.OK, 0, "")
			}
			r.Settled()
			if n := len(h.Took()); n != 1 || !r.SMSC.Idle() {
				t.Errorf("%d calls were taken, or a reply is too much", n)
			}
		})
	}
}
