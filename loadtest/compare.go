package loadtest

// A Comparison is what became of a load's messages at the sink behind the
// gateway. The JSON names are stable.
type Comparison struct {
	Sent      int64 `json:"sent"`      // messages, however often submitted
	Answered  int64 `json:"answered"`  // of them accepted by the gateway
	Delivered int64 `json:"delivered"` // different messages that reached the sink
	Missing   int64 `json:"missing"`   // accepted by the gateway and not delivered
	Doubled   int64 `json:"doubled"`   // deliveries of a message delivered before
}

// Compare tells what became of the messages of a load. It looks at what the
// sink has seen by now, whenever its result was taken: call it when nothing is
// on its way any more (Sink.Await).
func Compare(l *LoadResult, s *SinkResult) Comparison {
	return Comparison{
		Sent:      l.Messages,
		Answered:  l.Accepted,
		Delivered: s.seen.unique.Load(),
		Missing:   l.accepted.notIn(s.seen),
		Doubled:   s.seen.doubled.Load(),
	}
}

// Problems tells, in words, what should not have been; nil is a clean run.
func (c Comparison) Problems() []string {
	var p problems
	p.count(c.Missing, "missing")
	p.count(c.Doubled, "doubled")
	return p
}
