package account

import (
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"pmg/config"
	"pmg/internal/window"
	"pmg/sms/number"
)

// Flood limits how many messages an account submits to a recipient, or to numbers that begin alike. It is safe for
// concurrent use.
type Flood struct {
	seed maphash.Seed

	mu     sync.Mutex
	limits []limit
}

// A limit counts the messages to all recipients together, or to each recipient separately.
type limit struct {
	config config.Flood
	prefix number.Prefix
	why    string // the reason for refusing a message
	span   window.Span
	all    *window.Count
	each   *window.Counts
}

// Flood returns the account's limits, or nil if the account has none.
func (a *Account) Flood() *Flood { return a.use.flood.Load() }

// setFlood puts the limits of an account in force. A limit for the same messages as an earlier limit
// continues with the counts of that.
func setFlood(of *atomic.Pointer[Flood], all []config.Flood) {
	if len(all) == 0 {
		of.Store(nil)
		return
	}
	f := of.Load()
	if f == nil {
		f = &Flood{seed: maphash.MakeSeed()}
	}
	f.set(all)
	of.Store(f)
}

func (f *Flood) set(all []config.Flood) {
	f.mu.Lock()
	defer f.mu.Unlock()
	limits := make([]limit, len(all))
	for i, c := range all {
		l := &limits[i]
		if was := slices.IndexFunc(f.limits, func(l limit) bool { return l.config.Same(&c) }); was >= 0 {
			*l = f.limits[was]
		}
		l.prefix, _ = number.ParsePrefix(strings.TrimPrefix(c.Prefix, "+")) // short codes count, too
		l.config, l.span = c, window.NewSpan(int64(c.Within))
		l.why = "message refused: its account may submit no more than " + c.String() + " (flood)"
		switch {
		case c.Per != config.PerRecipient && l.all == nil:
			l.all = &window.Count{}
		case c.Per == config.PerRecipient && l.each == nil:
			l.each = window.NewCounts(l.span, c.Keep)
		case c.Per == config.PerRecipient:
			l.each.SetKeep(c.Keep)
		}
	}
	f.limits = limits
}

// Refuses returns the reason why no message to the recipient is allowed at the time at. An empty
// result means that a message is allowed.
func (f *Flood) Refuses(at int64, recipient number.Number) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.refuses(at, recipient, f.hash(recipient))
}

// Take counts a message to the recipient at the time at in every limit that applies, unless one of
// the limits refuses the message. It returns the reason of the refusal, or "" if the message was
// counted. GiveBack undoes the count if the message is not accepted.
func (f *Flood) Take(at int64, recipient number.Number) (why string) {
	hash := f.hash(recipient)
	f.mu.Lock()
	defer f.mu.Unlock()
	if why = f.refuses(at, recipient, hash); why != "" {
		return why
	}
	for i := range f.limits {
		switch l := &f.limits[i]; {
		case !l.prefix.Fits(recipient):
		case l.all != nil:
			l.all.Add(l.span, at)
		default:
			l.each.Add(at, hash)
		}
	}
	return ""
}

// GiveBack undoes what Take has counted for a message that arrived at the time at.
func (f *Flood) GiveBack(at int64, recipient number.Number) {
	hash := f.hash(recipient)
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.limits {
		switch l := &f.limits[i]; {
		case !l.prefix.Fits(recipient):
		case l.all != nil:
			l.all.GiveBack(l.span, at)
		default:
			l.each.GiveBack(at, hash)
		}
	}
}

// refuses implements Refuses. The caller holds f.mu.
func (f *Flood) refuses(at int64, recipient number.Number, hash uint64) string {
	for i := range f.limits {
		l, n := &f.limits[i], 0
		switch {
		case !l.prefix.Fits(recipient):
			continue
		case l.all != nil:
			n = l.all.Of(l.span, at)
		default:
			n = l.each.Of(at, hash)
		}
		if n >= l.config.Most {
			return l.why
		}
	}
	return ""
}

func (f *Flood) hash(recipient number.Number) uint64 {
	var room [260]byte
	return maphash.Bytes(f.seed, recipient.AppendKey(room[:0]))
}
