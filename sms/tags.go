package sms

import (
	"bytes"
	"slices"
	"strings"
)

// Bounds of tags, in octets.
const (
	MaxTag  = 64
	MaxTags = 500 // octets of the tags of a message, which plugins add, separated by a space

	MaxAllTags = MaxTags + len(" "+Refused+":") + MaxTag // with a mark
)

// A Mark is a tag that the gateway makes itself: it says which plugin has decided what about a message.
type Mark string

// The marks. Each stands in the tags with a colon and the name of the plugin, in small letters.
const (
	Held    Mark = "held"
	Refused Mark = "refused"
	Changed Mark = "changed"
)

// Verdict returns the word by which a plugin decides so, which is change where it has passed a message with changes.
func (k Mark) Verdict() string {
	switch k {
	case Held:
		return "hold"
	case Refused:
		return "refuse"
	}
	return "change"
}

// ReadMark returns what a tag says if it is a mark, and "" for another one.
func ReadMark(tag string) (k Mark, by string) {
	word, by, _ := strings.Cut(tag, ":")
	switch k = Mark(word); k {
	case Held, Refused, Changed:
		return k, by
	}
	return "", ""
}

// tag returns the tag of a mark.
func (k Mark) tag(by string) string {
	return string(k) + ":" + strings.ToLower(by[:min(len(by), MaxTag)])
}

// SetMark marks a message with what a plugin has decided. Where it has too many tags, the first mark goes.
func SetMark(m *Message, k Mark, by string) {
	tag := k.tag(by)
	all := strings.Fields(string(m.Tags()))
	all = append(slices.DeleteFunc(all, func(one string) bool { return one == tag }), tag)
	for len(strings.Join(all, " ")) > MaxAllTags {
		i := slices.IndexFunc(all, isMark)
		all = slices.Delete(all, i, i+1)
	}
	m.SetTags([]byte(strings.Join(all, " ")))
}

// MarkOf returns the last mark of a message and the plugin that it names; "": it has none.
func MarkOf(m *Message) (k Mark, by string) {
	for tag := range bytes.FieldsSeq(m.Tags()) {
		if last, name := ReadMark(string(tag)); last != "" {
			k, by = last, name
		}
	}
	return k, by
}

// IsHeldBy reports whether a plugin has held a message, which an operator has released if it goes on.
func IsHeldBy(m *Message, by string) bool {
	return len(m.Tags()) > 0 && HasTag(m.Tags(), Held.tag(by))
}

func isMark(tag string) bool { k, _ := ReadMark(tag); return k != "" }

// Tags returns the tags that plugins have given the message, with a space between two. The octets are valid as long as
// the message does not change.
func (m *Message) Tags() []byte { return partOf(m, hasTags) }

// SetTags sets what Tags of another message has returned.
func (m *Message) SetTags(tags []byte) { setPart(m, hasTags, tags) }

// HasTag reports whether one of some tags is among those that Tags has returned. It does not allocate.
func HasTag(tags []byte, some ...string) bool {
	for rest := tags; len(rest) > 0; {
		var one []byte
		one, rest, _ = bytes.Cut(rest, []byte{' '})
		for _, tag := range some {
			if string(one) == tag {
				return true
			}
		}
	}
	return false
}

// AddTag gives a message a tag. It reports false if IsTag does, or if the message has as many as it may.
func AddTag(m *Message, tag string) bool {
	if !IsTag(tag) {
		return false
	}
	if HasTag(m.Tags(), tag) {
		return true
	}
	all := string(m.Tags())
	if all != "" {
		all += " "
	}
	if len(all)+len(tag) > MaxTags {
		return false
	}
	m.SetTags([]byte(all + tag))
	return true
}

// IsTag reports whether a text may be a tag: small letters of ASCII, digits and any of _.:-, from 1 to MaxTag of them. Marks
// may not.
func IsTag(text string) bool {
	const more = "_.:-"
	return text != "" && len(text) <= MaxTag && !isMark(text) && strings.IndexFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && !strings.ContainsRune(more, r)
	}) < 0
}
