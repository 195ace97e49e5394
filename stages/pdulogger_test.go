package stages

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"pmg/pdulog"
	"pmg/protocols"
	"pmg/protocols/prototest/toy"
	"pmg/stages/flow"
)

// A file is in the list of waiting files once, even if it passes many chunks to the disk.
func TestPDULoggerWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, site{}, toPDULogger)
		c := r.gateway.Table.Connector("clients")
		file, err := pdulog.NewDir(t.TempDir(), pdulog.Options{Flush: time.Minute, Log: zerolog.Nop()}).Open(c.Name)
		if err != nil {
			t.Fatal(err)
		}
		c.PDULog = file
		h := r.handle(c.Name, -1)
		h.Login.Pass(true, &toy.PDU{Step: protocols.LoginRequest}) // not all PDUs of a session that is not logged in would be logged
		h.Login.Pass(false, &toy.PDU{Step: protocols.LoginAccepted})
		long := bytes.Repeat([]byte("x"), 10_000)
		r.in(toParser, func(out *flow.Out[Job]) {
			for range 100 {
				j := out.Get()
				j.Kind = Received
				j.retain(h)
				j.pdu(c).(*toy.PDU).Octets = long
				out.To(toPDULogger, j)
			}
		})
		synctest.Wait()
		if n := len(r.real[toPDULogger].(*pduLogger).waiting); n != 1 {
			t.Errorf("one file waits %d times", n)
		}
		if n := file.Lines(); n < 40 {
			t.Errorf("%d lines are written, no chunk was full", n)
		}
		h.release(1)
		r.close()
		if err := file.Close(); err != nil {
			t.Error(err)
		}
		if n := file.Lines(); n != 100 {
			t.Errorf("%d lines are written, want 100", n)
		}
	})
}
