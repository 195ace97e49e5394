package sms

import "testing"

// A message that is taken is empty, keeps no large storage, and is nobody else's,
// even if it was released twice.
func TestPool(t *testing.T) {
	var p Pool
	for _, size := range []int{10, 2 * keepOwn} {
		m := p.Get()
		m.Text, m.Account, m.Attempts = make([]byte, size), "acme", 3
		m.Own()
		m.Release()
		m.Release()
		a, b := p.Get(), p.Get()
		if a == b {
			t.Error("a message released twice belongs to two")
		}
		for _, m := range []*Message{a, b} {
			if m.Text != nil || m.Account != "" || m.Attempts != 0 || cap(m.own) > keepOwn {
				t.Errorf("after a text of %d octets: %+v", size, m)
			}
		}
	}
}
