package kannel

import (
	"encoding/xml"
	"fmt"
	"strings"
	"time"
)

// A Status is what a bearerbox says of itself, for those that watch it.
type Status struct {
	Version  string
	State    string // running, isolated, suspended, filled or going down
	Uptime   time.Duration
	Received Flow // messages from mobiles
	Sent     Flow // messages to SMSCs
	Stored   int  // messages in the store

	ReportsReceived, ReportsSent Flow
	ReportsWaited                int // messages whose reports have not come

	Boxes []Box
	SMSCs []SMSC
}

// A Flow is messages of one kind in one direction.
type Flow struct {
	Total  int
	Queued int
	Rates  [3]float64 // a second: in the last minute, the last five minutes, and since the start
}

// A Box is a listener for clients.
type Box struct {
	ID, IP string
	Queued int
	Uptime time.Duration
	TLS    bool
}

// An SMSC is a connection to one.
type SMSC struct {
	Name, AdminID, ID string
	State             string        // disconnected, connecting, re-connecting, dead or unknown; empty: it is online
	Online            time.Duration // for how long
	Failed, Queued    int

	Received, Sent, ReportsReceived, ReportsSent Flow
}

// XML returns the status in the form of /status.xml.
func (s *Status) XML() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "<?xml version=\"1.0\"?>\n<gateway>\n<version>%s\n</version>\n<status>%s, uptime %s</status>\n", escaped(s.Version), escaped(s.State), age(s.Uptime))
	b.WriteString("\t<wdp>\n\t\t<received><total>0</total><queued>0</queued></received>\n\t\t<sent><total>0</total><queued>0</queued></sent>\n\t</wdp>\n")
	fmt.Fprintf(&b, "\t<sms>\n\t\t<received><total>%d</total><queued>%d</queued></received>\n\t\t<sent><total>%d</total><queued>%d</queued></sent>\n\t\t<storesize>%d</storesize>\n\t\t%s\n\t\t</sms>\n",
		s.Received.Total, s.Received.Queued, s.Sent.Total, s.Sent.Queued, s.Stored, rates("\n\t\t", &s.Received, &s.Sent))
	fmt.Fprintf(&b, "\t<dlr>\n\t\t<received><total>%d</total></received>\n\t\t<sent><total>%d</total></sent>\n\t\t%s\n\t\t<queued>%d</queued>\n\t\t<storage>internal</storage>\n\t</dlr>\n<boxes>",
		s.ReportsReceived.Total, s.ReportsSent.Total, rates("\n\t\t", &s.ReportsReceived, &s.ReportsSent), s.ReportsWaited)
	for _, x := range s.Boxes {
		fmt.Fprintf(&b, "\n\t<box>\n\t\t<type>smsbox</type>\n\t\t<id>%s</id>\n\t\t<IP>%s</IP>\n\t\t<queue>%d</queue>\n\t\t<status>on-line %s</status>\n\t\t<ssl>%s</ssl>\n\t</box>",
			escaped(x.ID), escaped(x.IP), x.Queued, age(x.Uptime), map[bool]string{true: "yes", false: "no"}[x.TLS])
	}
	fmt.Fprintf(&b, "</boxes>\n<smscs><count>%d</count>\n", len(s.SMSCs))
	for i := range s.SMSCs {
		s.SMSCs[i].write(&b)
	}
	b.WriteString("</smscs>\n</gateway>\n")
	return []byte(b.String())
}

func (x *SMSC) write(b *strings.Builder) {
	state := x.State
	if state == "" {
		state = fmt.Sprintf("online %ds", int(x.Online.Seconds()))
	}
	fmt.Fprintf(b, "\t<smsc>\n\t\t<name>%s</name>\n\t\t<admin-id>%s</admin-id>\n\t\t<id>%s</id>\n\t\t<status>%s</status>\n\t\t<failed>%d</failed>\n\t\t<queued>%d</queued>\n",
		escaped(x.Name), escaped(x.AdminID), escaped(x.ID), escaped(state), x.Failed, x.Queued)
	for _, kind := range []struct {
		name           string
		received, sent *Flow
	}{{"sms", &x.Received, &x.Sent}, {"dlr", &x.ReportsReceived, &x.ReportsSent}} {
		fmt.Fprintf(b, "\t\t<%s>\n\t\t\t<received>%d</received>\n\t\t\t<sent>%d</sent>\n\t\t\t%s\n\t\t</%s>\n",
			kind.name, kind.received.Total, kind.sent.Total, rates("\n\t\t\t", kind.received, kind.sent), kind.name)
	}
	b.WriteString("\t</smsc>\n")
}

// rates returns the rates of both directions.
func rates(between string, in, out *Flow) string {
	triple := func(f *Flow) string { return fmt.Sprintf("%.2f,%.2f,%.2f", f.Rates[0], f.Rates[1], f.Rates[2]) }
	return "<inbound>" + triple(in) + "</inbound>" + between + "<outbound>" + triple(out) + "</outbound>"
}

// age returns a time as "1d 2h 3m 4s".
func age(d time.Duration) string {
	s := int(d.Seconds())
	return fmt.Sprintf("%dd %dh %dm %ds", s/86400, s/3600%24, s/60%60, s%60)
}

func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // it cannot fail
	return b.String()
}
