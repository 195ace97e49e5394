package sms

import (
	"bytes"
	"slices"
	"strings"
)

// Limits of tags, in octets.
const (
	MaxTag  = 64
	MaxTags = 500 // octets of the tags of a message, which plugins add, separated by a space

	MaxAllTags = MaxTags + len(" "+Refused+":") + MaxTag // with a mark
)

// A Mark is a tag that the gateway makes: a plugin and its decision about a message.
type Mark string

// The marks. Each is followed by a colon and the name of the plugin in lower case.
const (
	Held    Mark = "held"
	Refused Mark = "refused"
	Changed Mark = "changed"
)

// Verdict returns the plugin's verdict for the mark: change if the plugin has passed a message with changes.
func (k Mark) Verdict() string {
	switch k {
	case Held:
		return "hold"
	case Refused:
		return "refuse"
	}
	return "change"
}

// ReadMark returns the mark and the plugin of a tag, and "" if the tag is no mark.
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

// SetMark adds a mark with a plugin's decision to a message. If the message has too many tags, the first mark is removed.
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

// MarkOf returns the last mark of a message and the plugin that it names; "": the message has no mark.
func MarkOf(m *Message) (k Mark, by string) {
	for tag := range bytes.FieldsSeq(m.Tags()) {
		if last, name := ReadMark(string(tag)); last != "" {
			k, by = last, name
		}
	}
	return k, by
}

// IsHeldBy reports whether a plugin has held a message. If the message continues, an operator has released it.
func IsHeldBy(m *Message, by string) bool {
	return len(m.Tags()) > 0 && HasTag(m.Tags(), Held.tag(by))
}

func isMark(tag string) bool { k, _ := ReadMark(tag); return k != "" }

// Tags returns the tags of the message, separated by a space. The octets are valid as long as the message does not change.
func (m *Message) Tags() []byte { return partOf(m, hasTags) }

// SetTags sets tags that another message's Tags has returned.
func (m *Message) SetTags(tags []byte) { setPart(m, hasTags, tags) }

// HasTag reports whether tags, which Tags has returned, contain one of some tags. It does not allocate.
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

// AddTag adds a tag to a message. It reports false if the text is no valid tag, or if the message has too many tags.
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

// IsTag reports whether a text may be a tag: 1 to MaxTag small ASCII letters, digits and any of _.:-. Marks are not valid
// here.
func IsTag(text string) bool {
	const more = "_.:-"
	return text != "" && len(text) <= MaxTag && !isMark(text) && strings.IndexFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && !strings.ContainsRune(more, r)
	}) < 0
}
