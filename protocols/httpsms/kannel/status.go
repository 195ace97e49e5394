package kannel

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"time"

	"pmg/protocols/httpsms"
)

// A Status is the status of a bearerbox, for monitoring.
type Status struct {
	Version  string
	State    string // running, isolated, suspended, filled or going down
	Uptime   time.Duration
	Received Flow // messages from mobiles
	Sent     Flow // messages to SMSCs
	Stored   int  // messages in the store; -1: nobody knows

	ReportsReceived, ReportsSent Flow
	ReportsWaited                int // messages whose reports have not come; -1: unknown

	Boxes []Box
	SMSCs []SMSC
}

// A Flow counts messages of one kind in one direction.
type Flow struct{ Total, Queued int }

// A Box is a listener for clients.
type Box struct {
	ID, IP string
	Queued int
	Uptime time.Duration
	TLS    bool
}

// An SMSC is a connection to an SMSC.
type SMSC struct {
	Name, AdminID, ID string
	State             string        // disconnected, connecting, re-connecting, dead or unknown; empty: the smsc is online
	Online            time.Duration // time since the login
	Failed, Queued    int

	Received, Sent, ReportsReceived, ReportsSent Flow
}

// Version begins with the words that monitoring programs look for in a bearerbox's status.
const Version = "Kannel bearerbox version `1.4.5'.\nAnswered by PMG."

// XML returns the status in the form of /status.xml.
func (s *Status) XML() []byte {
	var b strings.Builder
	fmt.Fprintf(
		&b, "<?xml version=\"1.0\"?>\n<gateway>\n<version>%s\n</version>\n<status>%s, uptime %s</status>\n",
		escaped(s.Version), escaped(s.State), age(s.Uptime),
	)
	b.WriteString(
		"\t<wdp>\n\t\t<received><total>0</total><queued>0</queued></received>\n" +
			"\t\t<sent><total>0</total><queued>0</queued></sent>\n\t</wdp>\n",
	)
	fmt.Fprintf(&b,
		"\t<sms>\n\t\t<received><total>%d</total><queued>%d</queued></received>\n"+
			"\t\t<sent><total>%d</total><queued>%d</queued></sent>\n\t\t<storesize>%d</storesize>\n\t\t%s\n\t\t</sms>\n",
		s.Received.Total, s.Received.Queued, s.Sent.Total, s.Sent.Queued, s.Stored, s.rates("\n\t\t", &s.Received, &s.Sent))
	fmt.Fprintf(&b,
		"\t<dlr>\n\t\t<received><total>%d</total></received>\n"+
			"\t\t<sent><total>%d</total></sent>\n\t\t%s\n\t\t<queued>%d</queued>\n"+
			"\t\t<storage>internal</storage>\n\t</dlr>\n<boxes>",
		s.ReportsReceived.Total, s.ReportsSent.Total, s.rates("\n\t\t", &s.ReportsReceived, &s.ReportsSent), s.ReportsWaited)
	for _, x := range s.Boxes {
		fmt.Fprintf(&b,
			"\n\t<box>\n\t\t<type>smsbox</type>\n\t\t<id>%s</id>\n\t\t<IP>%s</IP>\n"+
				"\t\t<queue>%d</queue>\n\t\t<status>on-line %s</status>\n\t\t<ssl>%s</ssl>\n\t</box>",
			escaped(x.ID), escaped(x.IP), x.Queued, age(x.Uptime), map[bool]string{true: "yes", false: "no"}[x.TLS])
	}
	fmt.Fprintf(&b, "</boxes>\n<smscs><count>%d</count>\n", len(s.SMSCs))
	for i := range s.SMSCs {
		s.writeSMSC(&b, &s.SMSCs[i])
	}
	b.WriteString("</smscs>\n</gateway>\n")
	return []byte(b.String())
}

// Text returns the status in the form of /status.txt.
func (s *Status) Text() []byte {
	var b strings.Builder
	fmt.Fprintf(
		&b, "%s\n\n\nStatus: %s, uptime %s\n\nWDP: received 0 (0 queued), sent 0 (0 queued)\n\n", s.Version, s.State,
		age(s.Uptime),
	)
	fmt.Fprintf(&b,
		"SMS: received %d (%d queued), sent %d (%d queued), store size %d\nSMS: inbound (%s) msg/sec, outbound (%s) msg/sec\n\n",
		s.Received.Total, s.Received.Queued, s.Sent.Total, s.Sent.Queued, s.Stored, s.rate(&s.Received), s.rate(&s.Sent))
	fmt.Fprintf(&b,
		"DLR: received %d, sent %d\nDLR: inbound (%s) msg/sec, outbound (%s) msg/sec\nDLR: %d queued, using internal "+
			"storage\n\nBox connections:\n",
		s.ReportsReceived.Total, s.ReportsSent.Total, s.rate(&s.ReportsReceived), s.rate(&s.ReportsSent), s.ReportsWaited)
	for _, x := range s.Boxes {
		fmt.Fprintf(&b, "    smsbox:%s, IP %s (%d queued), (on-line %s) %s \n",
			cmp.Or(x.ID, "(none)"), x.IP, x.Queued, age(x.Uptime), map[bool]string{true: "using SSL"}[x.TLS])
	}
	b.WriteString("\n\nSMSC connections:\n")
	for i := range s.SMSCs {
		x := &s.SMSCs[i]
		fmt.Fprintf(&b,
			"    %s[%s]    %s (%s, rcvd: sms %d (%s) / dlr %d (%s), sent: sms %d (%s) / dlr %d (%s), failed %d, queued "+
				"%d msgs)\n",
			x.ID, x.AdminID, x.Name, x.state(), x.Received.Total, s.rate(&x.Received), x.ReportsReceived.Total,
			s.rate(&x.ReportsReceived),
			x.Sent.Total, s.rate(&x.Sent), x.ReportsSent.Total, s.rate(&x.ReportsSent), x.Failed, x.Queued)
	}
	b.WriteString("\n\n")
	return []byte(b.String())
}

// StatusPassword returns the password of a request for the status, by its query.
func StatusPassword(query string) string {
	password, _ := readQuery(query).get("password")
	return password
}

// StatusDenied returns the answer to a request for the status without its password.
func StatusDenied(isXML bool) *httpsms.Answer {
	if isXML {
		return statusAnswer([]byte("<?xml version=\"1.0\"?>\n<gateway>\nDenied</gateway>\n"))
	}
	return statusAnswer([]byte("Denied"))
}

// StatusAnswer returns the answer to a request for the status.
func StatusAnswer(s *Status, isXML bool) *httpsms.Answer {
	if isXML {
		return statusAnswer(s.XML())
	}
	return statusAnswer(s.Text())
}

// statusAnswer returns an answer of a bearerbox, whose type is the same for all.
func statusAnswer(body []byte) *httpsms.Answer {
	return &httpsms.Answer{Status: http.StatusOK, ContentType: "text/plain", Header: [][2]string{{"Server", name}}, Body: body}
}

// state returns the state as text.
func (x *SMSC) state() string {
	if x.State == "" {
		return fmt.Sprintf("online %ds", int(x.Online.Seconds()))
	}
	return x.State
}

func (s *Status) writeSMSC(b *strings.Builder, x *SMSC) {
	fmt.Fprintf(b,
		"\t<smsc>\n\t\t<name>%s</name>\n\t\t<admin-id>%s</admin-id>\n\t\t<id>%s</id>\n\t\t<status>%s</status>\n"+
			"\t\t<failed>%d</failed>\n\t\t<queued>%d</queued>\n",
		escaped(x.Name), escaped(x.AdminID), escaped(x.ID), escaped(x.state()), x.Failed, x.Queued)
	for _, kind := range []struct {
		name           string
		received, sent *Flow
	}{{"sms", &x.Received, &x.Sent}, {"dlr", &x.ReportsReceived, &x.ReportsSent}} {
		fmt.Fprintf(b, "\t\t<%s>\n\t\t\t<received>%d</received>\n\t\t\t<sent>%d</sent>\n\t\t\t%s\n\t\t</%s>\n",
			kind.name, kind.received.Total, kind.sent.Total, s.rates("\n\t\t\t", kind.received, kind.sent), kind.name)
	}
	b.WriteString("\t</smsc>\n")
}

// rates returns the rates of both directions.
func (s *Status) rates(between string, in, out *Flow) string {
	return "<inbound>" + s.rate(in) + "</inbound>" + between + "<outbound>" + s.rate(out) + "</outbound>"
}

// rate returns the messages a second since the start, for each of the three periods in Kannel's status.
func (s *Status) rate(f *Flow) string {
	r := float64(f.Total) / max(s.Uptime.Seconds(), 1)
	return fmt.Sprintf("%.2f,%.2f,%.2f", r, r, r)
}

// age returns a time as "1d 2h 3m 4s".
func age(d time.Duration) string {
	s := int(d.Seconds())
	return fmt.Sprintf("%dd %dh %dm %ds", s/86400, s/3600%24, s/60%60, s%60)
}

// escaped returns text as XML has it. Ends of lines and quotation marks stay as they are.
func escaped(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
}
