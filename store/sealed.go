package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"pmg/store/seal"
)

// sealKey is the beginning of the keys of notes about encryption keys. Each encryption key that
// messages may need has a note, so that a start without this encryption key notices the lack. The
// note's value is encrypted with the encryption key: the id of the last message that was stored
// before. The name of the encryption key follows sealKey; notes of earlier versions have no name.
var sealKey = []byte("key")

// ErrKey is the error if a store is encrypted with a key that was not given.
var ErrKey = errors.New(
	"its messages are encrypted, and store.key_file has not the key: name the file with the key, or name the earlier file in " +
		"store.old_key_file",
)

// checkKeys checks whether the store can be read with the given keys, and writes a note about the
// key for new messages. It erases notes of keys that no message needs any more. A key that is used
// again gets a new note.
func checkKeys(s *durable) error {
	found, err := readSealNotes(s)
	switch {
	case err != nil:
		return err
	case s.sealer == nil && found.any: // the store was encrypted earlier
		return ErrKey
	case s.sealer == nil:
		return nil
	}
	isNewest := found.current && (!found.others || found.currentUpTo > found.othersUpTo)
	if s.oldKeyUpTo = found.currentUpTo; isNewest && len(found.missing) == 0 {
		return nil
	}
	if err := s.checkReadable(); err != nil {
		return err
	}
	if err := renewSeals(s); err != nil {
		return err
	}
	var b Batch
	for _, key := range found.missing {
		b.Erase(KindSeal, key, Forever)
	}
	if !isNewest {
		if s.oldKeyUpTo = s.LastID(); found.others { // the id must be higher than those of other keys, to mark the newest key
			s.oldKeyUpTo = max(s.oldKeyUpTo, found.othersUpTo+1)
		}
		value := s.sealer.Append(nil, 0, binary.BigEndian.AppendUint64(nil, s.oldKeyUpTo))
		b.Note(KindSeal, append(append([]byte(nil), sealKey...), seal.NameOf(value)...), value, Forever)
	}
	return s.writer.commit(&b)
}

// A sealNotes is the contents of the notes about encryption keys.
type sealNotes struct {
	any                     bool     // there is at least one note
	missing                 [][]byte // the notes of keys that were not given
	current, others         bool     // current: the key in use has a note with an id; others: other given keys have such notes
	currentUpTo, othersUpTo uint64   // the id of the key in use, and the highest id of the other keys
}

func readSealNotes(s *durable) (found sealNotes, err error) {
	err = s.Notes(KindSeal, nil, math.MaxInt, func(key, value []byte) error {
		found.any = true
		plain, err := s.sealer.Open(0, value)
		switch {
		case err != nil:
			found.missing = append(found.missing, append([]byte(nil), key...))
		case len(key) == len(sealKey) || len(plain) != 8:
		case s.sealer.IsOfFirst(value):
			found.current, found.currentUpTo = true, binary.BigEndian.Uint64(plain)
		default:
			found.others, found.othersUpTo = true, max(found.othersUpTo, binary.BigEndian.Uint64(plain))
		}
		return nil
	})
	return found, err
}

// checkReadable reads all messages. It returns ErrKey if a message is encrypted with a key that was
// not given.
func (s *durable) checkReadable() error {
	for from := uint64(0); ; {
		next, err := s.Scan(from, 1000, func(*Entry) error { return nil })
		if errors.Is(err, seal.ErrKey) {
			return fmt.Errorf("%w (%w)", ErrKey, err)
		}
		if from = next; err != nil || from == 0 {
			return err
		}
	}
}

// sealedNote returns the id to which the encrypted value of a note is bound, which ends its key. key has the kind in front. It
// returns false if values of the kind are not encrypted: only those with texts are.
func sealedNote(key, value []byte) (id uint64, ok bool) {
	const begin = string(KindInbox) + "\x00"
	if len(key) < len(begin)+8 || string(key[:len(begin)]) != begin || len(value) == 0 {
		return 0, false
	}
	return binary.BigEndian.Uint64(key[len(key)-8:]), true
}

// openNote decrypts the value of a note if it is encrypted. key has the kind in front.
func openNote(r *reader, key []byte, value *[]byte) error {
	id, ok := sealedNote(key, *value)
	if !ok {
		return nil
	}
	return r.open(id, value)
}

// renewSeals encrypts the notes with texts by the first key that are not. So no note needs an earlier key, whose messages end
// sooner.
func renewSeals(s *durable) error {
	var b Batch
	commit := func() error {
		if b.Len() == 0 {
			return nil
		}
		b.seal(s.sealer)
		err := s.writer.commit(&b)
		b.Reset()
		return err
	}
	err := eachOf(s.reader.notes, KindInbox, nil, math.MaxInt, func(key, value []byte) error {
		if len(value) == 0 || s.sealer.IsOfFirst(value) {
			return nil
		}
		if err := openNote(s.reader, appendNote(nil, KindInbox, key), &value); err != nil {
			if errors.Is(err, seal.ErrKey) {
				err = fmt.Errorf("%w (%w)", ErrKey, err)
			}
			return err
		}
		if b.Note(KindInbox, key, value, Forever); b.Octets() < pieceSize {
			return nil
		}
		return commit()
	})
	if err == nil {
		err = commit()
	}
	return err
}

// needsOldKey reports whether messages may exist that were stored before the current key.
func (s *durable) needsOldKey() bool {
	m := s.summary.get()
	return s.sealer.Keys() > 1 && m.messages > 0 && m.low <= s.oldKeyUpTo
}
