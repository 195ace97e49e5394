// Package inbox keeps the texts that mobiles send to accounts, for the page Inbox of the portal.
//
// A text is a note of the store (store.KindInbox), which the commit writes that accepts the message. So it is there exactly once,
// also after a kill. Notes with texts are encrypted as messages are. Package inbox knows of each text how old and how long it is,
// and removes the oldest of an account that has too many.
//
// # Start reading
//
// Inbox.Add, Inbox.List (list.go), Inbox.LookAfter.
package inbox

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"strings"
	"sync"
	"unicode/utf8"

	"pmg/config"
	"pmg/connector"
	"pmg/gateway/keep"
	"pmg/gateway/node"
	"pmg/internal/smstext"
	"pmg/sms"
	"pmg/sms/rewrite"
	"pmg/sms/userdata"
	"pmg/store"
)

// Limits of an account's inbox. The oldest texts are removed.
const (
	Most       = 10_000   // texts; each part of a long one counts
	mostOctets = 16 << 20 // octets of the notes
	together   = 1000     // texts that one commit removes because of their age
	checkEvery = int64(3600e9)
)

// Table finds the options of accounts, and which part of a long message a message is.
type Table interface {
	Account(name string) *config.Account
	PartOf(m *sms.Message) (p userdata.Part, text []byte, ok bool)
}

// An Inbox has the texts of all accounts. It is safe for concurrent use.
type Inbox struct {
	node  *node.Node
	keep  *keep.Keeper
	table Table

	mu     sync.Mutex
	of     map[string]*box // by account
	next   int64           // when to look for old texts, by the engine's clock
	looked int64           // time by the wall clock when that was done before; 0: never
}

// A box is what is known of an account's texts, the oldest first.
type box struct {
	entries []entry
	ids     map[uint64]struct{}
	octets  int64
}

// An entry is a text in the store.
type entry struct {
	id        uint64
	at, until int64
	octets    int32
}

// New makes the inbox of a gateway. The caller calls Load when the store is open.
func New(n *node.Node, k *keep.Keeper, t Table) *Inbox {
	return &Inbox{node: n, keep: k, table: t, of: map[string]*box{}}
}

// Load finds the texts of earlier runs in the store.
func (x *Inbox) Load() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	clear(x.of)
	err := x.keep.Index.Notes(store.KindInbox, nil, math.MaxInt, func(key, value []byte) error {
		account, id, ok := store.CutReceivedKey(key)
		if !ok {
			return nil
		}
		e := entry{id: id, octets: int32(len(value))}
		if len(value) > 0 { // else its message was refused, because its commit failed
			v, err := store.DecodeReceived(value)
			if err != nil {
				return err
			}
			e.at, e.until = v.At, v.Until
		}
		x.box(account).add(e)
		return nil
	})
	if err != nil {
		return fmt.Errorf("cannot read the texts of inboxes: %w", err)
	}
	return nil
}

// box returns what is known of an account's texts. The caller holds the lock.
func (x *Inbox) box(account string) *box {
	b := x.of[account]
	if b == nil {
		b = &box{ids: map[uint64]struct{}{}}
		x.of[account] = b
	}
	return b
}

func (b *box) add(e entry) {
	b.entries = append(b.entries, e)
	b.ids[e.id] = struct{}{}
	b.octets += int64(e.octets)
}

// drop removes the oldest text from a batch's store, and from the box.
func (b *box) drop(to *store.Batch, account string) {
	e := b.entries[0]
	b.entries = b.entries[1:]
	delete(b.ids, e.id)
	b.octets -= int64(e.octets)
	to.Erase(store.KindInbox, store.ReceivedKey(account, e.id), store.Forever)
	to.Erase(store.KindInbox, store.AnsweredKey(account, e.id), store.Forever)
}

// Add adds a message that an account's lane gets to its inbox, in a batch that is being collected, if the account has one. Adding
// it again changes nothing.
func (x *Inbox) Add(b *store.Batch, m *sms.Message, lane *connector.Lane) {
	a := x.options(lane.Account)
	if a == nil {
		return
	}
	v := x.received(a, m, lane.Home().Config())
	value := v.Append(nil)
	x.mu.Lock()
	defer x.mu.Unlock()
	box := x.box(a.SystemID)
	if _, is := box.ids[m.ID]; is {
		return
	}
	b.Claim(store.KindInbox, store.ReceivedKey(a.SystemID, m.ID), value, store.Forever)
	box.add(entry{m.ID, v.At, v.Until, int32(len(value))})
	for len(box.entries) > Most || box.octets > mostOctets && len(box.entries) > 1 {
		box.drop(b, a.SystemID)
	}
}

// Take adds a message to the inbox of an account that gets its messages there alone. Most have been there since they were
// accepted. It reports false if the account has no inbox any more.
func (x *Inbox) Take(m *sms.Message, lane *connector.Lane) bool {
	if x.options(lane.Account) == nil {
		return false
	}
	x.keep.Batches.Write(func(b *store.Batch) { x.Add(b, m, lane) })
	return true
}

// options returns the options of an account that has an inbox, or nil.
func (x *Inbox) options(account string) *config.Account {
	if a := x.table.Account(account); a != nil && a.Logins.Pages.Inbox > 0 {
		return a
	}
	return nil
}

// received returns what the store keeps of a message that leaves by a connector.
func (x *Inbox) received(a *config.Account, m *sms.Message, c *config.Connector) store.Received {
	at := m.Arrived + x.node.Clock.Ahead()
	v := store.Received{At: at, Until: at + int64(a.Logins.Pages.Inbox)}
	v.From, v.To = addresses(a, m, c)
	text, header := m.Text(), m.Flags&sms.HasHeader != 0
	if p, _, ok := x.table.PartOf(m); ok && p.Valid() && p.Total > 1 {
		v.Reference, v.Part, v.Parts, v.Wide = p.Reference, p.Number, p.Total, p.Wide
	}
	if plain, ok := smstext.Decode(m.Alphabet, header, text); ok {
		v.Text = []byte(strings.ToValidUTF8(plain, string(utf8.RuneError)))
	} else {
		v.Text, v.Binary = hex.AppendEncode(nil, text), true
	}
	return v
}

// addresses returns the sender and the recipient of a message as the account gets them, by the rules of rewrite.
func addresses(a *config.Account, m *sms.Message, c *config.Connector) (from, to sms.Address) {
	account, own := a.RewriteOut(), c.RewriteOut()
	if account == nil && own == nil {
		return m.Source(), m.Dest()
	}
	var both rewrite.Addresses
	both.Set(m.Source(), m.Dest())
	for _, rules := range []*rewrite.Rules{account, own} {
		if rules != nil {
			rules.Apply(&both)
		}
	}
	clone := func(a sms.Address) sms.Address { a.Addr = bytes.Clone(a.Addr); return a }
	return clone(both.Source), clone(both.Dest)
}

// LookAfter removes texts that are too old. It does so about once an hour. The wall clock may be wrong for a while, so a text is
// removed when two checks find it old.
func (x *Inbox) LookAfter(now int64) {
	if old := x.old(now); old.Len() > 0 { // outside of the lock, which Add takes within that of the log
		x.keep.Batches.Append(old)
		x.keep.Batches.CommitSoon()
	}
}

// old takes texts whose time has ended out of the boxes, and returns the batch that removes them.
func (x *Inbox) old(now int64) *store.Batch {
	var all store.Batch
	x.mu.Lock()
	defer x.mu.Unlock()
	if now < x.next {
		return &all
	}
	wall := x.node.Clock.Wall(now)
	due := min(wall, x.looked)
	for account, b := range x.of {
		for len(b.entries) > 0 && x.isOver(account, &b.entries[0], due) {
			if all.Len() >= 2*together {
				return &all // the rest follows in a second
			}
			b.drop(&all, account)
		}
		if len(b.entries) == 0 {
			delete(x.of, account)
		}
	}
	x.next, x.looked = now+checkEvery, wall
	return &all
}

// isOver reports whether the time of a text has ended. A shorter time of the account counts for texts that it has already.
func (x *Inbox) isOver(account string, e *entry, wall int64) bool {
	a := x.options(account)
	return e.until < wall || a != nil && e.at+int64(a.Logins.Pages.Inbox) < wall
}
