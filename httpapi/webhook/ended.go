package webhook

// ended are the messages whose last event a server has accepted: at least the latest mostEnded of them, and
// at most twice as many.
type ended struct{ latest, before map[uint64]struct{} }

// mostEnded is the number of ended messages that are remembered for a server, in about a megabyte.
const mostEnded = 1 << 15

func (e *ended) add(about uint64) {
	if len(e.latest) >= mostEnded {
		e.latest, e.before = nil, e.latest
	}
	if e.latest == nil {
		e.latest = map[uint64]struct{}{}
	}
	e.latest[about] = struct{}{}
}

func (e *ended) has(about uint64) bool {
	_, latest := e.latest[about]
	_, before := e.before[about]
	return latest || before
}
