package sms

import (
	"bytes"
	"strings"
)

// Bounds of tags, in octets.
const (
	MaxTag  = 64
	MaxTags = 500 // that plugins give a message, with a space between two

	MaxAllTags = MaxTags + len(" "+heldTag) + MaxTag // with the one of Hold
)

// heldTag begins the tag of a message that a plugin holds. The plugin's name follows, in small letters.
const heldTag = "held:"

// Hold notes with a tag which plugin holds a message.
func Hold(m *Message, by string) {
	tag := heldTag + strings.ToLower(by[:min(len(by), MaxTag)])
	if all := m.Tags(); len(all) > 0 {
		tag = string(all) + " " + tag
	}
	m.SetTags([]byte(tag))
}

// HeldBy returns the plugin that holds a message, as Hold has noted it; "": none does.
func HeldBy(m *Message) string {
	for tag := range bytes.FieldsSeq(m.Tags()) {
		if name, held := bytes.CutPrefix(tag, []byte(heldTag)); held {
			return string(name)
		}
	}
	return ""
}

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

// IsTag reports whether a text may be a tag: small letters of ASCII, digits and any of _.:-, from 1 to MaxTag of them. Those of
// Hold may not.
func IsTag(text string) bool {
	const more = "_.:-"
	return text != "" && len(text) <= MaxTag && !strings.HasPrefix(text, heldTag) && strings.IndexFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && !strings.ContainsRune(more, r)
	}) < 0
}
