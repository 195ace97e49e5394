package e2e

import (
	"encoding/xml"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"pmg/internal/testkit/testutil"
)

// withStatus is a listener that answers as Kannel does, and its status.
const withStatus = `{name: api, direction: in, protocol: http, dialects: [kannel], address: "127.0.0.1:0", status_password: look}`

// bearerbox gets a page of Kannel's, and returns it with what its answer has beside that.
func bearerbox(t *testing.T, url string) (page, about string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b), resp.Status + " " + resp.Header.Get("Content-Type") + " " + resp.Header.Get("Server")
}

// A program that watches Kannel reads figures of the gateway in the same places.
func TestKannelStatus(t *testing.T) {
	parallel(t)
	s := pullSite(t)
	s.more = withStatus
	g := start(t, s)
	url := "http://" + g.addr("api")
	smsc := s.operator.session()
	smsc.brings(1, 3)
	g.bind("transceiver").submit(1, 2)
	smsc.accepts("a1")
	smsc.accepts("a2")
	smsc.send(receiptOf("a1", "DELIVRD"))
	smsc.want("deliver_sm_resp")
	testutil.Eventually(t, "both were sent", func() bool { return g.stats("operator").Sent.Load() == 2 })
	var got struct {
		Version string `xml:"version"`
		Status  string `xml:"status"`
		SMS     struct {
			Received int `xml:"received>total"`
			Waiting  int `xml:"received>queued"`
			Sent     int `xml:"sent>total"`
			Stored   int `xml:"storesize"`
		} `xml:"sms"`
		Reports int      `xml:"dlr>received>total"`
		Boxes   []string `xml:"boxes>box>id"`
		SMSCs   []struct {
			ID       string `xml:"id"`
			Status   string `xml:"status"`
			Received int    `xml:"sms>received"`
			Sent     int    `xml:"sms>sent"`
			Outbound string `xml:"sms>outbound"`
			Reports  int    `xml:"dlr>received"`
		} `xml:"smscs>smsc"`
	}
	page, about := bearerbox(t, url+"/status.xml?password=look")
	if err := xml.Unmarshal([]byte(page), &got); err != nil {
		t.Fatal(err)
	}
	sms := got.SMS
	if !strings.HasPrefix(got.Version, "Kannel bearerbox version `1.4.5'.") || !strings.HasPrefix(got.Status, "running, uptime 0d 0h ") || about != "200 OK text/plain Kannel/1.4.5" {
		t.Errorf("%s: %s", about, page)
	}
	if sms.Received != 3 || sms.Sent != 2 || got.Reports != 1 || sms.Waiting < 3 || sms.Stored < 3 || len(got.Boxes) != 1 || got.Boxes[0] != "api" {
		t.Errorf("%s", page)
	}
	if len(got.SMSCs) != 1 {
		t.Fatalf("%s", page)
	}
	if one := got.SMSCs[0]; one.ID != "operator" || !strings.HasPrefix(one.Status, "online ") || one.Received != 3 || one.Sent != 2 || one.Reports != 1 || strings.HasPrefix(one.Outbound, "0.00") {
		t.Errorf("%s", page)
	}
	smsc.conn.Close()
	s.operator.down()
	testutil.Eventually(t, "it connects again", func() bool { return g.stats("operator").Failing.Load() > 0 })
	if page, _ = bearerbox(t, url+"/cgi-bin/status.txt?password=look"); !strings.Contains(page, "(re-connecting, rcvd: sms 3 (") {
		t.Errorf("%s", page)
	}
}

// The pages are those of Kannel to the octet, but for names, figures and versions.
func TestKannelStatusForm(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), more: withStatus}
	g := start(t, s)
	s.operator.session()
	g.online("operator", 1)
	k := startKannel(t, g.addr("clients"), "smpp", "system-type = x")
	testutil.Eventually(t, "Kannel has one box", func() bool {
		page, _ := bearerbox(t, k.admin+"/status.xml?password=look")
		return strings.Count(page, "<box>") == 1 && strings.Contains(page, "on-line")
	})
	values := regexp.MustCompile(`version ` + "`" + `(?s:.*?)\n(?:</version>|\n)|>[^<>\n]*<|\([^()]*\)|:[^ \n]+ |    .*    SMPP|-?\d+`)
	form := func(page string) string { return values.ReplaceAllString(page, "…") }
	for _, path := range []string{"/status.xml?password=", "/status.txt?password=", "/status?password=", "/cgi-bin/status.xml?password="} {
		ours, about := bearerbox(t, "http://"+g.addr("api")+path+"look")
		theirs, of := bearerbox(t, k.admin+path+"look")
		if form(ours) != form(theirs) || about != of {
			t.Errorf("%s: %s, not %s\n%s", path, about, of, testutil.Difference(form(ours), form(theirs)))
		}
	}
	for _, path := range []string{"/status.xml", "/status.txt?password=x"} {
		ours, about := bearerbox(t, "http://"+g.addr("api")+path)
		if theirs, of := bearerbox(t, k.admin+path); ours != theirs || about != of {
			t.Errorf("%s: %s %q, not %s %q", path, about, ours, of, theirs)
		}
	}
}
