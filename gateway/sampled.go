package gateway

import "sync"

// sampled bounds how many entries of one kind the log gets: the first of a minute,
// and then how many there were. It is safe for concurrent use.
type sampled struct {
	mu    sync.Mutex
	kinds map[string]*minute
}

type minute struct {
	began         int64
	shown, hidden int64
}

const (
	sampleTime  = int64(60e9)
	sampleFirst = 20
)

// next reports whether the next entry of a kind is to be shown, and how many were
// hidden in a minute that has passed.
func (s *sampled) next(kind string, now int64) (show bool, hidden int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.kinds[kind]
	if m == nil {
		if s.kinds == nil {
			s.kinds = map[string]*minute{}
		}
		m = &minute{began: now}
		s.kinds[kind] = m
	}
	if now-m.began >= sampleTime {
		hidden = m.hidden
		*m = minute{began: now}
	}
	if m.shown < sampleFirst {
		m.shown++
		return true, hidden
	}
	m.hidden++
	return false, hidden
}
