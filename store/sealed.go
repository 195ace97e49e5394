package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"pmg/store/seal"
)

// Each key that messages may be encrypted with has a note, so that a start that lacks a key which one of them needs knows it. Its
// value is what the key has encrypted: the id of the last message that was stored before the key. The name of the key is behind
// sealKey; a note of earlier versions has none.
var sealKey = []byte("key")

// ErrKey says that a store is encrypted with a key that it was not given.
var ErrKey = errors.New(
	"its messages are encrypted, and store.key_file has not the key: name the file with it, or the one of before in " +
		"store.old_key_file",
)

// checkKeys finds out whether the store can be read with the keys that it was given, and makes a note of the one it is written
// with. Notes of keys that no message needs any more are erased. A key that comes back into use gets a new note.
func checkKeys(s *durable) error {
	found, err := readSealNotes(s)
	switch {
	case err != nil:
		return err
	case s.sealer == nil && found.any: // it was encrypted once
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
	var b Batch
	for _, key := range found.missing {
		b.Erase(KindSeal, key, Forever)
	}
	if !isNewest {
		if s.oldKeyUpTo = s.LastID(); found.others { // it has to be above those of the others, to be known as the newest
			s.oldKeyUpTo = max(s.oldKeyUpTo, found.othersUpTo+1)
		}
		value := s.sealer.Append(nil, 0, binary.BigEndian.AppendUint64(nil, s.oldKeyUpTo))
		b.Note(KindSeal, append(append([]byte(nil), sealKey...), seal.NameOf(value)...), value, Forever)
	}
	return s.writer.commit(&b)
}

// A sealNotes is what the notes of keys say.
type sealNotes struct {
	any                     bool     // there are notes
	missing                 [][]byte // the notes of keys that are not there
	current, others         bool     // the key in use has one with an id, and other keys that are there have
	currentUpTo, othersUpTo uint64   // the ids; the highest one
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

// checkReadable reads all messages, and returns ErrKey if one is encrypted with a key that is not there.
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

// needsOldKey reports whether messages may wait that were stored before the key that the store is written with.
func (s *durable) needsOldKey() bool {
	m := s.summary.get()
	return s.sealer.Keys() > 1 && m.messages > 0 && m.low <= s.oldKeyUpTo
}
