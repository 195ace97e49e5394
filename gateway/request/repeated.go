package request

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"slices"
	"sync"

	"pmg/connector"
	"pmg/sms"
	"pmg/store"
)

// The store keeps the keys of requests (store.KindRequest) with the results of their messages, for as long as receipts are
// matched (receipts.keep). A value is
//
//	+---------+---------+--------------------------------------+
//	| version | payload | n × (id, code, parts, parked, quote) |
//	| 1       | 32      | n × (8 + 1 + 2 + 1 + 11)             |
//	+---------+---------+--------------------------------------+
//
// Version 1 has no quotes. It is written when none is known.
const (
	keyVersion  = 1
	keyQuoted   = 2
	keyHead     = 1 + sha256.Size
	resultBytes = 12
)

// MaxKey is the maximum length of an idempotency key.
const MaxKey = 255

// Errors of requests with a key.
var (
	ErrUnderWay = errors.New("a request with this key is in progress")
	ErrOther    = errors.New("another request had this key")
)

// keys are the idempotency keys of requests in progress.
type keys struct {
	mu    sync.Mutex
	under map[string]struct{}
}

func (k *keys) begin(key string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, there := k.under[key]; there {
		return false
	}
	k.under[key] = struct{}{}
	return true
}

// end releases keys that begin has reserved.
func (k *keys) end(keys ...string) {
	if len(keys) == 0 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, key := range keys {
		delete(k.under, key)
	}
}

// keyOf returns a key as it is stored, with the account's name.
func keyOf(from *connector.Source, key string) string { return from.Account.SystemID + "\x00" + key }

// known returns the earlier result for a key, or the reason why the key cannot be used. If it reports false, the key is
// reserved for the caller until keys.end.
func (d *Requests) known(key string, payload [sha256.Size]byte) (Result, bool) {
	if !d.keys.begin(key) {
		return Result{Err: ErrUnderWay}, true
	}
	results, err := d.earlier(key, payload)
	switch {
	case err != nil:
		d.keys.end(key)
		return Result{Err: err}, true
	case len(results) == 0:
		return Result{}, false
	}
	d.keys.end(key)
	results[0].Repeated = true
	return results[0], true
}

// SubmitOnce submits messages like SubmitAll, for a request with an idempotency key, which belongs to the account. repeated
// means that the request was submitted before, and nothing is submitted again. payload is a hash of the request's contents. A
// request without any accepted message may be repeated as if it were new. All its messages are in one commit, and are
// submitted even if the client disconnects, so that a repeated request gets all results.
func (d *Requests) SubmitOnce(
	ctx context.Context, from *connector.Source, key string, payload [sha256.Size]byte, w Work,
) (repeated bool, err error) {
	key = keyOf(from, key)
	if !d.keys.begin(key) {
		return false, ErrUnderWay
	}
	defer d.keys.end(key)
	results, err := d.earlier(key, payload)
	if err != nil {
		return false, err
	}
	if results == nil {
		d.submit(ctx, from, w, func(b *store.Batch, results []Result) { d.claimKey(b, key, payload, results) })
		return false, nil
	}
	for i, r := range results[:min(len(results), w.N)] {
		if _, ok := w.Item(i); ok {
			w.Became(i, r)
		}
	}
	return true, nil
}

// claimKey adds the results of a key's messages to a batch.
func (d *Requests) claimKey(b *store.Batch, key string, payload [sha256.Size]byte, results []Result) {
	today := store.DayOf(d.node.Clock.Wall(d.node.Clock.Now()))
	b.Claim(store.KindRequest, []byte(key), appendResults(payload, results), today)
}

// earlier returns the results of an earlier request with the key, or nil if there was none.
func (d *Requests) earlier(key string, payload [sha256.Size]byte) ([]Result, error) {
	var value []byte
	var ok bool
	look := func() (err error) {
		value, ok, err = d.keep.Index.Lookup(store.KindRequest, []byte(key))
		return err
	}
	find := look
	if d.commits.haveFailed() {
		find = func() error { return d.keep.Find(look) }
	}
	err := find()
	if err != nil || !ok {
		return nil, err
	}
	return readResults(value, payload)
}

// readResults reads results that appendResults has written, for a request with a payload hash. Messages that could not be
// stored have no result.
func readResults(value []byte, payload [sha256.Size]byte) ([]Result, error) {
	if len(value) == 0 {
		return nil, nil
	}
	size := sizeOf(value[0])
	if size == 0 || len(value) < keyHead || (len(value)-keyHead)%size != 0 {
		return nil, store.ErrDamaged
	}
	if [sha256.Size]byte(value[1:keyHead]) != payload {
		return nil, ErrOther
	}
	results := []Result{}
	for b := value[keyHead:]; len(b) > 0; b = b[size:] {
		results = append(results, Result{
			ID: binary.BigEndian.Uint64(b), Code: sms.Code(b[8]), Parts: int(binary.BigEndian.Uint16(b[9:])), Parked: b[11] != 0,
			Quote: sms.ReadQuote(b[resultBytes:size]),
		})
	}
	return results, nil
}

// sizeOf returns the size of a result in a value of a version, 0 for an unknown version.
func sizeOf(version byte) int {
	switch version {
	case keyVersion:
		return resultBytes
	case keyQuoted:
		return resultBytes + sms.QuoteSize
	}
	return 0
}

func appendResults(payload [sha256.Size]byte, results []Result) []byte {
	version := byte(keyVersion)
	if slices.ContainsFunc(results, func(r Result) bool { return r.Quote.IsKnown() }) {
		version = keyQuoted
	}
	b := make([]byte, 0, keyHead+len(results)*sizeOf(version))
	b = append(append(b, version), payload[:]...)
	for _, r := range results {
		b = binary.BigEndian.AppendUint64(b, r.ID)
		b = append(b, byte(r.Code))
		b = binary.BigEndian.AppendUint16(b, uint16(r.Parts))
		parked := byte(0)
		if r.Parked {
			parked = 1
		}
		if b = append(b, parked); version == keyQuoted {
			b = r.Quote.Append(b)
		}
	}
	return b
}
