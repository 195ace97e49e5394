package smpp

import (
	"testing"

	"pmg/protocols/prototest"
)

// Whatever the input, a PDU that decodes is encoded to the same octets, and so is its line in
// the log. A PDU that does not decode has a status to answer with.
func FuzzDecode(f *testing.F) {
	valid, others := prototest.Vectors(f, "testdata")
	for _, v := range append(valid, others...) {
		f.Add(v.Octets(f))
	}
	for _, line := range operationLines {
		f.Add(wireOf(f, line))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var p PDU
		err := p.Decode(in)
		if err == nil {
			throughLog(t, &p, in)
			return
		}
		if p.Err() == nil || p.Err().Status == 0 {
			t.Fatalf("nothing to answer: %v", err)
		}
		suite.Reprinted(t, p.AppendLog(nil, true))
	})
}

func FuzzLog(f *testing.F) { suite.FuzzLog(f, operationLines...) }

func FuzzSession(f *testing.F) { suite.FuzzSession(f) }
