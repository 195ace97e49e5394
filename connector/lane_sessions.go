package connector

// Attach makes the instances of an out connector available, and returns those that must be
// connected now. It is called again when the configured number has changed: it adds new
// instances, or removes unconnected ones.
func (l *Lane) Attach() (dial []*Instance) {
	if l.Config().Listens() {
		return nil
	}
	for back := l.slots.Back(); back != nil && l.Home().ReturnSurplus(back.Instance); back = l.slots.Back() {
		unlink(back)
	}
	for i := l.Home().Acquire(); i != nil; i = l.Home().Acquire() {
		if l.Config().IsStatic() {
			dial = append(dial, i)
		} else {
			l.slots.Park(i)
		}
	}
	l.dialing += len(dial)
	return dial
}

// Park takes back an instance that was being connected and is not needed any more. It
// returns true if the instance is needed again meanwhile, and must be connected.
func (l *Lane) Park(i *Instance) (dial bool) {
	switch {
	case l.Home().ReturnSurplus(i):
	case l.Home().IsWanted() && !l.isDrained():
		return true // it was surplus, but other instances have been returned meanwhile
	default:
		l.slots.Park(i)
	}
	l.dialing--
	return false
}

// Bound adds a session that has logged in. takes reports whether the session can be given
// messages.
func (l *Lane) Bound(link *Link, takes bool) {
	link.boundAt = link.BoundAt
	if !l.ToClient() && !l.Config().Listens() {
		l.dialing--
		l.stats().Failing.Store(0)
	}
	if takes {
		l.Open(&link.Outlet)
	}
}

// NewOutlet returns an outlet without a session, by which a courier takes so many messages at a time. home counts it.
func NewOutlet(home *Connector, courier Courier, window int) *Outlet {
	return &Outlet{Courier: courier, home: home, window: window}
}

// Open adds an outlet, which is given messages from now on.
func (l *Lane) Open(o *Outlet) {
	o.balanced = l.ToClient()
	l.slots.Open(o, o.window)
	l.online.Add(1)
	o.home.online.Add(1)
	l.moving.downSince, l.moving.rest = 0, 0
}

// LoggingOut removes the free slots of an outlet, so that it gets no more messages. Quiet informs its
// courier when none is under way.
func (l *Lane) LoggingOut(o *Outlet) {
	l.removeSlots(o)
	o.supply = leaving
	l.checkQuiet(o)
}

func (l *Lane) removeSlots(o *Outlet) {
	l.suspects.release(l, o)
	l.intents.dropped = true
	if l.slots.Drop(o) {
		l.online.Add(-1)
		o.home.online.Add(-1)
	}
}

// checkQuiet records an outlet that logs out and has no request under way.
func (l *Lane) checkQuiet(o *Outlet) {
	if o.supply == leaving && o.used == 0 {
		o.supply = stopped
		l.quiet = append(l.quiet, o)
	}
}

// Quiet informs the couriers that get no more messages and have no request under way any more.
func (l *Lane) Quiet(now int64) {
	for _, o := range l.quiet {
		o.Courier.Quiet(now)
	}
	l.quiet = l.quiet[:0]
}

// Over records the end of an outlet. Its requests under way will not be answered any more.
func (l *Lane) Over(o *Outlet) {
	o.atEnd = o.used
	l.removeSlots(o)
}

// Closed takes back an instance whose socket is closed, and reports whether it must be
// connected again.
func (l *Lane) Closed(now int64, link *Link) (dial bool) {
	link.Instance.SetLink(nil)
	if !link.WasBound() {
		l.dialing--
	}
	rest := link.Instance.ended(link, now)
	l.policy.Links.Disconnected(now, link, rest)
	switch {
	case l.gone:
	case !l.ToClient() && l.Home().ReturnSurplus(link.Instance):
	case l.Home().IsWanted() && !l.isDrained():
		l.dialing++
		return true
	default:
		l.slots.Park(link.Instance) // Next takes it when a message is due
	}
	return false
}

// isDrained reports whether the gateway is stopping and the lane has nothing more to send.
// What waits in a durable store is sent after the next start. With another one, messages on their way
// to the lane count, scheduled ones do not.
func (l *Lane) isDrained() bool {
	switch {
	case !l.policy.Process.Draining():
		return false
	case l.policy.Bodies.Durable():
		return true
	}
	l.countDone()
	return l.Queued.Load() == 0
}
