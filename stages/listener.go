package stages

import (
	"time"

	"golang.org/x/sys/unix"

	"pmg/connector"
	"pmg/internal/poll"
	"pmg/internal/proxyheader"
	"pmg/internal/sock"
	"pmg/stages/flow"
)

// listener accepts connections while their connector has a free instance and the process a free
// descriptor. Otherwise it stops accepting until an instance or a descriptor is free again.
// Meanwhile clients wait in the kernel's backlog and are not refused. The listener owns the
// listening sockets, their pauses, and the connections of proxies whose header is not complete.
type listener struct {
	*Deps
	poller  *poll.Poller
	sockets map[int]*listening
	proxied map[int]*proxied // connections of proxies, by descriptor
	starved bool             // accepting stopped because no file descriptor is free
	buf     [proxyheader.MaxHeader]byte
}

type listening struct {
	sock.Listening
	connector *connector.Connector
	paused    bool
}

func newListener(d *Deps) (flow.Stage[Job], error) {
	p, err := poll.New()
	if err != nil {
		return nil, err
	}
	return &listener{Deps: d, poller: p, sockets: map[int]*listening{}, proxied: map[int]*proxied{}}, nil
}

func (l *listener) Wait(until time.Time) error { return l.poller.Wait(until) }
func (l *listener) Wake()                      { l.poller.Wake() }

func (l *listener) Work(out *flow.Out[Job], j *Job) {
	switch j.Kind {
	case Listen:
		for _, s := range j.Sockets {
			l.sockets[s.FD] = &listening{Listening: s, connector: j.Connector}
			if err := l.poller.Add(s.FD, true, false); err != nil {
				l.Log.Error().Err(err).Str("stage", "listener").Str("connector", j.Connector.Name).Msg("cannot listen")
			}
		}
	case Unlisten:
		for fd, s := range l.sockets {
			if j.Connector == nil || s.connector == j.Connector {
				_ = l.poller.Remove(fd)
				_ = unix.Close(fd)
				delete(l.sockets, fd)
			}
		}
		l.dropAll(j.Connector)
	case Admitted:
		l.take(out, j.Connector, j.Admitted)
	case Closed:
		h := j.Handle
		j.Handle = nil
		h.Instance.SetLink(nil)
		h.Connector.Return(h.Instance)
		l.resume(h.Connector)
	}
	out.Release(j)
}

// resume accepts again on sockets for which an instance of c, or a descriptor, was lacking.
func (l *listener) resume(c *connector.Connector) {
	for _, s := range l.sockets {
		if s.paused && (l.starved || s.connector == c) {
			s.paused = l.poller.Set(s.FD, true, false) != nil
		}
	}
	l.starved = false
}

func (l *listener) pause(s *listening) {
	s.paused = true
	_ = l.poller.Set(s.FD, false, false)
}

func (l *listener) Poll(out *flow.Out[Job]) {
	for _, e := range l.poller.Events() {
		if s := l.sockets[e.FD]; s != nil && !s.paused {
			l.accept(out, s)
		} else if p := l.proxied[e.FD]; p != nil {
			l.readHeader(out, p)
		}
	}
}

// acceptBatch is how many clients of one connector are accepted before the clients of the next
// connector.
const acceptBatch = 128

func (l *listener) accept(out *flow.Out[Job], s *listening) {
	c := s.connector
	for range acceptBatch {
		i := c.Acquire()
		if i == nil {
			l.pause(s)
			l.Gateway.Sessions.NoInstance(c)
			return
		}
		fd, remote, ok, err := sock.Accept(s.FD)
		if !ok {
			c.Return(i)
			l.refused(out, s, err)
			return
		}
		switch byProxy := c.Config().IsProxy(remote.Addr()); {
		case byProxy && l.Gateway.Sessions.AdmitProxy(c, remote):
			l.expect(out, i, fd, remote)
		case !byProxy && l.Gateway.Sessions.Admit(c, remote):
			l.begin(out, i, admitted{fd, remote, nil}, out.Now())
		default:
			l.refuse(i, fd)
		}
	}
}

// take begins the session of a connection that its Host has admitted.
func (l *listener) take(out *flow.Out[Job], c *connector.Connector, a admitted) {
	if i := c.Acquire(); i != nil {
		l.begin(out, i, a, out.Now())
	} else {
		a.host.TakeBack(a.fd, nil)
	}
}

// begin begins the session of a connection that was opened at the given time.
func (l *listener) begin(out *flow.Out[Job], i *connector.Instance, a admitted, opened int64) {
	h := newHandle(l.Deps, i, a, opened)
	h.Session.Start(opened, nil)
	l.Gateway.Sessions.Connected(&h.Link)
	if a.host == nil {
		l.Gateway.Sessions.Place(i.Connector, &h.Link, a.remote, h.displace)
	}
	j := out.Get()
	j.Kind, j.Handle = Opened, h
	out.ToGroup(h.group, toReader, j)
}

// refuse closes a connection that gets no session.
func (l *listener) refuse(i *connector.Instance, fd int) {
	_ = unix.Close(fd)
	i.Connector.Return(i)
}

// refused handles an accept that returned no connection.
func (l *listener) refused(out *flow.Out[Job], s *listening, err error) {
	if err == nil {
		return
	}
	if !l.starved {
		l.Gateway.Sessions.AcceptFailed(s.connector, err)
	}
	l.starved = true
	l.pause(s)
	out.TickIn(time.Second)
}

// Tick accepts again after descriptors ran out, because other code frees descriptors without
// informing the listener. It also closes proxy connections whose header is late.
func (l *listener) Tick(out *flow.Out[Job]) time.Duration {
	if l.starved {
		l.resume(nil)
	}
	return l.expire(out.Now())
}

func (l *listener) Close() error {
	l.dropAll(nil)
	for fd := range l.sockets {
		_ = unix.Close(fd)
	}
	return l.poller.Close()
}
