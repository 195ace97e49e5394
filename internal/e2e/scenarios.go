package e2e

import (
	"flag"
	"testing"

	"pmg/gateway"
)

// Main runs the tests of a program, more of them in parallel than usual, because they wait
// more than they work.
func Main(m *testing.M) int {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		if err := flag.Set("test.parallel", "16"); err != nil {
			panic(err)
		}
	}
	return m.Run()
}

// Scenarios runs the tests that every architecture passes, with the one that start starts.
func Scenarios(t *testing.T, start func(*gateway.Gateway) (gateway.Engine, error)) {
	t.Parallel()
	for _, s := range []struct {
		name string
		run  func(*testing.T, architecture)
	}{
		// bind.go
		{"BindTypes", bindTypes},
		{"BindRefused", bindRefused},
		{"BindPipelined", bindPipelined},
		{"BindTimeout", bindTimeout},
		{"Unbind", unbind},
		{"Enquire", enquire},
		{"ConnectionLimits", connectionLimits},

		// badinput.go
		{"Split", split},
		{"ManyTogether", manyTogether},
		{"NotFramed", notFramed},
		{"Garbage", garbage},

		// queue.go
		{"QueueFullDelays", queueFullDelays},
		{"QueueWait", queueWait},

		// window.go
		{"Window", window},
		{"AnswersInDisorder", answersInDisorder},
		{"ConnectionLost", connectionLost},
		{"NeverAnswered", neverAnswered},
		{"UnknownParameters", unknownParameters},

		// route.go
		{"Routes", routes},
		{"Failover", failover},
		{"Deliver", deliver},
		{"DeliverNowhere", deliverNowhere},
	} {
		t.Run(s.name, func(t *testing.T) {
			parallel(t)
			s.run(t, start)
		})
	}
}
