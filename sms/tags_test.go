package sms

import (
	"bytes"
	"strings"
	"testing"
)

// Tags stay with a message whatever else of it changes, beside what was submitted or without it.
func TestTags(t *testing.T) {
	t.Parallel()
	var p Pool
	from, to := Address{TON: 5, Addr: []byte("Me")}, Address{NPI: 1, Addr: []byte("+46700000001")}
	for _, size := range []int{0, 60, 90, 100, 110, 130, 300} {
		for _, known := range []bool{false, true} {
			m := p.Get()
			text := bytes.Repeat([]byte("t"), size)
			m.Set(from, to, text)
			m.SetNative(1, []byte("native"))
			submitted := known
			check := func(what, tags string) {
				t.Helper()
				if _, ok := m.Submitted(); ok != submitted || string(m.Tags()) != tags {
					t.Errorf("%d, %s: submitted %v, tags %q, want %v and %q", size, what, ok, m.Tags(), submitted, tags)
				}
				if !bytes.Equal(m.Text(), text) || string(m.Native(1)) != "native" || m.Protocol() != 1 || !m.Dest().equal(to) {
					t.Errorf("%d, %s: text %q, native part %q of %d", size, what, m.Text(), m.Native(1), m.Protocol())
				}
			}
			check2 := func(what string) { t.Helper(); check(what, "vip net:24001") }
			if known {
				m.KeepAddresses(Address{}, Address{})
			}
			check("none", "")
			if HasTag(m.Tags(), "") || !AddTag(m, "vip") || !AddTag(m, "net:24001") || !AddTag(m, "vip") {
				t.Error("tags are not taken")
			}
			check2("tags")
			if !HasTag(m.Tags(), "vip") || !HasTag(m.Tags(), "net:24001") || HasTag(m.Tags(), "net") || HasTag(m.Tags(), "ip") || HasTag(m.Tags(), "") {
				t.Errorf("of %q others are found", m.Tags())
			}
			for _, text = range [][]byte{[]byte("short"), bytes.Repeat([]byte("l"), size+50)} {
				m.SetText(text)
				check2("text")
			}
			to.Addr = append([]byte("0"), to.Addr...)
			m.SetAddresses(from, to)
			check2("addresses")
			m = p.Copy(m)
			check2("copy")
			text = nil
			m = p.CopyBare(m)
			check2("bare copy")
			m.SetSubmittedOctets(nil)
			submitted = false
			check2("not submitted so")
			m.SetSubmitted(&Submitted{Dest: to})
			submitted = true
			check2("submitted so")
			m.SetTags(nil)
			check("removed", "")
		}
	}
}

// A tag has few characters, and a message few tags.
func TestTagBounds(t *testing.T) {
	t.Parallel()
	m := new(Message)
	for _, tag := range []string{"", "A", "held:a", "refused:a", "changed:", "å", "a b", "a,b", strings.Repeat("a", MaxTag+1), "a\n"} {
		if AddTag(m, tag) {
			t.Errorf("%q is a tag", tag)
		}
	}
	for i := range 20 {
		tag := strings.Repeat(string(rune('a'+i)), MaxTag)
		if ok, fits := AddTag(m, tag), (i+1)*(MaxTag+1)-1 <= MaxTags; ok != fits || HasTag(m.Tags(), tag) != fits {
			t.Errorf("tag %d: added %v, want %v", i, ok, fits)
		}
	}
	if len(m.Tags()) > MaxTags {
		t.Errorf("%d octets of tags", len(m.Tags()))
	}
	if mark, by := MarkOf(m); mark != "" {
		t.Errorf("%s by %s", mark, by)
	}
	tags, name := string(m.Tags()), strings.Repeat("n", MaxTag)
	SetMark(m, Held, "A")
	if mark, by := MarkOf(m); mark != Held || by != "a" || !IsHeldBy(m, "A") || IsHeldBy(m, "aa") || string(m.Tags()) != tags+" held:a" {
		t.Errorf("%s by %s: %s", mark, by, m.Tags())
	}
	SetMark(m, Refused, strings.ToUpper(name)+"beyond")
	if mark, by := MarkOf(m); mark != Refused || by != name || !IsHeldBy(m, "a") {
		t.Errorf("%s by %s, %d octets of tags", mark, by, len(m.Tags()))
	}
	SetMark(m, Held, name[1:]) // there is room for one mark alone
	if mark, by := MarkOf(m); mark != Held || by != name[1:] || len(m.Tags()) > MaxAllTags || IsHeldBy(m, "a") {
		t.Errorf("%s by %s, %d octets of tags", mark, by, len(m.Tags()))
	}
	m.SetTags([]byte("vip held:a changed:b"))
	for range 2 {
		SetMark(m, Held, "a") // the last one now
		if string(m.Tags()) != "vip changed:b held:a" {
			t.Errorf("tags %s", m.Tags())
		}
	}
}
