package connector

// Attach readies the instances of an out connector, and returns those that are to
// be connected now. When the number of instances has changed it is called again: it
// readies those that are new, or gives back those that wait unconnected.
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

// Park takes back an instance that was being connected and is not needed any more.
// It reports whether it is needed all the same, and to be connected.
func (l *Lane) Park(i *Instance) (dial bool) {
	switch {
	case l.Home().ReturnSurplus(i):
	case l.Home().IsWanted():
		return true // it was one too many, and others have been given back meanwhile
	default:
		l.slots.Park(i)
	}
	l.dialing--
	return false
}

// Bound takes in a session that has logged in. takes says whether it can be given
// messages.
func (l *Lane) Bound(link *Link, takes bool) {
	link.boundAt = link.BoundAt
	if l.Account == "" {
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

// LoggingOut takes the free slots of a session away: it is given no more messages.
func (l *Lane) LoggingOut(link *Link) {
	link.leaving = true
	l.removeSlots(link)
	l.checkQuiet(link)
}

func (l *Lane) removeSlots(link *Link) {
	l.suspects.release(l, link)
	if l.slots.Drop(link) {
		l.setOnline(link, -1)
	}
}

// checkQuiet notes a session that logs out and has no request under way.
func (l *Lane) checkQuiet(link *Link) {
	if link.leaving && link.used == 0 {
		link.leaving = false
		l.quiet = append(l.quiet, link)
	}
}

// Quiet passes each session that logs out to f, once, when none of its requests is
// under way any more.
func (l *Lane) Quiet(f func(*Link)) {
	for _, link := range l.quiet {
		f(link)
	}
	l.quiet = l.quiet[:0]
}

// Over notes the end of a session. Its requests that are under way then are not
// answered any more.
func (l *Lane) Over(link *Link) {
	link.atEnd, link.leaving = link.used, false
	l.removeSlots(link)
}

// Closed has an instance back whose socket is closed, and reports whether it is to
// be connected again.
func (l *Lane) Closed(now int64, link *Link) (dial bool) {
	link.Instance.SetLink(nil)
	if !link.Bound {
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

// isDrained reports whether the gateway is stopping and the lane has nothing more
// to send. Messages on their way here count, and scheduled ones do not.
func (l *Lane) isDrained() bool {
	if !l.policy.Draining() {
		return false
	}
	l.countDone()
	return l.Queued.Load() == 0
}
