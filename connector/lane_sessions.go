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
	if l.Account == "" && !l.Config().Listens() {
		l.dialing--
		l.stats().Failing.Store(0)
	}
	if takes {
		link.balanced = l.Account != ""
		l.slots.Open(link, link.window)
		l.setOnline(link, 1)
	}
}

func (l *Lane) setOnline(link *Link, n int64) {
	l.online.Add(n)
	link.Connector.online.Add(n)
	if n > 0 {
		l.moving.downSince, l.moving.rest = 0, 0
	}
}

// LoggingOut removes the free slots of a session, so that it is given no more messages.
func (l *Lane) LoggingOut(link *Link) {
	l.removeSlots(link)
	link.supply = leaving
	l.checkQuiet(link)
}

func (l *Lane) removeSlots(link *Link) {
	l.suspects.release(l, link)
	l.noting.dropped = true
	if l.slots.Drop(link) {
		l.setOnline(link, -1)
	}
}

// checkQuiet notes a session that logs out and has no request under way.
func (l *Lane) checkQuiet(link *Link) {
	if link.supply == leaving && link.used == 0 {
		link.supply = stopped
		l.quiet = append(l.quiet, link)
	}
}

// Quiet calls f once for each session that logs out and has no request under way any more.
func (l *Lane) Quiet(f func(*Link)) {
	for _, link := range l.quiet {
		f(link)
	}
	l.quiet = l.quiet[:0]
}

// Over notes the end of a session. Its requests under way will not be answered any more.
func (l *Lane) Over(link *Link) {
	link.atEnd = link.used
	l.removeSlots(link)
}

// Closed takes back an instance whose socket is closed, and reports whether it must be
// connected again.
func (l *Lane) Closed(now int64, link *Link) (dial bool) {
	link.Instance.SetLink(nil)
	if !link.WasBound() {
		l.dialing--
	}
	rest := link.Instance.ended(link, now)
	l.policy.Disconnected(now, link, rest)
	switch {
	case l.gone:
	case l.Account == "" && l.Home().ReturnSurplus(link.Instance):
	case l.Home().IsWanted() && !l.isDrained():
		l.dialing++
		return true
	default:
		l.slots.Park(link.Instance) // Next takes it when a message is due
	}
	return false
}

// isDrained reports whether the gateway is stopping and the lane has nothing more to send.
// What waits in a store is sent after the next start. Without a store, messages on their way
// to the lane count, scheduled ones do not.
func (l *Lane) isDrained() bool {
	switch {
	case !l.policy.Draining():
		return false
	case l.policy.Durable():
		return true
	}
	l.countDone()
	return l.Queued.Load() == 0
}
