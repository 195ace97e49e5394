package autowindow

// refusals are what is known of sizes at which the peer said that it is too much.
type refusals struct {
	state    state
	at       int64   // time of the last refusal that counted
	taken    int     // answers since then
	since    int64   // time of the first of them
	asked    int64   // when the state asked began
	total    int     // answers since then
	busy     int64   // time of the answers, a second at least for each refusal
	over     point   // size and rate when the peer refuses; the rate includes the pauses
	estimate float64 // messages a second that the peer seems to take
	clean    int     // largest size below over that the peer takes; 0: none is known
	dirty    int     // smallest size that was too much
	until    int64   // until then nothing larger is tried; endured: until then refusals have no effect
	patience int64   // time that until was last set to
}

// A state is what is done about refusals.
type state uint8

const (
	none    state = iota
	asked         // there was one; with the next one it is known what the size brings
	below         // a smaller size brings more
	endured       // a smaller size brings less
)

// Refused counts a request that the peer refused as too much. took is the time to its answer.
func (w *Window) Refused(now, took int64) {
	r := &w.refused
	if r.at != 0 && now-took < r.at || r.state == endured && now < r.until {
		return
	}
	r.total += r.taken
	r.busy += max(second, now-r.since)
	spent := now - r.since
	agrees := float64(r.taken)*float64(second)/float64(max(second, spent)) < r.estimate*1.1
	r.at, r.taken = now, 0
	switch {
	case r.state == below && r.clean != 0 && r.clean < w.size:
		w.back(now, agrees)
	case r.state == below && spent > clean:
		r.dirty, r.clean = w.size, 0
		w.keep(now, min(w.size-1, int(float64(w.size)*lessened)))
	case r.state != asked:
		*r = refusals{state: asked, at: now, asked: now, over: r.over}
		w.keep(now, w.size)
	case now-r.asked > patience:
		w.lower(now, float64(r.total)*float64(second)/float64(now-r.asked))
	}
}

// Unanswered counts a request that the peer did not answer in time. Some peers discard what is too much.
func (w *Window) Unanswered(now, took int64) {
	r := &w.refused
	if r.at != 0 && now-took < r.at {
		return
	}
	patience := min(max(2*r.patience, longest), forgotten)
	*r = refusals{state: below, at: now, dirty: w.size, estimate: r.estimate, patience: patience, until: now + patience}
	w.keep(now, w.size/2)
}

// lower tries a size that the peer should not refuse. rate is what the present one brings.
func (w *Window) lower(now int64, rate float64) {
	r := &w.refused
	if rate < r.over.rate*polite {
		w.endure(now, r.over.size)
		return
	}
	r.over = point{w.size, rate}
	if w.size == 1 {
		w.endure(now, 1)
		return
	}
	r.estimate = float64(r.total) * float64(second) / float64(r.busy)
	size := int(r.estimate * float64(w.quickest) / float64(second))
	r.state, r.dirty, r.patience = below, w.size, 15*second
	w.keep(now, min(size, w.size-1, int(float64(w.size)*loss)))
}

// back goes back to the size that the peer takes. enough is true if it seems to take no more than that.
func (w *Window) back(now int64, enough bool) {
	r := &w.refused
	r.dirty = w.size
	if enough && float64(r.clean+1)*float64(second) > r.estimate*float64(w.quickest) {
		r.patience = min(2*r.patience, forgotten)
		r.until = now + r.patience
	}
	w.keep(now, r.clean)
}

// endure keeps a size although the peer refuses now and then.
func (w *Window) endure(now int64, size int) {
	r := &w.refused
	*r = refusals{state: endured, at: now, until: now + longest}
	w.keep(now, size)
}
