package loadtest

// A Comparison counts what happened to a load's messages between the load and the sink
// behind the gateway. The JSON names are stable.
type Comparison struct {
	Sent      int64 `json:"sent"`      // messages, however often submitted
	Answered  int64 `json:"answered"`  // of them accepted by the gateway
	Delivered int64 `json:"delivered"` // different messages that reached the sink
	Missing   int64 `json:"missing"`   // accepted by the gateway and not delivered
	Doubled   int64 `json:"doubled"`   // deliveries of a message delivered before
}

// A Received is the result of a sink: it has the numbers of the messages that have arrived.
type Received interface{ Numbers() *Numbers }

// Compare compares the messages that the gateway accepted with those that the sink has
// received by now, even if s was taken earlier. Call it when no message is under way any
// more (see Sink.Await).
func Compare(l *LoadResult, s Received) Comparison {
	seen := s.Numbers()
	return Comparison{
		Sent:      l.Messages,
		Answered:  l.Accepted,
		Delivered: seen.unique.Load(),
		Missing:   l.accepted.notIn(seen),
		Doubled:   seen.doubled.Load(),
	}
}

// Problems describes missing and doubled messages; nil is a clean run.
func (c Comparison) Problems() []string {
	var p problems
	p.count(c.Missing, "missing")
	p.count(c.Doubled, "doubled")
	return p
}
