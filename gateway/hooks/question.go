package hooks

import (
	"sync"
	"time"
	"unsafe"

	"pmg/internal/smstext"
	"pmg/plugin"
	"pmg/sms"
)

// A Question is the view of a message for a plugin, with its own storage for the texts.
type Question struct {
	Message plugin.Message
	octets  []byte
}

var alphabets = [sms.LastAlphabet + 1]string{
	sms.Default: "gsm7", sms.ASCII: "latin1", sms.Latin1: "latin1", sms.UCS2: "ucs2", sms.Binary: "binary", sms.Other: "binary",
	sms.DefaultPacked: "gsm7", sms.DefaultASCII: "latin1", sms.DefaultLatin1: "latin1", sms.DefaultUCS2: "ucs2",
	sms.DefaultUTF8: "utf8", sms.Cyrillic: "iso-8859-5", sms.Hebrew: "iso-8859-8",
}

// A Questioner makes questions. It is safe for concurrent use.
type Questioner struct{ free sync.Pool }

// Ask makes the question about a message at a hook. wall converts a time to the wall clock.
func (q *Questioner) Ask(at string, m *sms.Message, isPart bool, wall func(int64) int64) *Question {
	p, ok := q.free.Get().(*Question)
	if !ok {
		p = &Question{}
	}
	v := &p.Message
	p.octets = p.octets[:0]
	from, to := m.Source(), m.Dest()
	// each field by itself: as a whole it would be made aside and copied
	v.Hook, v.Account, v.Connector = at, m.Origin.Account, m.Origin.Connector
	v.FromTON, v.ToTON = int(from.TON), int(to.TON)
	v.Alphabet, v.Binary, v.IsPart, v.Priority = alphabets[m.Alphabet], false, isPart, int(m.Priority)
	v.ID, v.Part, v.Parts, v.State, v.Error = "", 0, 0, "", ""
	v.Arrived, v.DeliverAt = time.Unix(0, wall(m.Arrived)).UTC(), time.Time{}
	if m.DeliverAt != 0 {
		v.DeliverAt = time.Unix(0, wall(m.DeliverAt)).UTC()
	}
	p.octets = append(p.octets, from.Addr...)
	toAt := len(p.octets)
	p.octets = append(p.octets, to.Addr...)
	tagsAt := len(p.octets)
	p.octets = append(p.octets, m.Tags()...)
	networkAt := len(p.octets)
	p.octets = m.Network.Append(p.octets)
	textAt := len(p.octets)
	var isText bool
	if p.octets, isText = smstext.Append(p.octets, m.Alphabet, m.Flags&sms.HasHeader != 0, m.Text()); !isText {
		p.octets, v.Binary = p.octets[:textAt], true
	}
	// the octets do not change until Free, and nothing refers to them behind it
	all := unsafe.String(unsafe.SliceData(p.octets), len(p.octets))
	v.From, v.To, v.Tags = all[:toAt], all[toAt:tagsAt], all[tagsAt:networkAt]
	v.Network, v.Text = all[networkAt:textAt], all[textAt:]
	return p
}

// SetID sets the id of the message in the question, and which part of a long message it is, if the
// gateway has cut the message.
func (p *Question) SetID(m *sms.Message) {
	p.Message.ID, p.Message.Part, p.Message.Parts = sms.FormatID(m.ID), 0, 0
	if m.Parts > 1 {
		p.Message.Part, p.Message.Parts = int(m.Part)+1, int(m.Parts)
	}
}

// Free returns a question for reuse. Its verdict must not be used afterwards. A question must not
// be freed if a waiting plugin has seen it.
func (q *Questioner) Free(p *Question) { q.free.Put(p) }
