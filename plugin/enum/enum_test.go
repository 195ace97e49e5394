package enum

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"

	"pmg/internal/testkit/testutil"
	"pmg/plugin"
)

func TestMain(m *testing.M) { testutil.NoLeaks(m) }

// serve answers questions on loopback, by UDP and TCP, until the test ends.
func serve(t *testing.T, answer dns.HandlerFunc) netip.AddrPort {
	t.Helper()
	udp, tcp := listen(t)
	for _, s := range []*dns.Server{{PacketConn: udp, Handler: answer}, {Listener: tcp, Handler: answer}} {
		begun := make(chan struct{})
		s.NotifyStartedFunc = func() { close(begun) }
		ended := make(chan struct{})
		go func() { defer close(ended); _ = s.ActivateAndServe() }()
		<-begun
		t.Cleanup(func() { _ = s.Shutdown(); <-ended })
	}
	return netip.MustParseAddrPort(udp.LocalAddr().String())
}

// listen listens on a port that is free for both protocols.
func listen(t *testing.T) (net.PacketConn, net.Listener) {
	t.Helper()
	for range 100 {
		udp, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		if tcp, err := net.Listen("tcp", udp.LocalAddr().String()); err == nil {
			return udp, tcp
		}
		_ = udp.Close()
	}
	t.Fatal("no port is free")
	return nil, nil
}

// rule returns a record of a rule.
func rule(order, preference int, flags, service, regexp, next string) string {
	return fmt.Sprintf(`%%s 600 IN NAPTR %d %d %q %q %q %s`, order, preference, flags, service, regexp, next)
}

// says makes a server that has rules for names.
func says(zone map[string][]string) dns.HandlerFunc {
	return func(w dns.ResponseWriter, q *dns.Msg) {
		a := new(dns.Msg)
		a.SetReply(q)
		rules, ok := zone[strings.ToLower(q.Question[0].Name)]
		if !ok {
			a.Rcode = dns.RcodeNameError
			soa, _ := dns.NewRR("e164.arpa. 900 IN SOA ns.e164.arpa. root.e164.arpa. 1 2 3 4 120")
			a.Ns = append(a.Ns, soa)
		}
		for _, r := range rules {
			rr, err := dns.NewRR(fmt.Sprintf(r, q.Question[0].Name))
			if err != nil {
				panic(err)
			}
			a.Answer = append(a.Answer, rr)
		}
		_ = w.WriteMsg(a)
	}
}

// ask asks servers about a number.
func ask(t *testing.T, number string, servers ...netip.AddrPort) (plugin.Verdict, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	e := New(Options{Servers: servers, Domain: "e164.arpa"})
	defer e.Close()
	return e.Ask(ctx, &plugin.Message{Hook: plugin.Network, To: number})
}

// nameFor is the name of a number, written by hand.
const nameFor = "1.0.0.0.0.0.0.0.7.6.4.e164.arpa."

func TestAsk(t *testing.T) {
	t.Parallel()
	u := func(uri string) string { return rule(10, 10, "u", "E2U+pstn:tel", "!^.*$!"+uri+"!", ".") }
	for name, c := range map[string]struct {
		rules            []string
		network, routing string
	}{
		"parameters":            {[]string{u("tel:+46700000001;npdi;mcc=240;mnc=05")}, "24005", ""},
		"routing number":        {[]string{u("tel:+46700000001;npdi;rn=+46-123(45)")}, "", "4612345"},
		"in a context":          {[]string{u("tel:+46700000001;npdi;rn=12345;rn-context=+46")}, "", "4612345"},
		"host":                  {[]string{u("sip:+46700000001@ims.mnc005.mcc240.3gppnetwork.org")}, "24005", ""},
		"host, three":           {[]string{u("mailto:+1@mnc015.mcc310.gprs")}, "310015", ""},
		"host, two digits, 340": {[]string{u("mailto:+1@mnc001.mcc340.gprs")}, "34001", ""},
		"host, two digits, 363": {[]string{u("mailto:+1@mnc001.mcc363.gprs")}, "36301", ""},
		"host, India":           {[]string{u("mailto:+1@mnc025.mcc405.gprs")}, "405025", ""},
		"host, India, two":      {[]string{u("mailto:+1@mnc001.mcc405.gprs")}, "40501", ""},
		"host, whole":           {[]string{u("mailto:+1@mnc123.mcc240.gprs")}, "240123", ""},
		"number":                {[]string{rule(1, 1, "U", "e2u+sip", `!^\+(46)(.*)$!sip:\2@mnc007.mcc240.x!i`, ".")}, "24007", ""},
		"old order":             {[]string{rule(1, 1, "u", "tel+E2U", "!^.*$!tel:+1;mcc=240;mnc=01!", ".")}, "24001", ""},
		"delimiter":             {[]string{rule(1, 1, "u", "E2U+tel", `#^\+46\#*(.*)$#tel:+46\1;mcc=240;mnc=02#`, ".")}, "24002", ""},
		"no network":            {[]string{u("sip:info@example.com")}, "", ""},
		"no digits":             {[]string{u("tel:+46;rn=x12;mcc=24;mnc=1")}, "", ""},
		"service of other":      {[]string{rule(1, 1, "u", "SIP+D2U", "!^.*$!tel:+1;mcc=240;mnc=01!", ".")}, "", ""},
		"no match":              {[]string{rule(1, 1, "u", "E2U+tel", "!^.47(.*)$!tel:+1;mcc=240;mnc=01!", ".")}, "", ""},
		"order": {[]string{
			rule(20, 1, "u", "E2U+tel", "!^.*$!tel:+1;mcc=240;mnc=01!", "."), rule(10, 20, "u", "E2U+tel", "!^.*$!tel:+1;mcc=240;mnc=02!", "."),
			rule(10, 10, "u", "E2U+tel", "!^.*$!tel:+1;mcc=240;mnc=03!", "."),
		}, "24003", ""},
		"a bad one in front": {[]string{rule(1, 1, "u", "E2U+tel", "!^(.*$!x!", "."), u("tel:+1;mcc=240;mnc=04")}, "24004", ""},
	} {
		server := serve(t, says(map[string][]string{nameFor: c.rules}))
		v, err := ask(t, "46700000001", server)
		if err != nil || v.Network != c.network || v.RoutingNumber != c.routing || v.Keep != 600 {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
		if err := v.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	server := serve(t, says(nil))
	if v, err := ask(t, "46700000001", server); err != nil || v.Network != "" || v.Keep != 120 {
		t.Errorf("not ported: %+v, %v", v, err)
	}
	for _, number := range []string{"", "46x", "1234567890123456"} {
		if _, err := ask(t, number, server); err == nil {
			t.Errorf("%q is asked about", number)
		}
	}
}

// A name may refer to another, whose answer counts; the shorter of the two lives decides. A circle ends.
func TestReferences(t *testing.T) {
	t.Parallel()
	server := serve(t, says(map[string][]string{
		nameFor:              {rule(1, 1, "", "", "", "other.e164.arpa.")},
		"other.e164.arpa.":   {`%s 30 IN NAPTR 1 1 "u" "E2U+tel" "!^.*$!tel:+1;mcc=240;mnc=09!" .`},
		"2" + nameFor[1:]:    {rule(1, 1, "", "", "", "circle.e164.arpa.")},
		"circle.e164.arpa.":  {rule(1, 1, "", "", "", "circle2.e164.arpa.")},
		"circle2.e164.arpa.": {rule(1, 1, "", "", "", "circle.e164.arpa.")},
	}))
	if v, err := ask(t, "46700000001", server); err != nil || v.Network != "24009" || v.Keep != 30 {
		t.Errorf("%+v, %v", v, err)
	}
	if v, err := ask(t, "46700000002", server); err == nil {
		t.Errorf("a circle: %+v", v)
	}
}

// What goes wrong is an error, so that on_failure decides; the next server is asked.
func TestFaults(t *testing.T) {
	t.Parallel()
	good := serve(t, says(map[string][]string{nameFor: {rule(1, 1, "u", "E2U+tel", "!^.*$!tel:+1;mcc=240;mnc=01!", ".")}}))
	refuses := serve(t, func(w dns.ResponseWriter, q *dns.Msg) {
		a := new(dns.Msg)
		_ = w.WriteMsg(a.SetRcode(q, dns.RcodeServerFailure))
	})
	var asked atomic.Int64
	silent := serve(t, func(dns.ResponseWriter, *dns.Msg) { asked.Add(1) })
	lies := serve(t, func(w dns.ResponseWriter, q *dns.Msg) {
		a := new(dns.Msg)
		a.SetReply(q)
		a.Question[0].Name = "2" + nameFor[1:]
		_ = w.WriteMsg(a)
	})
	for name, server := range map[string]netip.AddrPort{"refuses": refuses, "lies": lies} {
		if v, err := ask(t, "46700000001", server); err == nil || !strings.Contains(err.Error(), server.String()) {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
		if v, err := ask(t, "46700000001", server, good); err != nil || v.Network != "24001" {
			t.Errorf("%s, then another: %+v, %v", name, v, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	e := New(Options{Servers: []netip.AddrPort{silent}, Domain: "e164.arpa"})
	if v, err := e.Ask(ctx, &plugin.Message{To: "46700000001"}); err == nil || asked.Load() == 0 {
		t.Errorf("silent: %+v, %v, asked %d", v, err, asked.Load())
	}
}

// An answer that is too long for a datagram comes by TCP.
func TestLong(t *testing.T) {
	t.Parallel()
	var rules []string
	for range 40 {
		rules = append(rules, rule(2, 1, "u", "E2U+sip", "!^.*$!sip:"+strings.Repeat("x", 60)+"@example.com!", "."))
	}
	rules = append(rules, rule(1, 1, "u", "E2U+tel", "!^.*$!tel:+1;mcc=240;mnc=01!", "."))
	zone := says(map[string][]string{nameFor: rules})
	var tcp atomic.Int64
	server := serve(t, func(w dns.ResponseWriter, q *dns.Msg) {
		if _, ok := w.RemoteAddr().(*net.TCPAddr); ok {
			tcp.Add(1)
			zone(w, q)
			return
		}
		a := new(dns.Msg)
		a.SetReply(q)
		a.Truncated = true
		_ = w.WriteMsg(a)
	})
	if v, err := ask(t, "46700000001", server); err != nil || v.Network != "24001" || tcp.Load() != 1 {
		t.Errorf("%+v, %v, %d by TCP", v, err, tcp.Load())
	}
}

// begin starts dnsmasq, which ends with the test.
func begin(t *testing.T, program string, at netip.AddrPort) (ended chan struct{}) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, "--no-daemon", "--conf-file=/dev/null", "--no-resolv", "--no-hosts", "--bind-interfaces",
		"--listen-address=127.0.0.1", fmt.Sprint("--port=", at.Port()), "--local=/e164.arpa/",
		"--naptr-record="+strings.TrimSuffix(nameFor, ".")+",100,10,u,E2U+pstn:tel,!^.*$!tel:+46700000001;npdi;rn=+4612345!",
		"--naptr-record=3"+strings.TrimSuffix(nameFor[1:], ".")+`,100,10,u,E2U+pstn:sip,!^\+(46)7(.*)$!sip:\2@mnc0\1.mcc240.3gppnetwork.org!`)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended = make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	t.Cleanup(func() { cancel(); <-ended })
	return ended
}

// A server that somebody else wrote is understood.
func TestDnsmasq(t *testing.T) { // not parallel, because another server would take its port
	program, err := exec.LookPath("dnsmasq")
	if err != nil {
		t.Skip("needs dnsmasq: apt-get install dnsmasq-base")
	}
	var v plugin.Verdict
	var server netip.AddrPort
	testutil.Eventually(t, "dnsmasq answers", func() bool { // another program may take its port meanwhile
		udp, tcp := listen(t)
		server = netip.MustParseAddrPort(udp.LocalAddr().String())
		_, _ = udp.Close(), tcp.Close()
		ended := begin(t, program, server)
		for range 1000 { // until it listens, or has ended
			if v, err = ask(t, "46700000001", server); err == nil && v.RoutingNumber != "" {
				return true
			}
			select {
			case <-ended:
				return false
			case <-time.After(time.Millisecond):
			}
		}
		return false
	})
	if v.RoutingNumber != "4612345" || v.Keep < 1 {
		t.Errorf("%+v", v)
	}
	if v, err = ask(t, "46700000003", server); err != nil || v.Network != "24046" {
		t.Errorf("a rule with parts of the number: %+v, %v", v, err)
	}
	if v, err = ask(t, "46700000002", server); err != nil || v.Network != "" || v.RoutingNumber != "" {
		t.Errorf("not ported: %+v, %v", v, err)
	}
}

// No rule panics or makes a verdict that cannot be carried out.
func FuzzRule(f *testing.F) {
	f.Add(`!^.*$!tel:+1;mcc=240;mnc=01!`, "E2U+tel", "u")
	f.Add(`!^(\+46)(.*)$!sip:\2@mnc005.mcc240.x!i`, "E2U+sip", "u")
	f.Add(`!\!!\`, "E2U+sip", "u")
	f.Fuzz(func(t *testing.T, regexp, service, flags string) {
		v, _, _ := verdictOf(&dns.Msg{Answer: []dns.RR{&dns.NAPTR{Flags: flags, Service: service, Regexp: regexp, Replacement: "."}}}, "+46700000001")
		if err := v.Check(); err != nil {
			t.Error(err)
		}
	})
}
