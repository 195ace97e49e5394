package credit

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"pmg/sms"
	"pmg/store"
)

// A Payment is what an account has paid, or what was taken away from it.
type Payment struct {
	At        time.Time `json:"at"`
	Amount    string    `json:"amount"`
	Balance   string    `json:"balance"` // the balance after the payment
	Reference string    `json:"reference,omitempty"`
	Comment   string    `json:"comment,omitempty"`
	By        string    `json:"by,omitempty"` // the operator that has entered the payment
}

// The limits of a payment's texts, in octets.
const (
	MaxReference = 100
	MaxComment   = 200
)

// ErrTwice is the error for a reference that was used before.
var ErrTwice = errors.New("a payment with this reference was entered before, and changes nothing")

// Pay adds a payment to the balance of an account. It returns when the payment is stored on disk.
// Each reference can be used only once.
func (d *Accountant) Pay(account string, amount sms.Money, p Payment) (Payment, error) {
	d.paying.Lock()
	defer d.paying.Unlock()
	if len(p.Reference) > MaxReference || len(p.Comment) > MaxComment {
		return p, fmt.Errorf("a reference has up to %d octets, a comment up to %d", MaxReference, MaxComment)
	}
	if !d.keep.Durable() {
		return p, errors.New("the gateway keeps nothing (store.engine: memory)")
	}
	reference := append(append([]byte(account), 0, 'r'), p.Reference...)
	if err := d.isTwice(p.Reference, reference); err != nil {
		return p, err
	}
	now := d.node.Clock.WallNow()
	c := &d.node.Origins.TallyOf(account).Credit
	var failed error
	d.keep.Batches.Write(func(b *store.Batch) {
		balance := c.Pay(amount)
		p.At, p.Amount, p.Balance = time.Unix(0, now).UTC(), amount.String(), balance.String()
		value, err := json.Marshal(&p)
		if balance > sms.MaxMoney || balance < -sms.MaxMoney {
			err = fmt.Errorf("the balance would be %s, but the limit is %s, or as much below 0", balance, sms.Money(sms.MaxMoney))
		}
		if failed = err; err != nil {
			c.Pay(-amount)
			return
		}
		write(b, account, c, store.DayOf(now))
		b.Note(store.KindPaid, binary.BigEndian.AppendUint64(prefixOf(account), uint64(now)), value, store.Forever)
		if p.Reference != "" {
			b.Note(store.KindPaid, reference, nil, store.Forever)
		}
	})
	if failed != nil {
		return p, failed
	}
	if err := d.keep.Batches.Sync(); err != nil {
		if p.Reference != "" {
			d.pending[string(reference)] = true
		}
		return p, fmt.Errorf("cannot store the payment now, which the next commit does: look at the history before you enter "+
			"it again without a reference: %w", err)
	}
	return p, nil
}

// isTwice returns ErrTwice if a payment with this reference is stored. If the commit of such a
// payment has failed, isTwice first waits for the next commit, which stores the payment.
func (d *Accountant) isTwice(reference string, key []byte) error {
	if reference == "" {
		return nil
	}
	_, ok, err := d.keep.Index.Lookup(store.KindPaid, key)
	switch {
	case err != nil:
		return fmt.Errorf("cannot find out whether the reference was used before: %w", err)
	case ok:
		return ErrTwice
	}
	if !d.pending[string(key)] {
		return nil
	}
	if err = d.keep.Batches.Sync(); err != nil {
		return fmt.Errorf("cannot store the payment with this reference, which was entered before: %w", err)
	}
	delete(d.pending, string(key))
	return ErrTwice
}

// prefixOf returns the beginning of the keys of an account's payments.
func prefixOf(account string) []byte { return append([]byte(account), 0, 'p') }

// IsKnown reports whether an account has a balance, though the configuration may lack the account.
func (d *Accountant) IsKnown(account string) (bool, error) {
	_, ok, err := d.keep.Index.Lookup(store.KindBalance, []byte(account))
	return ok, err
}

// Balance returns the balance of an account, the number of the last event that is in it, and the time of the wall clock.
func (d *Accountant) Balance(account string, last func() uint64) (balance sms.Money, event uint64, at int64) {
	c := &d.node.Origins.TallyOf(account).Credit
	d.keep.Batches.Write(func(*store.Batch) { // events are numbered, and balances change, only here
		balance, _ = c.Balance()
		event, at = last(), d.node.Clock.WallNow()
	})
	return balance, event, at
}

// MaxHistory is the maximum number of payments that History returns.
const MaxHistory = 10_000

// errOther stops a search at the first payment of another account.
var errOther = errors.New("another account")

// History returns the payments of an account since a time, the oldest first.
func (d *Accountant) History(account string, since time.Time) (all []Payment, err error) {
	prefix := prefixOf(account)
	from := prefix
	if at := since.UnixNano(); since.Unix() > 0 {
		from = binary.BigEndian.AppendUint64(prefixOf(account), uint64(at))
	}
	err = d.keep.Index.Notes(store.KindPaid, from, MaxHistory, func(key, value []byte) error {
		if !bytes.HasPrefix(key, prefix) {
			return errOther
		}
		var p Payment
		if err := json.Unmarshal(value, &p); err != nil {
			return fmt.Errorf("cannot read a payment: %w", err)
		}
		all = append(all, p)
		return nil
	})
	if errors.Is(err, errOther) {
		err = nil
	}
	return all, err
}
