package config

import "testing"

// compress was true or false in earlier versions; such files still work.
func TestCompression(t *testing.T) {
	for text, want := range map[string]Compression{
		"": Zstd, "compress: zstd": Zstd, "compress: gzip": Gzip, "compress: off": NoCompression,
		"compress: true": Zstd, "compress: false": NoCompression,
	} {
		c, _, err := Parse([]byte("connectors: []\npdulog: {"+text+"}"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if c.PDULog.Compress != want {
			t.Errorf("%q is %s, want %s", text, c.PDULog.Compress, want)
		}
	}
}

// U9: with the defaults a week of pdu logs is kept if the disk has room.
func TestPDULogKeepsAWeek(t *testing.T) {
	p := Default().PDULog
	if p.KeepAge.Hours() != 7*24 || p.Keep != 0 || p.MaxTotal != 0 || p.MinFree == 0 {
		t.Errorf("keep_age %v, keep %d, max_total %v, min_free %d", p.KeepAge, p.Keep, p.MaxTotal, p.MinFree)
	}
}
