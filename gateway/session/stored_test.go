package session_test

import (
	"errors"
	"testing"

	"pmg/gateway/intake"
	"pmg/gateway/keep"
	"pmg/gateway/roomtest"
	"pmg/gateway/session"
	"pmg/protocols"
	"pmg/protocols/prototest/toy"
	"pmg/sms"
	"pmg/store/journal"
)

// withDisk makes the port's gateway store messages on a disk, and returns a function that
// ends the commit under way and has the port hear of it.
func (p *port) withDisk() (d *roomtest.Disk, commit func(error)) {
	d = roomtest.NewDisk()
	if err := p.g.Keep(d); err != nil {
		p.t.Fatal(err)
	}
	done := make(chan error)
	p.commits = done
	p.g.Keeper.Begin(&engineNow{port: p})
	p.t.Cleanup(func() {
		close(d.Permits)
		go func() {
			for range done {
			}
		}()
		if err := p.g.Close(); err != nil {
			p.t.Error(err)
		}
		close(done)
	})
	return d, func(err error) {
		p.t.Helper()
		for _, m := range p.storing {
			p.g.Keeper.Put(m.Accepted, m.More)
		}
		p.g.Keeper.Commit()
		<-d.Begun
		d.Permits <- err
		err = <-done
		waiting := p.storing
		p.storing = nil
		for _, m := range waiting {
			p.c.Stored(p.now, m, keep.CodeOf(err))
		}
	}
}

// A message is answered and queued when it is stored, and not before.
func TestStoredBeforeAnswer(t *testing.T) {
	t.Parallel()
	p := newPort(t, "")
	_, commit := p.withDisk()
	l := p.client()
	r := p.submit(l)
	if r.gone != "" || len(p.queued) != 0 || l.Storing != 1 {
		t.Fatalf("before the commit: request %q, %d queued, %d stored", r.gone, len(p.queued), l.Storing)
	}
	commit(nil)
	p.want("after the commit", r, "sent", sms.OK)
	if len(p.queued) != 1 || l.Storing != 0 {
		t.Errorf("after the commit %d messages are queued, %d wait", len(p.queued), l.Storing)
	}
	p.c.Flush()
	if n := p.clients.Stats.Accepted.Load(); n != 1 {
		t.Errorf("%d messages count as accepted", n)
	}
}

// A message that cannot be stored is refused, and takes no place.
func TestNotStored(t *testing.T) {
	t.Parallel()
	p := newPort(t, "")
	_, commit := p.withDisk()
	l := p.client()
	free := p.g.Pending()
	r := p.submit(l)
	commit(journal.ErrFull)
	p.want("after a commit that failed", r, "sent", sms.SystemError)
	p.c.Flush()
	if len(p.queued) != 0 || p.g.Pending() != free || p.g.Node.Memory.Used() != 0 {
		t.Errorf("%d messages are queued, %d count, %d octets", len(p.queued), p.g.Pending()-free, p.g.Node.Memory.Used())
	}
	if n := p.clients.Stats.Refused.Load(); n != 1 || p.clients.Stats.Accepted.Load() != 0 {
		t.Errorf("%d messages count as refused, %d as accepted", n, p.clients.Stats.Accepted.Load())
	}
}

// A client hears nothing of messages that may be stored, and not of those behind them: its session ends.
func TestUndecided(t *testing.T) {
	t.Parallel()
	p := newPort(t, "")
	_, commit := p.withDisk()
	l := p.client()
	requests := []*request{p.submit(l), p.submit(l)}
	commit(errors.New("input/output error"))
	for _, r := range requests {
		p.want("after a commit whose outcome is not known", r, "dropped", 0)
	}
	if p.hung[l] == "" || !l.HasEnded() {
		t.Error("the session goes on")
	}
	if len(p.queued) != 0 || p.g.Pending() != 0 {
		t.Errorf("%d messages are queued, %d count", len(p.queued), p.g.Pending())
	}
}

// Messages of one PDU are stored in one commit, with ids that follow each other, and the
// client hears of the first id when all are stored, or that none is.
func TestMessagesOfOnePDU(t *testing.T) {
	t.Parallel()
	p := newPort(t, "")
	d, commit := p.withDisk()
	l := p.client()
	for i := range 9 { // of the ten ids of a block
		p.submit(l)
		commit(nil)
		p.queued[i].Release()
	}
	p.queued = nil
	for _, fault := range []error{nil, journal.ErrFull} {
		comes := func() keep.Accepted {
			s := intake.Submission{Way: intake.Submitted, From: &l.Source, Session: l, PDU: &toy.PDU{}, Room: p.c.RoomLeft()}
			if v := p.g.Intake.Take(p.now, &s); v != intake.Pass {
				t.Fatal(v, s.Code)
			}
			return s.Accepted()
		}
		pending := session.Pending[*request]{Accepted: comes(), From: &l.Source, By: session.Sender[*request]{Link: l, Request: p.New(l)}}
		for range 2 {
			pending.More = append(pending.More, comes())
		}
		r, before := pending.By.Request, p.g.Pending()
		p.c.Accept(p.now, pending)
		p.c.Flush()
		if r.gone != "" || len(p.storing) != 1 || p.g.Pending() != before+3 {
			t.Fatalf("before the commit: request %q, %d pending", r.gone, p.g.Pending())
		}
		commit(fault)
		if fault != nil {
			p.want("after a commit that failed", r, "sent", sms.SystemError)
			if len(p.queued) != 0 || p.g.Pending() != before {
				t.Errorf("after a commit that failed %d messages are queued, %d pending", len(p.queued), p.g.Pending())
			}
			continue
		}
		p.want("after the commit", r, "sent", sms.OK)
		if len(p.queued) != 3 || len(d.Begun) != 0 {
			t.Fatalf("%d messages are queued", len(p.queued))
		}
		for i, m := range p.queued {
			if m.ID != r.ID+uint64(i) || int(m.Offset) != i || m.KnownID() != r.ID {
				t.Errorf("message %d has id %d, offset %d; the client knows %d", i, m.ID, m.Offset, r.ID)
			}
		}
		p.queued = nil
	}
}

// What ends a session waits for the commits that are due to it: a client that hears
// nothing sends its message again.
func TestEndWaitsForCommit(t *testing.T) {
	t.Parallel()
	for _, kind := range []protocols.ActionKind{protocols.SendClose, protocols.Close, protocols.Logout} {
		for _, failed := range []error{nil, journal.ErrFull} {
			p := newPort(t, "")
			_, commit := p.withDisk()
			l := p.client()
			r := p.submit(l)
			end := p.receive(l, kind, nil)
			if sent := end.gone == "sent" || p.hung[l] != ""; sent {
				t.Errorf("%v before the commit", kind)
			}
			commit(failed)
			if r.gone != "sent" {
				t.Errorf("%v: the message is not answered", kind)
			}
			if sent := end.gone == "sent" || kind == protocols.Close && end.gone == "dropped"; !sent {
				t.Errorf("%v does not follow the commit: %q", kind, end.gone)
			}
			if last := p.order[len(p.order)-1]; kind != protocols.Close && last != end {
				t.Errorf("%v is not the last", kind)
			}
		}
	}
}

// A session that is over before the commit loses its answer, and the message stays.
func TestOverBeforeCommit(t *testing.T) {
	t.Parallel()
	p := newPort(t, "")
	_, commit := p.withDisk()
	l := p.client()
	r, end := p.submit(l), p.receive(l, protocols.SendClose, nil)
	p.c.Over(p.now, l)
	commit(nil)
	if r.gone != "dropped" || end.gone != "dropped" || len(p.queued) != 1 {
		t.Errorf("request %q, end %q, %d queued", r.gone, end.gone, len(p.queued))
	}
}

// While the disk hangs, messages wait up to a limit, and are then refused immediately.
func TestDiskHangs(t *testing.T) {
	t.Parallel()
	p := newPort(t, "")
	_, commit := p.withDisk()
	l := p.client()
	p.submit(l)
	p.g.Keeper.Storing.Add(int64(p.g.Node.Config().Limits.MaxJobs))
	p.want("beyond the limit", p.submit(l), "sent", sms.QueueFull)
	p.g.Keeper.Storing.Add(-int64(p.g.Node.Config().Limits.MaxJobs))
	commit(nil)
}
