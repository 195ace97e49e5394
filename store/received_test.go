package store

import (
	"reflect"
	"testing"

	"pmg/sms"
)

// A received text is read as it was written; nothing that is cut, longer or of a later version is read.
func TestReceived(t *testing.T) {
	t.Parallel()
	for _, v := range []Received{
		{At: 7, Until: 8, From: sms.Address{TON: 1, NPI: 1, Addr: []byte("46700000001")}, To: sms.Address{Addr: []byte("1234")}, Text: []byte("hello")},
		{At: 7, Until: 8, Text: []byte("00ff"), Binary: true},
		{At: 7, Until: 8, Text: []byte("part"), Reference: 300, Part: 2, Parts: 3, Wide: true},
		{},
	} {
		record := v.Append(nil)
		got, err := DecodeReceived(record)
		if err != nil || !reflect.DeepEqual(got, v) {
			t.Errorf("%+v, %v, not %+v", got, err, v)
		}
		for n := range record {
			if _, err := DecodeReceived(record[:n]); err == nil {
				t.Errorf("%d octets are read", n)
			}
		}
		if _, err := DecodeReceived(append(record[:len(record):len(record)], 0)); err == nil {
			t.Error("a longer record is read")
		}
		record[0]++
		if _, err := DecodeReceived(record); err == nil {
			t.Error("a later version is read")
		}
	}
}

// The keys of an account's texts and replies are of this account alone, and say which message it is.
func TestReceivedKeys(t *testing.T) {
	t.Parallel()
	account, id, ok := CutReceivedKey(ReceivedKey("shop", 0x6d006d))
	if account != "shop" || id != 0x6d006d || !ok {
		t.Errorf("%q, %x, %t", account, id, ok)
	}
	for _, key := range [][]byte{AnsweredKey("shop", 7), ReceivedPrefix("shop"), nil, []byte("m12345678"), []byte("sm12345678")} {
		if _, _, ok := CutReceivedKey(key); ok {
			t.Errorf("%q is the key of a text", key)
		}
	}
}
