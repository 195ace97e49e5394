package prototest

import "testing"

// FuzzLog checks that a line that can be parsed is a PDU, whose printed form parses to the same PDU.
// It begins with the valid vectors, and with lines.
func (s *Suite) FuzzLog(f *testing.F, lines ...string) {
	valid, _ := Vectors(f, "testdata")
	for _, v := range valid {
		p := s.Driver.NewPDU()
		if err := s.Driver.Decode(p, v.Octets(f)); err != nil {
			f.Fatal(err)
		}
		f.Add(p.AppendLog(nil, true))
		f.Add(p.AppendLog(nil, false))
	}
	for _, line := range lines {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if p := s.Driver.NewPDU(); s.Driver.ParseLog(p, line) == nil {
			s.Reprinted(t, p.AppendLog(nil, true))
		}
	})
}

// FuzzSession sends any octets after any line of any transcript. The session's output must decode, it must not answer answers,
// and nothing must be sent after the end.
func (s *Suite) FuzzSession(f *testing.F) {
	var scripts []*Script
	for i, path := range Transcripts(f) {
		script := Load(f, s.Driver, s.Options(), path)
		scripts = append(scripts, script)
		for _, in := range script.Inputs() {
			f.Add(byte(i), byte(script.Len()), in)
		}
		for n := range script.Len() {
			f.Add(byte(i), byte(n), s.Hot[0].Octets(f))
		}
	}
	f.Fuzz(func(t *testing.T, script, lines byte, in []byte) {
		play := scripts[int(script)%len(scripts)]
		x := NewSession(s.Driver, play.Options)
		play.PlayTo(t, x, int(lines))
		ended := x.Closed
		x.Read()
		x.Write(in)
		x.Wait(2e9)
		out := x.Read()
		if ended && len(out) > 0 {
			t.Fatalf("sent after the end: %q", out)
		}
		for len(out) > 0 {
			n, err := s.Driver.Frame(out)
			if err != nil || n > len(out) {
				t.Fatalf("cannot frame what was sent: %v: %q", err, out)
			}
			p := s.Driver.NewPDU()
			if err := s.Driver.Decode(p, out[:n]); err != nil {
				t.Fatal(err)
			}
			s.ThroughLog(t, p, out[:n])
			out = out[n:]
		}
	})
}
