package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pmg/internal/testkit/testutil"
	"pmg/protocols"
	"pmg/protocols/prototest"
	"pmg/protocols/smpp"
)

// The driver's transcripts, played to the whole gateway. Some are omitted: those in which
// time passes, because the clock is real here; those in which the test invents messages,
// because messages come from peers here; those that contain a message's id or a login of the
// gateway; those in which operations are carried out, because other answers may be sent before
// theirs; and those that count PDUs, because Read sends an enquire_link. Other tests cover
// these.
func TestTranscripts(t *testing.T) {
	parallel(t)
	prototest.Run(t, smpp.New(smpp.Options{}), newOptions, transcripts(t), func(t *testing.T, o protocols.SessionOptions) prototest.Subject {
		return newSubject(t, o)
	})
}

func newOptions() protocols.Options { return smpp.NewConnectorOptions() }

func transcripts(t *testing.T) (paths []string) {
	all, err := filepath.Glob("../../protocols/smpp/testdata/*.txt")
	if err != nil || len(all) == 0 {
		t.Fatal("no transcripts", err)
	}
	left := regexp.MustCompile(`(?m)^(wait|message|bound) |^<.*message_id=\w|^< (query|cancel|replace)_sm_resp .*FAIL`)
	for _, path := range all {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !left.Match(b) && !strings.HasPrefix(filepath.Base(path), "early") {
			paths = append(paths, path)
		}
	}
	return paths
}

// A subject is a connection to a gateway of its own.
type subject struct {
	g      *gw
	p      *peer
	name   string // of the connector
	events []string
	over   bool
}

func newSubject(t *testing.T, o protocols.SessionOptions) *subject {
	parallel(t)
	operator := newSMSC(t)
	options := o.Options.(*smpp.ConnectorOptions)
	s := &subject{name: "clients"}
	s.g = start(t, site{
		operator: operator,
		clients:  fmt.Sprintf("system_id: %s, long_passwords: %t, version: %s", o.Name, options.LongPasswords, options.Version),
		out: fmt.Sprintf(
			"bind: %s, static: %v, version: %s, bind_ton: %d, bind_npi: %d, address_range: %q", options.Bind,
			o.Role == protocols.Client && !o.Accepted, options.Version, options.BindTON, options.BindNPI, options.AddressRange,
		),
		more: listening(o, "bind: "+options.Bind.String()),
	})
	if o.Role == protocols.Server {
		s.p = s.g.dial("clients")
		return s
	}
	if o.Accepted {
		s.name, s.p = "smsc", s.g.dial("smsc")
		return s
	}
	s.name, s.p = "operator", operator.accept()
	return s
}

// listening returns a connector to which the SMSC of a transcript connects, if it does.
func listening(o protocols.SessionOptions, options string) string {
	switch {
	case !o.Accepted:
		return ""
	case !o.Anonymous:
		options += ", peer_system_id: acme, peer_password: s3cret"
	}
	return `{name: smsc, direction: out, listen: "127.0.0.1:0", system_id: pmg, password: secret, ` + options + "}"
}

// Write implements prototest.Subject. The gateway may have closed already.
func (s *subject) Write(b []byte) { _, _ = s.p.conn.Write(b) }

// Read implements prototest.Subject. It sends an enquire_link, whose answer shows that all
// earlier PDUs have arrived.
func (s *subject) Read() (all []byte) {
	if s.over {
		return nil
	}
	const number = 0x7F00FE11
	fence := wire(s.g.t, fmt.Sprintf("enquire_link seq=%d", number))
	answer := wire(s.g.t, fmt.Sprintf("enquire_link_resp seq=%d status=0", number))
	s.Write(fence)
	for {
		b, err := s.p.read()
		if err != nil {
			s.ended()
			return all
		}
		if bytes.Equal(b, answer) {
			return all
		}
		all = append(all, b...)
	}
}

// ended records the end of the session and its reason, which it reads in the gateway's log.
func (s *subject) ended() {
	s.over = true
	reason := regexp.MustCompile(`"connector":"` + s.name + `".*"reason":("(?:[^"\\]|\\.)*"),"message":"(?:session over|session lost|no session)`)
	testutil.Eventually(s.g.t, "the end is logged", func() bool {
		m := reason.FindStringSubmatch(s.g.log.String())
		if m == nil {
			return false
		}
		text, err := strconv.Unquote(m[1])
		if err != nil {
			s.g.t.Fatal(err)
		}
		s.events = append(s.events, "closed "+text)
		return true
	})
}

// Wait implements prototest.Subject.
func (s *subject) Wait(time.Duration) { panic("no time passes here") }

// Command implements prototest.Subject.
func (s *subject) Command(text string) error {
	if text != "unbind" {
		return fmt.Errorf("cannot do %q", text)
	}
	c := s.g.Gateway.Table.Connector(s.name)
	s.g.engine.Detach(c)
	unbinds := &c.Stats.PDUsOut[slices.Index(c.Driver.Commands(), "unbind")]
	testutil.Eventually(s.g.t, "the session is ending", func() bool { return s.g.Sessions.Count() == 0 || unbinds.Load() > 0 })
	return nil
}

// Events implements prototest.Subject.
func (s *subject) Events() []string {
	e := s.events
	s.events = nil
	return e
}
