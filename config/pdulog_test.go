package config

import "testing"

// U9: with the defaults a week of pdu logs is kept if the disk has room.
func TestPDULogKeepsAWeek(t *testing.T) {
	p := Default().PDULog
	if p.KeepAge.Hours() != 7*24 || p.Keep != 0 || p.MaxTotal != 0 || p.MinFree == 0 {
		t.Errorf("keep_age %v, keep %d, max_total %v, min_free %d", p.KeepAge, p.Keep, p.MaxTotal, p.MinFree)
	}
}
