package hooks

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"pmg/internal/smstext"
	"pmg/plugin"
	"pmg/sms"
	"pmg/sms/rewrite"
)

// Change changes a message as a verdict says: its addresses, its text and its tags. With an error, which says what the
// message does not allow, nothing of it is changed.
func Change(m *sms.Message, v *plugin.Verdict) error {
	switch _, isText := smstext.CharsetOf(m.Alphabet); {
	case v.Text != nil && m.Flags&sms.HasHeader != 0:
		return errors.New("it changes the text of a message with a user data header, such as a part of a long one")
	case v.Text != nil && !isText:
		return errors.New("it changes the text of a binary message")
	case v.To != nil && !isNumber(strings.TrimPrefix(*v.To, "+")):
		return fmt.Errorf("it changes the recipient to %.80q, which is no number", *v.To)
	}
	before := bytes.Clone(m.Tags())
	for _, tag := range v.Tags {
		if !sms.AddTag(m, tag) {
			m.SetTags(before)
			return fmt.Errorf("it gives the tag %.80q: a message has tags of at most %d characters together", tag, sms.MaxTags)
		}
	}
	if v.Text != nil {
		alphabet, octets := smstext.Encode(sms.Default, *v.Text)
		if m.SetText(octets); alphabet != m.Alphabet {
			m.Alphabet = alphabet
			m.Flags |= sms.Converted
		}
	}
	if v.From != nil || v.To != nil {
		setAddresses(m, v)
	}
	return nil
}

func isNumber(digits string) bool { return digits != "" && strings.Trim(digits, "0123456789") == "" }

func setAddresses(m *sms.Message, v *plugin.Verdict) {
	old := m.Source()
	source := sms.Address{TON: old.TON, NPI: old.NPI, Addr: append([]byte(nil), old.Addr...)}
	old = m.Dest()
	dest := sms.Address{TON: old.TON, NPI: old.NPI, Addr: append([]byte(nil), old.Addr...)}
	if v.From != nil && *v.From != string(source.Addr) {
		source = rewrite.Auto([]byte(*v.From))
	}
	if v.To != nil && *v.To != string(dest.Addr) {
		dest = rewrite.Auto([]byte(*v.To))
	}
	if _, known := m.Submitted(); !known && m.Kind == sms.Submit && m.Notify != 0 {
		m.KeepAddresses(source, dest)
	}
	m.SetAddresses(source, dest)
}
