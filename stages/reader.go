package stages

import (
	"time"

	"golang.org/x/sys/unix"

	"pmg/internal/poll"
	"pmg/internal/proxyheader"
	"pmg/internal/sock"
	"pmg/protocols"
	"pmg/stages/flow"
)

// reader waits for data on all sockets and reads the data. It owns the poller of the sockets. Only
// the reader ends sessions: it removes the socket from the poller, and sends a job of kind Over to
// the later stages, behind the jobs with the session's last octets. The job takes over the
// reader's reference to the session's handle.
//
// The reader does not read from a session whose gate is shut. While too many jobs are alive, it
// does not read from clients. It still reads from SMSCs, because answers of SMSCs end jobs.
type reader struct {
	*Deps
	poller  *poll.Poller
	handles []*handle // handles, indexed by descriptor
	blocked map[*handle]bool
	buf     [readSize]byte
	maxJobs int64
	full    bool  // too many jobs are alive
	octets  int64 // octets that were read
}

// readSize is how many octets are read from one socket before the next socket.
const readSize = 16 << 10

// strangerRead is how many octets are read from a session that is not logged in. This is enough for
// a login. It limits the work and the log lines that a stranger can cause.
const strangerRead = 1 << 10

// fullPause is how long reading pauses while too many jobs are alive.
const fullPause = time.Millisecond

func newReader(d *Deps) (flow.Stage[Job], error) {
	p, err := poll.New()
	if err != nil {
		return nil, err
	}
	return &reader{
		Deps: d, poller: p, blocked: map[*handle]bool{},
		maxJobs: int64(d.Gateway.Node.Config().Limits.MaxJobs),
	}, nil
}

func (r *reader) Wake() { r.poller.Wake() }

func (r *reader) Wait(until time.Time) error {
	if full := r.Pool.Live() > r.maxJobs; full != r.full {
		r.full = full
		r.Full.Store(full)
	}
	if r.full {
		time.Sleep(fullPause) // the other stages continue meanwhile, and release jobs
		return r.poller.Look()
	}
	return r.poller.Wait(until)
}

func (r *reader) Work(out *flow.Out[Job], j *Job) {
	h := j.Handle
	switch j.Kind {
	case Opened:
		r.watch(out, h)
		j.Handle = nil // the reader keeps the job's reference as its own
	case Resume:
		r.interest(h)
	case Blocked:
		if h.reader.watched { // otherwise the session is already over, and its entry would remain
			r.blocked[h] = true
			r.interest(h)
		}
	case Hangup:
		r.end(out, h)
	}
	discard(out, j)
}

func (r *reader) watch(out *flow.Out[Job], h *handle) {
	for h.fd >= len(r.handles) {
		r.handles = append(r.handles, make([]*handle, max(64, h.fd+1-len(r.handles)))...)
	}
	r.handles[h.fd] = h
	h.reader.watched = true
	if err := r.poller.Add(h.fd, true, false); err != nil {
		h.BeginClosing(err.Error())
		r.end(out, h)
	} else if h.Closing() { // the hangup came before the reader watched the session
		r.end(out, h)
	}
}

// interest sets the events for which the poller watches the socket.
func (r *reader) interest(h *handle) {
	if h.reader.watched {
		_ = r.poller.Set(h.fd, !h.gate.paused.Load(), r.blocked[h])
	}
}

// end ends a session: it stops watching the socket and sends Over. Only the first call has an
// effect.
func (r *reader) end(out *flow.Out[Job], h *handle) {
	if !h.reader.watched {
		return
	}
	h.reader.watched = false
	_ = r.poller.Remove(h.fd)
	r.handles[h.fd] = nil
	delete(r.blocked, h)
	j := out.Get()
	j.Kind, j.Handle, j.refs = Over, h, 1
	out.To(h.below(toParser), j)
}

func (r *reader) Poll(out *flow.Out[Job]) {
	for _, e := range r.poller.Events() {
		h := r.handles[e.FD]
		if h == nil {
			continue
		}
		if e.Writable && r.blocked[h] {
			r.unblock(out, h)
		}
		if e.Readable && !(r.full && h.Connector.Config().Role() == protocols.Server) {
			r.read(out, h, e.Gone)
		}
	}
	r.groups.all[out.Group()].read.Store(r.octets)
}

func (r *reader) unblock(out *flow.Out[Job], h *handle) {
	delete(r.blocked, h)
	r.interest(h)
	j := out.Get()
	j.Kind = Writable
	j.retain(h)
	out.CountRef()
	out.To(toWriter, j)
}

// read reads the available octets. If gone is true, the connection is lost: then it reads even if
// the gate is shut, because only few octets are left and the poller would report the event again
// and again.
func (r *reader) read(out *flow.Out[Job], h *handle, gone bool) {
	if !h.Closing() && !gone && h.shut() {
		r.interest(h)
		return
	}
	buf, stranger := r.buf[:], h.Session.Bound() == 0
	if stranger {
		buf = r.buf[:strangerRead]
	}
	n, err := sock.Read(h.fd, buf)
	switch {
	case n > 0:
		r.octets += int64(n)
		if stranger && proxyheader.Begins(buf[:n]) {
			r.Gateway.Sessions.StrayHeader(&h.Link)
		}
		h.Heard.Store(out.Now())
		j := out.Get()
		j.Kind = Bytes
		j.Octets = r.buffers.get()
		j.Octets.b = append(j.Octets.b, r.buf[:n]...)
		h.retain(weightOf(n))
		j.Handle, j.refs = h, int32(weightOf(n))
		out.CountRef()
		out.To(h.below(toParser), j)
	case err == unix.EAGAIN:
	case err != nil:
		h.BeginClosing("connection lost: " + err.Error())
		r.end(out, h)
	case !gone && h.mayHear():
		h.leave(out, toParser)
		h.gate.paused.Store(true)
		r.interest(h)
	default:
		h.BeginClosing("the peer closed the connection")
		r.end(out, h)
	}
}

// mayHear reports whether a client that sends no more may wait for an answer: to a request that is under way, or to half of
// one.
func (h *handle) mayHear() bool {
	return h.Hosted.By != nil && !h.gate.left.Load() && (h.refs.Load() > 1 || h.Partial.Load() != 0)
}

func (r *reader) Close() error { return r.poller.Close() }
