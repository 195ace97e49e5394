package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"pmg/cmd/pmg/dialogue"
	"pmg/internal/tlsfiles"
	"pmg/protocols"
	"pmg/sms"
	"pmg/sms/rewrite"
)

// Options are the address, the login and the tests of a probe.
type Options struct {
	Address  string // host:port
	Driver   protocols.SessionDriver
	Bind     string            // the option bind of a connector; "": the protocol has no such option
	Options  protocols.Options // options of the protocol
	SystemID string            // "": the probe does not log in
	Password string
	TLS      *tlsfiles.Options // nil: no TLS
	Timeout  time.Duration     // time limit for each answer

	Enquiries int    // number of keep-alives to send
	From, To  string // addresses of the test messages; an empty To: no messages are sent
	Messages  int    // number of messages to send without waiting for answers
}

// found are the results that the connector's options are made of.
type found struct {
	window int // 0: not known
}

// Run probes an SMSC and writes the results. An error is the reason why the probe ended early.
func Run(ctx context.Context, out io.Writer, o *Options) error {
	conn, err := (&dialogue.Address{HostPort: o.Address, TLS: o.TLS, Timeout: o.Timeout}).Dial(ctx, out)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	var f found
	if o.SystemID != "" {
		if err := f.session(out, conn, o); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(out, "no login, because there is no --system-id")
	}
	f.write(out, o)
	return nil
}

// session logs in, sends keep-alives and messages, and logs out.
func (f *found) session(out io.Writer, conn net.Conn, o *Options) error {
	d := dialogue.New(conn, o.Driver, protocols.SessionOptions{
		Role: protocols.Client, SystemID: o.SystemID, Password: o.Password, Options: o.Options, EnquireInterval: 1,
	}, o.Timeout)
	began := time.Now()
	answer, err := d.Login()
	if err != nil {
		if o.TLS == nil && errors.Is(err, dialogue.ErrClosed) {
			err = fmt.Errorf("%w: if it speaks TLS on this port, --tls helps", err)
		}
		return fmt.Errorf("login of %s: %w", o.SystemID, err)
	}
	fmt.Fprintf(out, "logged in as %s in %s: %s\n", o.SystemID, dialogue.Rounded(time.Since(began)), answer)
	defer d.Leave()
	if err := f.enquire(out, d, o.Enquiries); err != nil {
		return err
	}
	if o.To != "" {
		err = f.send(out, d, o)
	} else {
		fmt.Fprintln(out, "no message was sent, so the window is not known: --to NUMBER sends some")
	}
	if d.Refused > 0 {
		fmt.Fprintf(out, "it delivered %d messages or receipts, which were refused for now, so that they come again\n", d.Refused)
	}
	return err
}

// enquire sends n keep-alives, one at a time.
func (f *found) enquire(out io.Writer, d *dialogue.Dialogue, n int) error {
	var took []time.Duration
	for range n {
		t, err := d.Enquire()
		if err != nil {
			return fmt.Errorf("cannot send a keep-alive: %w", err)
		}
		took = append(took, t)
	}
	if n > 0 {
		fmt.Fprintf(out, "sent %d keep-alives, it answered within %s\n", n, spread(took))
	}
	return nil
}

// send sends messages without waiting for their answers, and counts the answers.
func (f *found) send(out io.Writer, d *dialogue.Dialogue, o *Options) error {
	sent := map[uint32]time.Time{}
	for n := range o.Messages {
		m, now := o.message(n), time.Now()
		sequence := d.Session.NextSequence()
		d.Session.Encode(now.UnixNano(), d.PDU, m, sequence)
		m.Release()
		if err := d.Write(); err != nil {
			return fmt.Errorf("cannot send messages: %w", err)
		}
		sent[sequence] = now
	}
	var took []time.Duration
	refusals := map[string]int{}
	for range o.Messages {
		a, err := d.Until(protocols.Answered, func() {})
		if err != nil {
			return fmt.Errorf("%d of %d messages were answered, then: %w", len(took), o.Messages, err)
		}
		took = append(took, time.Since(sent[a.Sequence]))
		if a.Code == sms.OK {
			f.window++
		} else {
			refusals[o.Driver.StatusName(a.Status)]++
		}
	}
	fmt.Fprintf(
		out, "sent %d messages to %s without waiting: it accepted %d, and answered within %s\n", o.Messages, o.To, f.window,
		spread(took),
	)
	for status, n := range refusals {
		fmt.Fprintf(out, "  %s: %d\n", status, n)
	}
	return nil
}

// message makes the test message with number n.
func (o *Options) message(n int) *sms.Message {
	m := &sms.Message{Alphabet: sms.Default}
	m.Set(rewrite.Auto([]byte(o.From)), rewrite.Auto([]byte(o.To)), fmt.Appendf(nil, "pmg probe %d", n+1))
	return m
}

// write writes the options of a connector.
func (f *found) write(out io.Writer, o *Options) {
	host, _, _ := net.SplitHostPort(o.Address)
	fmt.Fprintf(out, "\nconnectors:\n  - name: %s\n    direction: out\n", strings.NewReplacer(".", "-", ":", "-").Replace(host))
	if name := o.Driver.Name(); name != "smpp" {
		fmt.Fprintf(out, "    protocol: %s\n", name)
	}
	fmt.Fprintf(out, "    address: %q\n", o.Address)
	if o.SystemID != "" {
		fmt.Fprintf(out, "    system_id: %q\n    password: \"${ENV:SMSC_PASSWORD}\"\n", o.SystemID)
	} else {
		fmt.Fprintln(out, "    system_id: \"...\"\n    password: \"${ENV:SMSC_PASSWORD}\"")
	}
	if o.Bind != "" {
		fmt.Fprintf(out, "    bind: %s\n", o.Bind)
	}
	if f.window > 0 {
		fmt.Fprintf(out, "    window: %d   # it accepted as many unanswered messages; it may accept more\n", f.window)
	}
	if o.TLS != nil {
		fmt.Fprintf(out, "    tls: %s\n", tlsOptions(o.TLS))
	}
}

// tlsOptions returns the section tls of a connector.
func tlsOptions(o *tlsfiles.Options) string {
	var all []string
	add := func(key, value string) {
		if value != "" {
			all = append(all, fmt.Sprintf("%s: %q", key, value))
		}
	}
	if len(o.Certificates) > 0 {
		add("certificate", o.Certificates[0])
		add("key", o.Keys[0])
	}
	add("ca", o.Authorities)
	add("server_name", o.ServerName)
	if o.Insecure {
		all = append(all, "insecure: true")
	}
	if len(all) == 0 {
		return "true"
	}
	return "{" + strings.Join(all, ", ") + "}"
}

// spread returns the longest and the median of times.
func spread(took []time.Duration) string {
	slices.Sort(took)
	return fmt.Sprintf("%s (half of it within %s)", dialogue.Rounded(took[len(took)-1]), dialogue.Rounded(took[len(took)/2]))
}
