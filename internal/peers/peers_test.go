package peers

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"testing"

	"pmg/internal/testkit/testutil"
)

var (
	all   = flag.Bool("peers", false, "run the peers")
	write = flag.Bool("write", false, "write what came of it to docs/compatibility.md")
)

// A peer is somebody else's program or library.
type peer struct {
	name     string // with its version
	protocol string // smpp or ucp
	missing  func() string
	client   func(b *clientBench) library // nil: it is none
	smsc     func(t testing.TB, address string) library
	clients  string // options of the gateway's connector for the library as a client

	// Why the library cannot do a scenario, by its name or by "smsc: " and its name. A column
	// stands for all of its scenarios.
	cannot map[string]string
}

// why returns why the library cannot do a scenario.
func (p *peer) why(role, name, column string) string {
	for _, key := range []string{role + ": " + name, role + ": " + column} {
		if why := p.cannot[key]; why != "" {
			return why
		}
	}
	return ""
}

// Why several libraries cannot do a scenario.
const (
	noVersion   = "it says version 3.4 in every login"
	versionZero = "it says version 0 in every login; its other scenarios are with version_at_least: 3.4"
)

func peers() []*peer {
	return []*peer{
		{
			name: "node-smpp 0.5.1", protocol: "smpp", missing: nodePackage("smpp"),
			client: func(b *clientBench) library {
				return run(b.t, exec.Command("node", "node/smpp.js", "client", b.gateway.clients))
			},
			smsc: func(t testing.TB, address string) library {
				return run(t, exec.Command("node", "node/smpp.js", "smsc", address))
			},
			cannot: map[string]string{"client: own parts": "it does not cut texts"},
		},
		{
			name: "node-smpp 0.6.0-rc.4", protocol: "smpp", missing: nodePackage("smpp-next"),
			client: func(b *clientBench) library {
				return run(b.t, exec.Command("node", "node/smpp.js", "client", b.gateway.clients, "smpp-next"))
			},
			smsc: func(t testing.TB, address string) library {
				return run(t, exec.Command("node", "node/smpp.js", "smsc", address, "smpp-next"))
			},
			cannot: map[string]string{"client: own parts": "it does not cut texts"},
		},
		{
			name: "gosmpp 0.3.0", protocol: "smpp", missing: built("golang/bin/gosmpp", "make peers does that where Go can fetch it"),
			client: func(b *clientBench) library {
				return run(b.t, exec.Command("golang/bin/gosmpp", "client", b.gateway.clients))
			},
			smsc: func(t testing.TB, address string) library {
				return run(t, exec.Command("golang/bin/gosmpp", "smsc", address))
			},
			cannot: map[string]string{
				"client: version 3.3": noVersion, "client: version 5.0": noVersion,
			},
		},
		{
			name: "go-smpp 2021-04 (fiorix)", protocol: "smpp", missing: built("golang/bin/fiorix", "make peers does that where Go can fetch it"),
			client: func(b *clientBench) library {
				return run(b.t, exec.Command("golang/bin/fiorix", "client", b.gateway.clients))
			},
			smsc: func(t testing.TB, address string) library {
				return run(t, exec.Command("golang/bin/fiorix", "smsc", address))
			},
			cannot: map[string]string{
				"client: data_sm": "it has none", "client: message by data_sm": "it has none",
				"client: replace": "it has none", "client: cancel": "it has none",
				"client: keep-alive of the library": "it sends them by itself, at least 10 s apart", "smsc: cancel": "it has none",
				"client: version 3.3": noVersion, "client: version 5.0": noVersion,
			},
		},
		{
			name: "Net::SMPP 1.19", protocol: "smpp", missing: perlModule("Net::SMPP"),
			client: func(b *clientBench) library {
				return run(b.t, exec.Command("perl", "perl/netsmpp.pl", "client", b.gateway.clients))
			},
			smsc: func(t testing.TB, address string) library {
				return run(t, exec.Command("perl", "perl/netsmpp.pl", "smsc", address))
			},
			cannot: map[string]string{"client: own parts": "it does not cut texts"},
		},
		{
			name: "libsmpp34 1.14.1 (C)", protocol: "smpp", missing: built("c/bin/smpp34", "apt-get install libsmpp34-dev; make peers builds it"),
			client: func(b *clientBench) library {
				return run(b.t, exec.Command("c/bin/smpp34", "client", b.gateway.clients))
			},
			cannot: map[string]string{
				"client: version 3.3": noVersion, "client: version 5.0": noVersion, "client: own parts": "it does not cut texts",
				"client: GSM characters": "it packs octets alone", "client: message with GSM characters": "it packs octets alone",
			},
		},
		{
			name: "larvitsmpp 0.4.0", protocol: "smpp", missing: nodePackage("larvitsmpp"),
			client: func(b *clientBench) library {
				return run(b.t, exec.Command("node", "node/larvitsmpp.js", "client", b.gateway.clients))
			},
			smsc: func(t testing.TB, address string) library {
				return run(t, exec.Command("node", "node/larvitsmpp.js", "smsc", address))
			},
			clients: "version_at_least: 3.4",
			cannot: map[string]string{
				"client: version 3.3": versionZero, "client: version 3.4": versionZero, "client: version 5.0": versionZero,
				"client: submit_multi": "it writes none with sm_length", "smsc: binary": "it reads octets as text",
			},
		},
		{
			name: "Kannel 1.4.5 smpp", protocol: "smpp", missing: noKannel, client: kannelOf,
			cannot: kannelCannot(map[string]string{"client: message_payload": "it cuts what is longer than a part"}),
		},
		{
			name: "Kannel 1.4.5 emi", protocol: "ucp", missing: noKannel, client: kannelOf,
			cannot: kannelCannot(map[string]string{
				"client: versions": "UCP has none", "client: message_payload": "UCP has none", "client: vendor's parameter": "UCP has none",
				"client: transmitter": "UCP has one kind of login", "client: receiver": "UCP has one kind of login",
			}),
		},
	}
}

// kannelCannot adds what Kannel cannot do over any protocol.
func kannelCannot(more map[string]string) map[string]string {
	for _, name := range []string{"data_sm", "submit_multi", "operations"} {
		more["client: "+name] = "Kannel sends none"
	}
	more["client: keep-alive of the library"] = "it sends them by itself, after 30 s"
	return more
}

// perlModule reports what is missing for a module of perl.
func perlModule(name string) func() string {
	return func() string {
		if err := exec.Command("perl", "-M"+name, "-e", "1").Run(); err != nil {
			return "perl's " + name + " is not installed: apt-get install libnet-smpp-perl"
		}
		return ""
	}
}

// nodePackage reports what is missing for a package of npm.
func nodePackage(name string) func() string {
	return func() string {
		if _, err := exec.LookPath("node"); err != nil {
			return "node is not installed"
		}
		if _, err := os.Stat(filepath.Join("node/node_modules", name)); err != nil {
			return "npm's " + name + " is not installed: (cd internal/peers/node && npm ci)"
		}
		return ""
	}
}

// built reports that a program is missing which has to be built.
func built(file, how string) func() string {
	return func() string {
		if _, err := os.Stat(file); err != nil {
			return "it is not built: " + how
		}
		return ""
	}
}

// An outcome is what came of a scenario.
type outcome string

const (
	ok         outcome = "ok"
	failed     outcome = "failed"
	impossible outcome = "not possible"
	skipped    outcome = "skipped"
)

// A result is what came of a scenario with a peer.
type result struct {
	peer, role, column, name string
	outcome                  outcome
	why                      string
}

// A report gathers results.
type report struct {
	tape tape

	mu      sync.Mutex
	results []result
}

func (r *report) add(x result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.results = append(r.results, x)
	line := fmt.Sprintf("%-12s %s as %s: %s", x.outcome, x.peer, x.role, x.name)
	if x.why != "" {
		line += " (" + x.why + ")"
	}
	fmt.Println(line)
}

// Every peer does every scenario that it can.
func TestPeers(t *testing.T) {
	if !*all {
		t.Skip("make peers runs the peers")
	}
	if _, err := os.Stat(*binary); err != nil {
		t.Fatal(err)
	}
	r := &report{}
	t.Run("all", func(t *testing.T) {
		for _, p := range peers() {
			t.Run(p.name, func(t *testing.T) {
				t.Parallel()
				if why := p.missing(); why != "" {
					r.add(result{peer: p.name, role: "any", name: "all", outcome: skipped, why: why})
					t.Skip(why)
				}
				if p.client != nil {
					t.Run("client", func(t *testing.T) { p.runClient(t, r) })
				}
				if p.smsc != nil {
					t.Run("smsc", func(t *testing.T) { p.runSMSC(t, r) })
				}
			})
		}
	})
	t.Run("tshark", r.tape.judge)
	r.summary()
	if *write {
		writeMatrix(t, r.results)
	}
}

// summary prints how many scenarios have each outcome.
func (r *report) summary() {
	count := map[outcome]int{}
	for _, x := range r.results {
		count[x.outcome]++
	}
	var words []string
	for o, n := range count {
		words = append(words, fmt.Sprint(n, " ", o))
	}
	sort.Strings(words)
	fmt.Println("peers:", strings.Join(words, ", "))
}

// scenario runs a scenario as a subtest, unless the library cannot do it.
func (p *peer) scenario(t *testing.T, r *report, role, name, column string, run func(t *testing.T)) {
	x := result{peer: p.name, role: role, column: column, name: name}
	if x.why = p.why(role, name, column); x.why != "" {
		x.outcome = impossible
		r.add(x)
		return
	}
	ran := false // -run may leave it out
	x.outcome = failed
	if t.Run(name, func(t *testing.T) { ran = true; run(t) }) {
		x.outcome = ok
	}
	if ran {
		r.add(x)
	}
}

// runClient runs the scenarios of a client. They share a gateway until one fails.
func (p *peer) runClient(t *testing.T, r *report) {
	var b *clientBench
	for _, s := range clientScenarios() {
		p.scenario(t, r, "client", s.name, s.column, func(inner *testing.T) {
			if b == nil {
				address := testutil.FreeAddress(t)
				g := startGateway(t, "protocol: "+p.protocol+", enquire_interval: 300ms, "+p.clients, address, "version: 5.0")
				g.clients = r.tape.relay(t, p.name, p.protocol, g.clients, false)
				b = &clientBench{outer: t, row: p, gateway: g, smsc: newTestSMSC(t, address)}
			}
			b.t, b.library = inner, func() library { return p.client(b) }
			within(inner, "the gateway has bound to the test's SMSC", b.smsc.bound)
			defer func() {
				if inner.Failed() {
					inner.Logf("the gateway's log: %s", tail(b.gateway.log.String()))
					b.end()
					b = nil
				}
			}()
			s.run(b)
		})
	}
}

// runSMSC runs the scenarios of an SMSC.
func (p *peer) runSMSC(t *testing.T, r *report) {
	for _, s := range smscScenarios() {
		p.scenario(t, r, "smsc", s.name, s.column, func(t *testing.T) {
			address := testutil.FreeAddress(t)
			g := startGateway(t, "", r.tape.relay(t, p.name, p.protocol, address, true), "protocol: "+p.protocol+", "+s.options)
			b := &smscBench{t: t, row: p, gateway: g, start: func() library { return p.smsc(t, address) }}
			s.run(b)
			if t.Failed() {
				t.Logf("the gateway's log: %s", tail(g.log.String()))
			}
		})
	}
}
