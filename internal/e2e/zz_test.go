package e2e

import (
	"os"
	"runtime/pprof"
	"testing"
	"time"
)

func TestZZ(t *testing.T) {
	a := architectures()[0]
	for i := 0; i < 3000; i++ {
		t.Run("x", func(t *testing.T) {
			operator := newSMSC(t)
			g := start(t, a, site{operator: operator, out: "static: false"})
			p := g.dial("clients")
			p.send("enquire_link seq=1")
			p.conn.SetReadDeadline(time.Now().Add(2 * time.Second))
			var b [100]byte
			if n, err := p.conn.Read(b[:]); n != 16 {
				pprof.Lookup("goroutine").WriteTo(os.Stdout, 2)
				for _, s := range g.engine.Stats() {
					t.Logf("%+v", s)
				}
				t.Fatal(i, err)
			}
		})
		if t.Failed() {
			return
		}
	}
}
