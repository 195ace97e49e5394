package kannel

import (
	"encoding/xml"
	"strings"
	"testing"
	"time"

	"pmg/internal/testkit/testutil"
)

// What Kannel 1.4.5 of Debian has said, without the lines of its version.
const status = `<?xml version="1.0"?>
<gateway>
<version>Kannel bearerbox
</version>
<status>running, uptime 0d 0h 0m 3s</status>
	<wdp>
		<received><total>0</total><queued>0</queued></received>
		<sent><total>0</total><queued>0</queued></sent>
	</wdp>
	<sms>
		<received><total>0</total><queued>0</queued></received>
		<sent><total>0</total><queued>1</queued></sent>
		<storesize>-1</storesize>
		<inbound>0.00,0.00,0.00</inbound>
		<outbound>0.00,0.00,0.00</outbound>
		</sms>
	<dlr>
		<received><total>0</total></received>
		<sent><total>0</total></sent>
		<inbound>0.00,0.00,0.00</inbound>
		<outbound>0.00,0.00,0.00</outbound>
		<queued>0</queued>
		<storage>internal</storage>
	</dlr>
<boxes>
	<box>
		<type>smsbox</type>
		<id></id>
		<IP>127.0.0.1</IP>
		<queue>0</queue>
		<status>on-line 0d 0h 0m 2s</status>
		<ssl>no</ssl>
	</box></boxes>
<smscs><count>1</count>
	<smsc>
		<name>FAKE:23010</name>
		<admin-id>FAKE</admin-id>
		<id>FAKE</id>
		<status>connecting</status>
		<failed>0</failed>
		<queued>0</queued>
		<sms>
			<received>0</received>
			<sent>0</sent>
			<inbound>0.00,0.00,0.00</inbound>
			<outbound>0.00,0.00,0.00</outbound>
		</sms>
		<dlr>
			<received>0</received>
			<sent>0</sent>
			<inbound>0.00,0.00,0.00</inbound>
			<outbound>0.00,0.00,0.00</outbound>
		</dlr>
	</smsc>
</smscs>
</gateway>
`

// A status is Kannel's, to the octet.
func TestStatus(t *testing.T) {
	t.Parallel()
	s := Status{Version: "Kannel bearerbox", State: "running", Uptime: 3 * time.Second, Sent: Flow{Queued: 1}, Stored: -1, Boxes: []Box{{IP: "127.0.0.1", Uptime: 2 * time.Second}},
		SMSCs: []SMSC{{Name: "FAKE:23010", AdminID: "FAKE", ID: "FAKE", State: "connecting"}}}
	if got := string(s.XML()); got != status {
		t.Errorf("%s", got)
	}
}

// What it has said in /status.txt, likewise.
const statusText = `Kannel bearerbox


Status: running, uptime 0d 0h 0m 4s

WDP: received 0 (0 queued), sent 0 (0 queued)

SMS: received 0 (0 queued), sent 0 (0 queued), store size -1
SMS: inbound (0.00,0.00,0.00) msg/sec, outbound (0.00,0.00,0.00) msg/sec

DLR: received 0, sent 0
DLR: inbound (0.00,0.00,0.00) msg/sec, outbound (0.00,0.00,0.00) msg/sec
DLR: 0 queued, using internal storage

Box connections:
    smsbox:(none), IP 127.0.0.1 (0 queued), (on-line 0d 0h 0m 2s)  $


SMSC connections:
    pmg[pmg]    SMPP:127.0.0.1:23999/0:u:VMA (re-connecting, rcvd: sms 0 (0.00,0.00,0.00) / dlr 0 (0.00,0.00,0.00), sent: sms 0 (0.00,0.00,0.00) / dlr 0 (0.00,0.00,0.00), failed 0, queued 0 msgs)


`

// The text is Kannel's, too, and so is the answer to a wrong password.
func TestStatusText(t *testing.T) {
	t.Parallel()
	s := Status{Version: "Kannel bearerbox", State: "running", Uptime: 4 * time.Second, Stored: -1, Boxes: []Box{{IP: "127.0.0.1", Uptime: 2 * time.Second}},
		SMSCs: []SMSC{{Name: "SMPP:127.0.0.1:23999/0:u:VMA", AdminID: "pmg", ID: "pmg", State: "re-connecting"}}}
	if got, want := string(StatusAnswer(&s, false).Body), strings.Replace(statusText, "$", "", 1); got != want {
		t.Errorf("%s", testutil.Difference(got, want))
	}
	if a := StatusDenied(true); string(a.Body) != "<?xml version=\"1.0\"?>\n<gateway>\nDenied</gateway>\n" || a.Status != 200 || a.ContentType != "text/plain" {
		t.Errorf("%d %s %q", a.Status, a.ContentType, a.Body)
	}
	if a := StatusDenied(false); string(a.Body) != "Denied" {
		t.Errorf("%q", a.Body)
	}
	for query, want := range map[string]string{"password=a%20b%": "a b%", "x=1&password=a+b": "a b", "password": "", "": ""} {
		if got := StatusPassword(query); got != want {
			t.Errorf("%s: %q", query, got)
		}
	}
}

// Each figure has its place.
func TestStatusFigures(t *testing.T) {
	t.Parallel()
	flow := func(n int) Flow { return Flow{n * 93784, n + 1} }
	s := Status{Version: "a<b", State: "isolated", Uptime: 93784 * time.Second, Received: flow(10), Sent: flow(20), Stored: 30, ReportsReceived: flow(40), ReportsSent: flow(50), ReportsWaited: 60,
		Boxes: []Box{{ID: "http", IP: "::", Queued: 70, TLS: true}}, SMSCs: []SMSC{{Name: "a&b", Online: 80 * time.Second, Failed: 81, Queued: 82, Received: flow(90), Sent: flow(100), ReportsReceived: flow(110), ReportsSent: flow(120)}, {ID: "two", State: "dead"}}}
	type rates struct {
		Received int    `xml:"received"`
		Sent     int    `xml:"sent"`
		Inbound  string `xml:"inbound"`
		Outbound string `xml:"outbound"`
	}
	type read struct {
		Version string `xml:"version"`
		Status  string `xml:"status"`
		Total   []int  `xml:"sms>received>total"`
		Queued  []int  `xml:"sms>sent>queued"`
		Store   int    `xml:"sms>storesize"`
		Inbound string `xml:"sms>inbound"`
		Reports []int  `xml:"dlr>sent>total"`
		Waited  int    `xml:"dlr>queued"`
		TLS     string `xml:"boxes>box>ssl"`
		Count   int    `xml:"smscs>count"`
		SMSCs   []struct {
			Name    string `xml:"name"`
			Status  string `xml:"status"`
			Failed  int    `xml:"failed"`
			Queued  int    `xml:"queued"`
			SMS     rates  `xml:"sms"`
			Reports rates  `xml:"dlr"`
		} `xml:"smscs>smsc"`
	}
	var r read
	if err := xml.Unmarshal(s.XML(), &r); err != nil {
		t.Fatal(err)
	}
	if r.Version != "a<b\n" || r.Status != "isolated, uptime 1d 2h 3m 4s" || r.Total[0] != 10*93784 || r.Queued[0] != 21 || r.Store != 30 || r.Inbound != "10.00,10.00,10.00" || r.Reports[0] != 50*93784 || r.Waited != 60 || r.TLS != "yes" || r.Count != 2 {
		t.Errorf("%+v", r)
	}
	if x := r.SMSCs[0]; x.Name != "a&b" || x.Status != "online 80s" || x.Failed != 81 || x.Queued != 82 || x.SMS != (rates{90 * 93784, 100 * 93784, "90.00,90.00,90.00", "100.00,100.00,100.00"}) || x.Reports != (rates{110 * 93784, 120 * 93784, "110.00,110.00,110.00", "120.00,120.00,120.00"}) {
		t.Errorf("%+v", x)
	}
	if r.SMSCs[1].Status != "dead" {
		t.Errorf("%+v", r.SMSCs[1])
	}
}
