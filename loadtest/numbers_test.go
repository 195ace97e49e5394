package loadtest

import "testing"

func TestNumbers(t *testing.T) {
	t.Parallel()
	var sent, seen Numbers
	want(t, "gaps of none", seen.Gaps(), 0)
	sent.Mark([]int64{5, 6, 7, 70_000, maxNumber})
	seen.Mark([]int64{7, 5})
	seen.Mark([]int64{5, 70_000})
	want(t, "unique", seen.unique.Load(), 3)
	want(t, "doubled", seen.doubled.Load(), 1)
	want(t, "gaps", seen.Gaps(), 70_000-5+1-3)
	want(t, "missing", sent.notIn(&seen), 2)
	want(t, "surplus", seen.notIn(&sent), 0)
}

func TestParseNumber(t *testing.T) {
	t.Parallel()
	for text, number := range map[string]int64{
		"#000000000042 xxx": 42, "#999999999999": maxNumber, "#000000000042": 42,
		"": -1, "#": -1, "#00000000042 xxxx": -1, "x000000000042 ": -1,
	} {
		got, ok := ParseNumber([]byte(text))
		if ok != (number >= 0) || ok && got != number {
			t.Errorf("%q: got %d, %t", text, got, ok)
		}
	}
}

// Nothing is allocated for a submit.
func TestTemplate(t *testing.T) {
	o := DefaultLoadOptions()
	var w smppWire
	submit := w.newTemplate(&o)
	b := submit.append(nil, 77, 123_456_789_012)
	if err := w.pdu.Decode(b); err != nil {
		t.Fatal(err)
	}
	m := &w.pdu.SM
	number, ok := ParseNumber(m.ShortMessage)
	if !ok || number != 123_456_789_012 || len(m.ShortMessage) != o.Size {
		t.Errorf("text: got %q", m.ShortMessage)
	}
	if got := string(m.DestAddr); got != "46706789012" {
		t.Errorf("destination: got %s", got)
	}
	if w.pdu.SequenceNumber != 77 || string(m.SourceAddr) != o.Source {
		t.Errorf("got sequence %d, source %s", w.pdu.SequenceNumber, m.SourceAddr)
	}
	if n := testing.AllocsPerRun(100, func() { b = submit.append(b[:0], 1, 2) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
	if len(b) != echoRequest {
		t.Errorf("a submit has %d octets; requests of Echo should have as many", len(b))
	}
	if b = w.appendAccepted(nil, header{sequence: 1}, nil, messageID{id: 1}); len(b) != echoAnswer {
		t.Errorf("an answer has %d octets; answers of Echo should have as many", len(b))
	}
}
