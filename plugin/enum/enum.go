// Package enum is the plugin that looks up a number's present network by ENUM (RFC 6116), on DNS servers of a
// provider, or of a country's database of ported numbers.
//
// # Start reading
//
// enum.go (the queries), rule.go (the answers).
package enum

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"

	"pmg/plugin"
)

// Options are the servers and the domain of ENUM.
type Options struct {
	Servers []netip.AddrPort // servers, which are asked in this order, each if the previous one has not answered
	Domain  string           // the domain above the numbers: e164.arpa
}

// An ENUM asks DNS servers. It is safe for concurrent use.
type ENUM struct{ options Options }

// New makes a plugin.
func New(o Options) *ENUM { return &ENUM{o} }

// Close implements plugin.Plugin.
func (e *ENUM) Close() {}

// Limits of a query.
const (
	maxDigits = 15 // maximum number of digits (ITU-T E.164)
	udpSize   = 1232
	maxHops   = 4                     // maximum number of names that refer to the next
	maxRules  = 64                    // maximum number of rules in an answer
	leastWait = 50 * time.Millisecond // least time for a server's answer, even with many servers
)

// Ask implements plugin.Plugin. The verdict has the network or the routing number of the recipient. It has neither if
// the number is unknown to the servers, which means that it was not ported.
func (e *ENUM) Ask(ctx context.Context, m *plugin.Message) (plugin.Verdict, error) {
	name, ok := nameOf(m.To, e.options.Domain)
	if !ok {
		return plugin.Verdict{}, fmt.Errorf("%.20q is no international number", m.To)
	}
	keep := time.Duration(-1) // the shortest TTL of all answers
	for range maxHops {
		answer, err := e.query(ctx, name)
		if err != nil {
			return plugin.Verdict{}, err
		}
		if life := lifeOf(answer); keep < 0 || life < keep {
			keep = life
		}
		v, next, err := verdictOf(answer, "+"+m.To)
		if v.Keep = max(1, int(keep/time.Second)); err != nil || next == "" {
			return v, err
		}
		name = next
	}
	return plugin.Verdict{}, fmt.Errorf("its names refer to each other more than %d times", maxHops)
}

// nameOf returns the name of a number: its digits from the last to the first, each as a label.
func nameOf(number, domain string) (name string, ok bool) {
	if len(number) == 0 || len(number) > maxDigits || strings.Trim(number, "0123456789") != "" {
		return "", false
	}
	b := make([]byte, 0, 2*len(number)+len(domain)+1)
	for _, digit := range slices.Backward([]byte(number)) {
		b = append(b, digit, '.')
	}
	return dns.Fqdn(string(b) + domain), true
}

// query asks the servers one after another. Each gets a share of the time.
func (e *ENUM) query(ctx context.Context, name string) (answer *dns.Msg, err error) {
	question := new(dns.Msg)
	question.SetQuestion(name, dns.TypeNAPTR)
	question.SetEdns0(udpSize, false)
	end, ok := ctx.Deadline()
	if !ok {
		return nil, errors.New("the question has no deadline")
	}
	for i, server := range e.options.Servers {
		part := time.Until(end) / time.Duration(len(e.options.Servers)-i)
		answer, err = exchange(ctx, server, question, max(part, leastWait))
		if err == nil || ctx.Err() != nil {
			break
		}
	}
	if err == nil {
		return answer, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return nil, err
}

// exchange asks a server, by TCP if its answer is too long for a datagram.
func exchange(ctx context.Context, server netip.AddrPort, question *dns.Msg, within time.Duration) (*dns.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	ask := func(network string) (*dns.Msg, error) {
		c := dns.Client{Net: network, Timeout: within}
		answer, _, err := c.ExchangeContext(ctx, question, server.String())
		return answer, err
	}
	answer, err := ask("udp")
	if err == nil && answer.Truncated {
		answer, err = ask("tcp")
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("server %s: %w", server, err)
	case len(answer.Question) != 1 || !strings.EqualFold(answer.Question[0].Name, question.Question[0].Name):
		return nil, fmt.Errorf("server %s answers another question", server)
	case answer.Truncated:
		return nil, fmt.Errorf("the answer of server %s is truncated", server)
	case answer.Rcode != dns.RcodeSuccess && answer.Rcode != dns.RcodeNameError:
		return nil, fmt.Errorf("server %s answers with %s", server, dns.RcodeToString[answer.Rcode])
	}
	return answer, nil
}

// lifeOf returns the time for which an answer may be cached (RFC 2308 if it has no records).
func lifeOf(answer *dns.Msg) time.Duration {
	least := uint32(1 << 31)
	for _, r := range answer.Answer {
		least = min(least, r.Header().Ttl)
	}
	if len(answer.Answer) > 0 {
		return time.Duration(least) * time.Second
	}
	for _, r := range answer.Ns {
		if soa, ok := r.(*dns.SOA); ok {
			return time.Duration(min(soa.Hdr.Ttl, soa.Minttl)) * time.Second
		}
	}
	return time.Hour // the hook limits the time, too
}
