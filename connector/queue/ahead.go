package queue

// ReadAhead requests the bodies of the messages that leave next, up to about window messages. It
// requests a part of them at a time, when half of the previous part has left.
func (q *Queue) ReadAhead(window int, ask func(*Entry) bool) {
	for i := range ringCount {
		if r := q.ring(i); r.n > 0 && !r.readAhead(window, ask) {
			break
		}
	}
	if q.backOnDisk > 0 {
		if first, _ := q.back.Min(); first.state == onDisk || q.backAhead <= window/2 {
			q.readBack(first, window, ask)
		}
	}
}

// readAhead requests the bodies of a ring's first entries. It returns false if too many bodies are
// being read.
func (r *ring) readAhead(window int, ask func(*Entry) bool) bool {
	if r.first().state == onDisk {
		r.ahead = r.start
	}
	r.ahead = min(max(r.ahead, r.start), r.start+uint64(r.n))
	if r.ahead-r.start > uint64(window/2) {
		return true
	}
	for end := r.start + uint64(min(window, r.n)); r.ahead < end; r.ahead++ {
		if !r.at(int(r.ahead - r.start)).ask(ask) {
			return false
		}
	}
	return true
}

// readBack requests the bodies of the first messages that came back.
func (q *Queue) readBack(first Entry, window int, ask func(*Entry) bool) {
	var changed []Entry
	q.askTree(q.back, first, &window, ask, &changed)
	q.replaceBack(changed)
}
