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

// Change changes a message as a verdict says: its addresses, its text, its tags and its network. If
// the message does not allow a change, Change returns an error and changes nothing.
func Change(m *sms.Message, v *plugin.Verdict) error {
	switch _, isText := smstext.CharsetOf(m.Alphabet); {
	case v.Text != nil && m.Flags&sms.HasHeader != 0:
		return errors.New("it changes the text of a message with a user data header, such as a part of a long one")
	case v.Text != nil && !isText:
		return errors.New("it changes the text of a binary message")
	case isOther(v.To, m.Dest().Addr) && !isRecipient(m, strings.TrimPrefix(*v.To, "+")):
		return fmt.Errorf("it changes the recipient to %.80q, which is no number of at most %d digits", *v.To, maxAddress)
	case isOther(v.From, m.Source().Addr) && len(strings.TrimPrefix(*v.From, "+")) > maxAddress:
		return fmt.Errorf("it changes the sender to %.80q, which has more than %d characters", *v.From, maxAddress)
	}
	before := bytes.Clone(m.Tags())
	for _, tag := range v.Tags {
		if !sms.AddTag(m, tag) {
			m.SetTags(before)
			return fmt.Errorf("it gives the tag %.80q: a message has tags of at most %d characters together", tag, sms.MaxTags)
		}
	}
	if v.Network != "" {
		m.Network, _ = sms.ReadNetwork(v.Network)
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

// maxAddress is the maximum length of an address in submit_sm, in octets.
const maxAddress = 20

// isOther reports whether an address of a verdict differs from that of the message.
func isOther(to *string, from []byte) bool { return to != nil && *to != string(from) }

// isRecipient reports whether a message can be sent to an address. The recipient of a receipt may
// be a name, because a sender may be a name.
func isRecipient(m *sms.Message, address string) bool {
	return address != "" && len(address) <= maxAddress && (m.Kind == sms.Receipt || strings.Trim(address, "0123456789") == "")
}

func setAddresses(m *sms.Message, v *plugin.Verdict) {
	old := m.Source()
	source := sms.Address{TON: old.TON, NPI: old.NPI, Addr: append([]byte(nil), old.Addr...)}
	old = m.Dest()
	dest := sms.Address{TON: old.TON, NPI: old.NPI, Addr: append([]byte(nil), old.Addr...)}
	if isOther(v.From, source.Addr) {
		source = rewrite.Auto([]byte(*v.From))
	}
	if isOther(v.To, dest.Addr) {
		dest = rewrite.Auto([]byte(*v.To))
	}
	if _, known := m.Submitted(); !known && m.Kind == sms.Submit && m.Notify != 0 {
		m.KeepAddresses(source, dest)
	}
	m.SetAddresses(source, dest)
}
