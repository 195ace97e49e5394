package story

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pmg/gateway/operate"
)

// write makes a directory with files.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// words returns a story in short.
func words(s *Story) string {
	all := []string{fmt.Sprintf("%s %s %s>%s", s.ID[14:], s.Account, s.Source, s.Destination)}
	for _, one := range s.Steps {
		all = append(all, strings.TrimRight(fmt.Sprintf("%s %s/%d %d %s%s", one.What, one.Connector, one.Instance, one.Status.Value, one.PeerID, one.State), " "))
	}
	return strings.Join(all, ", ")
}

const clientsLog = `2026-11-20T10:00:00.000000Z clients/1 < submit_sm seq=1 source_addr=acme destination_addr=0700000002 short_message="hi" account="a b"
2026-11-20T10:00:00.000001Z clients/1 > submit_sm_resp seq=1 status=0 message_id=00000000000000a1 account="a b"
2026-11-20T10:00:07.000000Z clients/1 > deliver_sm seq=1 esm_class=4 source_addr=0700000002 short_message="id:00000000000000a1 stat:DELIVRD" id=00000000000000b1 account="a b"
2026-11-20T10:00:07.500000Z clients/1 < deliver_sm_resp seq=1 status=0 id=00000000000000b1 account="a b"
2026-11-20T10:01:00.000002Z clients/1 > deliver_sm seq=2 source_addr=46700000002 destination_addr=71000 short_message="yes" id=00000000000000a2
`

const operatorLog = `2026-11-20T10:00:01.000000Z operator/2 > submit_sm seq=5 source_addr=acme destination_addr=46700000002 id=00000000000000a1 account="a b"
2026-11-20T10:00:01.500000Z operator/2 < submit_sm_resp seq=5 status=0x58(ESME_RTHROTTLED) id=00000000000000a1 account="a b"
2026-11-20T10:00:02.000000Z operator/1 > submit_sm seq=6 source_addr=acme destination_addr=46700000002 id=00000000000000a1 account="a b"
2026-11-20T10:00:02.500000Z operator/1 < submit_sm_resp seq=6 status=0 message_id=1F id=00000000000000a1 account="a b"
2026-11-20T10:00:06.000000Z operator/1 < deliver_sm seq=7 source_addr=46700000002 destination_addr=acme short_message="id:31 stat:DELIVRD"
2026-11-20T10:00:06.000001Z operator/1 > deliver_sm_resp seq=7 status=0 id=00000000000000b1
2026-11-20T10:01:00.000000Z operator/1 < deliver_sm seq=8 source_addr=46700000002 destination_addr=71000 short_message="yes"
2026-11-20T10:01:00.000001Z operator/1 > deliver_sm_resp seq=8 status=0 id=00000000000000a2
`

// A message that the gateway has refused has a story, too, without an id: the log line of its answer says why.
func TestRefused(t *testing.T) {
	t.Parallel()
	f := Finder{Most: 9, Dir: write(t, map[string]string{
		"clients.log": `2026-11-20T10:00:00.000000Z clients/1 < submit_sm seq=1 source_addr=acme destination_addr=46700000002 short_message="hi" account=shop
2026-11-20T10:00:00.000001Z clients/1 > submit_sm_resp seq=1 status=0x58(ESME_RTHROTTLED) reason=no_credit(credit) account=shop
2026-11-20T10:00:01.000000Z clients/1 < submit_sm seq=2 source_addr=acme destination_addr=46700000002 short_message="hi" account=shop
2026-11-20T10:00:01.000001Z clients/1 > submit_sm_resp seq=2 status=0x58(ESME_RTHROTTLED) reason=throttled(opt_out) account=shop
`,
		"ucp.log": `2026-11-20T10:00:02.000000Z ucp/1 < op51 seq=1 AdC=46700000002 OAdC=acme account=shop
2026-11-20T10:00:02.000001Z ucp/1 > op51_result seq=1 status=4(ERR) reason=blocked(lists) account=shop
`,
		"api.log": `2026-11-20T10:00:03.000000Z api/1 < http_submit seq=9 method=POST from=acme to=46700000002 account=shop
2026-11-20T10:00:03.000001Z api/1 > http_submit_resp seq=9 status=402 reason=queue_full account=shop
`,
		"operator.log": `2026-11-20T10:00:04.000000Z operator/1 < deliver_sm seq=8 source_addr=46700000002 destination_addr=71000 short_message="yes"
2026-11-20T10:00:04.000001Z operator/1 > deliver_sm_resp seq=8 status=0x58(ESME_RTHROTTLED) reason=bad_destination(route)
`})}
	for _, q := range []Query{{What: "+46700000002"}, {Failed: true}} {
		found, err := f.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, s := range found.Stories {
			all = append(all, s.ID+s.Headline(s.Steps[0].At, nil))
			if s.Outcome() != Failed || s.IsOpen() || s.Destination == "" {
				t.Errorf("%+v", s)
			}
		}
		if got, want := strings.Join(all, "\n"), `Refused: no credit (to shop 10:00:00).
Refused: throttled (opt out) (to shop 10:00:01).
Refused: blocked (lists) (to shop 10:00:02).
Refused: queue full (to shop 10:00:03).
Refused: bad destination (route) (to operator 10:00:04).`; got != want {
			t.Errorf("%+v: got\n%s\nwant\n%s", q, got, want)
		}
	}
}

// Each recipient that is refused of a message to several has a story, and each number of them finds it.
func TestRefusedRecipients(t *testing.T) {
	t.Parallel()
	f := Finder{Most: 9, Dir: write(t, map[string]string{
		"clients.log": `2026-11-20T10:00:00.000000Z clients/1 < submit_multi seq=1 source_addr=acme number_of_dests=4 dest_flag=1 destination_addr=46700000001 dest_flag=1 dest_flag=1 destination_addr=46700000002 dest_flag=1 destination_addr=46700000003 short_message="hi" account=shop
2026-11-20T10:00:00.000001Z clients/1 > submit_multi_resp seq=1 status=0 message_id=00000000000000a1 no_unsuccess=3 destination_addr=46700000001 error_status_code=0xb(ESME_RINVDSTADR) error_status_code=0xb(ESME_RINVDSTADR) destination_addr=46700000003 error_status_code=0x58(ESME_RTHROTTLED) reason=bad_destination(route),bad_destination(read),throttled(opt_out) account=shop
2026-11-20T10:00:01.000000Z clients/1 < submit_multi seq=2 source_addr=acme number_of_dests=2 dest_flag=1 destination_addr=46700000001 dest_flag=2 dl_name=friends short_message="hi" account=shop
2026-11-20T10:00:01.000001Z clients/1 > submit_multi_resp seq=2 status=0x58(ESME_RTHROTTLED) reason=throttled(flood),bad_destination(read) account=shop
`})}
	for what, want := range map[string]string{
		"+46700000001": "46700000001 bad destination (route), 46700000003 throttled (opt out), 00000000000000a1 46700000002 , " +
			"46700000001 throttled (flood), friends bad destination (read)",
		"+46700000003": "46700000001 bad destination (route), 46700000003 throttled (opt out), 00000000000000a1 46700000002 ",
		"+46700000004": "",
		"": "46700000001 bad destination (route), 46700000003 throttled (opt out), " +
			"46700000001 throttled (flood), friends bad destination (read)", // the latest that have failed
	} {
		found, err := f.Search(t.Context(), Query{What: what, Failed: what == ""})
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, s := range found.Stories {
			all = append(all, strings.TrimSpace(s.ID+" "+s.Destination)+" "+s.Steps[0].Reason)
		}
		if got := strings.Join(all, ", "); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", what, got, want)
		}
	}
}

// What a client asks about a message is no message, and what becomes of that is not changed by it; a refusal says why.
func TestOperations(t *testing.T) {
	t.Parallel()
	f := Finder{Most: 9, Dir: write(t, map[string]string{
		"clients.log": clientsLog + `2026-11-20T11:00:00.000000Z clients/1 < cancel_sm seq=11 message_id=00000000000000a1 source_addr=acme destination_addr=0700000002 account="a b"
2026-11-20T11:00:00.000001Z clients/1 > cancel_sm_resp seq=11 status=0x11(ESME_RCANCELFAIL) reason=rejected id=00000000000000a1 account="a b"
2026-11-20T11:00:01.000000Z clients/1 < replace_sm seq=12 message_id=00000000000000a1 source_addr=acme account="a b"
2026-11-20T11:00:01.000001Z clients/1 > replace_sm_resp seq=12 status=0x13(ESME_RREPLACEFAIL) reason=no_price(credit) id=00000000000000a1 account="a b"
2026-11-20T11:00:02.000000Z clients/1 < query_sm seq=13 message_id=00000000000000a1 source_addr=acme account="a b"
2026-11-20T11:00:02.000001Z clients/1 > query_sm_resp seq=13 status=0 message_id=00000000000000a1 message_state=2 account="a b"
2026-11-20T11:00:03.000000Z clients/1 < cancel_sm seq=14 source_addr=acme destination_addr=0700000002 account="a b"
2026-11-20T11:00:03.000001Z clients/1 > cancel_sm_resp seq=14 status=0x11(ESME_RCANCELFAIL) reason=throttled(rate) account="a b"
`,
		"operator.log": operatorLog + `2026-11-20T11:00:02.000000Z operator/1 > query_sm seq=7 message_id=1F source_addr=acme id=00000000000000a1 account="a b"
2026-11-20T11:00:02.000001Z operator/1 < query_sm_resp seq=7 status=0x67(ESME_RQUERYFAIL) id=00000000000000a1 account="a b"
`,
		"api.log": `2026-11-20T11:01:00.000000Z api/1 < http_request seq=9 method=DELETE path=/v1/messages/00000000000000a1 account="a b"
2026-11-20T11:01:00.000001Z api/1 > http_request_resp seq=9 status=409 reason=rejected id=00000000000000a1 account="a b"
`})}
	found, err := f.Search(t.Context(), Query{What: "00000000000000a1"})
	if err != nil || len(found.Stories) != 1 || found.Stories[0].Outcome() != Delivered {
		t.Fatalf("%v %+v", err, found)
	}
	var last []string
	for _, s := range found.Stories[0].Steps[8:] {
		last = append(last, s.Says())
	}
	if got, want := strings.Join(last, "\n"), `cancel_sm of a b refused: rejected
replace_sm of a b refused: no price (credit)
http_request of a b refused: rejected`; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, q := range []Query{{What: "+46700000002"}, {Failed: true}} {
		found, err := f.Search(t.Context(), q)
		if want := map[bool]int{false: 2, true: 0}[q.Failed]; err != nil || len(found.Stories) != want {
			t.Errorf("%+v: %v, %d stories", q, err, len(found.Stories))
		}
	}
}

// The steps of a message have who, what and where, and its addresses are those that its client gave it. A message of an SMSC has a
// story too, and a receipt has none of its own.
func TestSteps(t *testing.T) {
	t.Parallel()
	f := Finder{Dir: write(t, map[string]string{"clients.log": clientsLog, "operator.log": operatorLog}), Most: 9,
		Waiting: func(_ context.Context, ids []uint64) []operate.StoredMessage {
			if len(ids) != 2 {
				t.Errorf("asked for %x", ids)
			}
			return []operate.StoredMessage{{ID: "00000000000000a2", Receiver: "acme", State: operate.StateQueued}, {ID: "00000000000000ff"}}
		}}
	for _, what := range []string{"46700000002", "+46700000002", "0700000002"} {
		found, err := f.Search(t.Context(), Query{What: what})
		if err != nil || len(found.Lines) != 13 || len(found.Stories) != 2 || found.Cut {
			t.Fatalf("%s: %v, %d lines, %d stories", what, err, len(found.Lines), len(found.Stories))
		}
		first, second := found.Stories[0], found.Stories[1]
		if got, want := words(first), "a1 a b acme>0700000002, accepted clients/1 0, sent operator/2 0, answered operator/2 88, sent operator/1 0, taken operator/1 0 1F, "+
			"reported operator/1 0 31DELIVRD, receipt_sent clients/1 0 DELIVRD, receipt_taken clients/1 0"; got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", what, got, want)
		}
		if got, want := words(second), "a2  46700000002>71000, accepted operator/1 0, sent clients/1 0"; got != want || second.Waiting() != "waits for the clients of acme" {
			t.Errorf("%s: got\n%s %s\nwant\n%s", what, got, second.Waiting(), want)
		}
		if first.Waiting() != "" || first.IsOpen() || string(first.Steps[0].Line) != strings.Split(clientsLog, "\n")[1] {
			t.Errorf("%+v", first)
		}
	}
}

// Events are shown where the logs have nothing. An unknown id has no steps.
func TestStoryOfEvents(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"events.log": `{"number":1,"id":"00000000000000a1","kind":"submit","state":"rejected","account":"acme","source":"1","destination":"2","to_connector":"operator","status_name":"ESME_RINVDSTADR","ended_at":"2026-11-20T10:00:02.5Z"}
`})
	f := Finder{Dir: t.TempDir(), Events: dir, Most: 9}
	for id, want := range map[string]string{
		"00000000000000A1": "a1 acme 1>2, ended operator/0 0 rejected",
		"00000000000000a2": "a2  >",
	} {
		found, err := f.Search(t.Context(), Query{What: id})
		if err != nil || len(found.Stories) != 1 || words(found.Stories[0]) != want {
			t.Errorf("%s: %v, %+v", id, err, found)
		}
	}
}

// What a message costs is in its event. What was given back later is in an event of its own, which is no step of the message.
func TestMoneyOfEvents(t *testing.T) {
	t.Parallel()
	const head = `"kind":"submit","state":"sent","account":"acme","source":"1","destination":"2","to_connector":"operator","ended_at":"2026-11-20T10:00:02.5Z"`
	dir := write(t, map[string]string{"events.log": `{"number":1,"id":"00000000000000a1",` + head + `,"price":"0.09","cost":"0.012","short_messages":2}
{"number":2,"id":"00000000000000a2",` + head + `,"price":"0.045"}
{"number":3,"id":"00000000000000a2","kind":"refund","refund":"0.045","account":"acme","balance":"1.00","ended_at":"2026-11-20T10:00:03Z"}
{"number":4,"id":"00000000000000a3",` + head + `}
`})
	f := Finder{Dir: t.TempDir(), Events: dir, Most: 9}
	for id, want := range map[string]string{
		"00000000000000a1": "price 0.09 EUR, cost 0.012 SEK",
		"00000000000000a2": "price 0.045 EUR, given back 0.045 EUR",
		"00000000000000a3": "",
	} {
		found, err := f.Search(t.Context(), Query{What: id})
		if err != nil || len(found.Stories) != 1 {
			t.Fatalf("%s: %v, %+v", id, err, found)
		}
		s := found.Stories[0]
		if got := s.Money("EUR", "SEK"); got != want || s.By != "operator" || len(s.Steps) != 1 || s.Steps[0].What != Taken {
			t.Errorf("%s: %q, not %q; %+v", id, got, want, s)
		}
	}
	if got := (&Story{Price: 45_000}).Money("", ""); got != "price 0.045" {
		t.Errorf("without a currency: %q", got)
	}
}

// A wide search finds by number and by the SMSC's id what only the events know, of the account and the time that are wanted.
func TestWide(t *testing.T) {
	t.Parallel()
	line := func(n int, account, state, more string) string {
		return fmt.Sprintf(`{"number":%d,"id":"%016x","kind":"submit","state":%q,"account":%q,"source":"46700000001","destination":"46700000002","to_connector":"operator","ended_at":"2026-11-20T10:00:%02dZ"%s}`, n, 0xa0+n, state, account, n, more) + "\n"
	}
	dir := write(t, map[string]string{"events.log": line(1, "acme", "sent", `,"smsc_id":"7F"`) + line(2, "other", "expired", "") + line(3, "acme", "deleted", "") +
		`{"number":4,"id":"00000000000000b1","kind":"receipt","state":"sent","source":"46700000002","destination":"46700000001","about":"00000000000000a1","delivery":"delivered","to_account":"acme","ended_at":"2026-11-20T10:00:09Z"}` + "\n"})
	f := Finder{Dir: t.TempDir(), Events: dir, Most: 9, Wide: true}
	first := "a1 acme 46700000001>46700000002, taken operator/0 0, receipt_ended /0 0 sent"
	for _, c := range []struct {
		q    Query
		want []string
	}{
		{Query{What: "0700000002", Account: "acme"}, []string{first, "a3 acme 46700000001>46700000002, ended operator/0 0 deleted"}},
		{Query{What: "46700000001", Until: time.Date(2026, 11, 20, 10, 0, 3, 0, time.UTC)}, []string{first, "a2 other 46700000001>46700000002, ended operator/0 0 expired"}},
		{Query{What: "7F"}, []string{"a1 acme 46700000001>46700000002, taken operator/0 0"}}, // its receipt is found by its own id
		{Query{What: "46700000003"}, nil},
	} {
		found, err := f.Search(t.Context(), c.q)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range found.Stories {
			got = append(got, words(s))
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) || found.Cut {
			t.Errorf("%+v: got\n%v\nwant\n%v", c.q, got, c.want)
		}
	}
	f.Most = 2
	if found, err := f.Search(t.Context(), Query{What: "46700000002"}); err != nil || !found.Cut || len(found.Stories) != 2 {
		t.Errorf("%+v, %v", found, err)
	}
	f.Wide = false
	if found, err := f.Search(t.Context(), Query{What: "46700000002"}); err != nil || len(found.Stories) != 0 {
		t.Errorf("%+v, %v", found, err)
	}
}

// A call of a webhook is shown as a receipt, not as a delivery of the message, and its own event adds nothing. The
// message was accepted before it was sent, whichever line is older. When the time of a search is over, the story is
// what was found.
func TestCalls(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"api.log": `2026-11-20T10:00:00.000000Z api/1 < http_submit seq=1 method=POST from=Shop to=+46700000002 reference=order-7 text="hi" account=acme
2026-11-20T10:00:01.000001Z api/1 > http_submit_resp seq=1 status=0(202-Accepted) id=00000000000000a1 account=acme
2026-11-20T10:00:03.000000Z api/1 > http_call seq=2 method=POST url=http://example.net/ event=00000000000000b1 state=delivered id=00000000000000a1 account=acme
2026-11-20T10:00:03.100000Z api/1 < http_call_resp seq=2 status=503(503-Service-Unavailable) id=00000000000000a1 account=acme
2026-11-20T10:00:13.000000Z api/1 > http_call seq=3 method=POST url=http://example.net/ event=00000000000000b1 state=delivered id=00000000000000a1 account=acme
2026-11-20T10:00:13.100000Z api/1 < http_call_resp seq=3 status=0(204-No-Content) id=00000000000000a1 account=acme
`, "operator.log": `2026-11-20T10:00:01.000000Z operator/1 > submit_sm seq=6 source_addr=Shop destination_addr=46700000002 id=00000000000000a1 account=acme
2026-11-20T10:00:01.500000Z operator/1 < submit_sm_resp seq=6 status=0 message_id=1F id=00000000000000a1 account=acme
`})
	events := write(t, map[string]string{"events.log": `{"number":2,"id":"00000000000000b1","kind":"receipt","state":"sent","about":"00000000000000a1","delivery":"delivered","to_account":"acme","ended_at":"2026-11-20T10:00:13.1Z"}
`})
	f := Finder{Dir: dir, Events: events, Most: 9}
	want := "a1 acme Shop>+46700000002, accepted api/1 0, sent operator/1 0, taken operator/1 0 1F, receipt_sent api/1 0 delivered, receipt_refused api/1 503, receipt_sent api/1 0 delivered, receipt_taken api/1 0"
	for _, q := range []Query{{What: "order-7"}, {What: "+46700000002", Account: "acme"}, {What: "00000000000000a1"}, {What: "1F"}} {
		found, err := f.Search(t.Context(), q)
		if err != nil || len(found.Lines) != 8 || len(found.Stories) != 1 || words(found.Stories[0]) != want || found.Late {
			t.Errorf("%v: %v %+v\n%s", q, err, found, words(found.Stories[0]))
		}
	}
	ctx, stop := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer stop()
	if found, err := f.Search(ctx, Query{What: "00000000000000a1"}); err != nil || !found.Late || len(found.Stories) != 1 {
		t.Errorf("%+v, %v", found, err)
	}
}

// The id that a client of SMPP has got in decimal digits finds its message. Digits that are an SMSC's id find that.
func TestDecimalID(t *testing.T) {
	t.Parallel()
	const client = `2026-11-28T10:00:00.000000Z clients/1 < submit_sm seq=1 source_addr=acme destination_addr=46700000002 account=a
2026-11-28T10:00:00.000001Z clients/1 > submit_sm_resp seq=1 status=0 message_id=1795774199647315 id=0006613f43444c53 account=a
`
	const operator = `2026-11-28T10:00:01.000000Z operator/2 > submit_sm seq=5 source_addr=acme destination_addr=46700000002 id=0006613f43444c53 account=a
2026-11-28T10:00:01.500000Z operator/2 < submit_sm_resp seq=5 status=0 message_id=1795774199647316 id=0006613f43444c53 account=a
`
	f := Finder{Dir: write(t, map[string]string{"clients.log": client, "operator.log": operator}), Most: 9}
	for _, what := range []string{"0006613f43444c53", "1795774199647315", "1795774199647316"} {
		for _, isID := range []bool{true, false} {
			found, err := f.Search(t.Context(), Query{What: what, IsID: isID})
			if err != nil || len(found.Stories) != 1 || found.Stories[0].ID != "0006613f43444c53" || len(found.Lines) != 4 {
				t.Errorf("%s: %v, %+v", what, err, found)
			}
		}
	}
}
