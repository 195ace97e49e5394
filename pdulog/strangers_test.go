package pdulog

import (
	"testing"
	"time"
)

// The octets per second of sessions that are not logged in are limited (H5).
func TestStrangers(t *testing.T) {
	var s strangers
	for second := range int64(3) {
		n := 0
		for i := range int64(2 * strangerOctets / 100) {
			if s.admit((100+second)*int64(time.Second) + i) {
				s.add(100)
				n++
			}
		}
		if n != strangerOctets/100 {
			t.Errorf("%d lines in second %d", n, second)
		}
	}
}
