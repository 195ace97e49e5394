package replay

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"pmg/cmd/pmg/dialogue"
	"pmg/pdulog"
	"pmg/protocols"
	"pmg/protocols/smpp"
)

// enquiry stands for an enquire_link in place of an answer.
const enquiry = "?"

// serve takes a login, and answers submits in groups, whose statuses are the octets of an answer; an empty answer ends the session.
// Submits without an answer stay unanswered.
func serve(t *testing.T, answers ...string) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		var waiting []uint32
		for {
			var head [16]byte
			if _, err := io.ReadFull(c, head[:]); err != nil {
				return
			}
			if _, err := io.CopyN(io.Discard, c, int64(binary.BigEndian.Uint32(head[:]))-16); err != nil {
				return
			}
			id, sequence := binary.BigEndian.Uint32(head[4:]), binary.BigEndian.Uint32(head[12:])
			answer := func(id, status, sequence uint32) {
				b := binary.BigEndian.AppendUint32(nil, 17)
				for _, n := range []uint32{id | 1<<31, status, sequence} {
					b = binary.BigEndian.AppendUint32(b, n)
				}
				_, _ = c.Write(append(b, 0))
			}
			if id>>31 != 0 {
				continue
			}
			if id != 4 {
				answer(id, 0, sequence)
				continue
			}
			if waiting = append(waiting, sequence); len(answers) == 0 || len(waiting) < len(answers[0]) {
				continue
			}
			if answers[0] == "" {
				return
			}
			if answers[0] == enquiry { // a request of the peer's own with the number of a submit
				b := binary.BigEndian.AppendUint32(nil, 16)
				for _, n := range []uint32{0x15, 0, sequence} {
					b = binary.BigEndian.AppendUint32(b, n)
				}
				_, _ = c.Write(b)
				waiting, answers = nil, answers[1:]
				continue
			}
			for i, status := range []byte(answers[0]) {
				answer(id, uint32(status), waiting[i])
			}
			waiting, answers = nil, answers[1:]
		}
	}()
	return l.Addr().String()
}

// login returns a player that has logged in.
func login(t *testing.T, address string, window int) *Player {
	t.Helper()
	driver := smpp.New(smpp.Options{})
	p, err := New(t.Context(), io.Discard, &Options{
		Address: dialogue.Address{HostPort: address, Timeout: 300 * time.Millisecond}, Driver: driver, Window: window,
		Login:   protocols.SessionOptions{Role: protocols.Client, SystemID: "a", Password: "b"},
		Decoder: pdulog.NewDecoder(func(string) (protocols.Driver, error) { return driver, nil }),
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// submit returns the line of a submit.
func submit(t *testing.T, i int) *pdulog.Entry {
	t.Helper()
	line := fmt.Sprintf("2026-11-20T19:05:2%d.000000Z clients/3 < submit_sm seq=%d destination_addr=46700000001 short_message=\"a\"", i, i+1)
	e, err := pdulog.Parse([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	return &e
}

// play plays six submits.
func play(t *testing.T, address string, window int) (string, error) {
	t.Helper()
	var out bytes.Buffer
	p := login(t, address, window)
	for i := range 6 {
		if err := p.Play(submit(t, i)); err != nil {
			err = p.End(&out, err)
			return out.String(), err
		}
	}
	err := p.End(&out, nil)
	return out.String(), err
}

// Answers that come while the next line is searched for, which may take long, have come in time.
func TestPause(t *testing.T) {
	t.Parallel()
	p := login(t, serve(t, "\x00", "\x00"), 1)
	if err := p.Play(submit(t, 0)); err != nil {
		t.Fatal(err)
	}
	for sequence, at := range p.open {
		p.open[sequence] = at.Add(-time.Minute)
	}
	p.left = p.left.Add(-time.Minute)
	if err := p.Play(submit(t, 1)); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := p.End(&out, nil); err != nil {
		t.Errorf("%v: %s", err, &out)
	}
}

// Submits wait for room in the window, refusals are counted by their statuses, and submits that are not answered in time, or whose
// session ends, are counted, too.
func TestPlayer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		answers []string
		window  int
		words   string // in the output or the error, between commas
	}{
		{[]string{"\x00\x00\x00", "\x00\x00\x00"}, 3, "6 accepted, 0 refused, 0 not answered"},
		{[]string{"\x00", "\x58", "\x00", "\x58", "\x0b", "\x00"}, 1, "3 accepted, 3 refused, 0 not answered,ESME_RTHROTTLED: 2,ESME_RINVDSTADR: 1,3 of 6 submits were not accepted"},
		{[]string{"\x00\x00"}, 6, "2 accepted, 0 refused, 4 not answered,4 of 6 submits"},
		{[]string{"\x00\x00", ""}, 2, "2 accepted"},
		{[]string{enquiry, "\x00\x00\x00\x00\x00"}, 6, "5 accepted, 0 refused, 1 not answered"},
	} {
		out, err := play(t, serve(t, c.answers...), c.window)
		if all := fmt.Sprint(out, err); (err == nil) != strings.HasPrefix(c.words, "6 accepted") {
			t.Errorf("%q: %s", c.answers, all)
		} else {
			for word := range strings.SplitSeq(strings.ReplaceAll(c.words, ", ", ";"), ",") {
				if !strings.Contains(all, strings.ReplaceAll(word, ";", ", ")) {
					t.Errorf("%q: %s lacks %s", c.answers, all, word)
				}
			}
		}
	}
}
