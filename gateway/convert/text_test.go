package convert

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pmg/connector"
	"pmg/protocols"
	"pmg/sms"
)

const (
	atilde    = "\xe3"             // of Latin-1; GSM 7-bit lacks it, and has one like it
	cyrillic  = "\x04\x10\x04\x11" // of UCS-2; GSM 7-bit has nothing like it
	firstPart = "\x05\x00\x03\x07\x02\x01"

	gsm     = "charset: gsm7, encode_as: default"
	refuses = gsm + ", missing_characters: refuse"
	cut     = "long_messages: split8"
	payload = "long_messages: payload"
	pass    = "long_messages: pass"
	ucpPass = "protocol: ucp, long_messages: pass" // a message of UCP has room for 640 octets
)

// A text fits its peer, or its client hears immediately why it does not: it would never reach the phone, or not as it was
// written. What an SMSC delivers is never refused for its alphabet.
func TestFit(t *testing.T) {
	t.Parallel()
	x := func(n int) string { return strings.Repeat("x", n) }
	for name, c := range map[string]struct {
		account, operator string
		kind              sms.Kind
		alphabet          sms.Alphabet
		text              string
		header, byHTTP    bool

		code    sms.Code
		parts   uint8        // that it is cut into
		heard   uint8        // parts that the client hears of
		becomes sms.Alphabet // if the code is OK
		want    string       // empty: the same text
	}{
		"short":                     {operator: cut, text: x(160), parts: 1},
		"certainly short":           {operator: cut, text: x(70)},
		"long":                      {operator: cut, text: x(161), parts: 2},
		"long for all of max_parts": {operator: cut, text: x(1530), parts: 10},
		"too long":                  {operator: cut, text: x(1531), code: sms.BadLength},
		"certainly too long":        {operator: cut, account: "max_parts: 2", text: x(60_000), code: sms.BadLength},
		"too long before the work": {
			operator: cut + ", " + refuses, account: "max_parts: 2", alphabet: sms.Latin1,
			text: strings.Repeat(atilde, 60_000), code: sms.BadLength,
		},
		"long, not cut":         {operator: pass, text: x(1530)},
		"too long, not cut":     {operator: pass, text: x(1531), code: sms.BadLength},
		"long MO, not cut":      {operator: pass, kind: sms.MO, text: x(2000)},
		"long, two at least":    {operator: cut, account: "max_parts: 2", text: x(306), parts: 2},
		"long of an SMSC":       {operator: cut, kind: sms.MO, text: x(255 * 153), parts: 255},
		"too long of an SMSC":   {operator: cut, kind: sms.MO, text: x(255*153 + 1), code: sms.BadLength},
		"alphabet that is read": {operator: "charset: gsm7", alphabet: sms.UCS2, text: cyrillic, becomes: sms.UCS2},
		"converted":             {operator: gsm, alphabet: sms.Latin1, text: "\xe9", becomes: sms.Default, want: "\x05"},
		"converted to UCS-2":    {operator: gsm, alphabet: sms.Latin1, text: atilde, becomes: sms.UCS2, want: "\x00" + atilde},
		"missing, refused":      {operator: refuses, alphabet: sms.Latin1, text: atilde, code: sms.BadParameter},
		"missing, of an SMSC": {
			operator: refuses, kind: sms.MO, alphabet: sms.Latin1, text: atilde, becomes: sms.UCS2, want: "\x00" + atilde,
		},
		"missing, of a receipt": {operator: refuses, kind: sms.Receipt, alphabet: sms.Latin1, text: atilde, becomes: sms.Latin1},
		"too long in UCS-2":     {operator: gsm, alphabet: sms.Latin1, text: strings.Repeat(atilde, 60_000), code: sms.BadLength},
		"part": {
			operator: "long_messages: split8, charset: gsm7", header: true, text: firstPart + x(153), parts: 1,
		},
		"part without room": {
			operator: gsm, header: true, alphabet: sms.Latin1, text: firstPart + strings.Repeat("\xbc", 100),
			code: sms.BadLength,
		},
		"part without room, SMSC": {
			operator: gsm, kind: sms.MO, header: true, alphabet: sms.Latin1, text: firstPart + strings.Repeat("\xbc", 100),
			becomes: sms.UCS2, want: firstPart + strings.Repeat("\x00\xbc", 100),
		},
		"part in UCS-2 stays": {
			operator: "charset: gsm7, encode_as: shortest", header: true, alphabet: sms.UCS2, text: firstPart + "\x00A",
			becomes: sms.UCS2,
		},
		"part in Latin-1 does not": {
			operator: "charset: gsm7, encode_as: shortest", header: true, alphabet: sms.Latin1, text: firstPart + "\xe9",
			becomes: sms.Default, want: firstPart + "\x05",
		},
		"whole in UCS-2 does not": {
			operator: "charset: gsm7, encode_as: shortest", alphabet: sms.UCS2, text: "\x00A", becomes: sms.Default,
			want: "A",
		},
		"no room":                  {operator: ucpPass, text: x(641), code: sms.BadLength},
		"room":                     {operator: ucpPass, text: x(640)},
		"no room for a receipt":    {operator: ucpPass, kind: sms.Receipt, text: x(641)},
		"by HTTP, whole and short": {operator: payload, byHTTP: true, text: x(160)},
		"by HTTP, whole":           {operator: payload, byHTTP: true, text: x(161), heard: 2},
		"by HTTP, whole and too long": {
			operator: payload, account: "max_parts: 3", byHTTP: true, text: x(3*153 + 1), code: sms.BadLength,
		},
		"by HTTP, cut": {operator: "long_messages: auto", byHTTP: true, text: x(161), parts: 2},
	} {
		r := newRig(t, c.account, c.operator)
		m := r.message(c.kind, c.alphabet, c.text)
		if c.header {
			m.Flags |= sms.HasHeader
		}
		if c.byHTTP {
			m.SetNative(sms.WithContext, (&sms.Context{Reference: "r", Parts: 0}).Append(nil))
		}
		code := r.Fit(r.lane, m)
		if code != c.code || code == sms.OK && (m.Parts != c.parts || m.Alphabet != c.becomes) {
			t.Errorf("%s: %s, %d parts, alphabet %d; want %s, %d, %d", name, code, m.Parts, m.Alphabet, c.code, c.parts, c.becomes)
		}
		if want := []byte(c.want); code == sms.OK && !bytes.Equal(m.Text(), want) && (c.want != "" || string(m.Text()) != c.text) {
			t.Errorf("%s: became %q", name, m.Text())
		}
		if context, _ := sms.ReadContext(m.Context()); context.Parts != c.heard || c.byHTTP && context.Reference != "r" {
			t.Errorf("%s: its client hears of %+v, want %d parts", name, context, c.heard)
		}
	}
}

// What a client hears of the parts of a text is what its last lane makes of it: a text that is short is none.
func TestFitCountsAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t, "", payload)
	m := r.message(sms.Submit, sms.Default, "short")
	m.SetNative(sms.WithContext, (&sms.Context{Parts: 3}).Append(nil))
	if code := r.Fit(r.lane, m); code != sms.OK || sms.PartsOf(m.Context()) != 0 {
		t.Errorf("%s, %d parts", code, sms.PartsOf(m.Context()))
	}
}

// together returns the text of parts, each of which says which one it is.
func together(t *testing.T, r *rig, parts []*sms.Message) (text string, reference uint16) {
	t.Helper()
	for i, m := range parts {
		p, piece, ok := r.Table.PartOf(m)
		if !ok || int(p.Number) != i+1 || int(p.Total) != len(parts) || i > 0 && p.Reference != reference {
			t.Errorf("part %d says that it is %+v", i, p)
		}
		if int(m.Part) != i || int(m.Parts) != len(parts) || m.Kind != sms.Submit || string(m.Dest().Addr) != "46700000001" {
			t.Errorf("part %d is %d of %d, to %s", i, m.Part, m.Parts, m.Dest().Addr)
		}
		text, reference = text+string(piece), p.Reference
	}
	return text, reference
}

// The parts of a text are the whole text, in their order; the next text to the same phone has another reference, so
// that the phone does not mix them.
func TestSplit(t *testing.T) {
	t.Parallel()
	for how, room := range map[string]int{"split8": 153, "split16": 152, "sar": 153} {
		r := newRig(t, "", "long_messages: "+how)
		last := -1
		for _, n := range []int{161, 306, 307} {
			text := strings.Repeat("0123456789", 31)[:n]
			m := r.message(sms.Submit, sms.Default, text)
			if code := r.Fit(r.lane, m); code != sms.OK {
				t.Fatal(code)
			}
			parts := r.Split(r.operator.Form(), m)
			if want := (n + room - 1) / room; len(parts) != want {
				t.Errorf("%s: %d characters are %d parts, want %d", how, n, len(parts), want)
			}
			got, reference := together(t, r, parts)
			if got != text || int(reference) == last {
				t.Errorf("%s: %q with reference %d after %d", how, got, reference, last)
			}
			if how != "split16" && reference > 255 {
				t.Errorf("%s: the reference is %d", how, reference)
			}
			last = int(reference)
		}
	}
}

// A text that waited for room stays whole if the options have changed meanwhile.
func TestSplitOfNone(t *testing.T) {
	t.Parallel()
	r := newRig(t, "", pass)
	for name, text := range map[string]string{"short": "text", "long": strings.Repeat("x", 300)} {
		m := r.message(sms.Submit, sms.Default, text)
		m.Parts = 2
		if parts := r.Split(r.operator.Form(), m); parts != nil || m.Parts != 0 || string(m.Text()) != text {
			t.Errorf("%s: %d parts; the text is one of %d parts", name, len(parts), m.Parts)
		}
	}
}

// CutFor cuts a copy, in the alphabet of the peer. The message is as it was, because it is the one that is stored.
func TestCutFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		operator string
		alphabet sms.Alphabet
		text     string
		parts    int
		want     string // the text of the parts
	}{
		{cut, sms.Default, strings.Repeat("x", 160), 0, ""},
		{cut, sms.Default, strings.Repeat("x", 161), 2, strings.Repeat("x", 161)},
		{cut + ", " + gsm, sms.Latin1, strings.Repeat("\xe9", 161), 2, strings.Repeat("\x05", 161)},
		{cut + ", " + refuses, sms.Latin1, strings.Repeat(atilde, 71), 2, strings.Repeat("\x00"+atilde, 71)},
		{pass, sms.Default, strings.Repeat("x", 300), 0, ""},
		{cut, sms.Default, strings.Repeat("x", 256*153), 0, ""}, // more than there may be
	} {
		r := newRig(t, "", c.operator)
		m := r.message(sms.Submit, c.alphabet, c.text)
		parts := r.CutFor(r.operator.Form(), m)
		if got, _ := together(t, r, parts); len(parts) != c.parts || got != c.want {
			t.Errorf("%s: %d parts, %q", c.operator, len(parts), got)
		}
		if string(m.Text()) != c.text || m.Alphabet != c.alphabet || m.Parts != 0 {
			t.Errorf("%s: the message has become %+v", c.operator, m)
		}
	}
}

// What waits as text for one peer leaves as text that its next peer reads, and remains as it was for another attempt.
func TestSuited(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		operator string
		kind     sms.Kind
		alphabet sms.Alphabet
		text     string
		copied   bool
		want     string
	}{
		{gsm, sms.Submit, sms.Default, "a", false, "a"},
		{"charset: gsm7, encode_as: shortest", sms.Submit, sms.UCS2, cyrillic, false, cyrillic},
		{gsm, sms.Submit, sms.Latin1, "\xe9", true, "\x05"},
		{gsm, sms.Receipt, sms.Latin1, "\xe9", false, "\xe9"},
		{refuses, sms.Submit, sms.Latin1, atilde, true, "\x00" + atilde},
		{`charset: gsm7, encode_as: default, rewrite: [{out: destination, add: "00"}]`, sms.Submit, sms.Latin1, "\xe9", true, "\x05"},
	} {
		r := newRig(t, "", c.operator)
		m := r.message(c.kind, c.alphabet, c.text)
		m.SetNative(protocols.SMPP, nil)
		out := r.Leaving(&connector.Source{Connector: r.operator}, m)
		if (out != m) != c.copied || string(out.Text()) != c.want || string(m.Text()) != c.text || m.Alphabet != c.alphabet {
			t.Errorf("%s: %q leaves as %q, a copy: %t; it is %q", c.operator, c.text, out.Text(), out != m, m.Text())
		}
	}
}

// Parts that do not fit together are not joined, and must leave as they came.
func TestJoin(t *testing.T) {
	t.Parallel()
	r := newRig(t, "", "")
	part := func(number int, alphabet sms.Alphabet) *sms.Message {
		m := r.message(sms.Submit, alphabet, fmt.Sprintf("\x05\x00\x03\x07\x02%c%d", number, number))
		m.Flags |= sms.HasHeader
		return m
	}
	a, b := part(1, sms.Default), part(2, sms.Default)
	if !r.Join([]*sms.Message{a, b}, a) || string(a.Text()) != "12" {
		t.Errorf("joined to %q", a.Text())
	}
	if a = part(1, sms.Default); r.Join([]*sms.Message{a, part(2, sms.Latin1)}, a) || string(a.Text()) != firstPart+"1" {
		t.Errorf("parts of different alphabets become %q", a.Text())
	}
}

// References of one phone follow each other.
func TestReferences(t *testing.T) {
	t.Parallel()
	all := newReferences()
	for _, dest := range []string{"46700000001", "46700000002"} {
		first := all.next([]byte(dest))
		for n := range uint16(300) {
			if got := all.next([]byte(dest)); got != first+n+1 {
				t.Fatalf("%s: reference %d after %d others from %d", dest, got, n, first)
			}
		}
	}
}

// A limited session has room for texts of up to that many octets.
type limited int

func (n limited) HasRoom(octets int) bool { return octets <= int(n) }

// A message that became too long for its peer while it waited is cut before it leaves, and no other is.
func TestRefusesWhatIsTooLong(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		operator string
		text     int  // octets
		limit    int  // of the session; 0: none
		unfit    bool // the options have changed
		change   func(*connector.Slot)
		want     sms.Code
	}{
		"short":                {text: 255, limit: 255},
		"long":                 {text: 256, limit: 255, want: sms.BadLength},
		"any session has room": {text: 254, limit: 1},
		"no session has":       {text: 255, limit: 1, want: sms.BadLength},
		"an operation":         {text: 300, limit: 255, change: func(s *connector.Slot) { s.Inquiry = &connector.Inquiry{} }},
		"a part":               {text: 300, limit: 255, change: func(s *connector.Slot) { s.Message.Parts = 2 }},
		"a whole one": {
			text: 300, limit: 255, change: func(s *connector.Slot) { s.Message.Parts = 1 }, want: sms.BadLength,
		},
		"a receipt": {text: 300, limit: 255, change: func(s *connector.Slot) { s.Message.Kind = sms.Receipt }},
		"a message of a mobile": {
			text: 300, limit: 255, change: func(s *connector.Slot) { s.Message.Kind = sms.MO }, want: sms.BadLength,
		},
		"options changed, short":   {operator: cut, text: 160, unfit: true},
		"options changed, long":    {operator: cut, text: 161, unfit: true, want: sms.BadLength},
		"options changed, to pass": {operator: pass, text: 300, unfit: true},
		"options as they were":     {operator: cut, text: 161},
		"no place in a lane":       {operator: cut, text: 161, unfit: true, change: func(s *connector.Slot) { s.Share = nil }},
		"no session": {
			operator: cut, text: 161, unfit: true, change: func(s *connector.Slot) { s.Link = nil }, want: sms.BadLength,
		},
		"no room": {operator: ucpPass, text: 641, unfit: true, want: sms.BadLength},
	} {
		r := newRig(t, "", c.operator)
		m := r.message(sms.Submit, sms.Default, strings.Repeat("x", c.text))
		m.SetNative(r.operator.Protocol, nil)
		l := &connector.Link{Source: connector.Source{Connector: r.operator}}
		slot := &connector.Slot{Link: l, Share: r.Table.Share(r.lane, m.Origin), Message: m}
		if c.limit > 0 {
			slot.Link.Can.Limited = limited(c.limit)
		}
		if c.unfit {
			r.lane.Queues.Unfit(m.ID)
		}
		if c.change != nil {
			c.change(slot)
		}
		if code := r.Refuses(slot); code != c.want {
			t.Errorf("%s: %s, want %s", name, code, c.want)
		}
		if string(m.Text()) != strings.Repeat("x", c.text) {
			t.Errorf("%s: the message has changed", name)
		}
	}
}
