package story

import (
	"strings"
	"testing"
	"time"
)

// The headline says first what matters most: delivered or not, by whom, why, and whether the client knows.
func TestHeadline(t *testing.T) {
	t.Parallel()
	const accepted = `10:00:00.000000Z clients/1 < submit_sm seq=1 source_addr=acme destination_addr=46700000002 account=acme
10:00:00.000001Z clients/1 > submit_sm_resp seq=1 status=0 message_id=00000000000000a1 account=acme
`
	const sent = accepted + `10:00:01.000000Z telia/2 > submit_sm seq=5 destination_addr=46700000002 registered_delivery=1 id=00000000000000a1 account=acme
`
	const taken = sent + `10:00:02.000000Z telia/2 < submit_sm_resp seq=5 status=0 message_id=1F id=00000000000000a1 account=acme
`
	receipt := func(says string) string {
		return taken + "10:00:48.000000Z telia/1 < deliver_sm seq=7 source_addr=46700000002 short_message=\"id:1F " + says + " text:x\"\n10:00:48.000001Z telia/1 > deliver_sm_resp seq=7 status=0 id=00000000000000b1\n"
	}
	called := receipt("stat:DELIVRD err:000") + "10:00:49.000000Z api/1 > http_call seq=2 method=POST event=00000000000000b1 state=delivered id=00000000000000a1 account=acme\n"
	means := func(s *Step) string {
		if s.Status.Name == "ESME_RINVDSTADR" {
			return "invalid destination address."
		}
		return ""
	}
	for name, c := range map[string]struct{ log, outcome, want string }{
		"accepted":  {accepted, "accepted", "Accepted 10:00:00."},
		"sent":      {sent, "sent", "Sent to telia 10:00:01, without an answer yet (26 s)."},
		"taken":     {taken, "sent", "Taken by telia 10:00:02. The SMSC has sent no receipt yet (25 s)."},
		"none":      {strings.ReplaceAll(taken, " registered_delivery=1", ""), "sent", "Taken by telia 10:00:02. No receipt was asked for."},
		"delivered": {receipt("stat:DELIVRD err:000"), "delivered", "Delivered 10:00:48 (telia)."},
		"called":    {called, "delivered", "Delivered 10:00:48 (telia). The customer's server was called and has not answered yet."},
		"notified":  {called + "10:00:49.100000Z api/1 < http_call_resp seq=2 status=0(204-No-Content) id=00000000000000a1 account=acme\n", "delivered", "Delivered 10:00:48 (telia). The customer's server was notified."},
		"not notified": {called + "10:00:49.100000Z api/1 < http_call_resp seq=2 status=503(503-Service-Unavailable) id=00000000000000a1 account=acme\n", "delivered",
			"Delivered 10:00:48 (telia). The customer's server refused the notification: 503-Service-Unavailable."},
		"undelivered": {receipt("stat:UNDELIV err:108"), "undelivered", "Not delivered 10:00:48: telia reported that the network could not deliver it (UNDELIV, error 108)."},
		"on its way":  {receipt("stat:ACCEPTD err:000"), "sent", "Taken by telia 10:00:02. The SMSC has sent no receipt yet (25 s)."},
		"refused":     {sent + "10:00:02.000000Z telia/2 < submit_sm_resp seq=5 status=0xb(ESME_RINVDSTADR) id=00000000000000a1 account=acme\n", "failed", "telia refused it 10:00:02: ESME_RINVDSTADR (invalid destination address)."},
		"expired here": {taken + "10:05:00.000000Z clients/1 > deliver_sm seq=1 short_message=\"id:00000000000000a1 stat:EXPIRED err:000\" id=00000000000000b1 account=acme\n10:05:00.100000Z clients/1 < deliver_sm_resp seq=1 status=0 id=00000000000000b1 account=acme\n",
			"undelivered", "Not delivered 10:05:00: its validity was over (EXPIRED). The customer has the receipt."},
	} {
		log := ""
		for line := range strings.Lines(c.log) {
			log += "2026-11-20T" + line
		}
		f := Finder{Dir: write(t, map[string]string{"all.log": log}), Most: 9}
		found, err := f.Search(t.Context(), Query{What: "00000000000000a1"})
		if err != nil || len(found.Stories) != 1 {
			t.Fatalf("%s: %v, %+v", name, err, found)
		}
		s := found.Stories[0]
		if got := s.Headline(time.Date(2026, 11, 20, 10, 0, 27, 0, time.UTC), means); got != c.want || string(s.Outcome()) != c.outcome {
			t.Errorf("%s: %s: %s\nwant %s: %s", name, s.Outcome(), got, c.outcome, c.want)
		}
	}
}

// Without an argument the latest messages are found, of an account, a connector, or those that have failed.
func TestLatest(t *testing.T) {
	t.Parallel()
	f := Finder{Dir: write(t, map[string]string{"clients.log": clientsLog, "operator.log": operatorLog + `2026-11-20T10:02:00.000000Z operator/1 > submit_sm seq=9 destination_addr=46700000003 id=00000000000000a3 account=acme
2026-11-20T10:02:00.500000Z operator/1 < submit_sm_resp seq=9 status=0xb(ESME_RINVDSTADR) id=00000000000000a3 account=acme
2026-11-20T10:03:00.000000Z operator/1 < deliver_sm seq=10 source_addr=46700000002 destination_addr=71000 short_message="more"
2026-11-20T10:03:00.000001Z operator/1 > deliver_sm_resp seq=10 status=0 id=00000000000000a4
`}), Most: 9}
	for name, c := range map[string]struct {
		q    Query
		most int
		ids  string
		cut  bool
	}{
		"all":       {Query{}, 9, "a1 a2 a4", false}, // of a3 no line says how it came
		"two":       {Query{}, 2, "a2 a4", true},
		"account":   {Query{Account: "a b"}, 9, "a1", false},
		"connector": {Query{Connectors: []string{"operator"}}, 9, "a1 a2 a3 a4", false},
		"failed":    {Query{Failed: true}, 9, "a3", false},
		"of acme":   {Query{Failed: true, Account: "a b"}, 9, "", false},
		"until":     {Query{Until: time.Date(2026, 11, 20, 10, 1, 30, 0, time.UTC)}, 1, "a2", true},
	} {
		f.Most = c.most
		found, err := f.Search(t.Context(), c.q)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, s := range found.Stories {
			ids = append(ids, s.ID[14:])
		}
		if got := strings.Join(ids, " "); got != c.ids || found.Cut != c.cut {
			t.Errorf("%s: %s, cut is %t", name, got, found.Cut)
		}
	}
}

// What a plugin has decided, and the tags, stand in the words.
func TestHeadlineOfPlugins(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	ended := func(state string) []Step { return []Step{{At: at, What: Ended, State: state, Connector: "telia"}} }
	for want, s := range map[string]Story{
		"Plugin content refused it 10:00:00.":                     {Steps: ended("rejected"), Plugin: "content", Verdict: "refuse"},
		"telia refused it 10:00:00. Tags: vip, net:24001.":        {Steps: ended("rejected"), Tags: []string{"vip", "net:24001"}},
		"Deleted 10:00:00. Plugin content had held it.":           {Steps: ended("deleted"), Plugin: "content", Verdict: "hold"},
		"Expired 10:00:00 before it was sent. Tags: a.":           {Steps: ended("expired"), Tags: []string{"a"}},
		"telia refused it 10:00:00. Plugin night had changed it.": {Steps: ended("rejected"), Plugin: "night", Verdict: "change"},
	} {
		s.Ended = true
		if got := s.Headline(at, nil); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}
