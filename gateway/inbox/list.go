package inbox

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"pmg/sms"
	"pmg/sms/number"
	"pmg/store"
)

// A Message is a text that an account has received. The parts of a long one are joined.
type Message struct {
	ID       uint64 // our id; of a long message, that of the part that came first
	At       time.Time
	From, To string // numbers as in the API, with '+' if they are international, or names
	Person   bool   // From may be the number of a person, so that a reply can be sent there
	Text     string
	Binary   bool   // Text is hexadecimal digits
	Missing  int    // number of parts that have not come
	Answer   uint64 // our id of the reply; 0: there is none
}

// joinTime is the maximum time between the first part of a long message and the others.
const joinTime = int64(24 * time.Hour)

// missing stands in a text for a part that has not come.
const missing = "[…]"

// errOther ends a walk over notes at those of another account.
var errOther = errors.New("another account")

// each calls f for the notes of the inbox whose keys have a prefix, with their ids.
func (x *Inbox) each(prefix []byte, f func(id uint64, value []byte) error) error {
	err := x.keep.Index.Notes(store.KindInbox, prefix, math.MaxInt, func(key, value []byte) error {
		id, ok := bytes.CutPrefix(key, prefix)
		if !ok {
			return errOther
		}
		if len(id) != 8 || len(value) == 0 { // a message that was refused after all has no value
			return nil
		}
		return f(binary.BigEndian.Uint64(id), value)
	})
	if errors.Is(err, errOther) {
		return nil
	}
	return err
}

// List returns the texts of an account that has an inbox, the latest first.
func (x *Inbox) List(account string) ([]Message, error) {
	if x.options(account) == nil {
		return nil, nil
	}
	answers := map[uint64]uint64{}
	err := x.each(store.AnsweredPrefix(account), func(id uint64, value []byte) error {
		if len(value) == 8 {
			answers[id] = binary.BigEndian.Uint64(value)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	j := joining{sets: map[setKey]*set{}}
	wall := x.node.Clock.WallNow()
	err = x.each(store.ReceivedPrefix(account), func(id uint64, value []byte) error {
		v, err := store.DecodeReceived(value)
		if err == nil && !x.isOver(account, &entry{at: v.At, until: v.Until}, wall) {
			j.add(id, &v)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for i := range j.all {
		m := &j.all[i]
		m.Answer = answers[m.ID]
	}
	j.join()
	slices.SortFunc(j.all, func(a, b Message) int { return cmp.Compare(b.ID, a.ID) })
	return j.all, nil
}

// Find returns the sender and the recipient of a text of an account, and false if there is none of this id.
func (x *Inbox) Find(account string, id uint64) (from, to string, ok bool, err error) {
	v, ok, err := x.find(account, id)
	if !ok || err != nil {
		return "", "", false, err
	}
	return textOf(v.From), textOf(v.To), true, nil
}

// find returns a text of an account that has an inbox.
func (x *Inbox) find(account string, id uint64) (v store.Received, ok bool, err error) {
	if x.options(account) == nil {
		return v, false, nil
	}
	value, ok, err := x.keep.Index.Lookup(store.KindInbox, store.ReceivedKey(account, id))
	if !ok || err != nil || len(value) == 0 {
		return v, false, err
	}
	v, err = store.DecodeReceived(value)
	return v, err == nil && !x.isOver(account, &entry{at: v.At, until: v.Until}, x.node.Clock.WallNow()), err
}

// Answered records the reply to a text, if the account has it. It does not wait for the commit.
func (x *Inbox) Answered(account string, id, reply uint64) error {
	if _, ok, err := x.find(account, id); !ok || err != nil {
		return err
	}
	x.keep.Batches.Write(func(b *store.Batch) {
		b.Note(store.KindInbox, store.AnsweredKey(account, id), binary.BigEndian.AppendUint64(nil, reply), store.Forever)
	})
	x.keep.Batches.Commit()
	return nil
}

// textOf returns an address as clients write it.
func textOf(a sms.Address) string {
	n := number.Of(a)
	if n.Kind() == number.Name {
		return strings.ToValidUTF8(string(a.Addr), "?")
	}
	if n.IsInternational() {
		return "+" + n.String()
	}
	return n.String()
}

// A joining joins the parts of long messages.
type joining struct {
	all  []Message
	sets map[setKey]*set
}

// A setKey says which parts belong together.
type setKey struct {
	from, to  string
	reference uint16
	total     uint8
	wide      bool
}

// A set is the parts of a long message.
type set struct {
	index int // of its message in all
	at    int64
	parts map[uint8]string // texts by the numbers of the parts
	older *set             // parts of the same key that came long before
}

// add adds a text, whose id is higher than those before.
func (j *joining) add(id uint64, v *store.Received) {
	m := Message{
		ID: id, At: time.Unix(0, v.At).UTC(), From: textOf(v.From), To: textOf(v.To), Text: string(v.Text), Binary: v.Binary,
		Person: number.Of(v.From).IsPerson(),
	}
	if v.Part == 0 || v.Part > v.Parts {
		j.all = append(j.all, m)
		return
	}
	key := setKey{m.From, m.To, v.Reference, v.Parts, v.Wide}
	s := j.sets[key]
	if s == nil || v.At-s.at > joinTime || s.differs(v.Part, m.Text) {
		s = &set{len(j.all), v.At, map[uint8]string{}, s}
		j.sets[key], j.all = s, append(j.all, m)
	}
	s.parts[v.Part] = m.Text // a part that has come twice counts once
	j.all[s.index].Binary = j.all[s.index].Binary || m.Binary
}

// differs reports whether the set has another text of a part.
func (s *set) differs(part uint8, text string) bool {
	other, is := s.parts[part]
	return is && other != text
}

// join writes the texts of long messages. Parts that are missing behind one another are shown as one.
func (j *joining) join() {
	for key, s := range j.sets {
		for ; s != nil; s = s.older {
			var text strings.Builder
			last := 0
			for _, part := range slices.Sorted(maps.Keys(s.parts)) {
				if int(part) > last+1 {
					text.WriteString(missing)
				}
				text.WriteString(s.parts[part])
				last = int(part)
			}
			if last < int(key.total) {
				text.WriteString(missing)
			}
			m := &j.all[s.index]
			m.Text, m.Missing = text.String(), int(key.total)-len(s.parts)
		}
	}
}
