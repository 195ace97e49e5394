package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/internal/testutil"
)

// Messages from mobiles are brought as Kannel and Jasmin bring them, until they are taken; what a server of Kannel's kind replies
// is sent to the mobile, once. Reports go where they went before.
func TestHTTPInboundForms(t *testing.T) {
	parallel(t)
	const mo = `deliver_sm seq=%d source_addr_ton=1 source_addr_npi=1 source_addr=46700000001 destination_addr=1234 short_message="vote 42"`
	for _, of := range []struct{ form, pattern, path, body, says, reply string }{
		{"kannel-get", "/mo?from=%p&to=%P&key=%k&rest=%r", "/mo?from=%2B46700000001&to=1234&key=vote&rest=42", "", "Thanks", "Thanks"},
		{"kannel-post", "/mo", "/mo", "vote 42", "", ""},
		{"jasmin-post", "/mo", "/mo", "content=vote+42", "ACK/Jasmin", ""},
		{"jasmin-get", "/mo?x=1", "/mo?x=1&binary=766f7465203432", "", "ACK/Jasmin", ""},
	} {
		t.Run(of.form, func(t *testing.T) {
			t.Parallel()
			h := newHook(t)
			h.answers(500)
			operator := newSMSC(t)
			g := start(t, site{
				operator: operator, store: vfs.NewMem(),
				more: `{name: api, direction: in, protocol: http, dialects: [pmg, kannel], address: "127.0.0.1:0", throttle_pause: 1ms, retry: {temporary: [10ms, repeat]}}`,
				accounts: fmt.Sprintf(`{system_id: api, password: s3cret, bind: [transmitter], webhook: "%s%s", webhook_form: %s, webhook_reply: %t}`,
					h.URL, of.pattern, of.form, of.reply != ""),
				routes: "{from: operator, to: {account: api}}\n{to: operator}",
			})
			smsc := operator.session()
			smsc.send(fmt.Sprintf(mo, 7))
			smsc.want("deliver_sm_resp", "status=0")
			testutil.Eventually(t, "it is tried again", func() bool { return len(h.at(of.path)) > 2 })
			for _, c := range h.at("/") {
				if !strings.Contains(c.body, of.body) {
					t.Errorf("%+v, want %q", c, of.body)
				}
			}
			h.say(of.says)
			h.answersAfresh(200)
			testutil.Eventually(t, "it is taken", func() bool { return len(h.at(of.path)) == 1 })
			if of.reply != "" {
				smsc.answer(0, field(smsc.want("submit_sm", "source_addr=1234", "destination_addr=46700000001", fmt.Sprintf("short_message=%q", of.reply)), "seq"))
			}
			g.settled()
			if n := len(h.at("/")); n != 1 || !smsc.silent("submit_sm") {
				t.Errorf("%d calls, or a reply too many", n)
			}
		})
	}
}
