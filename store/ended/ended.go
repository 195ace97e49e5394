// Package ended notes how messages have ended until the store has forgotten them.
//
// # Start reading
//
// ended.go
package ended

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"

	"pmg/sms"
	"pmg/store"
)

// Notes notes how messages have ended until the store has forgotten them. A process
// that is killed leaves answers behind that no commit was made of; without the notes their
// messages would be sent again. The notes lie in memory that outlives the process, though
// not the machine, so that a note costs no system call and waits for no disk. It is not safe for
// concurrent use.
type Notes struct {
	name string // empty: mem is the caller's
	mem  []byte
	next uint64 // number of the next note; numbers begin with 1
}

// An Outcome is how a message has ended.
type Outcome struct {
	ID       uint64
	Code     sms.Code
	Attempts uint8
	Status   uint32 // the protocol's own value of Code
	Sent, At int64  // by the wall clock; 0: not set
	Lane     uint32 // HashOf of the lane that it left by; 0: not known
	PeerID   []byte // at most maxPeerID octets are noted
}

// HashOf returns a number that stands for the name of a lane in an Outcome. It is not 0.
func HashOf(l store.Lane) uint32 {
	sum := crc32.Update(0, castagnoli, octetsOf(l.Connector))
	return crc32.Update(crc32.Update(sum, castagnoli, between), castagnoli, octetsOf(l.Account)) | 1
}

var between = []byte{0} // the names of a lane

// octetsOf returns the octets of a string, which must not be written to: a copy would be an allocation for each message.
func octetsOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

const (
	// Size is how many octets a note takes.
	Size = 128

	maxPeerID = Size - 8 - 8 - 8 - 8 - 4 - 1 - 1 - 1 - 4 - 4

	// Max is how many outcomes are noted; each further one takes the place of
	// the oldest.
	Max = 1 << 16
)

// sharedMemory is where files lie in memory, on Linux.
const sharedMemory = "/dev/shm"

// Open opens the notes that belong to the store in dir, and makes them if there
// are none. The caller has the store open, so that nothing else does.
func Open(dir string) (*Notes, error) {
	if o, err := OpenIn(sharedMemory, dir); err == nil {
		return o, nil
	}
	return openOutcomes(filepath.Join(dir, "outcomes"))
}

// OpenIn is Open with the directory in which the notes lie.
func OpenIn(in, dir string) (*Notes, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot find %s: %w", dir, err)
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(dir))
	return openOutcomes(filepath.Join(in, fmt.Sprintf("pmg-%d-%016x", os.Geteuid(), h.Sum64())))
}

func openOutcomes(name string) (*Notes, error) {
	fd, err := unix.Open(name, unix.O_RDWR|unix.O_CREAT|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot open %s: %w", name, err)
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, fmt.Errorf("cannot look at %s: %w", name, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG || int(st.Uid) != os.Geteuid() || st.Mode&0o077 != 0 {
		return nil, fmt.Errorf("cannot use %s: it is not a file of this user alone", name)
	}
	if st.Size != Max*Size { // written, because memory that is not there ends the process
		if _, err := f.WriteAt(make([]byte, Max*Size), 0); err != nil {
			return nil, errors.Join(fmt.Errorf("cannot write %s: %w", name, err), os.Remove(name))
		}
		if err := f.Truncate(Max * Size); err != nil {
			return nil, fmt.Errorf("cannot write %s: %w", name, err)
		}
	}
	mem, err := unix.Mmap(fd, 0, Max*Size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("cannot map %s: %w", name, err)
	}
	return newOutcomes(name, mem), nil
}

// In returns the notes in memory that the caller keeps for as long as the machine
// would, and whose length is a multiple of Size. Fewer messages may be under way
// and unsettled than it has notes.
func In(mem []byte) *Notes { return newOutcomes("", mem) }

func newOutcomes(name string, mem []byte) *Notes {
	o := &Notes{name: name, mem: mem, next: 1}
	o.each(func(number uint64, _ []byte) { o.next = max(o.next, number+1) })
	return o
}

// A note is a number that rises, the outcome, and a checksum: a process may be killed
// while it writes one.
//
//	+--------+----+------+----+--------+------+----------+---------+--------+------+----------+
//	| number | id | sent | at | status | code | attempts | id's n. | peerid | lane | checksum |
//	+--------+----+------+----+--------+------+----------+---------+--------+------+----------+
//	 8        8    8      8    4        1      1          1         81       4      4

// Note notes how a message has ended.
func (o *Notes) Note(v Outcome) {
	at := int(o.next * Size % uint64(len(o.mem)))
	b := o.mem[at : at+Size : at+Size]
	binary.BigEndian.PutUint32(b[Size-4:], 0) // it counts when it is whole
	binary.BigEndian.PutUint64(b[0:], o.next)
	binary.BigEndian.PutUint64(b[8:], v.ID)
	binary.BigEndian.PutUint64(b[16:], uint64(v.Sent))
	binary.BigEndian.PutUint64(b[24:], uint64(v.At))
	binary.BigEndian.PutUint32(b[32:], v.Status)
	b[36], b[37] = uint8(v.Code), v.Attempts
	b[38] = uint8(copy(b[39:39+maxPeerID], v.PeerID))
	binary.BigEndian.PutUint32(b[laneAt:], v.Lane)
	binary.BigEndian.PutUint32(b[Size-4:], checksum(b))
	o.next++
}

// laneAt is where the lane stands in a note.
const laneAt = Size - 8

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum returns that of a note. A note of an earlier version has no lane.
func checksum(note []byte) uint32 {
	sum := crc32.Checksum(note[:39+int(note[38])], castagnoli)
	if lane := note[laneAt : laneAt+4]; binary.BigEndian.Uint32(lane) != 0 {
		sum = crc32.Update(sum, castagnoli, lane)
	}
	return sum | 1
}

// each calls f for every note that is whole, in the order of their places.
func (o *Notes) each(f func(number uint64, note []byte)) {
	for at := 0; at < len(o.mem); at += Size {
		b := o.mem[at : at+Size]
		sum := binary.BigEndian.Uint32(b[Size-4:])
		if sum != 0 && int(b[38]) <= maxPeerID && sum == checksum(b) {
			f(binary.BigEndian.Uint64(b), b)
		}
	}
}

// Read passes the outcomes that were noted to f. PeerID is f's until it returns.
func (o *Notes) Read(f func(Outcome)) {
	o.each(func(_ uint64, b []byte) {
		f(Outcome{
			ID: binary.BigEndian.Uint64(b[8:]), Sent: int64(binary.BigEndian.Uint64(b[16:])),
			At:     int64(binary.BigEndian.Uint64(b[24:])),
			Status: binary.BigEndian.Uint32(b[32:]), Code: sms.Code(b[36]), Attempts: b[37],
			Lane: binary.BigEndian.Uint32(b[laneAt:]), PeerID: b[39 : 39+int(b[38])],
		})
	})
}

// Clear removes all notes, once the store has forgotten their messages. A store that is
// made anew in the same directory must not meet notes of the one before.
func (o *Notes) Clear() { clear(o.mem) }

// Close releases the notes, which stay.
func (o *Notes) Close() error {
	if o.name == "" {
		return nil
	}
	if err := unix.Munmap(o.mem); err != nil {
		return fmt.Errorf("cannot let go of the outcomes: %w", err)
	}
	return nil
}

// Remove closes the notes and removes them, because the store has forgotten all of their
// messages.
func (o *Notes) Remove() error {
	if o.name == "" {
		o.Clear()
		return nil
	}
	if err := os.Remove(o.name); err != nil {
		return errors.Join(fmt.Errorf("cannot remove the outcomes: %w", err), o.Close())
	}
	return o.Close()
}
